//! What is read from a client only as fast as it is answered and the client reads.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ClientRequest, ErrorCode, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::lines::{Lines, MAX_LINE_BYTES};
use crate::failure;

/// The most requests that are taken without an answer that the client has read.
const MAX_UNANSWERED: usize = 64;

/// How long the oldest of so many requests is waited for before one more message is read: it may be what cancels it.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many requests that were too long may wait for their errors.
const OVERLONG_QUEUE: usize = 16;

/// A line of JSON for each message, within bounds.
pub(super) struct Bounded<R: AsyncRead + Unpin, W: AsyncWrite> {
    inner: AsyncRwTransport<RoleServer, Lines<R>, W>,
    unanswered: Arc<Unanswered>,
    /// Since when there have been too many.
    full_since: Option<Instant>,
    overlong: mpsc::Receiver<RequestId>,
    /// Cancelled when nothing more comes.
    ended: CancellationToken,
}

impl<R, W> Bounded<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(reader: R, writer: W, ended: CancellationToken) -> Self {
        let (report, overlong) = mpsc::channel(OVERLONG_QUEUE);
        let inner = AsyncRwTransport::new(Lines::new(reader, report), writer)
            .with_max_line_length(MAX_LINE_BYTES);
        Self { inner, unanswered: Arc::default(), full_since: None, overlong, ended }
    }

    fn note(&self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => match request.request {
                // It is open for as long as the client likes.
                ClientRequest::SubscriptionsListenRequest(_) => {}
                _ => self.unanswered.requests().push_back(request.id.clone()),
            },
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.unanswered.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }
}

impl<R, W> Transport<RoleServer> for Bounded<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let writing = Writing::new(Arc::clone(&self.unanswered), id);
        let sent = self.inner.send(message);
        async move {
            let result = sent.await;
            drop(writing);
            result
        }
    }

    /// May be dropped and called again: nothing that was read gets lost.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.unanswered.room(&mut self.full_since).await;
            let id = tokio::select! {
                biased;
                Some(id) = self.overlong.recv() => id,
                message = self.inner.receive() => {
                    match &message {
                        Some(message) => self.note(message),
                        None => self.ended.cancel(),
                    }
                    return message;
                }
            };
            let text = format!("The request is longer than {MAX_LINE_BYTES} bytes");
            let error = failure::error(ErrorCode::INVALID_REQUEST, &text, None);
            self.unanswered.requests().push_back(id.clone());
            let send = self.send(JsonRpcMessage::error(error, Some(id)));
            tokio::spawn(async move {
                if let Err(error) = send.await {
                    tracing::debug!(%error, "an error was not sent");
                }
            });
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// The requests that were read and whose answers were not written yet, oldest first.
#[derive(Default)]
struct Unanswered {
    requests: Mutex<VecDeque<RequestId>>,
    /// How many messages are being written.
    writing: AtomicUsize,
    changed: Notify,
}

impl Unanswered {
    fn requests(&self) -> MutexGuard<'_, VecDeque<RequestId>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove(&self, id: &RequestId) {
        let mut requests = self.requests();
        if let Some(place) = requests.iter().position(|known| known == id) {
            requests.remove(place);
        }
        drop(requests);
        self.changed.notify_one();
    }

    /// Waits until one more message may be read. Where the client reads and answers stay away, the oldest request
    /// counts no longer after a while, so that a client can always cancel.
    async fn room(&self, full_since: &mut Option<Instant>) {
        while self.requests().len() >= MAX_UNANSWERED {
            let since = *full_since.get_or_insert_with(Instant::now);
            let blocked = self.writing.load(Ordering::Acquire) > 0;
            tokio::select! {
                () = self.changed.notified() => {}
                () = sleep_until(since + PATIENCE), if !blocked => {
                    self.requests().pop_front();
                }
            }
        }
        *full_since = None;
    }
}

/// A message that is being written, and the request that it answers.
struct Writing {
    unanswered: Arc<Unanswered>,
    answers: Option<RequestId>,
}

impl Writing {
    fn new(unanswered: Arc<Unanswered>, answers: Option<RequestId>) -> Self {
        unanswered.writing.fetch_add(1, Ordering::AcqRel);
        Self { unanswered, answers }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.unanswered.writing.fetch_sub(1, Ordering::AcqRel);
        match &self.answers {
            Some(id) => self.unanswered.remove(id),
            None => self.unanswered.changed.notify_one(),
        }
    }
}
