//! The resources in MCP's form: schemas of tables, outputs and attachments.

use daysheet_core::{describe, schemas};
use rmcp::model::{ErrorData, Resource, ResourceTemplate};
use serde_json::json;

use super::result;
use crate::outputs;
use crate::pipeline::ATTACHMENT_URI;

/// The media type of schemas.
pub(super) const SCHEMA_TYPE: &str = "application/schema+json";

/// Returns the listed resources: the schemas.
pub(super) fn resources() -> Vec<Resource> {
    schemas::TABLES
        .iter()
        .map(|table| {
            let mut resource = Resource::new(describe::uri(table), table.name);
            resource.description = Some(table.doc.to_owned());
            resource.mime_type = Some(SCHEMA_TYPE.to_owned());
            resource
        })
        .collect()
}

/// Returns the templates of the other resources.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let outputs = ResourceTemplate::new(format!("{}{{hash}}", outputs::URI), "output")
        .with_description("The whole of a shortened answer; its notes give the hash")
        .with_mime_type(result::TEXT_TYPE);
    let files = ResourceTemplate::new(format!("{ATTACHMENT_URI}{{handle}}"), "attachment")
        .with_description("An attachment; mail_attachment as=link gives the address");
    vec![outputs, files]
}

/// Returns the name of the tool without which a resource is not offered.
pub(super) fn needed_tool(uri: &str) -> Option<&'static str> {
    if uri.starts_with(ATTACHMENT_URI) {
        Some("mail_attachment")
    } else {
        uri.starts_with(outputs::URI).then_some("output_read")
    }
}

/// Returns the schema at an address.
///
/// # Errors
/// Not found if no table has this address.
pub(super) fn schema(uri: &str) -> Result<String, ErrorData> {
    let table = schemas::TABLES.iter().find(|table| describe::uri(table) == uri);
    let Some(table) = table else {
        return Err(ErrorData::resource_not_found(
            "no such resource; resources/list names them",
            Some(json!({ "uri": uri })),
        ));
    };
    Ok(describe::json_schema(table).to_string())
}
