//! Schemas of tools in the subsets that model APIs accept, and calls in the form these require.

use daysheet::tools::{self, Tool};
use daysheet_core::encode::{Delimiter, Format};
use serde_json::{Map, Value, json};

/// Returns a keyword of a schema that the subsets lack.
fn unknown_keyword(schema: &Value) -> Option<&String> {
    let known = ["type", "description", "properties", "required", "items", "enum"];
    schema.as_object().unwrap().keys().find(|name| !known.contains(&name.as_str()))
}

/// Returns a schema in OpenAI's strict form: all members are required, optional ones may be null,
/// and objects have only the listed members.
fn openai(schema: &Value) -> Result<Value, String> {
    let mut strict = schema.clone();
    if let Some(unknown) = unknown_keyword(schema) {
        return Err(format!("{unknown} is not supported: {schema}"));
    }
    match schema["type"].as_str() {
        Some("object") => {
            let Some(properties) = schema["properties"].as_object() else {
                return Err(format!("an object without listed members: {schema}"));
            };
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let mut all = Map::new();
            for (name, property) in properties {
                let mut property = openai(property)?;
                if !required.contains(&json!(name)) {
                    property["type"] = json!([property["type"], "null"]);
                    if let Some(words) = property["enum"].as_array_mut() {
                        words.push(Value::Null);
                    }
                }
                all.insert(name.clone(), property);
            }
            strict["required"] = all.keys().cloned().collect();
            strict["properties"] = Value::Object(all);
            strict["additionalProperties"] = false.into();
        }
        Some("array") => strict["items"] = openai(&schema["items"])?,
        Some("string" | "integer" | "boolean") => {}
        _ => return Err(format!("no single type: {schema}")),
    }
    Ok(strict)
}

/// Returns the part of a function's parameters that Gemini refuses; it accepts a subset of OpenAPI
/// 3.0.
fn refused_by_gemini(schema: &Value) -> Option<String> {
    if let Some(unknown) = unknown_keyword(schema) {
        return Some(format!("{unknown} is not supported: {schema}"));
    }
    match schema["type"].as_str() {
        Some("object") => {
            let properties = schema["properties"].as_object();
            // Gemini's API refuses objects without members.
            let Some(properties) = properties.filter(|properties| !properties.is_empty()) else {
                return Some(format!("no members: {schema}"));
            };
            let required = schema["required"].as_array().into_iter().flatten();
            let mut named = required.map(|name| name.as_str().unwrap());
            if let Some(name) = named.find(|name| !properties.contains_key(*name)) {
                return Some(format!("{name} is required and not listed"));
            }
            properties.values().find_map(refused_by_gemini)
        }
        Some("array") if schema["items"].is_object() => refused_by_gemini(&schema["items"]),
        Some("string") => {
            let words = schema["enum"].as_array().into_iter().flatten();
            let mut wrong = words.filter(|word| word.as_str().is_none_or(str::is_empty));
            wrong.next().map(|word| format!("{word} is no word: {schema}"))
        }
        Some("integer" | "boolean") if schema["enum"].is_null() => None,
        _ => Some(format!("not in the subset: {schema}")),
    }
}

/// Returns the part of a tool that Anthropic's API refuses. It validates names, and requires an
/// object without a choice of schemas.
fn refused_by_anthropic(name: &str, schema: &Value) -> Option<String> {
    let is_name = |name: &str, most: usize| {
        (1..=most).contains(&name.len())
            && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-.".contains(&c))
    };
    let choice = ["anyOf", "oneOf", "allOf"].into_iter().find(|word| !schema[word].is_null());
    if !is_name(name, 64) || schema["type"] != "object" || choice.is_some() {
        return Some(format!("{name}: {schema}"));
    }
    let mut names = schema["properties"].as_object().unwrap().keys();
    names.find(|name| !is_name(name, 64)).cloned()
}

/// Returns a call as a strict schema requires it: every member is present, given or null.
fn demanded(strict: &Value, given: &Map<String, Value>) -> Map<String, Value> {
    let mut call = Map::new();
    for (name, property) in strict["properties"].as_object().unwrap() {
        let value = match given.get(name) {
            Some(Value::Array(items)) if property["items"]["type"] == "object" => {
                let whole = |item: &Value| demanded(&property["items"], item.as_object().unwrap());
                items.iter().map(|item| Value::Object(whole(item))).collect()
            }
            Some(value) => value.clone(),
            None => Value::Null,
        };
        call.insert(name.clone(), value);
    }
    call
}

/// Returns a call of each tool with few arguments, in the schema's types.
fn call(tool: &Tool) -> Value {
    match tool.name {
        "mail_read" => json!({"ids": ["m1"]}),
        "mail_attachment" => json!({"ids": ["a1"], "as": "text"}),
        "mail_draft" => json!({"mode": "reply", "id": "m1", "body": "Yes"}),
        "mail_send" => json!({"id": "d1"}),
        "mail_modify" => json!({"ids": ["m1"], "do": "read"}),
        "lookup" => json!({"kind": "contacts"}),
        "calendar_save" => json!({"events": [{"title": "x", "start": "tomorrow 9am"}]}),
        "calendar_delete" => json!({"ids": ["e1"]}),
        "calendar_respond" => json!({"id": "e1", "response": "accept"}),
        "manage" => json!({"kind": "rule", "op": "create", "set": ["when=from:ann", "then=read"]}),
        "output_read" => json!({"id": "kpe3ayevpe"}),
        "accounts" => json!({"op": "add", "provider": "google"}),
        _ => json!({}),
    }
}

#[test]
fn schemas_are_in_every_subset_and_null_is_not_given() {
    let format = Format::Toon(Delimiter::Tab);
    let read = |tool, arguments: Map<String, Value>| {
        let request = tools::read(tool, Some(arguments), format).unwrap();
        format!("{:?} {:?} {:?}", request.action, request.view, request.format)
    };
    for tool in tools::TOOLS {
        let schema = Value::Object(tools::input_schema(tool));
        assert_eq!(refused_by_gemini(&schema), None, "{}", tool.name);
        assert_eq!(refused_by_anthropic(tool.name, &schema), None, "{}", tool.name);
        let strict = openai(&schema).unwrap_or_else(|why| panic!("{}: {why}", tool.name));
        let given = call(tool).as_object().unwrap().clone();
        let call = demanded(&strict, &given);
        assert!(call.len() > 2 && call.values().any(Value::is_null), "{}: {call:?}", tool.name);
        assert_eq!(read(tool, call.clone()), read(tool, given.clone()), "{}", tool.name);
        // Some libraries make every argument required and none nullable.
        let filled = call.into_iter().map(|(name, value)| {
            let filler = match schema["properties"][&name]["type"].as_str() {
                Some("integer") if name != "limit" => json!(0),
                Some("string") if schema["properties"][&name]["enum"].is_null() => json!(""),
                _ => Value::Null,
            };
            (name, if value.is_null() { filler } else { value })
        });
        assert_eq!(read(tool, filled.collect()), read(tool, given), "{}", tool.name);
    }
}
