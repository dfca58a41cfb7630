//! A server that speaks TLS: trusted when its issuer is named, and never before.

use std::net::TcpListener;
use std::sync::Arc;

use checkfu::control::remote::{Remote, RemoteOptions};
use checkfu::control::{ControlError, ControlPlane};
use checkfu::model::op::{Context, Request, Response};
use checkfu::server::{Limits, ServeOptions, Tls, serve};

use super::{World, client};

const CERTIFICATE: &[u8] = include_bytes!("../serve/certificate.pem");
const KEY: &[u8] = include_bytes!("../serve/key.pem");

#[test]
fn a_certificate_is_trusted_when_its_issuer_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::open(dir.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let tls = Some(Tls { certificate: CERTIFICATE.to_vec(), key: KEY.to_vec() });
        let options = ServeOptions { listener, tls, limits: Limits::default() };
        tokio::spawn(serve(Arc::clone(&world.workspace), options, std::future::pending()));
        let ask = async |ca: Option<Vec<u8>>| -> Result<Response, ControlError> {
            let url = format!("https://localhost:{}", at.port());
            let remote = Remote::new(RemoteOptions { ca, url, ..client(at, &world.tester) })?;
            remote.call(&Context::default(), Request::Workspace).await
        };
        assert!(matches!(ask(Some(CERTIFICATE.to_vec())).await.unwrap(), Response::Workspace(_)));
        assert_eq!(ask(None).await.unwrap_err().code, "remote.tls");
    });
    runtime.shutdown_background();
}
