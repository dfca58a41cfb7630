//! What is too large, too deep, too slow or too much.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::methods::raw;
use super::*;

fn post(server: &Server, secret: &str, body: impl Into<reqwest::Body>) -> reqwest::RequestBuilder {
    server.by(secret, "POST", "/v1/agents").header("content-type", "application/json").body(body)
}

#[tokio::test]
async fn a_body_that_cannot_be_taken_is_refused() {
    let server = Server::with(Limits { json_bytes: 10_000, json_values: 500, ..Limits::default() }, None);
    let admin = server.admin().await;
    let deep = format!("{}{}", "[".repeat(101), "]".repeat(101));
    let many = format!("[{}1]", "1,".repeat(600));
    let nested = format!("{{\"name\": {}1{}}}", "[".repeat(5_000), "]".repeat(4_990));
    let rows: [(&str, u16, &str); 7] = [
        ("{\"name\": ", 400, "request.body"),
        ("nothing", 400, "request.body"),
        ("{} {}", 400, "request.body"),
        (&deep, 400, "request.body"),
        (&many, 400, "request.body"),
        (&nested, 413, "request.too_large"),
        ("[]", 400, "validation.invalid"),
    ];
    for (body, status, code) in rows {
        let answer = send(post(&server, &admin, body.to_owned())).await;
        assert_eq!(answer.refused(), (status, code.to_owned()), "{}", &body[..body.len().min(40)]);
        assert!(!answer.text().contains("nothing"), "what was sent is not quoted: {}", answer.text());
    }
    let large = vec![b' '; 20_000];
    let whole = send(post(&server, &admin, large.clone())).await;
    assert_eq!(whole.refused(), (413, "request.too_large".to_owned()));
    assert_eq!(whole.json()["error"]["type"], "request_too_large");
    // Without a length that could be looked at before.
    let pieces = large.chunks(1_000).map(|c| Ok::<_, std::io::Error>(c.to_vec())).collect::<Vec<_>>();
    let stream = reqwest::Body::wrap_stream(futures_util::stream::iter(pieces));
    assert_eq!(send(post(&server, &admin, stream)).await.status, 413);
    let typed = |name: &str, value: &str| {
        server.by(&admin, "POST", "/v1/agents").header(name, value).body(r#"{"name":"a","model":"claude-sonnet-5"}"#)
    };
    for (name, value) in [("content-type", "text/plain"), ("content-encoding", "gzip")] {
        assert_eq!(send(typed(name, value)).await.refused(), (415, "request.media_type".to_owned()));
    }
    assert_eq!(send(typed("content-type", "application/json; charset=utf-8")).await.status, 200);
    assert_eq!(send(typed("accept", "*/*")).await.status, 200, "no type is taken for JSON");
}

#[tokio::test]
async fn a_large_body_gets_its_refusal_to_read() {
    let server = Server::start();
    let admin = server.admin().await;
    let large = || vec![b' '; 40_000_000];
    assert_eq!(send(post(&server, &admin, large())).await.refused(), (413, "request.too_large".to_owned()));
    assert_eq!(send(post(&server, "cfu_wrong", large())).await.status, 401);
    assert_eq!(send(server.by(&admin, "POST", "/v1/nothing").body(large())).await.status, 404);
}

#[tokio::test]
async fn path_and_head_are_bounded() {
    let server = Server::with(Limits { path_bytes: 4_000, ..Limits::default() }, None);
    let admin = server.admin().await;
    let long = send(server.by(&admin, "GET", &format!("/v1/agents?page={}", "x".repeat(5_000)))).await;
    assert_eq!(long.refused(), (413, "request.too_large".to_owned()));
    let broken = raw(
        &server,
        format!("GET /v1/agents?a=%zz HTTP/1.1\r\nhost: x\r\nx-api-key: {admin}\r\nconnection: close\r\n\r\n"),
    );
    assert!(broken.await.starts_with("HTTP/1.1 200"), "what is no escape stays as it is");
    let head = format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx-fill: {}\r\n\r\n", "x".repeat(70_000));
    assert!(raw(&server, &head).await.starts_with("HTTP/1.1 431"));
    let many = format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{}\r\n", "a: b\r\n".repeat(500));
    assert!(raw(&server, &many).await.starts_with("HTTP/1.1 431"));
}

#[tokio::test]
async fn a_body_that_does_not_arrive_ends_with_408() {
    let limits =
        Limits { json_time: Duration::from_millis(50), upload_time: Duration::from_millis(50), ..Limits::default() };
    let server = Server::with(limits, None);
    let admin = server.admin().await;
    for (path, kind) in [
        ("/v1/agents", "application/json"),
        ("/v1/blobs?digest=sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "x/y"),
        ("/v1/skills", "multipart/form-data; boundary=b"),
        ("/v1/files", "multipart/form-data; boundary=b"),
    ] {
        let half = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {admin}\r\ncontent-type: {kind}\r\ncontent-length: 100\r\n\r\n{{"
        );
        let answer = raw(&server, &half).await;
        assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("request.timeout"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let server = Server::with(Limits { head_time: Duration::from_millis(50), ..Limits::default() }, None);
    for said in ["", "P", "PRI * HTTP/2.0\r\n", "GET /healthz HTTP/1.1\r\nhost: x\r\n"] {
        let mut stream = TcpStream::connect(server.at).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        drop(stream.read_to_end(&mut rest).await);
        assert!(!rest.starts_with(b"HTTP/1.1 200"), "{said:?}");
    }
    assert_eq!(send(server.request("GET", "/healthz")).await.status, 200);
}

#[tokio::test]
async fn connections_and_requests_at_once_are_bounded() {
    let server = Server::with(Limits { connections: 1, ..Limits::default() }, None);
    // The one connection that there may be is kept by this client.
    assert_eq!(send(server.request("GET", "/healthz")).await.status, 200);
    let closed = raw(&server, "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert_eq!(closed, "");
    assert_eq!(send(server.request("GET", "/healthz")).await.status, 200);
    server.stop().await.unwrap();

    let server = Server::with(Limits { requests: 0, ..Limits::default() }, None);
    let admin = server.admin().await;
    let busy = send(server.by(&admin, "GET", "/v1/agents")).await;
    assert_eq!(busy.refused(), (529, "http.overloaded".to_owned()));
    assert_eq!((busy.header("retry-after"), &busy.json()["error"]["type"]), (Some("1"), &json!("overloaded_error")));
    assert_eq!(send(server.request("GET", "/readyz")).await.status, 200);
}

#[tokio::test]
async fn memory_for_bodies_is_waited_for_and_then_refused() {
    let limits = Limits { memory: 64 << 10, call_time: Duration::from_millis(50), ..Limits::default() };
    let server = Server::with(limits, None);
    let admin = server.admin().await;
    // Holds all the memory there is while its body does not come.
    let mut holder = TcpStream::connect(server.at).await.unwrap();
    let head = format!(
        "POST /v1/agents HTTP/1.1\r\nhost: x\r\nx-api-key: {admin}\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n"
    );
    holder.write_all(head.as_bytes()).await.unwrap();
    let mut go_on = [0; 12];
    holder.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100");
    assert_eq!(send(post(&server, &admin, "{}")).await.refused(), (529, "http.overloaded".to_owned()));
}
