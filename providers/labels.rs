//! Label names as Gmail's search spells them. Outlook's adapter uses the same rules, so that a
//! query has the same meaning at both.

/// Gmail's own categories; any other category is searched for as a label.
const CATEGORIES: &[&str] =
    &["primary", "social", "promotions", "updates", "forums", "reservations", "purchases"];

/// Returns true if Gmail's search treats both names as the same label.
pub fn same_label(one: &str, other: &str) -> bool {
    label(one) == label(other)
}

/// Returns true for one of Gmail's categories.
pub fn is_category(name: &str) -> bool {
    CATEGORIES.contains(&name.to_lowercase().as_str())
}

/// Returns a label's name as Gmail's search spells it.
pub fn label(name: &str) -> String {
    name.to_lowercase()
        .chars()
        .map(|c| {
            if c.is_whitespace() || matches!(c, '/' | '(' | ')' | '"' | '{' | '}' | '&' | '|') {
                '-'
            } else {
                c
            }
        })
        .collect()
}
