//! The port of this machine that the browser is redirected to.
//!
//! For some minutes it is open to every program and web page on the machine, so all input is
//! untrusted: only `GET /` with the right state is answered, and everything else is refused,
//! whether a request for an icon, another path, a wrong state or a different protocol. Request
//! size, waiting time and concurrent connections are limited.
//!
//! `sign_in.rs` and its callers judge the response, and the page is shown once the outcome is
//! known.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderValue;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinSet;

use super::redirect::{CallbackOutcome, ConsentResponse, RedirectQuery, ResponseReceiver};

/// The maximum number of connections. Browsers open several, some of which they never use.
const CONNECTIONS: usize = 16;
/// The time limit for a connection to send its request's head.
const HEAD: Duration = Duration::from_secs(10);
/// The maximum size of a head, in bytes; hyper's minimum.
const HEAD_BYTES: usize = 8 * 1024;
/// The time limit for the last page to reach the browser.
const LAST_PAGE: Duration = Duration::from_secs(1);

/// The port while it is listened on; dropping this closes it immediately.
pub(super) struct RedirectListener {
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl RedirectListener {
    /// Begins to answer requests on `sockets`, passing responses to `paster`.
    pub(super) fn answer_on(sockets: Vec<TcpListener>, paster: ResponseReceiver) -> Self {
        let (stop, stopped) = watch::channel(false);
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let mut tasks = JoinSet::new();
        for socket in sockets {
            tasks.spawn(accept(socket, paster.clone(), places.clone(), stopped.clone()));
        }
        Self { stop, tasks }
    }

    /// Closes the port once pages in progress have reached the browser, or after a moment.
    pub(super) async fn finish(mut self) {
        let _ = self.stop.send(true);
        let closed = async { while self.tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_PAGE, closed).await;
    }
}

async fn accept(
    socket: TcpListener,
    paster: ResponseReceiver,
    places: Arc<Semaphore>,
    mut stop: watch::Receiver<bool>,
) {
    // Dropping this task drops it, and closes every connection.
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            _ = stop.changed() => break,
        };
        // Finished connections would otherwise stay in the set until the end.
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) => {
                // Connections beyond the limit are closed rather than queued.
                if let Ok(place) = places.clone().try_acquire_owned() {
                    let (paster, stop) = (paster.clone(), stop.clone());
                    connections.spawn(async move {
                        serve(stream, paster, stop).await;
                        drop(place);
                    });
                }
            }
            // Probably out of file handles, which passes.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    // Refuses new connections while the last pages are being sent.
    drop(socket);
    while connections.join_next().await.is_some() {}
}

async fn serve(stream: TcpStream, paster: ResponseReceiver, mut stop: watch::Receiver<bool>) {
    let service = service_fn(move |request| {
        let paster = paster.clone();
        async move { Ok::<_, Infallible>(answer(&request, &paster).await) }
    });
    let connection = http1::Builder::new()
        // An idle connection would take up one of the few places.
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // Connections with another protocol end with an error of no interest.
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = stop.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn answer(request: &Request<Incoming>, paster: &ResponseReceiver) -> Response<Full<Bytes>> {
    let uri = request.uri();
    if request.method() != Method::GET || uri.path() != "/" {
        return page(StatusCode::NOT_FOUND, "Nothing here", "");
    }
    match paster.read(uri.query().unwrap_or_default()) {
        RedirectQuery::Nothing => page(
            StatusCode::NOT_FOUND,
            "Nothing here",
            "Daysheet waits here for a sign-in to return.",
        ),
        RedirectQuery::WrongState => page(
            StatusCode::BAD_REQUEST,
            "Another sign-in",
            "This is not the sign-in that Daysheet is waiting for. Open the newest address it has \
             shown.",
        ),
        RedirectQuery::Answer(answer) => {
            let (sender, outcome) = oneshot::channel();
            // The page waits for the outcome of the sign-in, which has yet to exchange the code.
            let taken = paster.hand_in(ConsentResponse { answer, page: Some(sender) });
            match (taken, outcome.await) {
                (Ok(()), Ok(CallbackOutcome::SignedIn(address))) => page(
                    StatusCode::OK,
                    "Signed in",
                    &format!(
                        "Signed in to {} as {address}. You can close this page.",
                        paster.title()
                    ),
                ),
                (Ok(()), Ok(CallbackOutcome::Failed(why))) => {
                    page(StatusCode::OK, "Not signed in", &format!("Not signed in: {why}."))
                }
                _ => page(
                    StatusCode::GONE,
                    "This sign-in is over",
                    "This sign-in is over. You can close this page.",
                ),
            }
        }
    }
}

/// Returns a page without external resources, which browsers do not store.
fn page(status: StatusCode, title: &str, text: &str) -> Response<Full<Bytes>> {
    let text = html_escape::encode_text(text);
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <h1>{title}</h1><p>{text}</p></html>\n"
    );
    let mut response = Response::new(Full::new(Bytes::from(html)));
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'"),
        // The address contains the code, which must not be sent to other sites.
        (REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
