//! The tree of a parsed message: all nodes in one vector, linked by index.
//!
//! The parser's own reference-counted tree would be walked, copied and freed by recursion, so a
//! message of sixty thousand nested elements would overflow the stack. Here, no function recurses:
//! [`TreeWalk`] visits a tree of any depth in constant space. Elements are interpreted elsewhere.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, QualName, local_name, ns};

use crate::text::fence::{MARKS, theirs};

/// A node's index in the vector.
pub type NodeId = usize;

/// The document itself.
pub const ROOT: NodeId = 0;

/// The content of a node.
enum NodeData {
    Element {
        name: Rc<QualName>,
        attrs: Vec<Attribute>,
    },
    Text(String),
    /// The document, and the contents of templates.
    Other,
}

/// A node and its neighbours.
pub struct DomNode {
    data: NodeData,
    parent: Option<NodeId>,
    before: Option<NodeId>,
    after: Option<NodeId>,
    first: Option<NodeId>,
    last: Option<NodeId>,
}

/// A parsed document.
pub struct DomTree {
    nodes: Vec<DomNode>,
    quirks: bool,
}

impl DomTree {
    fn new() -> Self {
        let mut tree = Self { nodes: Vec::new(), quirks: false };
        tree.add(NodeData::Other);
        tree
    }

    fn add(&mut self, data: NodeData) -> NodeId {
        self.nodes.push(DomNode {
            data,
            parent: None,
            before: None,
            after: None,
            first: None,
            last: None,
        });
        self.nodes.len() - 1
    }

    fn node(&self, id: NodeId) -> Option<&DomNode> {
        self.nodes.get(id)
    }

    /// Returns the element's name in lower case; empty for other nodes.
    pub fn name(&self, id: NodeId) -> &str {
        match self.node(id).map(|node| &node.data) {
            Some(NodeData::Element { name, .. }) => &name.local,
            _ => "",
        }
    }

    /// Returns the value of an attribute of an element.
    pub fn attr(&self, id: NodeId, name: &str) -> Option<&str> {
        match self.node(id).map(|node| &node.data) {
            Some(NodeData::Element { attrs, .. }) => {
                attrs.iter().find(|attr| &*attr.name.local == name).map(|attr| &*attr.value)
            }
            _ => None,
        }
    }

    /// Returns the text of a text node.
    pub fn text(&self, id: NodeId) -> Option<&str> {
        match self.node(id).map(|node| &node.data) {
            Some(NodeData::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the parent of a node.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.parent
    }

    /// Returns the first child of a node.
    pub fn first(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.first
    }

    /// Returns the previous sibling of a node.
    pub fn before(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.before
    }

    /// Returns the next sibling of a node.
    pub fn after(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.after
    }

    /// Returns the node itself, whose address identifies it.
    pub fn node_ref(&self, id: NodeId) -> Option<&DomNode> {
        self.node(id)
    }

    /// Returns true for an element with attributes.
    pub fn has_attributes(&self, id: NodeId) -> bool {
        matches!(self.node(id).map(|node| &node.data), Some(NodeData::Element { attrs, .. }) if !attrs.is_empty())
    }

    /// Returns the namespace of an element; empty for other nodes.
    pub fn namespace(&self, id: NodeId) -> &str {
        match self.node(id).map(|node| &node.data) {
            Some(NodeData::Element { name, .. }) => &name.ns,
            _ => "",
        }
    }

    /// Returns true for an element of HTML, not of SVG or MathML.
    pub fn is_html(&self, id: NodeId) -> bool {
        match self.node(id).map(|node| &node.data) {
            Some(NodeData::Element { name, .. }) => name.ns == ns!(html),
            _ => false,
        }
    }

    /// Returns true if browsers read the document in quirks mode.
    pub fn is_quirks(&self) -> bool {
        self.quirks
    }

    /// Appends text to an element.
    pub fn append_text(&mut self, parent: NodeId, text: &str) {
        self.insert_text(parent, None, text);
    }

    /// Returns the children, in order.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let first = self.node(id).and_then(|node| node.first);
        std::iter::successors(first, |&child| self.node(child)?.after)
    }

    /// Returns `id` and all nodes below it, parents first.
    pub fn below(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut walk = TreeWalk::new(id);
        std::iter::from_fn(move || {
            loop {
                match walk.step(self)? {
                    WalkStep::Enter(id) => return Some(id),
                    WalkStep::Leave(_) => {}
                }
            }
        })
    }

    /// Removes a node, with all nodes below it, from the tree.
    pub fn detach(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get_mut(id) else {
            return;
        };
        let (parent, before, after) = (node.parent.take(), node.before.take(), node.after.take());
        match before.and_then(|b| self.nodes.get_mut(b)) {
            Some(before) => before.after = after,
            None => {
                if let Some(parent) = parent.and_then(|p| self.nodes.get_mut(p)) {
                    parent.first = after;
                }
            }
        }
        match after.and_then(|a| self.nodes.get_mut(a)) {
            Some(after) => after.before = before,
            None => {
                if let Some(parent) = parent.and_then(|p| self.nodes.get_mut(p)) {
                    parent.last = before;
                }
            }
        }
    }

    /// Inserts `child` into `parent`, before `next` or at the end.
    fn insert(&mut self, parent: NodeId, next: Option<NodeId>, child: NodeId) {
        self.detach(child);
        let before = match next {
            Some(next) => self.node(next).and_then(|node| node.before),
            None => self.node(parent).and_then(|node| node.last),
        };
        if let Some(node) = self.nodes.get_mut(child) {
            node.parent = Some(parent);
            node.before = before;
            node.after = next;
        }
        match before.and_then(|b| self.nodes.get_mut(b)) {
            Some(before) => before.after = Some(child),
            None => {
                if let Some(parent) = self.nodes.get_mut(parent) {
                    parent.first = Some(child);
                }
            }
        }
        match next.and_then(|n| self.nodes.get_mut(n)) {
            Some(next) => next.before = Some(child),
            None => {
                if let Some(parent) = self.nodes.get_mut(parent) {
                    parent.last = Some(child);
                }
            }
        }
    }

    /// Inserts text into `parent`, before `next` or at the end; a text node before it is extended.
    fn insert_text(&mut self, parent: NodeId, next: Option<NodeId>, text: &str) {
        let before = match next {
            Some(next) => self.node(next).and_then(|node| node.before),
            None => self.node(parent).and_then(|node| node.last),
        };
        if let Some(DomNode { data: NodeData::Text(there), .. }) =
            before.and_then(|b| self.nodes.get_mut(b))
        {
            there.push_str(text);
            return;
        }
        let id = self.add(NodeData::Text(text.to_owned()));
        self.insert(parent, next, id);
    }
}

/// One step of a [`TreeWalk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkStep {
    /// A node is reached; its children come next.
    Enter(NodeId),
    /// All nodes below this one have been visited.
    Leave(NodeId),
}

/// A walk over a node and all nodes below it that needs no stack.
pub struct TreeWalk {
    root: NodeId,
    last: Option<WalkStep>,
    over: bool,
}

impl TreeWalk {
    /// Starts a walk at `root`.
    pub fn new(root: NodeId) -> Self {
        Self { root, last: None, over: false }
    }

    /// Returns the next step, or `None` when the root has been left.
    pub fn step(&mut self, tree: &DomTree) -> Option<WalkStep> {
        let next = match self.last {
            None => WalkStep::Enter(self.root),
            Some(WalkStep::Enter(id)) => match tree.node(id).and_then(|node| node.first) {
                Some(child) if !self.over => WalkStep::Enter(child),
                _ => WalkStep::Leave(id),
            },
            Some(WalkStep::Leave(id)) if id == self.root => return None,
            Some(WalkStep::Leave(id)) => match tree.node(id)?.after {
                Some(sibling) => WalkStep::Enter(sibling),
                None => WalkStep::Leave(tree.parent(id)?),
            },
        };
        self.over = false;
        self.last = Some(next);
        Some(next)
    }

    /// Skips the children of the node just entered.
    pub fn pass_over(&mut self) {
        self.over = true;
    }
}

/// A node as the parser refers to it. The name is included, because the parser constantly asks for
/// the names of open elements.
#[derive(Clone)]
pub struct NodeHandle {
    id: NodeId,
    name: Rc<QualName>,
}

/// The sink into which the parser builds the tree.
pub struct DomBuilder {
    tree: RefCell<DomTree>,
    nameless: Rc<QualName>,
    /// The number of nodes, for the parser's limits.
    pub size: Cell<usize>,
}

impl DomBuilder {
    /// Creates a builder with an empty document.
    pub fn new() -> Self {
        Self {
            tree: RefCell::new(DomTree::new()),
            nameless: Rc::new(QualName::new(None, ns!(), local_name!(""))),
            size: Cell::new(1),
        }
    }

    fn other(&self) -> NodeHandle {
        NodeHandle {
            id: self.tree.borrow_mut().add(NodeData::Other),
            name: Rc::clone(&self.nameless),
        }
    }

    /// Inserts a node or a text before `next`, or at the end.
    fn insert_child(&self, parent: NodeId, next: Option<NodeId>, child: NodeOrText<NodeHandle>) {
        let mut tree = self.tree.borrow_mut();
        match child {
            NodeOrText::AppendNode(node) => tree.insert(parent, next, node.id),
            NodeOrText::AppendText(text) => {
                // A style sheet keeps such characters, because the names that it is matched against
                // do.
                if text.contains(MARKS) && tree.name(parent) != "style" {
                    tree.insert_text(parent, next, &theirs(text.to_string()));
                } else {
                    tree.insert_text(parent, next, &text);
                }
            }
        }
        self.size.set(tree.nodes.len());
    }
}

impl TreeSink for DomBuilder {
    type Handle = NodeHandle;
    type Output = DomTree;
    type ElemName<'a> = &'a QualName;

    fn finish(self) -> DomTree {
        self.tree.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeHandle {
        NodeHandle { id: ROOT, name: Rc::clone(&self.nameless) }
    }

    fn elem_name<'a>(&'a self, target: &'a NodeHandle) -> &'a QualName {
        &target.name
    }

    fn create_element(
        &self,
        name: QualName,
        mut attrs: Vec<Attribute>,
        _: ElementFlags,
    ) -> NodeHandle {
        // Values that selectors match are never shown; without their marks, they would match other
        // selectors.
        let named = |name: &str| matches!(name, "class" | "id") || name.starts_with("data-");
        let marked = |attr: &&mut Attribute| attr.value.contains(MARKS) && !named(&attr.name.local);
        for attr in attrs.iter_mut().filter(marked) {
            attr.value = theirs(attr.value.to_string()).into();
        }
        let name = Rc::new(name);
        let data = NodeData::Element { name: Rc::clone(&name), attrs };
        let id = self.tree.borrow_mut().add(data);
        NodeHandle { id, name }
    }

    fn create_comment(&self, _: StrTendril) -> NodeHandle {
        self.other()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> NodeHandle {
        self.other()
    }

    fn append(&self, parent: &NodeHandle, child: NodeOrText<NodeHandle>) {
        self.insert_child(parent.id, None, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeHandle,
        prev_element: &NodeHandle,
        child: NodeOrText<NodeHandle>,
    ) {
        let parent = self.tree.borrow().parent(element.id);
        match parent {
            Some(parent) => self.insert_child(parent, Some(element.id), child),
            None => self.insert_child(prev_element.id, None, child),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, _: &NodeHandle) -> NodeHandle {
        // The content of a template is never shown, so it may go anywhere outside the document.
        self.other()
    }

    fn same_node(&self, x: &NodeHandle, y: &NodeHandle) -> bool {
        x.id == y.id
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.tree.borrow_mut().quirks = mode == QuirksMode::Quirks;
    }

    fn append_before_sibling(&self, sibling: &NodeHandle, new_node: NodeOrText<NodeHandle>) {
        let parent = self.tree.borrow().parent(sibling.id);
        if let Some(parent) = parent {
            self.insert_child(parent, Some(sibling.id), new_node);
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeHandle, attrs: Vec<Attribute>) {
        let mut tree = self.tree.borrow_mut();
        if let Some(DomNode { data: NodeData::Element { attrs: there, .. }, .. }) =
            tree.nodes.get_mut(target.id)
        {
            for attr in attrs {
                let ours = attr.value.contains(MARKS);
                if !ours && there.iter().all(|known| known.name != attr.name) {
                    there.push(attr);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeHandle) {
        self.tree.borrow_mut().detach(target.id);
    }

    fn reparent_children(&self, node: &NodeHandle, new_parent: &NodeHandle) {
        let mut tree = self.tree.borrow_mut();
        while let Some(child) = tree.node(node.id).and_then(|node| node.first) {
            tree.insert(new_parent.id, None, child);
        }
    }
}
