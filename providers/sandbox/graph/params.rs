//! The options of a Graph request: OData's query options, and the `PreferHeader` header. Options that a
//! path does not have are refused.

use serde_json::{Map, Value};

use super::error::{GraphError, bad_request, no_property, unreadable};
use super::types::ObjectType;
use crate::http::HttpRequest;

/// The maximum number of rows of a page.
pub(super) const MAX_TOP: usize = 1_000;

/// The only supported `$expand`, without spaces: the size of a message (PidTagMessageSize).
const SIZE: &str = "singleValueExtendedProperties($filter=ideq'Integer0x0E08')";

/// The query options of a request.
#[derive(Debug, Default)]
pub(crate) struct QueryOptions<'a> {
    /// The selected properties.
    pub select: Option<Vec<&'a str>>,
    /// True if the size of messages is requested, the only MAPI property that is supported.
    pub sizes: bool,
    /// The number of rows of a page.
    pub top: Option<usize>,
    /// The number of rows to skip.
    pub skip: Option<usize>,
    /// True if the total is requested.
    pub count: bool,
    /// The filter.
    pub filter: Option<&'a str>,
    /// The order.
    pub orderby: Option<&'a str>,
    /// The search, with its quotes.
    pub search: Option<&'a str>,
    /// The token of a page.
    pub skiptoken: Option<&'a str>,
    /// The token at which the last round of changes ended.
    pub deltatoken: Option<&'a str>,
    /// True if hidden folders are requested too.
    pub hidden: bool,
}

impl<'a> QueryOptions<'a> {
    /// Reads the query options of a request. `known` are the options of its path.
    pub fn read(request: &'a HttpRequest, known: &[&str]) -> Result<Self, GraphError> {
        let mut options = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for (name, value) in &request.query {
            let (name, value) = (name.as_str(), value.trim());
            if name.eq_ignore_ascii_case("includeHiddenFolders") {
                options.hidden = truth(name, value)?;
                continue;
            }
            if !name.starts_with('$') {
                // Graph ignores parameters that are not options of OData.
                continue;
            }
            if !known.contains(&name) {
                let message = format!("The query parameter '{name}' is not supported.");
                return Err(bad_request(message));
            }
            if seen.contains(&name) {
                let message = format!("Query option '{name}' was specified more than once.");
                return Err(unreadable(message));
            }
            seen.push(name);
            match name {
                "$select" => options.select = Some(list(value)).filter(|list| !list.is_empty()),
                "$expand" if value.replace(' ', "").eq_ignore_ascii_case(SIZE) => {
                    options.sizes = true;
                }
                "$expand" => {
                    let message = format!("Parsing OData Select and Expand failed: {value}");
                    return Err(bad_request(message));
                }
                "$top" => options.top = Some(number(name, value)?),
                "$skip" => options.skip = Some(number(name, value)?),
                "$count" => options.count = truth(name, value)?,
                "$filter" => options.filter = Some(value),
                "$orderby" => options.orderby = Some(value).filter(|value| !value.is_empty()),
                "$search" => options.search = Some(value),
                "$skiptoken" => options.skiptoken = Some(value),
                _ => options.deltatoken = Some(value),
            }
        }
        // Graph refuses a page size that is out of range instead of reducing it.
        if let Some(top) = options.top.filter(|top| *top == 0 || *top > MAX_TOP) {
            let message = format!(
                "Invalid value '{top}' for $top query option found. The $top query option \
                 requires an integer value from 1 to {MAX_TOP}."
            );
            return Err(unreadable(message));
        }
        Ok(options)
    }

    /// Checks the selected properties against a type.
    pub fn check_type(&self, of: &ObjectType) -> Result<(), GraphError> {
        self.check_select(&of.names().collect::<Vec<_>>(), of.name)
    }

    /// Checks the selected properties against a type's.
    pub fn check_select(&self, properties: &[&str], kind: &str) -> Result<(), GraphError> {
        let mut selected = self.select.iter().flatten();
        match selected.find(|name| **name != "*" && !properties.contains(name)) {
            Some(name) => Err(no_property(name, kind)),
            None => Ok(()),
        }
    }

    /// Returns true if a property belongs in the answer.
    pub fn wants(&self, name: &str) -> bool {
        match &self.select {
            Some(selected) => selected.contains(&name) || selected.contains(&"*"),
            None => true,
        }
    }

    /// Returns true if a property is selected by name, for those that are not returned by default.
    pub fn names(&self, name: &str) -> bool {
        self.select.as_ref().is_some_and(|selected| selected.contains(&name))
    }

    /// Reduces an object to the selected properties, its id and annotations.
    pub fn cut(&self, mut members: Map<String, Value>) -> Map<String, Value> {
        members.retain(|name, _| name == "id" || name.starts_with('@') || self.wants(name));
        members
    }
}

/// Splits a list of names.
fn list(value: &str) -> Vec<&str> {
    let names = value.split(',').map(str::trim);
    names.filter(|name| !name.is_empty()).collect()
}

fn number(name: &str, value: &str) -> Result<usize, GraphError> {
    let number = value.parse::<u32>().ok();
    number.and_then(|number| usize::try_from(number).ok()).ok_or_else(|| {
        unreadable(format!(
            "Invalid value '{value}' for {name} query option found. The {name} query option \
                 requires a non-negative integer value."
        ))
    })
}

fn truth(name: &str, value: &str) -> Result<bool, GraphError> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(unreadable(format!(
            "Invalid value '{value}' for {name} query option found. Valid values are 'true' or \
             'false'."
        ))),
    }
}

/// Returns the query in a value of `$search`. It is in double quotes, with backslashes before inner
/// ones. Without quotes, only words are allowed.
pub(super) fn unquote(value: &str) -> Result<String, String> {
    let wrong = |char: char, position: usize| {
        format!(
            "Syntax error: character '{char}' is not valid at position {position} in '{value}'."
        )
    };
    let Some(inner) = value.strip_prefix('"') else {
        let odd = value
            .char_indices()
            .find(|(_, char)| !(char.is_alphanumeric() || char.is_whitespace()));
        return match odd {
            Some((position, char)) => Err(wrong(char, position)),
            None if value.is_empty() => Err("The query parameter '$search' is empty.".to_owned()),
            None => Ok(value.to_owned()),
        };
    };
    let mut text = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some((_, next @ ('"' | '\\'))) => text.push(next),
                // Other escapes are left to the search's own syntax.
                Some((_, next)) => text.extend(['\\', next]),
                None => return Err(wrong('\\', at + 1)),
            },
            '"' => {
                return match chars.next() {
                    Some((at, char)) => Err(wrong(char, at + 1)),
                    None => Ok(text),
                };
            }
            _ => text.push(char),
        }
    }
    Err(format!("Syntax error: unterminated string literal in '{value}'."))
}

/// The preferences of a request.
#[derive(Debug)]
pub(crate) struct PreferHeader {
    /// True for immutable ids.
    pub immutable: bool,
    /// The number of rows of a page without `$top`.
    pub page_size: Option<usize>,
    /// The name of the zone to return events in.
    pub zone: Option<String>,
    /// The preferences that were applied, as the response lists them.
    pub applied: Vec<String>,
}

impl PreferHeader {
    /// Reads the preferences of a request. Unknown ones are ignored (RFC 7240, 2).
    pub fn read(request: &HttpRequest) -> Self {
        let mut prefer =
            Self { immutable: false, page_size: None, zone: None, applied: Vec::new() };
        let lines = request.headers.get_all("prefer").iter();
        for item in lines.filter_map(|line| line.to_str().ok()) {
            for wish in item.split([',', ';']).map(str::trim) {
                if prefer.hear(wish) {
                    prefer.applied.push(wish.to_owned());
                }
            }
        }
        prefer
    }

    /// Reads one preference. Returns false if it is unknown or malformed.
    fn hear(&mut self, wish: &str) -> bool {
        let Some((name, value)) = wish.split_once('=') else {
            return false;
        };
        let plain = value.trim().trim_matches('"');
        let value = plain.to_ascii_lowercase();
        match (name.trim().to_ascii_lowercase().as_str(), value.as_str()) {
            ("outlook.timezone", _) => self.zone = Some(plain.to_owned()),
            ("idtype", "immutableid") => self.immutable = true,
            ("odata.maxpagesize", size) => match size.parse::<usize>() {
                Ok(size @ 1..=MAX_TOP) => self.page_size = Some(size),
                // A size out of range is a preference that cannot be met, not an error.
                _ => return false,
            },
            _ => return false,
        }
        true
    }
}
