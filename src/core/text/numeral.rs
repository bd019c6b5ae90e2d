//! Numbers of list items as letters and Roman numerals, by the names that Office files and CSS use
//! for them. The caller writes the signs around a number.

/// Returns a number in the notation that a format names.
pub fn numeral(number: u32, format: &str) -> String {
    match format {
        "none" => String::new(),
        "decimalZero" | "decimal-leading-zero" => format!("{number:02}"),
        // Letters and Roman numerals have no zero.
        _ if number == 0 => number.to_string(),
        "lowerLetter" | "a" => repeated(number),
        "upperLetter" | "A" => repeated(number).to_uppercase(),
        "lower-alpha" | "lower-latin" => alphabetic(number),
        "upper-alpha" | "upper-latin" => alphabetic(number).to_uppercase(),
        "lowerRoman" | "i" | "lower-roman" => roman(number),
        "upperRoman" | "I" | "upper-roman" => roman(number).to_uppercase(),
        _ => number.to_string(),
    }
}

/// Returns a, b, …, z, aa, bb, ….
fn repeated(number: u32) -> String {
    let index = number.saturating_sub(1);
    let char = char::from(b'a' + (index % 26) as u8);
    // The limit keeps a hostile number from becoming a long text.
    char.to_string().repeat((index / 26 + 1).min(8) as usize)
}

/// Returns a, b, …, z, aa, ab, ….
fn alphabetic(mut number: u32) -> String {
    let mut digits = Vec::new();
    while number > 0 {
        number -= 1;
        digits.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
    }
    digits.iter().rev().collect()
}

/// Returns a Roman numeral in lower case; numbers above 3,999 stay decimal.
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
    if number > 3999 {
        return number.to_string();
    }
    let mut left = number;
    let mut text = String::new();
    for (value, part) in PARTS {
        while left >= *value {
            left -= value;
            text.push_str(part);
        }
    }
    text
}
