//! Connections: how many at once, how long they may say nothing, how long they may take nothing.
//!
//! What hyper bounds itself, the head of an HTTP/1 request and the pings of HTTP/2, is not here.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum_server::accept::Accept;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;

use crate::server::Limits;

/// Bytes that tell HTTP/2 from HTTP/1: the preface. Until they are there nothing else bounds a silent client.
const PREFACE: usize = 24;

/// Wraps every connection.
#[derive(Clone)]
pub(super) struct Guard<A = ()> {
    inner: A,
    slots: Arc<Semaphore>,
    opening: Duration,
    stall: Duration,
}

impl Guard {
    /// From the limits.
    pub(super) fn new(limits: &Limits) -> Self {
        let slots = Arc::new(Semaphore::new(limits.connections));
        Self { inner: (), slots, opening: limits.head_time, stall: limits.stall_time }
    }

    /// Around what makes a stream of a connection.
    pub(super) fn around<A>(self, inner: A) -> Guard<A> {
        Guard { inner, slots: self.slots, opening: self.opening, stall: self.stall }
    }
}

impl<A, S> Accept<TcpStream, S> for Guard<A>
where
    A: Accept<TcpStream, S>,
    A::Future: Send + 'static,
{
    type Stream = Guarded<A::Stream>;
    type Service = A::Service;
    type Future = Pin<Box<dyn Future<Output = io::Result<(Self::Stream, Self::Service)>> + Send>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let Ok(permit) = Arc::clone(&self.slots).try_acquire_owned() else {
            return Box::pin(async { Err(io::Error::other("too many connections")) });
        };
        let (opening, stall) = (self.opening, self.stall);
        let inner = self.inner.accept(stream, service);
        Box::pin(async move {
            let (stream, service) = inner.await?;
            let opening = Some((0, Box::pin(tokio::time::sleep(opening))));
            Ok((Guarded { stream, opening, stall, stalled: None, _permit: permit }, service))
        })
    }
}

/// A connection under guard.
pub(super) struct Guarded<S> {
    stream: S,
    /// How many bytes came, and until when there must be [`PREFACE`].
    opening: Option<(usize, Pin<Box<Sleep>>)>,
    stall: Duration,
    /// Since nothing more could be written: until when something must be.
    stalled: Option<Pin<Box<Sleep>>>,
    _permit: OwnedSemaphorePermit,
}

impl<S> Guarded<S> {
    /// A write that makes no progress in time is an error.
    fn watch<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let stall = self.stall;
        let until = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall)));
        ready!(until.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(cx, buf);
        let Some((came, until)) = &mut this.opening else { return polled };
        match polled {
            Poll::Ready(done) => {
                *came += buf.filled().len() - before;
                if *came >= PREFACE {
                    this.opening = None;
                }
                Poll::Ready(done)
            }
            Poll::Pending => {
                ready!(until.as_mut().poll(cx));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.watch(cx, polled)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_write_vectored(cx, bytes);
        this.watch(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_flush(cx);
        this.watch(cx, polled)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.stream).poll_shutdown(cx);
        this.watch(cx, polled)
    }
}
