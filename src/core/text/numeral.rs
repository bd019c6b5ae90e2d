//! The numbers of list items as letters and Roman numerals, by the names that documents use for
//! them. What stands around a number is up to whoever writes the list.

/// Returns a number in the notation that a format names.
pub fn numeral(number: u32, format: &str) -> String {
    match format {
        "none" => String::new(),
        "lowerLetter" | "a" => alphabetic(number),
        "upperLetter" | "A" => alphabetic(number).to_uppercase(),
        "lowerRoman" | "i" => roman(number),
        "upperRoman" | "I" => roman(number).to_uppercase(),
        "decimalZero" => format!("{number:02}"),
        _ => number.to_string(),
    }
}

/// Returns a, b, …, z, aa, bb, ….
fn alphabetic(number: u32) -> String {
    let index = number.saturating_sub(1);
    let char = char::from(b'a' + (index % 26) as u8);
    char.to_string().repeat((index / 26 + 1).min(8) as usize)
}

/// Returns a Roman numeral in small letters.
fn roman(number: u32) -> String {
    const PARTS: &[(u32, &str)] = &[
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    let mut left = number.min(3999);
    let mut text = String::new();
    for (value, part) in PARTS {
        while left >= *value {
            left -= value;
            text.push_str(part);
        }
    }
    text
}
