//! Several requests to Graph in one: `$batch`.
//!
//! Graph carries out the parts of a batch one by one, and each succeeds or fails by itself. Parts
//! that read are repeated after errors that may be temporary. Parts that write are sent once, and
//! again only if the response says that nothing was done.

use std::collections::HashMap;
use std::convert::identity;
use std::time::Duration;

use daysheet_core::call::progress;
use daysheet_core::error::{Error, ErrorKind, Result};
use graph_rs_sdk::http::Method;
use serde_json::{Map, Value, json};

use super::client::{GraphAccount, GraphRequest, IN_FLIGHT, PREFER, left_out, open};
use super::response::{sub_answers, too_long};

/// The maximum number of requests in a batch at Graph.
const BATCH: usize = 20;
/// The media type of JSON without OData's annotations, which are longer than a message's state.
const BARE: &str = "application/json;odata.metadata=none";
/// The maximum size of the response to a batch of writes, in bytes. Each part returns the whole
/// message, and a part that is not read is in doubt.
const MAX_WRITTEN: usize = 128 << 20;

/// Returns the number of permits for a batch: Graph sends the mailbox four parts at a time.
fn weight(parts: usize) -> u32 {
    u32::try_from(parts).unwrap_or(IN_FLIGHT).clamp(1, IN_FLIGHT)
}

/// One change in a batch.
#[derive(Debug, Clone)]
pub struct BatchChange {
    /// The HTTP method.
    pub method: Method,
    /// The resource, as [`GraphAccount::mailbox_url`] names it.
    pub request: String,
    /// The body. `None` is sent as an empty object where Graph requires a body.
    pub body: Option<Value>,
    /// True if the response need only confirm success (`return=minimal`).
    pub minimal: bool,
}

impl GraphAccount {
    /// Fetches the JSON of several requests, 20 per round trip. Returns one result for each, in
    /// order. Throttled parts are repeated.
    pub async fn batch(&self, requests: &[String]) -> Vec<Result<Value>> {
        if let [one] = requests {
            return vec![self.get(one).await];
        }
        self.batch_with(requests, &json!({ "Prefer": PREFER }), identity).await
    }

    /// Fetches like [`GraphAccount::batch`], reducing each result by `keep`. If the responses of a batch
    /// are too long together, its requests are sent singly.
    pub async fn batch_of_large(
        &self,
        requests: &[String],
        keep: fn(Value) -> Value,
    ) -> Vec<Result<Value>> {
        if let [one] = requests {
            return vec![self.get(one).await.map(keep)];
        }
        self.batch_with(requests, &json!({ "Prefer": PREFER }), keep).await
    }

    /// Fetches like [`GraphAccount::batch`], without OData's annotations.
    pub async fn batch_bare(&self, requests: &[String]) -> Vec<Result<Value>> {
        if let [one] = requests {
            return vec![self.get(one).await];
        }
        self.batch_with(requests, &json!({ "Prefer": PREFER, "Accept": BARE }), identity).await
    }

    /// Fetches like [`GraphAccount::batch`], for lists whose page size only a preference sets.
    pub async fn batch_of_pages(&self, requests: &[String], size: usize) -> Vec<Result<Value>> {
        let prefer = format!("{PREFER}, odata.maxpagesize={size}");
        self.batch_with(requests, &json!({ "Prefer": prefer }), identity).await
    }

    async fn batch_with(
        &self,
        requests: &[String],
        headers: &Value,
        keep: fn(Value) -> Value,
    ) -> Vec<Result<Value>> {
        let mut answers = Vec::with_capacity(requests.len());
        // One after the other, because each takes all the calls that the mailbox allows.
        progress::expect("items", requests.len());
        for some in requests.chunks(BATCH) {
            answers.extend(self.some(some, headers, keep).await);
            progress::done("items", some.len());
        }
        answers
    }

    /// Fetches at most 20 requests.
    async fn some(
        &self,
        requests: &[String],
        headers: &Value,
        keep: fn(Value) -> Value,
    ) -> Vec<Result<Value>> {
        let mut answers: HashMap<usize, Result<Value>> = HashMap::new();
        let mut open: Vec<usize> = (0..requests.len()).collect();
        let mut attempt = 0;
        while !open.is_empty() {
            attempt += 1;
            let mut found = match self.round(requests, &open, headers).await {
                Ok(found) => found,
                Err(error) if too_long(&error) && open.len() > 1 => {
                    for at in open {
                        let request = requests.get(at).map_or("", String::as_str);
                        // They are too long only together.
                        answers.insert(at, self.get(request).await.map(keep));
                    }
                    break;
                }
                Err(error) => {
                    answers.extend(open.iter().map(|at| (*at, Err(error.clone()))));
                    break;
                }
            };
            let mut wait = Duration::ZERO;
            let mut again = Vec::new();
            for at in open {
                let answer = found.remove(&at).unwrap_or_else(|| Err(left_out()));
                let later = answer.as_ref().err().and_then(|error| {
                    // A wait that is too long for this call still applies to the account's other
                    // calls.
                    if let ErrorKind::RateLimited(Some(after)) = error.kind() {
                        self.limiter.pause_for(after);
                    }
                    let wait = self.limiter.wait(attempt, error)?;
                    if error.kind() == ErrorKind::RateLimited(None) {
                        self.limiter.pause_for(wait);
                    }
                    Some(wait)
                });
                if let Some(after) = later {
                    wait = wait.max(after);
                    again.push(at);
                } else {
                    let request = requests.get(at).map_or("", String::as_str);
                    let answer = answer
                        .map(keep)
                        .map_err(|error| self.with_account(request, self.limiter.advise(error)));
                    answers.insert(at, answer);
                }
            }
            open = again;
            if !open.is_empty() {
                tokio::time::sleep(wait).await;
            }
        }
        (0..requests.len())
            .map(|at| answers.remove(&at).unwrap_or_else(|| Err(left_out())))
            .collect()
    }

    /// Makes one round trip for the requests at the positions `open`.
    async fn round(
        &self,
        requests: &[String],
        open: &[usize],
        headers: &Value,
    ) -> Result<HashMap<usize, Result<Value>>> {
        let parts: Vec<Value> = open
            .iter()
            .filter_map(|at| {
                Some(json!({
                    "id": at.to_string(),
                    "method": "GET",
                    "url": format!("/{}", requests.get(*at)?),
                    "headers": headers,
                }))
            })
            .collect();
        let body = &json!({ "requests": parts });
        let call = |_token| async {
            let call = GraphRequest {
                method: &Method::POST,
                body: Some(body),
                ..GraphRequest::get("$batch")
            };
            let found = sub_answers(self.send(call).await?.json()?, self.now())?;
            // A token may expire between the envelope and a part. Failing the round lets the
            // limiter refresh it.
            let refused = |answer: &Result<Value>| matches!(answer, Err(error) if error.kind() == ErrorKind::Provider(401));
            match found.values().find(|answer| refused(answer)) {
                Some(Err(error)) => Err(error.clone()),
                _ => Ok(found),
            }
        };
        self.limiter.read_weighted(weight(open.len()), call).await
    }

    /// Carries out changes, 20 per round trip, each once. Returns one result for each, in order.
    /// After [`ErrorKind::Network`] or [`ErrorKind::Timeout`] the outcome is unknown.
    ///
    /// A throttled part was certainly not carried out, and is sent again after the given time.
    pub async fn change_all(&self, parts: &[BatchChange]) -> Vec<Result<Option<Value>>> {
        let mut answers = Vec::with_capacity(parts.len());
        progress::expect("changes", parts.len());
        for some in parts.chunks(BATCH) {
            let changed = self.change_some(some).await;
            progress::done("changes", some.len());
            match changed {
                Ok(done) => answers.extend(done),
                Err(error) => {
                    // The remaining parts would wait as long, and fail the same way.
                    let not_tried = match error.kind() {
                        ErrorKind::Network | ErrorKind::Timeout => Error::new(
                            ErrorKind::Provider(503),
                            "it was not tried: Outlook had stopped responding",
                        )
                        .next("try again in a minute"),
                        _ => error.clone(),
                    };
                    answers.extend(some.iter().map(|_| Err(error.clone())));
                    answers.resize(parts.len(), Err(not_tried));
                    break;
                }
            }
        }
        answers
    }

    /// Carries out at most 20 changes. Fails if there was no response at all.
    async fn change_some(&self, parts: &[BatchChange]) -> Result<Vec<Result<Option<Value>>>> {
        let mut answers: HashMap<usize, Result<Option<Value>>> = HashMap::new();
        let mut waiting: Vec<usize> = (0..parts.len()).collect();
        let mut attempt = 0;
        let mut refreshed = false;
        while !waiting.is_empty() {
            attempt += 1;
            let (token, mut found) = match self.change_round(parts, &waiting).await {
                Ok(found) => found,
                // Nothing was confirmed yet, so the caller may treat all parts alike.
                Err(error) if answers.is_empty() => return Err(error),
                Err(error) => {
                    answers.extend(waiting.iter().map(|at| (*at, Err(error.clone()))));
                    break;
                }
            };
            let mut wait = Duration::ZERO;
            let mut again = Vec::new();
            let mut refused = false;
            for at in waiting {
                let answer = found.remove(&at).unwrap_or_else(|| Err(lost_part()));
                match &answer {
                    // A refused part was not carried out; it is sent again once, with a new token.
                    Err(error) if error.kind() == ErrorKind::Provider(401) && !refreshed => {
                        refused = true;
                        again.push(at);
                        continue;
                    }
                    Err(error) => {
                        // Only a throttled part was certainly not carried out.
                        if let ErrorKind::RateLimited(after) = error.kind()
                            && let Some(pause) = self.limiter.wait(attempt, error)
                        {
                            self.limiter.pause_for(after.unwrap_or(pause));
                            wait = wait.max(pause);
                            again.push(at);
                            continue;
                        }
                    }
                    Ok(_) => {}
                }
                let request = parts.get(at).map_or("", |part| part.request.as_str());
                let answer = answer
                    .map(|body| Some(body).filter(|body| !body.is_null()))
                    .map_err(|error| self.with_account(request, self.limiter.advise(open(error))));
                answers.insert(at, answer);
            }
            if refused {
                refreshed = true;
                if let Err(error) = self.limiter.tokens().refreshed_after_401(&token).await {
                    answers.extend(again.iter().map(|at| (*at, Err(error.clone()))));
                    break;
                }
            }
            waiting = again;
            if !waiting.is_empty() {
                tokio::time::sleep(wait).await;
            }
        }
        Ok((0..parts.len())
            .map(|at| answers.remove(&at).unwrap_or_else(|| Err(lost_part())))
            .collect())
    }

    /// Makes one round trip for the changes at the positions `waiting`; returns the token with the
    /// responses.
    async fn change_round(
        &self,
        parts: &[BatchChange],
        waiting: &[usize],
    ) -> Result<(String, HashMap<usize, Result<Value>>)> {
        let parts: Vec<Value> = waiting
            .iter()
            .filter_map(|at| {
                let part = parts.get(*at)?;
                let mut headers = Map::new();
                let prefer = if part.minimal {
                    format!("{PREFER}, return=minimal")
                } else {
                    PREFER.to_owned()
                };
                headers.insert("Prefer".to_owned(), prefer.into());
                // Graph refuses the whole batch if a part that writes has no body.
                let body = part.body.clone();
                let body = body.or_else(|| (part.method != Method::DELETE).then(|| json!({})));
                if body.is_some() {
                    headers.insert("Content-Type".to_owned(), "application/json".into());
                }
                let mut sent = json!({
                    "id": at.to_string(),
                    "method": part.method.as_str(),
                    "url": format!("/{}", part.request),
                    "headers": headers,
                });
                if let (Some(sent), Some(body)) = (sent.as_object_mut(), body) {
                    sent.insert("body".to_owned(), body);
                }
                Some(sent)
            })
            .collect();
        let body = &json!({ "requests": parts });
        let call = |token| async move {
            let call = GraphRequest {
                method: &Method::POST,
                body: Some(body),
                most: MAX_WRITTEN,
                ..GraphRequest::get("$batch")
            };
            let answer = self.send(call).await?.json()?;
            Ok((token, sub_answers(answer, self.now())?))
        };
        self.limiter.write_weighted(weight(parts.len()), call).await.map_err(|error| {
            // The writes behind an unreadable response may have been carried out.
            let unread = too_long(&error) || matches!(error.kind(), ErrorKind::Provider(500..=599));
            open(if unread {
                Error::new(ErrorKind::Provider(502), "Outlook's response was lost")
            } else {
                error
            })
        })
    }
}

/// Returns the error for a part without a response, which may have been carried out.
fn lost_part() -> Error {
    Error::new(
        ErrorKind::Network,
        "Outlook left one of several changes unanswered; whether it was done is unknown",
    )
    .next("check before retrying")
}
