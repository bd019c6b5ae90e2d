//! Classification of single elements, independent of their surroundings.
//!
//! This covers the names that make blocks, the classes and styles by which mail programs mark
//! quotes and tight paragraphs, and the text for a picture. The renderer decides how they are
//! written.

use super::css;
use super::tree::{DomTree, NodeId};
use crate::text::orders::gives_orders_unseen;
use crate::text::{cell, clip, invisible};

/// Maximum length of a picture's description.
const MAX_ALT: usize = 80;
/// Maximum length of a link's text that is examined.
const MAX_LINK_TEXT: usize = 500;

/// Descriptions without information.
const EMPTY_ALTS: &[&str] = &[
    "image", "img", "picture", "photo", "logo", "icon", "banner", "spacer", "pixel", "blank",
    "tracking", "tracking pixel", "divider", "line", "header", "footer", "inline image",
];

/// Returns the text for a picture: its description if that is informative, or the emoji that it
/// shows.
pub fn picture_text(tree: &DomTree, id: NodeId) -> Option<String> {
    let alt = cell(tree.attr(id, "alt")?);
    // People who see the picture do not read its description, so a long one is a hiding place.
    if alt.chars().count() > MAX_ALT {
        return None;
    }
    let lower = alt.to_lowercase();
    let file = [".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp"]
        .iter()
        .any(|ending| lower.ends_with(ending));
    let address = lower.starts_with("http:") || lower.starts_with("https:");
    if alt.is_empty() || file || address || EMPTY_ALTS.contains(&lower.as_str()) {
        return None;
    }
    if alt.chars().all(|c| invisible::is_emoji(c) || invisible::is_invisible(c)) {
        return Some(alt);
    }
    if !alt.contains(char::is_alphanumeric) {
        return None;
    }
    // People who see the picture would not read the order.
    if gives_orders_unseen(&alt) {
        return Some("[image: orders to an assistant, not shown]".to_owned());
    }
    Some(format!("[image: {alt}]"))
}

/// Returns raised or lowered text in superscript or subscript characters; `None` if one of its
/// characters has no such form.
pub fn shifted(text: &str, raised: bool) -> Option<String> {
    let signs = if raised {
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾"
    } else {
        "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"
    };
    let sign = |c: char| {
        let c = if matches!(c, '−' | '–') { '-' } else { c };
        "0123456789+-=()".find(c).and_then(|at| signs.chars().nth(at))
    };
    let text = text.trim();
    (!text.is_empty() && text.len() <= 20).then(|| text.chars().map(sign).collect()).flatten()
}

/// Returns true if the element is or contains a picture.
pub fn pictured(tree: &DomTree, id: NodeId) -> bool {
    let background = |id: NodeId| {
        css::declarations(tree.attr(id, "style").unwrap_or_default())
            .iter()
            .any(|d| d.name.starts_with("background") && d.value.contains("url("))
    };
    tree.below(id).chain([id]).any(|id| matches!(tree.name(id), "img" | "area") || background(id))
}

/// Returns the text of a link on one line, up to the limit.
pub fn text_below(tree: &DomTree, id: NodeId) -> String {
    let mut out = String::new();
    for id in tree.below(id) {
        if let Some(text) = tree.text(id) {
            out.push_str(text);
        } else if is_block(tree.name(id)) || tree.name(id) == "br" {
            out.push(' ');
        } else if tree.name(id) == "img" {
            out.push_str(&picture_text(tree, id).unwrap_or_default());
        }
        if out.len() > MAX_LINK_TEXT {
            break;
        }
    }
    clip(cell(&out), MAX_LINK_TEXT).0
}

/// Returns the length of the longest run of backticks, for a fence that exceeds it.
pub fn longest_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Returns true for an element on lines of its own.
pub fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "legend"
            | "li"
            | "listing"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "optgroup"
            | "option"
            | "p"
            | "plaintext"
            | "pre"
            | "search"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "textarea"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
            | "xmp"
    )
}

/// Returns true for a paragraph of an editor that writes blank lines as paragraphs.
pub fn tight(tree: &DomTree, id: NodeId) -> bool {
    let class = tree.attr(id, "class").unwrap_or_default();
    let office = ["MsoNormal", "MsoPlainText", "xmsonormal", "MsoListParagraph"]
        .iter()
        .any(|name| class.contains(name));
    office
        || css::declarations(tree.attr(id, "style").unwrap_or_default())
            .iter()
            .any(|d| d.name == "margin" && d.value.split(' ').all(|part| part.starts_with('0')))
}

/// The role of an element in a message, as mail programs mark it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessagePart {
    /// The line that introduces a quote.
    Attribution,
    /// The header lines above an older message, which reaches to the end of the message.
    Heading,
    /// A container of quotes, and of answers between them.
    Container,
    /// A container of quoted text.
    Quote,
    /// A signature.
    Signature,
}

/// Classes and ids that mark a role.
const PARTS: &[(&str, MessagePart)] = &[
    ("gmail_attr", MessagePart::Attribution),
    ("moz-cite-prefix", MessagePart::Attribution),
    ("divrplyfwdmsg", MessagePart::Heading),
    ("outlookmessageheader", MessagePart::Heading),
    ("mail-editor-reference-message-container", MessagePart::Heading),
    ("gmail_quote", MessagePart::Container),
    ("yahoo_quoted", MessagePart::Quote),
    ("protonmail_quote", MessagePart::Quote),
    ("tutanota_quote", MessagePart::Quote),
    ("zmail_extra", MessagePart::Quote),
    ("gmail_signature", MessagePart::Signature),
    ("moz-signature", MessagePart::Signature),
    ("protonmail_signature_block", MessagePart::Signature),
    ("signature", MessagePart::Signature),
    ("ms-outlook-mobile-signature", MessagePart::Signature),
    ("applemailsignature", MessagePart::Signature),
];
/// Styles of the line that Outlook draws above the headers of an older message.
const LINES: &[&str] = &["border-top:solid#e1e1e11.0pt", "border-top:solid#b5c4df1.0pt"];

/// Returns the role of an element in a message; `None` for most.
pub fn message_part(tree: &DomTree, id: NodeId) -> Option<MessagePart> {
    let classes = tree.attr(id, "class").unwrap_or_default().split_ascii_whitespace();
    let named = classes.map(|class| (class, true));
    let mut named = named.chain(tree.attr(id, "id").map(|id| (id.trim(), false)));
    let found = named.find_map(|(name, class)| {
        // Outlook and others prefix the names in HTML that they quote.
        let name = name.trim_start_matches("x_");
        // As a class, this name may be the site's own; only the id is the mail program's.
        let (known, part) = PARTS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known))?;
        (*known != "signature" || !class).then_some(*part)
    });
    let labelled = || {
        let text = text_below(tree, id);
        text.split(' ').take(3).any(|word| word.ends_with([':', '：']))
    };
    // Without its header lines, a heading would turn everything below it into history.
    found.filter(|part| *part != MessagePart::Heading || labelled()).or_else(|| {
        let style = tree.attr(id, "style").filter(|style| style.contains("border-top"))?;
        let style = style.replace(|c: char| c.is_ascii_whitespace(), "").to_ascii_lowercase();
        let lined = LINES.iter().any(|line| style.contains(line));
        (lined && labelled()).then_some(MessagePart::Heading)
    })
}

/// Returns true if an element contains a `blockquote`.
pub fn has_blockquote(tree: &DomTree, id: NodeId) -> bool {
    tree.below(id).any(|id| tree.name(id) == "blockquote")
}

/// Returns true for a `blockquote` that its mail program marks as a quote.
pub fn is_cited(tree: &DomTree, id: NodeId) -> bool {
    tree.attr(id, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("cite"))
        || tree.attr(id, "cite").is_some()
        || matches!(message_part(tree, id), Some(MessagePart::Quote | MessagePart::Container))
}
