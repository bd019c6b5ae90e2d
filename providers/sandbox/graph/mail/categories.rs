//! The category list of a mailbox. Messages keep a category that is removed from the list.

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::flag;
use crate::graph::error::{GraphError, category_exists, invalid_property, not_found};
use crate::graph::exchange::ExchangeMailbox;
use crate::graph::exchange::index::TABS;
use crate::graph::ids::named_guid;
use crate::graph::request::RequestContext;
use crate::graph::response::{GraphResponse, no_content};
use crate::graph::types::mail::CATEGORY;
use crate::graph::types::read::read;
use crate::json::object;

/// The path of the category list.
const OF: &str = "outlook/masterCategories";

/// Returns the list: Gmail's tabs, the user's labels, and created categories.
pub(crate) fn all(store: ExchangeMailbox<'_>) -> Vec<Map<String, Value>> {
    let tabs = TABS.iter().map(|(_, name)| (*name).to_owned());
    let own = store.mailbox.labels.all().map(|(_, name)| name.to_owned());
    let names = tabs.chain(own);
    store.with(|exchange| {
        let listed = names.filter(|name| !exchange.unlisted.contains(&name.to_lowercase()));
        // Graph has 25 colours, `preset0` to `preset24`.
        (0..25)
            .cycle()
            .zip(listed)
            .map(|(place, name)| {
                let colour = exchange.colours.get(&name.to_lowercase());
                let colour = colour.cloned().unwrap_or_else(|| format!("preset{place}"));
                object(json!({
                    "id": named_guid(&format!("{}/{name}", store.mailbox.address)),
                    "displayName": name,
                    "color": colour,
                }))
            })
            .collect()
    })
}

/// Returns the category with an id.
pub(crate) fn read_category(
    store: ExchangeMailbox<'_>,
    id: &str,
) -> Result<Map<String, Value>, GraphError> {
    let mut all = all(store).into_iter();
    all.find(|category| category.get("id").and_then(Value::as_str) == Some(id))
        .ok_or_else(not_found)
}

/// Creates a category.
pub(crate) fn create(context: &RequestContext<'_>) -> Result<GraphResponse, GraphError> {
    let members = read(context.request, &CATEGORY, true)?;
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    let name = text("displayName").map(str::trim);
    let name = name.filter(|name| !name.is_empty() && name.chars().count() <= 255);
    let name = name.ok_or_else(invalid_property)?;
    let colour = text("color").unwrap_or("none").to_owned();
    let named = |category: &Map<String, Value>| {
        let known = category.get("displayName").and_then(Value::as_str);
        known.is_some_and(|known| known.to_lowercase() == name.to_lowercase())
    };
    if all(context.present()?).iter().any(named) {
        return Err(category_exists());
    }
    flag::category(context.state, context.address(), name).ok_or_else(not_found)?;
    context.with(|exchange| {
        // Only now: a category that a message has, but the list has not, becomes part of the list.
        exchange.unlisted.remove(&name.to_lowercase());
        exchange.colours.insert(name.to_lowercase(), colour);
    });
    let made = all(context.present()?).into_iter().find(named);
    Ok(context.entity(made.ok_or_else(not_found)?, OF, StatusCode::CREATED))
}

/// Changes the colour of a category. As at Graph, its name cannot be changed.
pub(crate) fn change(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let members = read(context.request, &CATEGORY, true)?;
    let known = read_category(context.present()?, id)?;
    let name = known.get("displayName").and_then(Value::as_str);
    let name = name.unwrap_or_default().to_owned();
    let new_name = members.get("displayName").and_then(Value::as_str);
    if new_name.is_some_and(|new_name| new_name != name) {
        return Err(invalid_property());
    }
    if let Some(colour) = members.get("color").and_then(Value::as_str) {
        context.with(|exchange| exchange.colours.insert(name.to_lowercase(), colour.to_owned()));
    }
    let category = read_category(context.present()?, id)?;
    Ok(context.entity(category, OF, StatusCode::OK))
}

/// Removes a category from the list.
pub(crate) fn delete(context: &RequestContext<'_>, id: &str) -> Result<GraphResponse, GraphError> {
    let known = read_category(context.present()?, id)?;
    let name = known.get("displayName").and_then(Value::as_str);
    let name = name.unwrap_or_default().to_lowercase();
    context.with(|exchange| {
        exchange.colours.remove(&name);
        exchange.unlisted.insert(name);
    });
    Ok(no_content())
}
