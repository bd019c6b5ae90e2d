//! Whether the condition of a style sheet holds for a reader at an ordinary
//! screen: 1280 by 800 pixels, light, with a mouse.
//!
//! Newsletters hide one form of their text from small screens and another from
//! large ones, so a condition has to be read. One that is not understood holds:
//! what it hides is then left out and counted.

use super::css;
use super::scan;

/// The screen, in pixels.
const SCREEN: (f32, f32) = (1280.0, 800.0);
/// Conditions within each other are read so deep.
const DEEPEST: usize = 8;

/// Returns true if one of the queries of a list holds.
pub fn applies(queries: &str) -> bool {
    let queries = scan::without_comments(queries, " ").to_ascii_lowercase();
    queries.trim().is_empty() || scan::pieces(&queries, b",").any(|query| holds(query.text, 0))
}

fn holds(query: &str, depth: usize) -> bool {
    let query = query.trim();
    if depth > DEEPEST {
        return true;
    }
    if let Some(rest) = query.strip_prefix("not").filter(|rest| stops(rest)) {
        return !holds(rest, depth + 1);
    }
    let query = query.strip_prefix("only").filter(|rest| stops(rest)).unwrap_or(query);
    // `or` and `and` stand between brackets, never beside each other.
    let parts = words(query);
    if parts.contains(&"or") {
        return parts.iter().any(|part| *part != "or" && one(part, depth));
    }
    parts.split(|part| *part == "and").all(|part| match part {
        ["not", part] => !one(part, depth),
        [part] => one(part, depth),
        _ => true,
    })
}

fn stops(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_whitespace() || c == '(')
}

/// The words of a query; what stands in brackets is one.
fn words(query: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for piece in scan::pieces(query, b" \t\n\r\x0c") {
        // `and(` and `)and` need no space.
        let text = piece.text.trim();
        match text.split_once('(') {
            Some((word, _)) if !word.is_empty() => {
                found.push(word);
                found.extend(text.get(word.len()..));
            }
            _ if text.is_empty() => {}
            _ => found.push(text),
        }
    }
    found
}

fn one(part: &str, depth: usize) -> bool {
    let Some(inside) = part.strip_prefix('(') else {
        return matches!(part, "all" | "screen");
    };
    let inside = inside.strip_suffix(')').unwrap_or(inside).trim();
    if inside.starts_with('(') || inside.starts_with("not") && inside.contains('(') {
        return holds(inside, depth + 1);
    }
    match inside.split_once(':') {
        Some((name, value)) => feature(name.trim(), value.trim()),
        None if inside.contains(['<', '>', '=']) => range(inside),
        None => !matches!(
            inside,
            "monochrome"
                | "grid"
                | "-ms-high-contrast"
                | "prefers-reduced-motion"
                | "prefers-contrast"
                | "forced-colors"
                | "inverted-colors"
        ),
    }
}

fn feature(name: &str, value: &str) -> bool {
    let px = css::pixels(value, 16.0);
    let (wide, high) = SCREEN;
    let side = |name: &str| match name.ends_with("height") {
        true => high,
        false => wide,
    };
    match name {
        "min-width" | "min-device-width" | "min-height" | "min-device-height" => {
            px.is_none_or(|px| px <= side(name))
        }
        "max-width" | "max-device-width" | "max-height" | "max-device-height" => {
            px.is_none_or(|px| px >= side(name))
        }
        "width" | "device-width" | "height" | "device-height" => {
            px.is_none_or(|px| (px - side(name)).abs() < 1.0)
        }
        "orientation" => value != "portrait",
        "prefers-color-scheme" => value != "dark",
        "prefers-reduced-motion"
        | "prefers-contrast"
        | "prefers-reduced-transparency"
        | "prefers-reduced-data" => value == "no-preference",
        "forced-colors" | "inverted-colors" => value == "none",
        "hover" | "any-hover" => value != "none",
        "pointer" | "any-pointer" => value == "fine",
        "monochrome" | "grid" => value == "0",
        "-ms-high-contrast" => false,
        "min-resolution" | "-webkit-min-device-pixel-ratio" | "min--moz-device-pixel-ratio" => {
            dots(value).is_none_or(|dots| dots <= 1.0)
        }
        "max-resolution" | "-webkit-max-device-pixel-ratio" => {
            dots(value).is_none_or(|dots| dots >= 1.0)
        }
        _ => true,
    }
}

/// Dots to a pixel.
fn dots(value: &str) -> Option<f32> {
    let end = value.rfind(|c: char| c.is_ascii_digit() || c == '.')? + 1;
    let (number, unit) = value.split_at(end);
    let number: f32 = number.parse().ok()?;
    Some(match unit {
        "dpi" => number / 96.0,
        "dpcm" => number / 37.8,
        _ => number,
    })
}

/// `width >= 600px`, `400px < width <= 700px`.
fn range(inside: &str) -> bool {
    let sides: Vec<&str> = inside.split(['<', '>', '=']).map(str::trim).collect();
    let sides: Vec<&str> = sides.into_iter().filter(|side| !side.is_empty()).collect();
    let signs: Vec<char> = inside.chars().filter(|c| matches!(c, '<' | '>')).collect();
    let value = |side: &str| match side {
        "width" | "device-width" => Some(SCREEN.0),
        "height" | "device-height" => Some(SCREEN.1),
        other => css::pixels(other, 16.0),
    };
    sides.windows(2).zip(signs).all(|(pair, sign)| {
        let [one, other] = pair else { return true };
        match (value(one), value(other)) {
            (Some(one), Some(other)) if sign == '<' => one <= other,
            (Some(one), Some(other)) => one >= other,
            _ => true,
        }
    })
}
