//! A network that goes wrong: between a client and a server, decided by a seed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection is cut before the server gets it.
    CutBefore,
    /// The server does it, and the connection is cut.
    CutAfter,
    /// Half of the answer comes.
    Half,
    /// 429 with a `retry-after`; the server gets nothing.
    BusyUntil,
    /// 429 without.
    Busy,
    /// 500 of somebody else, after the effect.
    Broken,
    /// The server does it, and no answer comes.
    Silence,
    /// The answer comes a byte now and then.
    Slow,
    /// The server gets it twice.
    Twice,
}

const FAULTS: [Fault; 9] = [
    Fault::CutBefore,
    Fault::CutAfter,
    Fault::Half,
    Fault::BusyUntil,
    Fault::Busy,
    Fault::Broken,
    Fault::Silence,
    Fault::Slow,
    Fault::Twice,
];

/// Numbers that look like chance (splitmix64).
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    /// One request of four has a fault.
    fn fault(&mut self) -> Option<Fault> {
        let drawn = usize::try_from(self.below(4 * FAULTS.len() as u64)).unwrap();
        FAULTS.get(drawn).copied()
    }
}

/// Stands before a server.
pub(super) struct Proxy {
    pub(super) at: SocketAddr,
    inner: Arc<Inner>,
}

struct Inner {
    server: SocketAddr,
    chance: Mutex<Chance>,
    requests: AtomicUsize,
    faults: AtomicUsize,
}

impl Proxy {
    /// Listens until its runtime ends.
    pub(super) async fn before(server: SocketAddr, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let (requests, faults) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let inner = Arc::new(Inner { server, chance: Mutex::new(Chance::new(seed)), requests, faults });
        let shared = Arc::clone(&inner);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let inner = Arc::clone(&shared);
                // A connection that ends is what this is for.
                tokio::spawn(async move { inner.connection(client).await.unwrap_or_default() });
            }
        });
        Self { at, inner }
    }

    /// Whole requests that came.
    pub(super) fn requests(&self) -> usize {
        self.inner.requests.load(Ordering::SeqCst)
    }

    /// How many of them had a fault.
    pub(super) fn faults(&self) -> usize {
        self.inner.faults.load(Ordering::SeqCst)
    }
}

impl Inner {
    async fn connection(&self, mut client: TcpStream) -> std::io::Result<()> {
        let mut server = TcpStream::connect(self.server).await?;
        let mut rest = Vec::new();
        while let Some(request) = message(&mut client, &mut rest).await? {
            self.requests.fetch_add(1, Ordering::SeqCst);
            let fault = self.chance.lock().unwrap().fault();
            self.faults.fetch_add(usize::from(fault.is_some()), Ordering::SeqCst);
            match fault {
                Some(Fault::CutBefore) => return Ok(()),
                Some(Fault::BusyUntil) => busy(&mut client, "retry-after: 0\r\n").await?,
                Some(Fault::Busy) => busy(&mut client, "").await?,
                _ => {
                    if fault == Some(Fault::Twice) {
                        let mut other = TcpStream::connect(self.server).await?;
                        ask(&mut other, &request).await?;
                    }
                    let answer = ask(&mut server, &request).await?;
                    match fault {
                        Some(Fault::CutAfter) => return Ok(()),
                        Some(Fault::Half) => return client.write_all(&answer[..answer.len() / 2]).await,
                        Some(Fault::Broken) => {
                            let text = b"HTTP/1.1 500 x\r\ncontent-length: 4\r\n\r\noops";
                            client.write_all(text).await?;
                        }
                        // Until the client has enough of it.
                        Some(Fault::Silence) => return client.read(&mut [0]).await.map(drop),
                        Some(Fault::Slow) => {
                            for byte in answer {
                                client.write_all(&[byte]).await?;
                                tokio::time::sleep(Duration::from_millis(20)).await;
                            }
                        }
                        _ => client.write_all(&answer).await?,
                    }
                }
            }
        }
        Ok(())
    }
}

async fn busy(client: &mut TcpStream, header: &str) -> std::io::Result<()> {
    let answer = format!("HTTP/1.1 429 x\r\n{header}content-length: 4\r\n\r\nwait");
    client.write_all(answer.as_bytes()).await
}

async fn ask(server: &mut TcpStream, request: &[u8]) -> std::io::Result<Vec<u8>> {
    server.write_all(request).await?;
    let answer = message(server, &mut Vec::new()).await?;
    answer.ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
}

/// One message with its body, by its `content-length`; `None` at the end. What came after it stays in `rest`.
async fn message(stream: &mut TcpStream, rest: &mut Vec<u8>) -> std::io::Result<Option<Vec<u8>>> {
    loop {
        if let Some(head) = rest.windows(4).position(|w| w == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&rest[..head]).to_ascii_lowercase();
            let length = text.lines().find_map(|l| l.strip_prefix("content-length:")).map(|v| v.trim().to_owned());
            let end = head + 4 + length.map_or(0, |l| l.parse::<usize>().unwrap());
            if rest.len() >= end {
                let after = rest.split_off(end);
                return Ok(Some(std::mem::replace(rest, after)));
            }
        }
        if stream.read_buf(rest).await? == 0 {
            return Ok(None);
        }
    }
}
