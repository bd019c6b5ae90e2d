//! The grammar of selectors where browsers extend it: the known pseudo-classes and pseudo-elements.
//! Matching is in `select.rs`.

use std::cell::Cell;
use std::fmt;

use cssparser::{ParseError, ParseErrorKind, Parser as Input, ToCss, serialize_identifier};
use precomputed_hash::PrecomputedHash;
use selectors::parser::{NonTSPseudoClass, PseudoElement, SelectorImpl, SelectorParseErrorKind};

use super::super::values::value::{ParseResult, invalid};

/// A name in a selector.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectorName(Box<str>);

impl SelectorName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for SelectorName {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl AsRef<str> for SelectorName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for SelectorName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl ToCss for SelectorName {
    fn to_css<W: fmt::Write>(&self, out: &mut W) -> fmt::Result {
        serialize_identifier(&self.0, out)
    }
}

impl PrecomputedHash for SelectorName {
    fn precomputed_hash(&self) -> u32 {
        // 32-bit FNV-1a.
        let step = |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        self.0.bytes().fold(0x811c_9dc5, step)
    }
}

/// A pseudo-class that is not tree-structural.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PseudoClass {
    Link,
    Checked,
    Disabled,
    Enabled,
    Open,
    Required,
    Optional,
    ReadOnly,
    ReadWrite,
    PlaceholderShown,
    Defined,
    Lang(Vec<String>),
    /// True for text from right to left.
    Dir(bool),
    /// Holds only while the reader points at an element: `:hover`, `:active`.
    Pointed,
    /// Does not hold for a message that is only read.
    Never,
}

impl NonTSPseudoClass for PseudoClass {
    fn is_active_or_hover(&self) -> bool {
        *self == Self::Pointed
    }

    fn is_user_action_state(&self) -> bool {
        *self == Self::Pointed
    }
}

impl ToCss for PseudoClass {
    fn to_css<W: fmt::Write>(&self, out: &mut W) -> fmt::Result {
        write!(out, ":{self:?}")
    }
}

/// A pseudo-element: a part of an element that rules can apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementPart {
    /// The first line or letter, or the placeholder of a field.
    First,
    Before,
    After,
    /// A part without text of the message.
    Other,
}

impl PseudoElement for ElementPart {
    fn accepts_state_pseudo_classes(&self) -> bool {
        true
    }
}

impl ToCss for ElementPart {
    fn to_css<W: fmt::Write>(&self, out: &mut W) -> fmt::Result {
        write!(out, "::{self:?}")
    }
}

/// The parameters of the crate `selectors` for the selectors of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSelectors;

impl SelectorImpl for MailSelectors {
    type ExtraMatchingData<'a> = ();
    type AttrValue = SelectorName;
    type Identifier = SelectorName;
    type LocalName = SelectorName;
    type NamespaceUrl = SelectorName;
    type NamespacePrefix = SelectorName;
    type BorrowedNamespaceUrl = str;
    type BorrowedLocalName = str;
    type NonTSPseudoClass = PseudoClass;
    type PseudoElement = ElementPart;
}

/// The parser of selectors.
#[derive(Debug, Default)]
pub struct SelectorGrammar {
    /// True after a pseudo-class that holds only for a form that is filled in.
    pub unclear: Cell<bool>,
}

/// Pseudo-classes that hold only while a page is used, in a shadow tree, or for a scroll bar.
const NEVER: &[&str] = &[
    "active-view-transition", "autofill", "buffering", "current", "focus", "focus-visible",
    "focus-within", "fullscreen", "future", "host", "interest-source", "local-link", "modal",
    "muted", "past", "paused", "picture-in-picture", "playing", "popover-open", "seeking",
    "stalled", "target", "target-current", "target-within", "user-invalid", "user-valid",
    "visited", "volume-locked", "xr-overlay", "-webkit-autofill", "-webkit-full-screen",
    "-internal-autofill", "-webkit-drag", "blank", "has-slotted", "horizontal", "vertical",
    "start", "end", "window-inactive", "single-button", "increment", "decrement", "double-button",
    "no-button", "corner-present",
];

/// Pseudo-elements without text of the message.
const PARTS: &[&str] = &[
    "backdrop", "checkmark", "column", "cue", "file-selector-button", "grammar-error", "marker",
    "picker-icon", "scroll-marker", "scroll-marker-group", "search-text", "selection",
    "spelling-error", "target-text", "view-transition",
];

impl<'i> selectors::Parser<'i> for SelectorGrammar {
    type Impl = MailSelectors;
    type Error = SelectorParseErrorKind;

    fn parse_slotted(&self) -> bool {
        true
    }

    fn parse_part(&self) -> bool {
        true
    }

    fn parse_nth_child_of(&self) -> bool {
        true
    }

    fn parse_is_and_where(&self) -> bool {
        true
    }

    fn parse_has(&self) -> bool {
        true
    }

    fn parse_parent_selector(&self) -> bool {
        true
    }

    fn is_is_alias(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case("-webkit-any")
    }

    fn parse_non_ts_pseudo_class(
        &self,
        name: &str,
    ) -> Result<PseudoClass, ParseError<SelectorParseErrorKind>> {
        let name = name.to_ascii_lowercase();
        Ok(match name.as_str() {
            "link" | "any-link" | "-webkit-any-link" => PseudoClass::Link,
            "checked" => PseudoClass::Checked,
            "disabled" => PseudoClass::Disabled,
            "enabled" => PseudoClass::Enabled,
            "open" => PseudoClass::Open,
            "required" => PseudoClass::Required,
            "optional" => PseudoClass::Optional,
            "read-only" => PseudoClass::ReadOnly,
            "read-write" => PseudoClass::ReadWrite,
            "placeholder-shown" => PseudoClass::PlaceholderShown,
            // These depend on the state of a form, which is unknown here.
            "default" | "in-range" | "indeterminate" | "invalid" | "out-of-range" | "valid" => {
                self.unclear.set(true);
                PseudoClass::Never
            }
            "defined" => PseudoClass::Defined,
            "hover" | "active" => PseudoClass::Pointed,
            // A pseudo-class that is not listed would make its whole rule invalid, so the ones that
            // never hold are listed, too.
            name if NEVER.contains(&name) => PseudoClass::Never,
            _ => return unsupported(),
        })
    }

    fn parse_non_ts_functional_pseudo_class(
        &self,
        name: &str,
        input: &mut Input<'i>,
        _after_part: bool,
    ) -> Result<PseudoClass, ParseError<SelectorParseErrorKind>> {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "lang" => {
                let languages = input.parse_comma_separated(|input| {
                    let name = input.expect_ident_or_string()?.to_ascii_lowercase();
                    Ok::<_, ParseError<SelectorParseErrorKind>>(name)
                })?;
                Ok(PseudoClass::Lang(languages))
            }
            "dir" => match input.expect_ident()?.to_ascii_lowercase().as_str() {
                "rtl" => Ok(PseudoClass::Dir(true)),
                "ltr" => Ok(PseudoClass::Dir(false)),
                // Any identifier is valid, but only the two above match (Selectors 4).
                _ => Ok(PseudoClass::Never),
            },
            // Only in shadow trees.
            "host" | "host-context" => {
                while input.next().is_ok() {}
                Ok(PseudoClass::Never)
            }
            "state" | "active-view-transition-type" => {
                input.expect_ident()?;
                Ok(PseudoClass::Never)
            }
            _ => unsupported(),
        }
    }

    fn parse_pseudo_element(
        &self,
        name: &str,
    ) -> Result<ElementPart, ParseError<SelectorParseErrorKind>> {
        let name = name.to_ascii_lowercase();
        Ok(match name.as_str() {
            "first-line" | "first-letter" | "placeholder" | "-webkit-input-placeholder" => {
                ElementPart::First
            }
            "before" => ElementPart::Before,
            "after" => ElementPart::After,
            // Browsers accept every pseudo-element that begins with `-webkit-` (Selectors 4).
            "details-content" => {
                self.unclear.set(true);
                ElementPart::Other
            }
            name if PARTS.contains(&name) || name.starts_with("-webkit-") => ElementPart::Other,
            _ => return unsupported(),
        })
    }

    fn parse_functional_pseudo_element(
        &self,
        name: &str,
        input: &mut Input<'i>,
    ) -> Result<ElementPart, ParseError<SelectorParseErrorKind>> {
        let name = name.to_ascii_lowercase();
        if !name.starts_with("view-transition")
            && !matches!(name.as_str(), "highlight" | "cue" | "picker" | "scroll-button")
        {
            return unsupported();
        }
        while input.next().is_ok() {}
        Ok(ElementPart::Other)
    }
}

fn unsupported<T>() -> Result<T, ParseError<SelectorParseErrorKind>> {
    Err(ParseError::custom(SelectorParseErrorKind::UnsupportedPseudoClassOrElement))
}

/// Turns an error in a selector into an error in a value.
pub fn plain<T>(result: Result<T, ParseError<SelectorParseErrorKind>>) -> ParseResult<T> {
    match result {
        Ok(read) => Ok(read),
        Err(ParseError { kind: ParseErrorKind::Basic(kind) }) => {
            Err(ParseError::from_basic_kind(kind))
        }
        Err(_) => invalid(),
    }
}
