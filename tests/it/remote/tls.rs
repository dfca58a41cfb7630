//! A server that speaks TLS: trusted when its issuer is named, and never before.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use checkfu::control::remote::{Remote, RemoteOptions};
use checkfu::control::{ControlError, ControlPlane};
use checkfu::model::op::{Context, Request, Response};
use checkfu::server::{Limits, ServeOptions, Tls, serve};

use super::{World, client};

const CERTIFICATE: &[u8] = include_bytes!("../serve/certificate.pem");
/// Made by nobody else too, but an authority's, as `openssl req -x509` makes it when it is told nothing more.
const AUTHORITY: &[u8] = include_bytes!("../serve/authority.pem");
const KEY: &[u8] = include_bytes!("../serve/key.pem");

#[test]
fn a_certificate_is_trusted_when_its_issuer_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::open(dir.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let served = |certificate: &[u8]| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let at = listener.local_addr().unwrap();
            let tls = Some(Tls { certificate: certificate.to_vec(), key: KEY.to_vec() });
            let options = ServeOptions { listener, tls, limits: Limits::default() };
            tokio::spawn(serve(Arc::clone(&world.workspace), options, std::future::pending()));
            at
        };
        let ask = async |at: SocketAddr, ca: Option<&[u8]>| -> Result<Response, ControlError> {
            let url = format!("https://localhost:{}", at.port());
            let ca = ca.map(<[u8]>::to_vec);
            let remote = Remote::new(RemoteOptions { ca, url, ..client(at, &world.tester) })?;
            remote.call(&Context::default(), Request::Workspace).await
        };
        let at = served(CERTIFICATE);
        assert!(matches!(ask(at, Some(CERTIFICATE)).await.unwrap(), Response::Workspace(_)));
        assert_eq!(ask(at, None).await.unwrap_err().code, "remote.tls");
        let refused = ask(served(AUTHORITY), Some(AUTHORITY)).await.unwrap_err();
        assert_eq!(refused.code, "remote.tls");
        assert!(refused.message.contains("certificate of an authority"), "{refused:?}");
    });
    runtime.shutdown_background();
}
