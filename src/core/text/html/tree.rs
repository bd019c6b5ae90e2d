//! The tree a parsed mail stands in: all nodes in one vector, linked by index.
//!
//! The parser's own reference-counted tree would be walked, copied and freed
//! by recursion, which a mail of sixty thousand nested elements turns into a
//! stack overflow. Here nothing recurses: [`Walk`] goes over a tree of any
//! depth in constant space. What elements mean is not known here.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, QualName, local_name, ns};

use crate::text::fence::{MARKS, theirs};

/// A node's place in the vector.
pub type Id = usize;

/// The document itself.
pub const ROOT: Id = 0;

/// What a node is.
enum Data {
    Element {
        name: Rc<QualName>,
        attrs: Vec<Attribute>,
    },
    Text(String),
    /// The document, and the contents of templates.
    Other,
}

/// A node and its neighbours.
pub struct Node {
    data: Data,
    parent: Option<Id>,
    before: Option<Id>,
    after: Option<Id>,
    first: Option<Id>,
    last: Option<Id>,
}

/// A parsed document.
pub struct Tree {
    nodes: Vec<Node>,
    quirks: bool,
}

impl Tree {
    fn new() -> Self {
        let mut tree = Self { nodes: Vec::new(), quirks: false };
        tree.add(Data::Other);
        tree
    }

    fn add(&mut self, data: Data) -> Id {
        self.nodes.push(Node {
            data,
            parent: None,
            before: None,
            after: None,
            first: None,
            last: None,
        });
        self.nodes.len() - 1
    }

    fn node(&self, id: Id) -> Option<&Node> {
        self.nodes.get(id)
    }

    /// Returns the element's name in lower case; empty for anything else.
    pub fn name(&self, id: Id) -> &str {
        match self.node(id).map(|node| &node.data) {
            Some(Data::Element { name, .. }) => &name.local,
            _ => "",
        }
    }

    /// Returns the value of an attribute of an element.
    pub fn attr(&self, id: Id, name: &str) -> Option<&str> {
        match self.node(id).map(|node| &node.data) {
            Some(Data::Element { attrs, .. }) => {
                attrs.iter().find(|attr| &*attr.name.local == name).map(|attr| &*attr.value)
            }
            _ => None,
        }
    }

    /// Returns the text of a text node.
    pub fn text(&self, id: Id) -> Option<&str> {
        match self.node(id).map(|node| &node.data) {
            Some(Data::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the node that holds this one.
    pub fn parent(&self, id: Id) -> Option<Id> {
        self.node(id)?.parent
    }

    /// Returns the first node in this one.
    pub fn first(&self, id: Id) -> Option<Id> {
        self.node(id)?.first
    }

    /// Returns the node before this one in the same parent.
    pub fn before(&self, id: Id) -> Option<Id> {
        self.node(id)?.before
    }

    /// Returns the node after this one in the same parent.
    pub fn after(&self, id: Id) -> Option<Id> {
        self.node(id)?.after
    }

    /// Returns the node itself, which tells nodes apart.
    pub fn node_ref(&self, id: Id) -> Option<&Node> {
        self.node(id)
    }

    /// Returns true for an element with attributes.
    pub fn has_attributes(&self, id: Id) -> bool {
        matches!(self.node(id).map(|node| &node.data), Some(Data::Element { attrs, .. }) if !attrs.is_empty())
    }

    /// Returns the namespace of an element; empty for anything else.
    pub fn namespace(&self, id: Id) -> &str {
        match self.node(id).map(|node| &node.data) {
            Some(Data::Element { name, .. }) => &name.ns,
            _ => "",
        }
    }

    /// Returns true for an element of HTML, not of SVG or MathML.
    pub fn is_html(&self, id: Id) -> bool {
        match self.node(id).map(|node| &node.data) {
            Some(Data::Element { name, .. }) => name.ns == ns!(html),
            _ => false,
        }
    }

    /// Returns true if browsers read the document as one of the last century.
    pub fn is_quirks(&self) -> bool {
        self.quirks
    }

    /// Puts text at the end of an element.
    pub fn append_text(&mut self, parent: Id, text: &str) {
        self.insert_text(parent, None, text);
    }

    /// Returns the children, in order.
    pub fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let first = self.node(id).and_then(|node| node.first);
        std::iter::successors(first, |&child| self.node(child)?.after)
    }

    /// Returns all nodes below `id` and itself, parents first.
    pub fn below(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let mut walk = Walk::new(id);
        std::iter::from_fn(move || {
            loop {
                match walk.step(self)? {
                    WalkStep::Enter(id) => return Some(id),
                    WalkStep::Leave(_) => {}
                }
            }
        })
    }

    /// Takes a node, and all below it, out of the tree.
    pub fn detach(&mut self, id: Id) {
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

    /// Puts `child` into `parent`, before `next` or at the end.
    fn insert(&mut self, parent: Id, next: Option<Id>, child: Id) {
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

    /// Puts text into `parent`, before `next` or at the end, as part of the
    /// text that already stands there.
    fn insert_text(&mut self, parent: Id, next: Option<Id>, text: &str) {
        let before = match next {
            Some(next) => self.node(next).and_then(|node| node.before),
            None => self.node(parent).and_then(|node| node.last),
        };
        if let Some(Node { data: Data::Text(there), .. }) =
            before.and_then(|b| self.nodes.get_mut(b))
        {
            there.push_str(text);
            return;
        }
        let id = self.add(Data::Text(text.to_owned()));
        self.insert(parent, next, id);
    }
}

/// One step of a [`Walk`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkStep {
    /// A node is met; its children come next.
    Enter(Id),
    /// All below the node has been met.
    Leave(Id),
}

/// A walk over a node and all below it that needs no stack.
pub struct Walk {
    root: Id,
    last: Option<WalkStep>,
    over: bool,
}

impl Walk {
    /// Starts a walk at `root`.
    pub fn new(root: Id) -> Self {
        Self { root, last: None, over: false }
    }

    /// Returns the next step, or `None` when the root has been left.
    pub fn step(&mut self, tree: &Tree) -> Option<WalkStep> {
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

    /// Passes over the children of the node just entered.
    pub fn pass_over(&mut self) {
        self.over = true;
    }
}

/// A node as the parser holds it; it asks for the names of open elements all
/// the time, so the name comes along.
#[derive(Clone)]
pub struct Handle {
    id: Id,
    name: Rc<QualName>,
}

/// Where the parser builds the tree.
pub struct Builder {
    tree: RefCell<Tree>,
    nameless: Rc<QualName>,
    /// How many nodes there are, for the parser's limits.
    pub size: Cell<usize>,
}

impl Builder {
    /// Creates a builder with an empty document.
    pub fn new() -> Self {
        Self {
            tree: RefCell::new(Tree::new()),
            nameless: Rc::new(QualName::new(None, ns!(), local_name!(""))),
            size: Cell::new(1),
        }
    }

    fn other(&self) -> Handle {
        Handle { id: self.tree.borrow_mut().add(Data::Other), name: Rc::clone(&self.nameless) }
    }

    fn put(&self, parent: Id, next: Option<Id>, child: NodeOrText<Handle>) {
        let mut tree = self.tree.borrow_mut();
        match child {
            NodeOrText::AppendNode(node) => tree.insert(parent, next, node.id),
            NodeOrText::AppendText(text) => {
                // A style sheet is matched against names, which keep every character.
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

impl TreeSink for Builder {
    type Handle = Handle;
    type Output = Tree;
    type ElemName<'a> = &'a QualName;

    fn finish(self) -> Tree {
        self.tree.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { id: ROOT, name: Rc::clone(&self.nameless) }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> &'a QualName {
        &target.name
    }

    fn create_element(&self, name: QualName, mut attrs: Vec<Attribute>, _: ElementFlags) -> Handle {
        // What selectors name is never shown; without its marks it would match others.
        let named = |name: &str| matches!(name, "class" | "id") || name.starts_with("data-");
        let marked = |attr: &&mut Attribute| attr.value.contains(MARKS) && !named(&attr.name.local);
        for attr in attrs.iter_mut().filter(marked) {
            attr.value = theirs(attr.value.to_string()).into();
        }
        let name = Rc::new(name);
        let data = Data::Element { name: Rc::clone(&name), attrs };
        let id = self.tree.borrow_mut().add(data);
        Handle { id, name }
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        self.other()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        self.other()
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.put(parent.id, None, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        prev_element: &Handle,
        child: NodeOrText<Handle>,
    ) {
        let parent = self.tree.borrow().parent(element.id);
        match parent {
            Some(parent) => self.put(parent, Some(element.id), child),
            None => self.put(prev_element.id, None, child),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, _: &Handle) -> Handle {
        // What a template holds is never shown, so it may go anywhere that is
        // not in the document.
        self.other()
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x.id == y.id
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.tree.borrow_mut().quirks = mode == QuirksMode::Quirks;
    }

    fn append_before_sibling(&self, sibling: &Handle, new_node: NodeOrText<Handle>) {
        let parent = self.tree.borrow().parent(sibling.id);
        if let Some(parent) = parent {
            self.put(parent, Some(sibling.id), new_node);
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        let mut tree = self.tree.borrow_mut();
        if let Some(Node { data: Data::Element { attrs: there, .. }, .. }) =
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

    fn remove_from_parent(&self, target: &Handle) {
        self.tree.borrow_mut().detach(target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let mut tree = self.tree.borrow_mut();
        while let Some(child) = tree.node(node.id).and_then(|node| node.first) {
            tree.insert(new_parent.id, None, child);
        }
    }
}
