//! Paths and methods: what is not there, what a path takes, and the headers that decide.

use serde_json::json;

use super::*;

#[tokio::test]
async fn a_path_that_is_not_there_is_404_and_a_method_that_it_lacks_405() {
    let server = Server::start();
    let admin = server.admin().await;
    let paths = ["/", "/v1", "/v1/", "/v1/nothing", "/v1/agents/", "/v1//agents", "/v1/agents/../skills", "/healthz/"];
    for path in paths {
        // As it stands: a client would tidy the path.
        let answer =
            raw(&server, format!("GET {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {admin}\r\nconnection: close\r\n\r\n"));
        assert!(answer.await.starts_with("HTTP/1.1 404"), "{path}");
    }
    let none = send(server.by(&admin, "GET", "/v1/nothing")).await;
    assert_eq!(none.refused(), (404, "http.no_route".to_owned()));
    for (method, path, allow) in [
        ("PUT", "/v1/agents", "GET, HEAD, POST, OPTIONS"),
        ("PATCH", "/v1/agents/a", "GET, HEAD, POST, OPTIONS"),
        ("DELETE", "/v1/agents/a", "GET, HEAD, POST, OPTIONS"),
        ("GET", "/v1/agents/a/archive", "POST, OPTIONS"),
        ("POST", "/metrics", "GET, HEAD, OPTIONS"),
        ("POST", "/healthz", "GET, HEAD, OPTIONS"),
    ] {
        let answer = send(server.by(&admin, method, path)).await;
        assert_eq!(answer.refused(), (405, "http.method_not_allowed".to_owned()), "{method} {path}");
        assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
        let options = send(server.by(&admin, "OPTIONS", path)).await;
        assert_eq!((options.status, options.header("allow")), (204, Some(allow)), "{path}");
    }
}

#[tokio::test]
async fn head_says_what_get_would() {
    let server = Server::start();
    let admin = server.admin().await;
    for path in ["/healthz", "/metrics", "/v1/workspace", "/v1/agents"] {
        let (get, head) = (send(server.by(&admin, "GET", path)).await, send(server.by(&admin, "HEAD", path)).await);
        assert_eq!((get.status, head.status), (200, 200), "{path}");
        assert!(head.bytes.is_empty());
        assert_eq!(get.header("content-type"), head.header("content-type"));
        if path != "/metrics" {
            assert_eq!(head.header("content-length"), Some(&*get.bytes.len().to_string()), "{path}");
        }
    }
    assert_eq!(send(server.by(&admin, "HEAD", "/v1/agents/none")).await.status, 404);
}

#[tokio::test]
async fn the_old_name_of_file_trees_works() {
    let server = Server::start();
    let admin = server.admin().await;
    let body = json!({"name": "docs", "source": {"kind": "upload"}});
    assert_eq!(send(server.by(&admin, "POST", "/v1/projects").json(&body)).await.status, 200);
    let list = send(server.by(&admin, "GET", "/v1/projects?beta=true")).await;
    assert_eq!(list.json()["data"][0]["name"], "docs");
}

#[tokio::test]
async fn versions_and_betas_are_checked() {
    let server = Server::start();
    let admin = server.admin().await;
    let get = |name: &str, value: &str| server.by(&admin, "GET", "/v1/agents").header(name, value);
    let fine = [
        ("checkfu-version", "2026-11-30"),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "managed-agents-2026-04-01"),
        ("anthropic-beta", "agent-memory-2026-07-22, skills-2025-10-02"),
    ];
    for (name, value) in fine {
        assert_eq!(send(get(name, value)).await.status, 200, "{name}: {value}");
    }
    let bad = [
        ("checkfu-version", "2020-01-01"),
        ("checkfu-owner", "no owner"),
        ("anthropic-beta", "agent-memory-2026-07-22,managed-agents-2026-04-01"),
    ];
    for (name, value) in bad {
        assert_eq!(send(get(name, value)).await.status, 400, "{name}: {value}");
    }
    let both = get("anthropic-beta", "agent-memory-2026-07-22").header("anthropic-beta", "managed-agents-2026-04-01");
    assert_eq!(send(both).await.status, 400);
}

#[tokio::test]
async fn a_conflict_is_not_to_be_tried_again() {
    let server = Server::start();
    let admin = server.admin().await;
    let make = || server.by(&admin, "POST", "/v1/environments").json(&json!({"name": "prod"}));
    assert_eq!(send(make()).await.status, 200);
    let taken = send(make()).await;
    assert_eq!(taken.refused(), (409, "validation.conflict".to_owned()));
    assert_eq!(taken.header("x-should-retry"), Some("false"));
    // The same key answers the same again, and another request with it is refused.
    let keyed = |name: &str| {
        let request = server.by(&admin, "POST", "/v1/environments").header("idempotency-key", "k");
        request.json(&json!({"name": name}))
    };
    let (first, again) = (send(keyed("test")).await, send(keyed("test")).await);
    assert_eq!((first.status, again.status), (200, 200), "{}", again.text());
    assert_eq!(first.json()["written"]["id"], again.json()["written"]["id"]);
    assert_eq!(again.json()["written"]["replayed"], true);
    assert_eq!(send(keyed("other")).await.refused(), (409, "idempotency.key_reused".to_owned()));
}

/// Sends bytes as they are and reads until the server closes.
pub(super) async fn raw(server: &Server, request: impl AsRef<[u8]>) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(server.at).await.unwrap();
    stream.write_all(request.as_ref()).await.unwrap();
    let mut answer = Vec::new();
    // A server that closes while bytes are on their way resets the connection.
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8_lossy(&answer).into_owned()
}
