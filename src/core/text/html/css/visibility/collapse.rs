//! Collapsed columns of tables, and the cells in them.

use std::rc::Rc;

use super::super::style::computed::ComputedStyle;
use super::super::values::property::CssProperty as P;
use super::walker::VisibilityWalker;
use crate::text::html::tree::{DomTree, NodeId};

impl VisibilityWalker<'_> {
    /// Returns for each column of a table whether it is collapsed, or `None` if all are shown.
    pub(super) fn collapsed(&mut self, table: NodeId, style: &ComputedStyle) -> Option<Rc<[bool]>> {
        /// Maximum number of columns; no table has more.
        const MAX_COLUMNS: usize = 1_000;
        let tree = self.tree;
        let groups = |id: &NodeId| matches!(tree.name(*id), "colgroup" | "col");
        let mut columns = Vec::new();
        for group in tree.children(table).filter(groups) {
            let outer = self.cascade.style_of(group, style);
            let mut cols = tree.children(group).filter(groups).take(MAX_COLUMNS).peekable();
            let alone = cols.peek().is_none().then_some(group);
            for col in cols.chain(alone) {
                let own = self.cascade.style_of(col, &outer);
                let span = number(tree, col, "span");
                let hidden = own.is(P::Visibility, "collapse");
                columns.extend(std::iter::repeat_n(hidden, span));
                // With too many columns, all count as shown.
                if columns.len() > MAX_COLUMNS {
                    return None;
                }
            }
        }
        columns.contains(&true).then(|| columns.into())
    }
}

/// Returns true for a cell in collapsed columns alone.
pub fn is_collapsed(tree: &DomTree, cell: NodeId, columns: &[bool]) -> bool {
    // Siblings include the white space around cells, hence the factor.
    let before = std::iter::successors(tree.before(cell), |id| tree.before(*id))
        .take(columns.len() * 3)
        .filter(|id| matches!(tree.name(*id), "td" | "th"));
    let at: usize = before.map(|id| number(tree, id, "colspan")).sum();
    let own = columns.get(at..).unwrap_or_default();
    let mut own = own.iter().take(number(tree, cell, "colspan")).peekable();
    own.peek().is_some() && own.all(|collapsed| *collapsed)
}

/// Returns the number in an attribute, from 1 to 1,000; 1 without the attribute.
fn number(tree: &DomTree, id: NodeId, name: &str) -> usize {
    tree.attr(id, name).and_then(|n| n.trim().parse::<usize>().ok()).unwrap_or(1).clamp(1, 1_000)
}
