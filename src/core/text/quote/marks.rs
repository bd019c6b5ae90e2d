//! The words and signs by which mail programs introduce what they quote.
//!
//! Each test looks at a line, or at the first few of some lines, and knows the
//! larger languages. What follows from a match is decided one level up.

/// An attribution may be wrapped over so many lines.
pub const MAX_ATTRIBUTION: usize = 3;
/// Longer than this, a sentence that ends in "wrote:" is just a sentence.
const MAX_CHARS: usize = 300;
/// So many lines after `From:` may hold the other headers.
const MAX_HEADERS: usize = 7;

/// Returns true for a line that is marked as quoted.
pub fn is_quoted(line: &str) -> bool {
    let line = line.trim_start();
    // `>From` is how mailbox files escape a line of the text itself.
    line.starts_with('>') && !line.starts_with(">From ")
}

/// How an attribution begins and which verb it holds.
const ATTRIBUTIONS: &[(&str, &str)] = &[
    ("on ", "wrote"),
    ("am ", "schrieb"),
    ("le ", "a écrit"),
    ("el ", "escribió"),
    ("il ", "ha scritto"),
    ("op ", "schreef"),
    ("em ", "escreveu"),
    ("den ", "skrev"),
    ("w dniu ", "pisze"),
    ("w dniu ", "napisał"),
    ("", "пишет"),
    ("", "написал"),
];

/// An attribution, "On Monday, Ann wrote:", and how many lines it takes.
pub struct Attribution {
    /// How many lines it takes.
    pub lines: usize,
    /// True if it names a time or an address, so that it can hardly be a
    /// sentence of the text.
    pub dated: bool,
}

/// Returns the attribution that these lines begin with.
pub fn attribution(lines: &[&str]) -> Option<Attribution> {
    let mut whole = String::new();
    for (number, line) in lines.iter().take(MAX_ATTRIBUTION).enumerate() {
        let line = line.trim();
        if line.is_empty() || is_quoted(line) || whole.len() + line.len() > MAX_CHARS {
            return None;
        }
        if number > 0 {
            whole.push(' ');
        }
        whole.extend(line.chars().filter(|c| *c != '*').flat_map(char::to_lowercase));
        // Only the last line ends in a colon; times do not end a line.
        if whole.ends_with(':') {
            return is_attribution(&whole, number)
                .then(|| Attribution { lines: number + 1, dated: is_dated(&whole) });
        }
    }
    None
}

fn is_attribution(whole: &str, wraps: usize) -> bool {
    let numbered = whole.contains(|c: char| c.is_ascii_digit());
    let known =
        ATTRIBUTIONS.iter().any(|(start, verb)| whole.starts_with(start) && whole.contains(verb));
    let short = wraps == 0
        && whole.chars().count() <= 100
        && (whole.ends_with(" wrote:") || whole.ends_with(" writes:"));
    let bare = whole.starts_with("20") && whole.ends_with(">:") && whole.contains('@');
    known && numbered || short || bare
}

/// Returns true if there is an address or a time of day in it.
fn is_dated(whole: &str) -> bool {
    let bytes = whole.as_bytes();
    let time = bytes.windows(4).any(|four| {
        matches!(four, [a, b':' | b'h' | b'.', c, d]
            if a.is_ascii_digit() && c.is_ascii_digit() && d.is_ascii_digit())
    });
    whole.contains('@') || time
}

const FROM: &[&str] = &["from", "von", "de", "da", "van", "från", "fra", "od", "от"];
const SENT: &[&str] = &[
    "sent", "date", "gesendet", "datum", "envoyé", "enviado", "enviado el", "enviada em", "fecha",
    "data", "inviato", "verzonden", "skickat", "sendt", "wysłano", "отправлено", "дата",
];
const TO: &[&str] = &["to", "an", "à", "para", "a", "aan", "till", "til", "do", "кому"];
const SUBJECT: &[&str] = &[
    "subject", "betreff", "objet", "asunto", "assunto", "oggetto", "onderwerp", "ämne", "emne",
    "temat", "тема",
];

/// Returns true if these lines begin with `From:` and continue with the other headers
/// that Outlook puts above what it quotes.
pub fn header_block(lines: &[&str]) -> bool {
    let named =
        |names: &[&str], line: &str| label(line).is_some_and(|l| names.contains(&l.as_str()));
    if !lines.first().is_some_and(|line| named(FROM, line)) {
        return false;
    }
    let rest = lines.get(1..).unwrap_or_default();
    let near: Vec<&&str> = rest.iter().take(MAX_HEADERS).collect();
    let found = [SENT, TO, SUBJECT]
        .iter()
        .filter(|names| near.iter().any(|line| named(names, line)))
        .count();
    found >= 2
}

/// Returns the word before the colon, in lower case and without Markdown's emphasis.
fn label(line: &str) -> Option<String> {
    let (label, _) = line.split_once(':')?;
    // The longest label there is has a dozen characters.
    if label.len() > 40 {
        return None;
    }
    Some(label.replace('*', "").trim().to_lowercase())
}

/// Returns true for `-----Original Message-----` in any of its languages.
pub fn original_message(line: &str) -> bool {
    titled(line).is_some_and(|title| {
        matches!(
            title.as_str(),
            "original message"
                | "original appointment"
                | "reply message"
                | "ursprüngliche nachricht"
                | "originalnachricht"
                | "message d'origine"
                | "message original"
                | "mensaje original"
                | "mensagem original"
                | "messaggio originale"
                | "oorspronkelijk bericht"
                | "исходное сообщение"
        )
    })
}

/// Returns true for the line above a forwarded mail.
pub fn forwards(line: &str) -> bool {
    const TITLES: &[&str] = &[
        "forwarded message",
        "weitergeleitete nachricht",
        "message transféré",
        "mensaje reenviado",
        "mensagem encaminhada",
        "messaggio inoltrato",
        "doorgestuurd bericht",
        "vidarebefordrat meddelande",
        "пересылаемое сообщение",
    ];
    const SENTENCES: &[&str] = &[
        "begin forwarded message:",
        "anfang der weitergeleiteten nachricht:",
        "anfang der weitergeleiteten e-mail:",
        "début du message transféré :",
        "début du message réexpédié :",
        "inicio del mensaje reenviado:",
        "inizio messaggio inoltrato:",
        "begin doorgestuurd bericht:",
    ];
    if titled(line).is_some_and(|title| TITLES.iter().any(|known| title.starts_with(known))) {
        return true;
    }
    let line = line.trim();
    line.len() <= 60 && SENTENCES.contains(&line.to_lowercase().as_str())
}

/// Returns the words between dashes, in lower case.
fn titled(line: &str) -> Option<String> {
    let line = line.trim().trim_matches('*').trim_matches('\\');
    if !line.starts_with("--") || line.len() > 120 {
        return None;
    }
    let title = line.trim_matches(['-', ' ', '\\']).to_lowercase();
    (!title.is_empty()).then(|| title.replace('’', "'"))
}

/// Returns true for the line that a telephone signs with.
pub fn sent_from(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "sent from my ",
        "sent from outlook",
        "sent from mail for",
        "sent from yahoo",
        "sent from proton",
        "sent via ",
        "sent with proton",
        "get outlook for ",
        "von meinem ",
        "gesendet von ",
        "envoyé de mon ",
        "envoyé depuis ",
        "enviado desde mi ",
        "enviado do meu ",
        "inviato da ",
        "inviato dal ",
        "verzonden vanaf ",
        "verstuurd vanaf ",
        "отправлено с ",
    ];
    let line = line.trim();
    let lower = line.to_lowercase();
    line.chars().count() <= 80 && STARTS.iter().any(|start| lower.starts_with(start))
}
