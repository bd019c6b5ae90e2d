//! Fields of Word documents: their instructions, and the characters of symbol fonts.

/// Maximum nesting of fields.
pub const FIELDS: usize = 64;

/// Maximum bytes of a field's instruction.
const INSTRUCTION: usize = 4 << 10;

/// An open field.
#[derive(Default)]
pub struct OpenField {
    /// True if its result has begun.
    pub result: bool,
    /// The instruction so far.
    pub instruction: String,
}

impl OpenField {
    /// Adds text to the instruction, up to a limit.
    pub fn instruct(&mut self, text: &str) {
        if self.instruction.len() < INSTRUCTION {
            self.instruction.push_str(text);
        }
    }
}

/// Returns the target of a field with this instruction; empty if it is not a link to an address.
pub fn link_target(instruction: &str) -> String {
    let Some(rest) = instruction.trim_start().strip_prefix("HYPERLINK") else {
        return String::new();
    };
    let rest = rest.trim_start();
    let target = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        // A switch, such as `\l` for a bookmark, is not an address.
        None => rest.split_whitespace().next().filter(|word| !word.starts_with('\\')),
    };
    target.unwrap_or_default().to_owned()
}

/// Returns the meaning of a glyph in a symbol font.
pub fn symbol(code: &str) -> &'static str {
    // Word stores such characters in the private use area, at U+F000 plus the code of the font.
    match code.trim_start_matches("F0").trim_start_matches("f0") {
        "A8" | "6F" | "71" => "☐",
        "FE" | "52" => "☑",
        "FD" | "78" | "54" => "☒",
        "FC" => "✓",
        "B7" | "A7" => "•",
        "E0" => "→",
        _ => "",
    }
}
