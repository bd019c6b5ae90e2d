//! Graph's responses, before it is known whether a batch is around them.

use hyper::StatusCode;
use serde_json::{Map, Value};

/// The media type of JSON, as Graph writes it.
pub(super) const JSON: &str = "application/json; odata.metadata=minimal; odata.streaming=true; \
                    IEEE754Compatible=false; charset=utf-8";

/// An answer, before it is known whether a batch is around it.
pub(crate) struct GraphResponse {
    /// The status.
    pub status: StatusCode,
    /// The body.
    pub body: Body,
    /// Where what was created stands.
    pub location: Option<String>,
    /// The preferences that were heard.
    pub applied: Vec<String>,
}

impl GraphResponse {
    /// An answer with nothing special to it.
    pub fn of(body: Body) -> Self {
        Self { status: StatusCode::OK, body, location: None, applied: Vec::new() }
    }

    /// An answer that says no more than that all went well.
    pub fn empty(status: StatusCode) -> Self {
        Self { status, ..Self::of(Body::Nothing) }
    }
}

/// The body of an answer.
pub(crate) enum Body {
    /// There is none.
    Nothing,
    /// JSON.
    Json(Value),
    /// Bytes of a media type.
    Bytes(&'static str, Vec<u8>),
}

/// The answer that all went well, with nothing to say.
pub(super) fn no_content() -> GraphResponse {
    GraphResponse::empty(StatusCode::NO_CONTENT)
}

/// The answer that it will be done.
pub(super) fn accepted() -> GraphResponse {
    GraphResponse { status: StatusCode::ACCEPTED, ..GraphResponse::of(Body::Nothing) }
}

/// An entity under its context.
pub(super) fn with_context(context: String, members: Map<String, Value>) -> Body {
    let mut entity = Map::new();
    entity.insert("@odata.context".to_owned(), context.into());
    entity.extend(members);
    Body::Json(Value::Object(entity))
}
