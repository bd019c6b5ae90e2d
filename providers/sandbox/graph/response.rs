//! Graph's responses, inside or outside a batch.

use hyper::{Method, StatusCode};
use serde_json::{Map, Value, json};

use crate::http::HttpRequest;
use crate::json::merge;

/// The media type of JSON with minimal annotations.
const JSON: &str = "application/json; odata.metadata=minimal; odata.streaming=true; \
                    IEEE754Compatible=false; charset=utf-8";
/// The media type of JSON without annotations.
const BARE: &str = "application/json; odata.metadata=none; odata.streaming=true; \
                    IEEE754Compatible=false; charset=utf-8";
/// The annotations that `odata.metadata=none` keeps.
const CONTROLS: [&str; 3] = ["@odata.nextLink", "@odata.deltaLink", "@odata.count"];

/// A response, inside or outside a batch.
pub(crate) struct GraphResponse {
    /// The status.
    pub status: StatusCode,
    /// The body.
    pub body: GraphBody,
    /// The address of a created entity.
    pub location: Option<String>,
    /// The preferences that were applied.
    pub applied: Vec<String>,
    /// True for JSON without annotations.
    pub bare: bool,
}

impl GraphResponse {
    /// Returns a response with status 200 and no further headers.
    pub fn new(body: GraphBody) -> Self {
        Self { status: StatusCode::OK, body, location: None, applied: Vec::new(), bare: false }
    }

    /// Returns the media type of JSON.
    pub fn json(&self) -> &'static str {
        if self.bare { BARE } else { JSON }
    }

    /// Returns the header fields beyond the usual ones.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let applied = Some(self.applied.join(", ")).filter(|applied| !applied.is_empty());
        let fields = [("preference-applied", applied), ("location", self.location.clone())];
        fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Leaves out the result of a change (`Prefer: return=minimal`) and annotations (`Accept: …;
    /// odata.metadata=none`) if the request asks for it.
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

    /// Returns a response without a body.
    pub fn empty(status: StatusCode) -> Self {
        Self { status, ..Self::new(GraphBody::Nothing) }
    }
}

/// The body of an answer.
pub(crate) enum GraphBody {
    /// No body.
    Nothing,
    /// JSON.
    Json(Value),
    /// Bytes of a media type.
    Bytes(&'static str, Vec<u8>),
}

/// Returns 204 for a completed request.
pub(super) fn no_content() -> GraphResponse {
    GraphResponse::empty(StatusCode::NO_CONTENT)
}

/// Returns 202 for a request that is carried out later.
pub(super) fn accepted() -> GraphResponse {
    GraphResponse { status: StatusCode::ACCEPTED, ..GraphResponse::new(GraphBody::Nothing) }
}

/// Returns an entity with its context URL.
pub(super) fn with_context(context: String, members: Map<String, Value>) -> GraphBody {
    // Graph writes the context first, and the maps keep their order.
    let mut entity = json!({ "@odata.context": context });
    merge(&mut entity, members.into());
    GraphBody::Json(entity)
}

/// Removes annotations from JSON.
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
