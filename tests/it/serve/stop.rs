//! Stopping: nothing new is taken, what is in work ends.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;

const BODY: &str = r#"{"name":"a","model":"claude-sonnet-5"}"#;

/// A request whose body is asked for but not sent yet.
async fn begun(server: &Server, secret: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.at).await.unwrap();
    let head = format!(
        "POST /v1/agents HTTP/1.1\r\nhost: x\r\nx-api-key: {secret}\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        BODY.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).await.unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

#[tokio::test]
async fn what_is_in_work_ends_and_nothing_new_is_taken() {
    let mut server = Server::start();
    let admin = server.admin().await;
    let mut stream = begun(&server, &admin).await;
    server.stop.take().unwrap().send(()).unwrap();
    // The listener is gone when a connection is refused.
    while TcpStream::connect(server.at).await.is_ok() {
        tokio::task::yield_now().await;
    }
    stream.write_all(BODY.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    server.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_does_not_end_is_cut_off() {
    let server = Server::with(Limits { grace: Duration::from_millis(50), ..Limits::default() }, None);
    let admin = server.admin().await;
    let mut stream = begun(&server, &admin).await;
    server.stop().await.unwrap();
    let mut rest = Vec::new();
    drop(stream.read_to_end(&mut rest).await);
    assert_eq!(rest, b"");
}
