//! Graph's responses, before it is known whether a batch is around them.

use hyper::{Method, StatusCode};
use serde_json::{Map, Value};

use crate::http::HttpRequest;

/// The media type of JSON, as Graph writes it.
const JSON: &str = "application/json; odata.metadata=minimal; odata.streaming=true; \
                    IEEE754Compatible=false; charset=utf-8";
/// The same without annotations.
const BARE: &str = "application/json; odata.metadata=none; odata.streaming=true; \
                    IEEE754Compatible=false; charset=utf-8";
/// The annotations that stay.
const CONTROLS: [&str; 3] = ["@odata.nextLink", "@odata.deltaLink", "@odata.count"];

/// An answer, before it is known whether a batch is around it.
pub(crate) struct GraphResponse {
    /// The status.
    pub status: StatusCode,
    /// The body.
    pub body: GraphBody,
    /// Where what was created stands.
    pub location: Option<String>,
    /// The preferences that were heard.
    pub applied: Vec<String>,
    /// True for JSON without annotations.
    pub bare: bool,
}

impl GraphResponse {
    /// An answer with nothing special to it.
    pub fn of(body: GraphBody) -> Self {
        Self { status: StatusCode::OK, body, location: None, applied: Vec::new(), bare: false }
    }

    /// The media type of JSON.
    pub fn json(&self) -> &'static str {
        if self.bare { BARE } else { JSON }
    }

    /// Leaves out what the request can do without: what a change has made, annotations.
    pub fn heeding(mut self, request: &HttpRequest) -> Self {
        let says = |name, what| {
            let lines = request.headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
            let mut words = lines.flat_map(|line| line.split([',', ';']));
            words.any(|word| word.trim().eq_ignore_ascii_case(what))
        };
        let changed = request.method == Method::PATCH && matches!(self.body, GraphBody::Json(_));
        if changed && says("prefer", "return=minimal") {
            self.applied.push("return=minimal".to_owned());
            (self.status, self.body) = (StatusCode::NO_CONTENT, GraphBody::Nothing);
        }
        if let (GraphBody::Json(value), true) =
            (&mut self.body, says("accept", "odata.metadata=none"))
        {
            strip(value);
            self.bare = true;
        }
        self
    }

    /// An answer that says no more than that all went well.
    pub fn empty(status: StatusCode) -> Self {
        Self { status, ..Self::of(GraphBody::Nothing) }
    }
}

/// The body of an answer.
pub(crate) enum GraphBody {
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
    GraphResponse { status: StatusCode::ACCEPTED, ..GraphResponse::of(GraphBody::Nothing) }
}

/// An entity under its context.
pub(super) fn with_context(context: String, members: Map<String, Value>) -> GraphBody {
    let mut entity = Map::new();
    entity.insert("@odata.context".to_owned(), context.into());
    entity.extend(members);
    GraphBody::Json(Value::Object(entity))
}

/// Takes annotations out of JSON.
fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !name.contains("@odata.") || CONTROLS.contains(&&**name));
            members.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}
