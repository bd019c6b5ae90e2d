//! The declaration of arguments: their kinds, and the macros `arguments!` and `tool!`.
//!
//! One declaration generates a struct with its documentation, the table of arguments for schemas
//! and docs, and the reader of calls. Models read the doc comment of a field; notes for readers of
//! the code are plain comments.

use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, Result};
use daysheet_core::schemas::Table;
use serde_json::{Map, Value};

use super::args::CallArguments;
use super::declaration::{ArgKind, ToolArgument};

/// A kind of argument: the values it accepts, and the function that reads them as a `T`.
pub(super) struct ArgumentKind<T> {
    arg: ToolArgument,
    read: fn(&CallArguments, &str) -> Result<T>,
}

impl<T> ArgumentKind<T> {
    pub(super) const fn new(kind: ArgKind, read: fn(&CallArguments, &str) -> Result<T>) -> Self {
        let arg = ToolArgument { name: "", kind, doc: "", required: false, common: false };
        Self { arg, read }
    }

    /// Returns the kind for an argument that many tools take.
    const fn common(self) -> Self {
        Self { arg: ToolArgument { common: true, ..self.arg }, read: self.read }
    }

    /// Returns the kind for an argument that calls must have.
    const fn required(self) -> Self {
        Self { arg: ToolArgument { required: true, ..self.arg }, read: self.read }
    }

    /// Returns the kind with a default description for its arguments.
    pub(super) const fn says(self, doc: &'static str) -> Self {
        Self { arg: ToolArgument { doc, ..self.arg }, read: self.read }
    }

    /// Returns an argument of this kind.
    pub(super) const fn arg(&self, name: &'static str, doc: &'static str) -> ToolArgument {
        // `///` leaves a space before the text.
        let doc = if doc.is_empty() { self.arg.doc } else { doc.trim_ascii() };
        ToolArgument { name, doc, ..self.arg }
    }

    /// Reads the argument with this name.
    pub(super) fn read(&self, args: &CallArguments, name: &str) -> Result<T> {
        (self.read)(args, name)
    }
}

/// Text; an empty one counts as not given.
pub(super) const TEXT: ArgumentKind<Option<String>> =
    ArgumentKind::new(ArgKind::Text, CallArguments::text);
/// Required text.
pub(super) const NEEDED: ArgumentKind<String> =
    ArgumentKind::new(ArgKind::Text, |args, name| there(args.text(name)?, name)).required();
/// Text to write; an empty one clears the field.
pub(super) const WRITTEN: ArgumentKind<Option<String>> =
    ArgumentKind::new(ArgKind::Text, CallArguments::written);
/// Text unchanged, with its white space.
pub(super) const VERBATIM: ArgumentKind<Option<String>> =
    ArgumentKind::new(ArgKind::Text, CallArguments::verbatim);
/// An account.
pub(super) const ACCOUNT: ArgumentKind<Option<String>> = TEXT.says("Address").common();
/// An account; all of them by default.
pub(super) const ANY_ACCOUNT: ArgumentKind<Option<String>> =
    TEXT.says("Address; default all").common();
/// The maximum number of tokens. The server's instructions explain it once.
pub(super) const BUDGET: ArgumentKind<Option<u32>> = common(100, 100_000, 8_000);

/// A list of texts.
pub(super) const LIST: ArgumentKind<Vec<String>> =
    ArgumentKind::new(ArgKind::List, |args, name| Ok(args.list(name)?.unwrap_or_default()));
/// A list for which omission and emptiness differ.
pub(super) const LIST_IF_GIVEN: ArgumentKind<Option<Vec<String>>> =
    ArgumentKind::new(ArgKind::List, CallArguments::list);
/// A list whose items may contain commas.
pub(super) const ITEMS: ArgumentKind<Vec<String>> =
    ArgumentKind::new(ArgKind::List, |args, name| Ok(args.items(name)?.unwrap_or_default()));
/// The same, but omission and emptiness differ.
pub(super) const ITEMS_IF_GIVEN: ArgumentKind<Option<Vec<String>>> =
    ArgumentKind::new(ArgKind::List, CallArguments::items);
/// Ids, without duplicates.
pub(super) const IDS: ArgumentKind<Vec<String>> = ArgumentKind::new(ArgKind::List, |args, name| {
    let mut ids: Vec<String> = Vec::new();
    for id in args.list(name)?.unwrap_or_default() {
        if !id.is_empty() && !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
});
/// At least one id.
pub(super) const NEEDED_IDS: ArgumentKind<Vec<String>> =
    ArgumentKind::new(ArgKind::List, |args, name| {
        let ids = IDS.read(args, name)?;
        there((!ids.is_empty()).then_some(ids), name)
    })
    .required();

/// True or false.
pub(super) const SWITCH: ArgumentKind<bool> =
    ArgumentKind::new(ArgKind::Switch, |args, name| Ok(args.switch(name)?.unwrap_or(false)));
/// True or false, or not given.
pub(super) const SWITCH_IF_GIVEN: ArgumentKind<Option<bool>> =
    ArgumentKind::new(ArgKind::Switch, CallArguments::switch);
/// Columns of a table, by name.
pub(super) const SETTINGS: ArgumentKind<Map<String, Value>> =
    ArgumentKind::new(ArgKind::Settings, |args, name| Ok(args.columns(name)?.unwrap_or_default()));

/// Names of columns of these tables; an empty list counts as not given.
pub(super) const fn columns(
    tables: &'static [&'static Table],
) -> ArgumentKind<Option<Vec<String>>> {
    ArgumentKind::new(ArgKind::Columns(tables), |args, name| {
        Ok(args.list(name)?.filter(|names| !names.is_empty()))
    })
}

/// A limit, as a whole number: minimum, maximum, default. 0 is an error, because it may mean no
/// results or all of them.
pub(super) const fn limit(least: u32, most: u32, default: u32) -> ArgumentKind<Option<u32>> {
    ArgumentKind::new(ArgKind::Number(least, most, default), CallArguments::number)
}

/// A whole number: minimum, maximum, default. 0 counts as not given.
pub(super) const fn number(least: u32, most: u32, default: u32) -> ArgumentKind<Option<u32>> {
    ArgumentKind::new(ArgKind::Number(least, most, default), CallArguments::number_unless_zero)
}

/// A number in an argument that many tools take.
pub(super) const fn common(least: u32, most: u32, default: u32) -> ArgumentKind<Option<u32>> {
    number(least, most, default).common()
}

/// One of the words of a choice.
pub(super) const fn choice<T: WordChoice>() -> ArgumentKind<Option<T>> {
    some_of(T::WORDS)
}

/// One of some words of a choice.
pub(super) const fn some_of<T: WordChoice>(
    words: &'static [&'static str],
) -> ArgumentKind<Option<T>> {
    ArgumentKind::new(ArgKind::Choice(words), CallArguments::choice)
}

/// One of the words of a choice that many tools take.
pub(super) const fn common_choice<T: WordChoice>() -> ArgumentKind<Option<T>> {
    choice().common()
}

/// One of the words of a choice, or its default.
pub(super) const fn default<T: WordChoice + Default>() -> ArgumentKind<T> {
    ArgumentKind::new(ArgKind::Choice(T::WORDS), |args, name| {
        Ok(args.choice(name)?.unwrap_or_default())
    })
}

/// One of the words of a choice, required.
pub(super) const fn needed<T: WordChoice>() -> ArgumentKind<T> {
    ArgumentKind::new(ArgKind::Choice(T::WORDS), |args, name| there(args.choice(name)?, name))
        .required()
}

/// A list of objects with arguments of their own.
pub(super) const fn objects<T: DeclaredArguments>() -> ArgumentKind<Vec<T>> {
    ArgumentKind::new(ArgKind::Objects(T::ARGS), |args, name| {
        args.objects(name, T::ARGS)?.iter().map(T::read).collect()
    })
}

fn there<T>(value: Option<T>, name: &str) -> Result<T> {
    value.ok_or_else(|| Error::argument(format!("`{name}` is missing")))
}

/// Arguments that are declared together.
pub(super) trait DeclaredArguments: Sized {
    /// The arguments, in the order of the docs.
    const ARGS: &'static [ToolArgument];

    /// Reads all of them.
    fn read(args: &CallArguments) -> Result<Self>;
}

/// Declares arguments, each as `field: Type = KIND`, or `field as "name"` if the argument's name
/// cannot be a field's. The arguments of another declaration that are also accepted come last, as
/// `..AnswerView { budget, format }`.
macro_rules! arguments {
    (
        $(#[doc = $about:literal])*
        $(derive($($derive:ident),+))?
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident $(as $arg:literal)?: $type:ty = $kind:expr,
            )*
            $(..$shared:ident { $($also:ident),+ })?
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
                pub(super) const $field: crate::tools::declaration::ToolArgument =
                    crate::tools::kinds::ArgumentKind::<$type>::arg(
                        &$kind,
                        crate::tools::kinds::arguments!(@name $field $($arg)?),
                        concat!($($doc),*),
                    );
            )*
        }

        impl crate::tools::kinds::DeclaredArguments for $name {
            const ARGS: &'static [crate::tools::declaration::ToolArgument] =
                &[$(Self::$field,)* $($($shared::$also),+)?];

            fn read(args: &crate::tools::args::CallArguments) -> daysheet_core::error::Result<Self> {
                use crate::tools::kinds::ArgumentKind;
                Ok(Self { $($field: ArgumentKind::<$type>::read(&$kind, args, Self::$field.name)?),* })
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $arg:literal) => { $arg };
}

/// Declares a tool: its description for models, its name, effect, access level and kind, with an
/// optional function that checks the arguments, and its arguments.
macro_rules! tool {
    (
        $(#[doc = $doc:literal])+
        $tool:ident($effect:ident, $access:ident) => $kind:ident $(($check:expr))?;
        $(derive($($derive:ident),+))?
        pub struct $name:ident { $($fields:tt)* }
    ) => {
        crate::tools::kinds::arguments! {
            $(#[doc = $doc])+
            $(derive($($derive),+))?
            pub struct $name { $($fields)* }
        }

        impl $name {
            /// The tool, as data.
            pub(super) const TOOL: crate::tools::declaration::Tool = crate::tools::declaration::Tool {
                name: stringify!($tool),
                doc: concat!($($doc),+).trim_ascii(),
                effect: crate::tools::declaration::ToolEffect::$effect,
                access: daysheet_core::access::AccessLevel::$access,
                args: <Self as crate::tools::kinds::DeclaredArguments>::ARGS,
                kind: crate::tools::declaration::ToolKind::$kind,
            };

            /// Reads and checks the arguments of a call.
            pub(super) fn request(
                args: &crate::tools::args::CallArguments,
            ) -> daysheet_core::error::Result<Self> {
                let request = <Self as crate::tools::kinds::DeclaredArguments>::read(args)?;
                $(let request = $check(request, args)?;)?
                Ok(request)
            }
        }
    };
}

pub(super) use {arguments, tool};
