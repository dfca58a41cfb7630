//! `serve`: a workspace over HTTP.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use crate::cli::args::Serve;
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::normalize;
use crate::cli::session::no_threads;
use crate::cli::signals::{Second, stop_on_interrupt};
use crate::cli::view::log;
use crate::control::ControlPlane;
use crate::control::embedded::{Embedded, EmbeddedOptions};
use crate::diag::chain::Chain;
use crate::diag::codes;
use crate::model::op::{Context, Request, Response};
use crate::server::{Limits, ServeError, ServeOptions, Tls, serve};

/// Serves until it is stopped.
pub fn run(run: &Run, args: &Serve) -> Ran {
    let tls = tls(run, args)?;
    let path = normalize(&run.cwd.join(&args.db));
    let embedded = Embedded::open(&path, EmbeddedOptions::default())
        .map_err(|e| Failure::control("open the workspace", &e).of_file("--db"))
        .map(Arc::new)?;
    let refused = |e: &dyn std::fmt::Display| {
        Failure::new(&codes::server::LISTEN, format!("cannot listen on {}: {e}", args.listen))
    };
    let listener = TcpListener::bind(args.listen).map_err(|e| refused(&e))?;
    let address = listener.local_addr().map_err(|e| refused(&e))?;
    log::start(&run.global);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|e| no_threads(&e))?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    if tls.is_none() && !address.ip().is_loopback() {
        let warning = "warning: tokens and bodies cross the network in the clear; give --tls-cert and --tls-key, or \
                       put a proxy with TLS before it";
        run.printer.talk(warning);
    }
    let ended = runtime.block_on(async {
        if let Ok(Response::Tokens(tokens)) = embedded.call(&Context::default(), Request::TokenList).await
            && tokens.iter().all(|t| t.revoked_at.is_some())
        {
            run.printer.talk("There is no token yet: nobody can sign in.");
        }
        let mut stop = stop_on_interrupt(Arc::clone(&run.printer), Second::Leaves);
        run.printer.talk(&format!("Listening on {scheme}://{address}"));
        let options = ServeOptions { listener, tls, limits: Limits::default() };
        let stopped = async move {
            // The sender is gone only where no signal can be heard: then nothing stops it but a kill.
            if stop.wait_for(|stopped| *stopped).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        serve(embedded, options, stopped).await
    });
    match ended {
        Ok(()) => Ok(Exit::Ok),
        Err(e @ ServeError::Tls(_)) => Err(Failure::new(&codes::server::TLS, Chain(&e).to_string())),
        Err(e @ ServeError::Listen(_)) => Err(Failure::new(&codes::server::LISTEN, Chain(&e).to_string())),
    }
}

/// Certificate and key, where they are given.
fn tls(run: &Run, args: &Serve) -> Result<Option<Tls>, Failure> {
    let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
    let read = |path: &Path| {
        let path = run.cwd.join(path);
        std::fs::read(&path)
            .map_err(|e| Failure::new(&codes::server::TLS, format!("{} cannot be read: {e}", path.display())))
    };
    Ok(Some(Tls { certificate: read(certificate)?, key: read(key)? }))
}
