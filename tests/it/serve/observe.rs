//! What operators see: metrics, and a log without secrets.

use std::io::Write;
use std::sync::Mutex;

use serde_json::json;

use super::*;

#[tokio::test]
async fn metrics_count_what_was_done() {
    let server = Server::start();
    let admin = server.admin().await;
    for _ in 0..3 {
        assert_eq!(send(server.by(&admin, "GET", "/v1/agents")).await.status, 200);
    }
    assert_eq!(send(server.by(&admin, "GET", "/v1/agents/none")).await.status, 404);
    let answer = send(server.by(&admin, "GET", "/metrics")).await;
    assert!(answer.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    let text = answer.text();
    for line in [
        "checkfu_requests_total{operation=\"agents.list\",status=\"200\"} 3",
        "checkfu_requests_total{operation=\"agents.get\",status=\"404\"} 1",
        "checkfu_errors_total{code=\"resource.not_found\"} 1",
        "checkfu_request_seconds_count{operation=\"agents.list\"} 3",
        "checkfu_requests_in_flight 1",
        "checkfu_writer_queue 0",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
    }
    let bytes = text.lines().find_map(|l| l.strip_prefix("checkfu_database_bytes ")).unwrap();
    assert!(bytes.parse::<u64>().unwrap() > 4_096);
}

#[tokio::test]
async fn the_openapi_document_is_served() {
    let server = Server::start();
    let secret = server.token("reader", Scope::Read, &[]).await.secret;
    let answer = send(server.by(&secret, "GET", "/openapi.json")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    let document = answer.json();
    assert_eq!(document["openapi"].as_str().map(|v| &v[..4]), Some("3.1."));
    assert!(document["paths"]["/v1/agents"]["post"].is_object());
}

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_request_is_one_line_without_secrets_or_bodies() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || writer.clone()).finish();
    // For the whole process: one for a thread alone misses what another test's thread meets first.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let server = Server::start();
    let admin = server.admin().await;
    let request = server.by(&admin, "POST", "/v1/agents?note=query-secret");
    let request = request.header("checkfu-break-glass", "reason-secret").header("checkfu-owner", "acme/a");
    let body = json!({"name": "body-secret", "model": "claude-sonnet-5", "system": "body-secret"});
    let made = send(request.json(&body)).await;
    assert_eq!(made.status, 200, "{}", made.text());
    let refused = send(server.by("cfu_wrong-secret", "GET", "/v1/agents/path-secret")).await;
    let broken = send(server.by(&admin, "POST", "/v1/agents").body("broken-secret")).await;
    assert_eq!((refused.status, broken.status), (401, 400));
    server.stop().await.unwrap();

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for secret in [&admin, "secret"] {
        assert!(!text.contains(secret), "{secret} is in\n{text}");
    }
    let all: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    // Other tests have their requests in it too.
    let line = |answer: &Answer| {
        let of = |l: &&Value| l["target"] == "checkfu::request" && l["id"].as_str() == answer.header("request-id");
        let lines: Vec<&Value> = all.iter().filter(of).collect();
        assert_eq!(lines.len(), 1, "{text}");
        lines[0]
    };
    let lines = [line(&made), line(&refused), line(&broken)];
    let first = lines[0];
    assert_eq!(
        json!({"method": first["method"], "route": first["route"], "operation": first["operation"],
               "actor": first["actor"], "owner": first["owner"], "break_glass": first["break_glass"],
               "status": first["status"], "error": first["error"]}),
        json!({"method": "POST", "route": "/v1/agents", "operation": "agents.create", "actor": "admin",
               "owner": "acme/a", "break_glass": true, "status": 200, "error": ""})
    );
    assert!(first["ms"].is_u64() && first["bytes"].as_u64() > Some(0), "{first}");
    assert_eq!((&lines[1]["status"], &lines[1]["error"]), (&json!(401), &json!("http.unauthenticated")));
    assert_eq!((&lines[2]["status"], &lines[2]["error"]), (&json!(400), &json!("request.body")));
}
