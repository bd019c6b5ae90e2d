//! Which declarations count: a browser passes over those that it does not
//! understand, and what was said before them stays.
//!
//! So `display: none; display: bogus` hides. Values that refer to others
//! (`var()`) are taken as understood.

use super::css;

/// Keywords that any property takes.
const GLOBAL: &[&str] = &["inherit", "initial", "unset", "revert", "revert-layer"];

const DISPLAY: &[&str] = &[
    "block", "inline", "inline-block", "flex", "inline-flex", "grid", "inline-grid", "none",
    "contents", "flow", "flow-root", "list-item", "run-in", "ruby", "ruby-base", "ruby-text",
    "math", "table", "inline-table", "table-row", "table-cell", "table-column", "table-caption",
    "table-row-group", "table-header-group", "table-footer-group", "table-column-group",
    "-webkit-box", "-webkit-inline-box", "-webkit-flex", "-webkit-inline-flex",
];

/// Those of them that stand beside each other.
const PAIRED: &[&str] = &[
    "block", "inline", "run-in", "flow", "flow-root", "table", "flex", "grid", "ruby", "math",
    "list-item",
];

const OVERFLOW: &[&str] = &["visible", "hidden", "clip", "scroll", "auto", "overlay"];

const SIZES: &[&str] = &[
    "auto", "none", "min-content", "max-content", "fit-content", "stretch",
    "-webkit-fill-available", "-moz-available", "intrinsic", "min-intrinsic",
];

const FONTS: &[&str] = &[
    "xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large",
    "smaller", "larger", "math",
];

/// The colours that have a name (CSS Color 4), but for those whose value is
/// known in `css`.
const COLORS: &str = " antiquewhite aquamarine beige bisque blanchedalmond blueviolet brown \
    burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson darkblue \
    darkcyan darkgoldenrod darkgreen darkkhaki darkmagenta darkolivegreen darkorange darkorchid \
    darkred darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise \
    darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue firebrick forestgreen gainsboro \
    gold goldenrod greenyellow hotpink indianred indigo khaki lavender lavenderblush lawngreen \
    lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgreen lightpink \
    lightsalmon lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue \
    lightyellow limegreen linen mediumaquamarine mediumblue mediumorchid mediumpurple \
    mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred \
    midnightblue mistyrose moccasin navajowhite oldlace olivedrab orangered orchid \
    palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum \
    powderblue rebeccapurple rosybrown royalblue saddlebrown salmon sandybrown seagreen sienna \
    skyblue slateblue slategray slategrey springgreen steelblue tan thistle tomato turquoise \
    violet wheat yellowgreen currentcolor accentcolor accentcolortext activetext buttonborder \
    buttonface buttontext graytext highlight highlighttext linktext mark marktext selecteditem \
    selecteditemtext visitedtext ";

/// Returns true if a browser takes this value, in lower case, for this property.
pub fn counts(name: &str, value: &str) -> bool {
    if GLOBAL.contains(&value) || value.contains("var(") {
        return true;
    }
    let words = |known: &[&str], most: usize| {
        let mut all = value.split(' ');
        all.by_ref().take(most).all(|word| known.contains(&word)) && all.next().is_none()
    };
    match name {
        "display" => words(DISPLAY, 1) || words(PAIRED, 3),
        "visibility" => matches!(value, "visible" | "hidden" | "collapse"),
        "content-visibility" => matches!(value, "visible" | "hidden" | "auto"),
        "opacity" => css::fraction(value).is_some_and(f32::is_finite) || is_computed(value),
        "filter" | "transform" => value == "none" || value.ends_with(')'),
        "overflow" => words(OVERFLOW, 2),
        "overflow-x" | "overflow-y" => words(OVERFLOW, 1),
        "width" | "height" | "min-width" | "min-height" | "max-width" | "max-height" => {
            SIZES.contains(&value) || at_least_nothing(value)
        }
        "position" => matches!(
            value,
            "static" | "relative" | "absolute" | "fixed" | "sticky" | "-webkit-sticky"
        ),
        "left" | "right" | "top" | "bottom" | "margin-left" | "margin-top" => {
            value == "auto" || is_length(value)
        }
        "text-indent" => value.split(' ').next().is_some_and(is_length),
        "clip" => value == "auto" || value.starts_with("rect("),
        "clip-path" => value == "none" || value.ends_with(')') || value.ends_with("-box"),
        "font-size" => FONTS.contains(&value) || at_least_nothing(value),
        "line-height" => value == "normal" || at_least_nothing(value),
        "color" | "-webkit-text-fill-color" | "background-color" => is_color(value),
        "background-image" => value == "none" || value.ends_with(')'),
        _ => !value.is_empty(),
    }
}

fn is_length(value: &str) -> bool {
    css::pixels(value, 16.0).is_some_and(f32::is_finite) || is_computed(value)
}

fn at_least_nothing(value: &str) -> bool {
    css::pixels(value, 16.0).is_some_and(|px| px >= 0.0) || is_computed(value)
}

fn is_computed(value: &str) -> bool {
    let functions = ["calc(", "min(", "max(", "clamp(", "env(", "fit-content("];
    value.ends_with(')') && functions.iter().any(|one| value.starts_with(one))
}

fn is_color(value: &str) -> bool {
    if css::color(value).is_some() {
        return true;
    }
    match value.split_once('(') {
        None => !value.contains(' ') && COLORS.contains(&format!(" {value} ")),
        Some(("rgb" | "rgba" | "hsl" | "hsla", inside)) => {
            let number = |part: &str| {
                part.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
            };
            let mut parts = inside.split([',', ' ', '/']).filter(|part| !part.is_empty());
            inside.contains('(')
                || inside.starts_with("from ")
                || parts.clone().count() >= 3 && parts.all(|part| number(part) || part == "none")
        }
        Some((function, _)) => matches!(
            function,
            "hwb"
                | "lab"
                | "lch"
                | "oklab"
                | "oklch"
                | "color"
                | "color-mix"
                | "light-dark"
                | "contrast-color"
                | "device-cmyk"
        ),
    }
}
