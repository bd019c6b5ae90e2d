//! Query parameters of a Google method, checked as strictly as Google does: unknown names and
//! values of a wrong type are errors and never ignored.

use hyper::StatusCode;
use serde_json::Value;

use super::error;
use super::fields::{FieldMask, FieldShape};
use crate::http::HttpResponse;

/// Parameters that every method accepts.
const COMMON: [&str; 13] = [
    "alt", "fields", "key", "prettyPrint", "quotaUser", "userIp", "access_token", "oauth_token",
    "callback", "$.xgafv", "$alt", "uploadType", "upload_protocol",
];

/// The parameters of one request.
pub(crate) struct RequestParameters<'a> {
    pairs: &'a [(String, String)],
    mask: Option<FieldMask>,
}

impl<'a> RequestParameters<'a> {
    /// Checks the names against a method's parameters, and the mask against its answer.
    pub fn check(
        pairs: &'a [(String, String)],
        known: &[&str],
        shape: &FieldShape,
    ) -> Result<Self, HttpResponse> {
        let unknown = pairs
            .iter()
            .map(|(name, _)| name.as_str())
            .find(|name| !known.contains(name) && !COMMON.contains(name));
        if let Some(name) = unknown {
            return Err(error::unknown_name(name));
        }
        let mut params = Self { pairs, mask: None };
        // Google also offers `media` and `proto`, which no route here can answer.
        if let Some(alt) = params.value("alt").filter(|alt| *alt != "json") {
            return Err(error::invalid_value("alt", "type.googleapis.com/Alt", alt));
        }
        let mask = params.value("fields").map(|text| FieldMask::parse(text, shape)).transpose();
        params.mask = mask.map_err(|selection| error::invalid_fields(&selection))?;
        Ok(params)
    }

    /// Returns the value of a parameter if it is present and not empty.
    pub fn value(&self, name: &str) -> Option<&'a str> {
        self.all(name).next().filter(|value| !value.is_empty())
    }

    /// Returns all values of a repeatable parameter.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let pairs = self.pairs.iter().filter(move |(key, _)| key == name);
        pairs.map(|(_, value)| value.as_str())
    }

    /// Returns a number. Zero counts as unset, as in Google's protobuf definitions.
    pub fn number(&self, name: &str, field: &str) -> Result<Option<usize>, HttpResponse> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let number: u32 =
            value.parse().map_err(|_| error::invalid_value(field, "TYPE_UINT32", value))?;
        Ok(usize::try_from(number).ok().filter(|number| *number > 0))
    }

    /// Returns a boolean; false if it is missing.
    pub fn flag(&self, name: &str, field: &str) -> Result<bool, HttpResponse> {
        match self.value(name).map(str::to_ascii_lowercase).as_deref() {
            Some("true" | "1") => Ok(true),
            None | Some("false" | "0") => Ok(false),
            Some(value) => Err(error::invalid_value(field, "TYPE_BOOL", value)),
        }
    }

    /// Returns the answer to a successful request: masked, and indented unless `prettyPrint` is
    /// false.
    pub fn answer(&self, value: Value) -> HttpResponse {
        let value = match &self.mask {
            Some(mask) => mask.apply(value),
            None => value,
        };
        let compact = matches!(self.value("prettyPrint"), Some("false" | "0"));
        let body =
            if compact { serde_json::to_vec(&value) } else { serde_json::to_vec_pretty(&value) };
        HttpResponse::json(StatusCode::OK, body.unwrap_or_default())
    }
}
