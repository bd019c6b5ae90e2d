//! What arguments are declared with: their kinds, and `arguments!` and `tool!`.
//!
//! One declaration makes a struct and its documentation, the table of arguments
//! that schemas and docs are made of, and the reader of calls. A field's doc comment
//! is what models read; what only readers of the code need is a comment.

use serde_json::{Map, Value};

use super::args::Args;
use super::{Arg, ArgKind};
use crate::error::{Error, Result};
use crate::schemas::Table;
use crate::words::Words;

/// A kind of argument: what it takes, and how that is read as a `T`.
pub(super) struct Kind<T> {
    arg: Arg,
    read: fn(&Args, &str) -> Result<T>,
}

impl<T> Kind<T> {
    pub(super) const fn new(kind: ArgKind, read: fn(&Args, &str) -> Result<T>) -> Self {
        let arg = Arg { name: "", kind, doc: "", required: false, common: false };
        Self { arg, read }
    }

    /// The same for an argument that many tools take.
    const fn common(self) -> Self {
        Self { arg: Arg { common: true, ..self.arg }, read: self.read }
    }

    /// The same for an argument without which a call is refused.
    const fn required(self) -> Self {
        Self { arg: Arg { required: true, ..self.arg }, read: self.read }
    }

    /// The same with a sentence for all arguments that have none of their own.
    pub(super) const fn says(self, doc: &'static str) -> Self {
        Self { arg: Arg { doc, ..self.arg }, read: self.read }
    }

    /// An argument of this kind.
    pub(super) const fn arg(&self, name: &'static str, doc: &'static str) -> Arg {
        let doc = if doc.is_empty() { self.arg.doc } else { doc.trim_ascii() };
        Arg { name, doc, ..self.arg }
    }

    /// Reads the argument of this kind that has this name.
    pub(super) fn read(&self, args: &Args, name: &str) -> Result<T> {
        (self.read)(args, name)
    }
}

/// Text; an empty one says nothing.
pub(super) const TEXT: Kind<Option<String>> = Kind::new(ArgKind::Text, Args::text);
/// Text that has to be there.
pub(super) const NEEDED: Kind<String> =
    Kind::new(ArgKind::Text, |args, name| there(args.text(name)?, name)).required();
/// Text that is going to be written; an empty one clears what is there.
pub(super) const WRITTEN: Kind<Option<String>> = Kind::new(ArgKind::Text, Args::written);
/// Text unchanged, with its white space.
pub(super) const VERBATIM: Kind<Option<String>> = Kind::new(ArgKind::Text, Args::verbatim);
/// An account.
pub(super) const ACCOUNT: Kind<Option<String>> = TEXT.says("Address").common();
/// An account where none means all.
pub(super) const ANY_ACCOUNT: Kind<Option<String>> = TEXT.says("Address; default all").common();
/// The most tokens. The instructions of the server explain it once.
pub(super) const BUDGET: Kind<Option<u32>> = common(100, 100_000, 8_000);

/// A list of texts.
pub(super) const LIST: Kind<Vec<String>> =
    Kind::new(ArgKind::List, |args, name| Ok(args.list(name)?.unwrap_or_default()));
/// A list that is not the same as an empty one when it is left out.
pub(super) const LIST_IF_GIVEN: Kind<Option<Vec<String>>> = Kind::new(ArgKind::List, Args::list);
/// A list whose items may hold commas.
pub(super) const ITEMS: Kind<Vec<String>> =
    Kind::new(ArgKind::List, |args, name| Ok(args.items(name)?.unwrap_or_default()));
/// Such a list that is not the same as an empty one when it is left out.
pub(super) const ITEMS_IF_GIVEN: Kind<Option<Vec<String>>> = Kind::new(ArgKind::List, Args::items);
/// Ids, each once.
pub(super) const IDS: Kind<Vec<String>> = Kind::new(ArgKind::List, |args, name| {
    let mut ids: Vec<String> = Vec::new();
    for id in args.list(name)?.unwrap_or_default() {
        if !id.is_empty() && !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
});
/// At least one id.
pub(super) const NEEDED_IDS: Kind<Vec<String>> = Kind::new(ArgKind::List, |args, name| {
    let ids = IDS.read(args, name)?;
    there((!ids.is_empty()).then_some(ids), name)
})
.required();

/// True or false.
pub(super) const SWITCH: Kind<bool> =
    Kind::new(ArgKind::Switch, |args, name| Ok(args.switch(name)?.unwrap_or(false)));
/// True or false, or not given.
pub(super) const SWITCH_IF_GIVEN: Kind<Option<bool>> = Kind::new(ArgKind::Switch, Args::switch);
/// Columns of a table, by name.
pub(super) const SETTINGS: Kind<Map<String, Value>> =
    Kind::new(ArgKind::Settings, |args, name| Ok(args.columns(name)?.unwrap_or_default()));

/// Names of columns of these tables; an empty list says nothing.
pub(super) const fn columns(tables: &'static [&'static Table]) -> Kind<Option<Vec<String>>> {
    Kind::new(ArgKind::Columns(tables), |args, name| {
        Ok(args.list(name)?.filter(|names| !names.is_empty()))
    })
}

/// A limit, as a whole number: least, most, default. A limit of 0 is an error, because it may mean
/// none or all.
pub(super) const fn limit(least: u32, most: u32, default: u32) -> Kind<Option<u32>> {
    Kind::new(ArgKind::Number(least, most, default), Args::number)
}

/// A whole number: least, most, default. 0 counts as not given.
pub(super) const fn number(least: u32, most: u32, default: u32) -> Kind<Option<u32>> {
    Kind::new(ArgKind::Number(least, most, default), Args::number_unless_zero)
}

/// A number of an argument that many tools take.
pub(super) const fn common(least: u32, most: u32, default: u32) -> Kind<Option<u32>> {
    number(least, most, default).common()
}

/// One of the words of a choice.
pub(super) const fn choice<T: Words>() -> Kind<Option<T>> {
    some_of(T::WORDS)
}

/// One of some words of a choice.
pub(super) const fn some_of<T: Words>(words: &'static [&'static str]) -> Kind<Option<T>> {
    Kind::new(ArgKind::Choice(words), Args::choice)
}

/// One of the words of a choice that many tools take.
pub(super) const fn common_choice<T: Words>() -> Kind<Option<T>> {
    choice().common()
}

/// One of the words of a choice, or its default.
pub(super) const fn default<T: Words + Default>() -> Kind<T> {
    Kind::new(ArgKind::Choice(T::WORDS), |args, name| Ok(args.choice(name)?.unwrap_or_default()))
}

/// One of the words of a choice, which has to be there.
pub(super) const fn needed<T: Words>() -> Kind<T> {
    Kind::new(ArgKind::Choice(T::WORDS), |args, name| there(args.choice(name)?, name)).required()
}

/// A list of objects with arguments of their own.
pub(super) const fn objects<T: Arguments>() -> Kind<Vec<T>> {
    Kind::new(ArgKind::Objects(T::ARGS), |args, name| {
        args.objects(name, T::ARGS)?.iter().map(T::read).collect()
    })
}

fn there<T>(value: Option<T>, name: &str) -> Result<T> {
    value.ok_or_else(|| Error::argument(format!("`{name}` is missing")))
}

/// Arguments that were declared together.
pub(super) trait Arguments: Sized {
    /// The arguments, in the order of the docs.
    const ARGS: &'static [Arg];

    /// Reads all of them.
    fn read(args: &Args) -> Result<Self>;
}

/// Declares arguments: `field: Type = KIND` each, `field as "name"` where a field
/// cannot have the argument's name. Those of [`View`](super::View) that a tool takes
/// besides stand at the end.
macro_rules! arguments {
    (
        $(#[doc = $about:literal])*
        $(derive($($derive:ident),+))?
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident $(as $arg:literal)?: $type:ty = $kind:expr,
            )*
            $(..$($view:ident),+)?
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone $($(, $derive)+)?)]
        pub struct $name {
            $(
                #[doc = concat!("The argument `", crate::tools::kinds::arguments!(@name $field $($arg)?), "`.")]
                $(#[doc = $doc])*
                pub $field: $type,
            )*
        }

        impl $name {
            $(
                #[expect(non_upper_case_globals, reason = "each has its field's name")]
                pub(super) const $field: crate::tools::Arg =
                    crate::tools::kinds::Kind::<$type>::arg(
                        &$kind,
                        crate::tools::kinds::arguments!(@name $field $($arg)?),
                        concat!($($doc),*),
                    );
            )*
        }

        impl crate::tools::kinds::Arguments for $name {
            const ARGS: &'static [crate::tools::Arg] =
                &[$(Self::$field,)* $($(crate::tools::View::$view),+)?];

            fn read(args: &crate::tools::args::Args) -> crate::error::Result<Self> {
                use crate::tools::kinds::Kind;
                Ok(Self { $($field: Kind::<$type>::read(&$kind, args, Self::$field.name)?),* })
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $arg:literal) => { $arg };
}

/// Declares a tool: its description for models, its name, effect and access level,
/// the action that it is, perhaps with a function that checks what was read, and its
/// arguments.
macro_rules! tool {
    (
        $(#[doc = $doc:literal])+
        $tool:ident($effect:ident, $access:ident) => $action:ident $(($check:expr))?;
        $(derive($($derive:ident),+))?
        pub struct $name:ident { $($fields:tt)* }
    ) => {
        crate::tools::kinds::arguments! {
            $(#[doc = $doc])+
            $(derive($($derive),+))?
            pub struct $name { $($fields)* }
        }

        impl $name {
            pub(super) const TOOL: crate::tools::Tool = crate::tools::Tool {
                name: stringify!($tool),
                doc: concat!($($doc),+).trim_ascii(),
                effect: crate::tools::Effect::$effect,
                access: crate::access::Access::$access,
                args: <Self as crate::tools::kinds::Arguments>::ARGS,
                read: |args| {
                    let request = <Self as crate::tools::kinds::Arguments>::read(args)?;
                    $(let request = $check(request, args)?;)?
                    Ok(crate::tools::Action::$action(request.into()))
                },
            };
        }
    };
}

pub(super) use {arguments, tool};
