//! The client against a server that says what a script says.

use std::collections::VecDeque;
use std::sync::Mutex;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::diag::codes;
use crate::model::op::{AuditList, BlobPut, Digests};
use crate::model::{Digest, Owner};

/// What is said to one request; the connection ends with it.
enum Say {
    /// Status, a header line, body.
    Answer(u16, &'static str, String),
    /// This, whole.
    Raw(&'static str),
    /// Nothing, and the connection is cut.
    Cut,
    /// Nothing, for ever.
    Silence,
}

fn ok(body: &serde_json::Value) -> Say {
    Say::Answer(200, "", body.to_string())
}

fn busy(header: &'static str) -> Say {
    Say::Answer(503, header, String::new())
}

fn workspace() -> serde_json::Value {
    json!({"id": "ws_1", "epoch": "epoch_1", "created_at": "2026-11-30T12:00:00Z", "later": {"more": 1}})
}

/// Says what the script says; the requests are kept as text.
struct Stub {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    async fn saying(script: Vec<Say>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut script = VecDeque::from(script);
            let mut silent = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = Vec::new();
                while !is_whole(&request) && stream.read_buf(&mut request).await.unwrap() > 0 {}
                kept.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
                let text = match script.pop_front().unwrap() {
                    Say::Answer(status, header, body) => format!(
                        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\nconnection: close\r\n{header}\
                         content-length: {}\r\n\r\n{body}",
                        body.len()
                    ),
                    Say::Raw(text) => text.to_owned(),
                    Say::Cut => String::new(),
                    Say::Silence => {
                        silent.push(stream);
                        continue;
                    }
                };
                stream.write_all(text.as_bytes()).await.unwrap();
            }
        });
        Self { url, asked }
    }

    fn options(&self) -> RemoteOptions {
        let retry = Retry { times: 3, unheard: 3, first: Duration::ZERO, longest: Duration::ZERO, ..Retry::default() };
        RemoteOptions { retry, ..RemoteOptions::new(&self.url, Secret::new("cfu_hunter2")) }
    }

    fn remote(&self) -> Remote {
        Remote::new(self.options()).unwrap()
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|l| l.strip_prefix("content-length: ")).map_or(0, |l| l.parse().unwrap());
    body.len() >= length
}

async fn read(remote: &Remote) -> Result<Response, ControlError> {
    remote.call(&Context::default(), Request::Workspace).await
}

fn put() -> Request {
    Request::BlobPut(BlobPut { digest: Digest::of(b"x"), bytes: b"x".to_vec() })
}

#[tokio::test]
async fn a_read_is_sent_again_until_it_is_answered() {
    let script = vec![Say::Cut, busy(""), Say::Raw("HTTP/1.1 200 x\r\ncontent-length: 50\r\n\r\n{"), ok(&workspace())];
    let stub = Stub::saying(script).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&told);
    let on_retry: OnRetry = Arc::new(move |again| kept.lock().unwrap().push(again.operation.to_owned()));
    let remote = Remote::new(RemoteOptions { on_retry, ..stub.options() }).unwrap();
    let Response::Workspace(found) = read(&remote).await.unwrap() else { panic!() };
    assert_eq!((found.id.as_str(), stub.asked().len()), ("ws_1", 4));
    assert_eq!(*told.lock().unwrap(), ["workspace.get"; 3]);
}

#[tokio::test]
async fn it_gives_up_after_the_last_time() {
    let stub = Stub::saying((0..9).map(|_| busy("")).collect()).await;
    let error = read(&stub.remote()).await.unwrap_err();
    assert_eq!((error.kind, stub.asked().len()), (ErrorKind::Unavailable, 4));
    // A server that never said anything is more likely not there.
    let stub = Stub::saying((0..9).map(|_| Say::Cut).collect()).await;
    let retry = Retry { unheard: 1, ..stub.options().retry };
    let error = read(&Remote::new(RemoteOptions { retry, ..stub.options() }).unwrap()).await.unwrap_err();
    assert_eq!((error.code, stub.asked().len()), (codes::http::REMOTE_UNREACHABLE.code, 2));
}

#[tokio::test]
async fn a_write_is_sent_again_under_its_key_and_never_without_one() {
    let stub = Stub::saying(vec![Say::Cut, busy(""), ok(&json!({}))]).await;
    let keyed = Context { key: Some("k-1".into()), ..Context::default() };
    assert_eq!(stub.remote().call(&keyed, put()).await.unwrap(), Response::Done);
    let asked = stub.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|r| r.contains("idempotency-key: k-1") && r.ends_with("\r\n\r\nx")), "{asked:?}");
    let stub = Stub::saying(vec![busy("")]).await;
    stub.remote().call(&Context::default(), put()).await.unwrap_err();
    assert_eq!(stub.asked().len(), 1);
    // A read by POST is a read.
    let stub = Stub::saying(vec![busy(""), ok(&json!({"digests": []}))]).await;
    let missing = Request::BlobsMissing(Digests { digests: vec![Digest::of(b"x")] });
    stub.remote().call(&Context::default(), missing).await.unwrap();
    assert_eq!(stub.asked().len(), 2);
}

#[tokio::test]
async fn a_conflict_is_not_asked_again_but_one_in_flight_is() {
    let refused = |code: &str| {
        let details = json!({"error_code": code});
        let error = json!({"type": "conflict_error", "message": "no", "details": details});
        Say::Answer(409, "retry-after: 0\r\n", json!({"type": "error", "error": error}).to_string())
    };
    let keyed = Context { key: Some("k-1".into()), ..Context::default() };
    let stub = Stub::saying(vec![refused("validation.conflict")]).await;
    let error = stub.remote().call(&keyed, put()).await.unwrap_err();
    assert_eq!((error.kind, error.code), (ErrorKind::Conflict, "validation.conflict"));
    let stub = Stub::saying(vec![refused("idempotency.in_flight"), ok(&json!({}))]).await;
    stub.remote().call(&keyed, put()).await.unwrap();
    assert_eq!(stub.asked().len(), 2);
}

#[tokio::test]
async fn a_server_that_asks_for_more_patience_than_there_is_is_not_asked_again() {
    let stub = Stub::saying(vec![busy("retry-after: 3600\r\n")]).await;
    assert!(read(&stub.remote()).await.is_err());
    assert_eq!(stub.asked().len(), 1);
    let (stop, stopped) = watch::channel(true);
    let stub = Stub::saying(vec![busy("")]).await;
    assert!(read(&Remote::new(RemoteOptions { stop: Some(stopped), ..stub.options() }).unwrap()).await.is_err());
    drop(stop);
    assert_eq!(stub.asked().len(), 1, "a person asked to stop");
}

#[tokio::test]
async fn headers_say_who_acts_how_much_is_wanted_and_which_version_is_spoken() {
    let stub = Stub::saying(vec![ok(&json!({"data": []}))]).await;
    let owner: Owner = "acme/a".parse().unwrap();
    let context = Context { owner: Some(owner), epoch: Some("epoch_1".into()), ..Context::default() };
    stub.remote().call(&context, Request::AuditList(AuditList::default())).await.unwrap();
    let asked = stub.asked().remove(0);
    for header in [
        "authorization: Bearer cfu_hunter2",
        "checkfu-owner: acme/a",
        "checkfu-epoch: epoch_1",
        "checkfu-version: 2026-11-30",
        "prefer: return=minimal",
        "user-agent: checkfu/",
    ] {
        assert!(asked.contains(header), "{header}: {asked}");
    }
}

#[tokio::test]
async fn silence_ends_in_time_and_a_byte_now_and_then_is_silence() {
    let stub = Stub::saying(vec![Say::Silence]).await;
    let retry = Retry { times: 0, ..Retry::default() };
    let options = RemoteOptions { call_time: Duration::from_millis(30), retry, ..stub.options() };
    let error = read(&Remote::new(options).unwrap()).await.unwrap_err();
    assert_eq!((error.kind, error.code), (ErrorKind::Unavailable, "remote.timeout"));
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let other = Stub::saying(vec![ok(&workspace())]).await;
    let header: &'static str = format!("location: {}/v1/workspace\r\n", other.url).leak();
    let stub = Stub::saying(vec![Say::Answer(307, header, String::new())]).await;
    let error = read(&stub.remote()).await.unwrap_err();
    assert_eq!((error.code, stub.asked().len(), other.asked().len()), ("remote.address", 1, 0));
}

#[tokio::test]
async fn what_is_no_workspace_is_told_apart() {
    let rows = [
        (Say::Answer(200, "", "<html>Hello</html>".to_owned()), "remote.answer"),
        (ok(&json!({"hello": "world"})), "remote.answer"),
        (Say::Answer(404, "", "<html>Not here</html>".to_owned()), "remote.answer"),
        (Say::Answer(400, "", refusal("checkfu-version: this server speaks 2030-01-01")), "remote.version"),
        (Say::Answer(401, "", refusal("who?")), "remote.error"),
    ];
    for (say, code) in rows {
        let stub = Stub::saying(vec![say]).await;
        let retry = Retry { times: 0, ..Retry::default() };
        let remote = Remote::new(RemoteOptions { retry, ..stub.options() }).unwrap();
        let error = read(&remote).await.unwrap_err();
        assert_eq!(error.code, code, "{error:?}");
        let all = format!("{error:?} {remote:?} {:?}", stub.options());
        assert!(!all.contains("hunter2"), "{all}");
    }
}

fn refusal(message: &str) -> String {
    json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}).to_string()
}

#[tokio::test]
async fn an_answer_has_a_most() {
    for raw in [
        "HTTP/1.1 200 x\r\ncontent-length: 101\r\n\r\n",
        "HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n\
         65\r\n01234567890123456789012345678901234567890123456789\
         012345678901234567890123456789012345678901234567890\r\n0\r\n\r\n",
    ] {
        let stub = Stub::saying(vec![Say::Raw(raw)]).await;
        let error = read(&Remote::new(RemoteOptions { answer_bytes: 100, ..stub.options() }).unwrap()).await;
        let error = error.unwrap_err();
        assert_eq!((error.code, stub.asked().len()), ("remote.answer", 1), "{error:?}");
    }
}

#[tokio::test]
async fn no_more_at_once_than_asked_for() {
    let stub = Stub::saying((0..6).map(|_| Say::Silence).collect()).await;
    let retry = Retry { times: 0, ..Retry::default() };
    let options = RemoteOptions { call_time: Duration::from_mins(1), parallelism: 3, retry, ..stub.options() };
    let remote = Remote::new(options).unwrap();
    let calls = futures_util::future::join_all((0..6).map(|_| read(&remote)));
    let three_asked = async {
        while stub.asked().len() < 3 {
            tokio::task::yield_now().await;
        }
        (stub.asked().len(), remote.slots.available_permits())
    };
    tokio::select! {
        _ = calls => panic!("nothing is answered"),
        found = three_asked => assert_eq!(found, (3, 0)),
    }
}

#[test]
fn what_cannot_be_a_token_or_a_certificate_is_refused() {
    let of = |token: &str, ca: Option<&[u8]>| {
        let options = RemoteOptions::new("https://x.example", Secret::new(token));
        Remote::new(RemoteOptions { ca: ca.map(<[u8]>::to_vec), ..options }).unwrap_err()
    };
    for token in ["", "a b", "hunter2\r\nx: y", "hunter\u{e9}"] {
        let error = of(token, None);
        assert_eq!(error.code, "remote.token");
        assert!(!format!("{error:?}").contains("hunter"), "{error:?}");
    }
    assert_eq!(of("t", Some(b"no certificate")).code, "remote.tls");
}
