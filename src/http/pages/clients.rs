//! Links that add Daysheet to an MCP client with one click.

use maud::{Markup, html};

use super::state::{PageState, SignInWay};
use crate::deeplinks::{DeeplinkClient, ServerStart};

/// Returns the section with a link for each client that has one.
///
/// The pages of `daysheet ui` let the client start this program. A server's pages let it connect to
/// the server, unless that needs a token: a link has no room for a header.
pub(super) fn client_links(pages: &PageState) -> Markup {
    let Some(start) = server_start(pages) else {
        return html! {};
    };
    html! {
        h2 #clients { "Connect a client" }
        div.row {
            @for client in DeeplinkClient::ALL {
                a.button href=(client.link(&start)) { "Add to " (client.name()) }
            }
        }
        p.hint {
            "The client has to be installed, and asks before it adds Daysheet. For other clients, run "
            code { "daysheet install" } "."
        }
    }
}

fn server_start(pages: &PageState) -> Option<ServerStart> {
    match pages.way() {
        SignInWay::Link => {
            let program = std::env::current_exe().ok()?.to_str()?.to_owned();
            let args = vec!["serve".to_owned()];
            Some(ServerStart::Program { program, args, env: Vec::new() })
        }
        SignInWay::Open | SignInWay::Issuer(_) => {
            Some(ServerStart::Url(pages.address("/mcp").into()))
        }
        SignInWay::Token | SignInWay::Closed => None,
    }
}
