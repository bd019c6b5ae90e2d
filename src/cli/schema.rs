//! `daysheet schema`: the tables and columns of the registry.

use std::process::ExitCode;

use daysheet_core::describe;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::schemas::{self, TABLES};

/// Prints the columns of one table or of all tables; with `json`, as JSON Schema.
pub(super) fn run(name: Option<&str>, json: bool) -> Result<ExitCode> {
    let tables = match name {
        None => TABLES.to_vec(),
        Some(name) => vec![schemas::find(name).ok_or_else(|| {
            let known: Vec<_> = TABLES.iter().map(|table| table.name).collect();
            Error::new(ErrorKind::NotFound, format!("there is no table `{name}`"))
                .next(format!("use one of: {}", known.join(", ")))
        })?],
    };
    if json {
        let schemas: Vec<_> = tables.iter().map(|table| describe::json_schema(table)).collect();
        match schemas.as_slice() {
            [one] => say!("{one:#}"),
            many => say!("{:#}", serde_json::Value::from(many)),
        }
        return Ok(ExitCode::SUCCESS);
    }
    for (at, table) in tables.iter().enumerate() {
        if at > 0 {
            say!();
        }
        say!("{} (version {}): {}", table.name, table.version, table.doc);
        for field in table.fields {
            say!(
                "  {:<16} {:<5} {:<7} {}",
                field.name,
                field.level.word(),
                field.kind.word(),
                field.doc
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}
