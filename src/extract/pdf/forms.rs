//! The cost of a page's forms, counted before any of it is drawn.
//!
//! A form (ISO 32000-1, 8.10) may draw other forms, each of them several times. With twelve calls
//! on each of ten levels, a file of 3 KB requests 12^10 drawings, and hayro would follow all of
//! them. The count follows the forms as drawing would, so it includes recursive forms and forms
//! with the resources of their caller, and it ends at the limit.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use hayro_interpret::hayro_syntax::content::TypedIter;
use hayro_interpret::hayro_syntax::content::ops::TypedInstruction;
use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream};
use hayro_interpret::hayro_syntax::page::{Page, Resources};

/// Maximum operators of the forms on all pages of a call, counted once for each drawing: about a
/// second of work.
const OPERATORS: usize = 500_000;
/// Levels of forms that hayro draws.
const LEVELS: u32 = 50;

/// The content of a file's forms, and the number of operators that they may still draw.
pub(super) struct FormCounts<'a> {
    contents: HashMap<ObjectIdentifier, Rc<ContentStream<'a>>>,
    left: usize,
}

/// A content stream that has been read.
struct ContentStream<'a> {
    operators: usize,
    /// The names of the objects that it draws, and of the graphics states that it sets.
    objects: Vec<Vec<u8>>,
    states: Vec<Vec<u8>>,
    /// Its own resources; `None` to use the caller's.
    resources: Option<Rc<Resources<'a>>>,
}

impl Default for FormCounts<'_> {
    fn default() -> Self {
        Self { contents: HashMap::new(), left: OPERATORS }
    }
}

impl<'a> FormCounts<'a> {
    /// Returns true if drawing the forms of a page stays within the limit of the file.
    pub fn allow(&mut self, page: &Page<'a>) -> bool {
        let resources = Rc::new(page.resources().clone());
        let content = ContentStream::new(page.typed_operations(), None);
        let annotations = page.raw().get::<Array<'_>>("Annots").unwrap_or_default();
        let mut once = HashSet::new();
        self.allow_content(&content, &resources, 0, &mut once)
            && self.allow_glyphs(&resources, 0, &mut once)
            && annotations
                .iter::<Dict<'_>>()
                .filter_map(|annotation| appearance(&annotation))
                .all(|form| self.allow_stream(&form, &resources, 1, &mut once))
    }

    /// Counts a form, mask or glyph. `once` has the masks and glyphs that were counted already:
    /// they are drawn only once, however often they are used.
    fn allow_stream(
        &mut self,
        stream: &Stream<'a>,
        outer: &Rc<Resources<'a>>,
        level: u32,
        once: &mut HashSet<ObjectIdentifier>,
    ) -> bool {
        if level > LEVELS {
            return true;
        }
        let known = self.contents.get(&stream.obj_id()).cloned();
        let content = known.clone().unwrap_or_else(|| {
            let resources = stream.dict().get::<Dict<'_>>("Resources");
            let resources = resources.map(|own| Rc::new(Resources::new(own)));
            let data = stream.decoded_data().unwrap_or_default();
            Rc::new(ContentStream::new(TypedIter::new(&data), resources))
        });
        // A form costs something even without operators.
        match self.left.checked_sub(content.operators + 1) {
            Some(left) => self.left = left,
            None => return false,
        }
        if known.is_none() {
            self.contents.insert(stream.obj_id(), Rc::clone(&content));
            let own = content.resources.as_ref();
            if !own.is_none_or(|own| self.allow_glyphs(own, level, once)) {
                return false;
            }
        }
        self.allow_content(&content, outer, level, once)
    }

    /// Counts the objects that a content stream draws, apart from its own operators.
    fn allow_content(
        &mut self,
        content: &ContentStream<'a>,
        outer: &Rc<Resources<'a>>,
        level: u32,
        once: &mut HashSet<ObjectIdentifier>,
    ) -> bool {
        let resources = content.resources.as_ref().unwrap_or(outer);
        let forms = content.objects.iter().filter_map(|name| {
            let object = resources.get_x_object(&Name::new_unescaped(name))?;
            let kind = object.dict().get::<Name<'_>>("Subtype")?;
            (kind.as_str() == "Form").then_some(object)
        });
        let masks = content.states.iter().filter_map(|name| {
            let state = resources.get_ext_g_state(&Name::new_unescaped(name))?;
            state.get::<Dict<'_>>("SMask")?.get::<Stream<'_>>("G")
        });
        for form in forms {
            if !self.allow_stream(&form, resources, level + 1, once) {
                return false;
            }
        }
        for mask in masks {
            if once.insert(mask.obj_id()) && !self.allow_stream(&mask, resources, level + 1, once) {
                return false;
            }
        }
        true
    }

    /// Counts the glyphs of Type 3 fonts, which are drawings (ISO 32000-1, 9.6.5).
    fn allow_glyphs(
        &mut self,
        resources: &Rc<Resources<'a>>,
        level: u32,
        once: &mut HashSet<ObjectIdentifier>,
    ) -> bool {
        for font in resources.fonts.keys().filter_map(|name| resources.get_font(&name)) {
            let Some(glyphs) = font.get::<Dict<'_>>("CharProcs") else { continue };
            let own = font.get::<Dict<'_>>("Resources").map(|own| Rc::new(Resources::new(own)));
            let own = own.as_ref().unwrap_or(resources);
            for glyph in glyphs.keys().filter_map(|name| glyphs.get::<Stream<'_>>(name)) {
                if once.insert(glyph.obj_id()) && !self.allow_stream(&glyph, own, level + 1, once) {
                    return false;
                }
            }
        }
        true
    }
}

impl<'a> ContentStream<'a> {
    fn new(mut instructions: TypedIter<'_>, resources: Option<Rc<Resources<'a>>>) -> Self {
        let (mut objects, mut states, mut operators) = (Vec::new(), Vec::new(), 0);
        while let Some(instruction) = instructions.next() {
            operators += 1;
            match instruction {
                TypedInstruction::XObject(object) => objects.push(object.0.to_vec()),
                TypedInstruction::SetGraphicsState(state) => states.push(state.0.to_vec()),
                _ => {}
            }
        }
        // Setting a state a second time costs nothing more; drawing an object again does.
        states.sort_unstable();
        states.dedup();
        Self { operators, objects, states, resources }
    }
}

/// Returns the form that displays an annotation.
fn appearance<'a>(annotation: &Dict<'a>) -> Option<Stream<'a>> {
    match annotation.get::<Dict<'_>>("AP")?.get::<Object<'_>>("N")? {
        Object::Stream(form) => Some(form),
        Object::Dict(states) => {
            let state = annotation.get::<Name<'_>>("AS");
            let shown = state.and_then(|state| states.get::<Stream<'_>>(state));
            shown.or_else(|| states.get::<Stream<'_>>("Off"))
        }
        _ => None,
    }
}
