//! Orders to an assistant in untrusted text.
//!
//! They are guessed from words alone, in eleven languages; a wrong guess costs one warning too
//! many. [`gives_orders`] is for text that people see, most of which is honest;
//! [`gives_orders_unseen`] is for text that people do not see, hardly any of which is honest.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::line::cell;

/// Verbs of an order to an assistant to do something else, in lower case.
static VERBS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let verbs = "\
        ignore|disregard|forget|override|ignoriere|ignoriert|ignorieren|missachte|vergiss|\
        vergesst|vergessen|ignorez|ignorer|oublie|oubliez|oublier|ignora|ignorad|ignorar|olvida|\
        olvide|olvidar|descarta|ignorate|ignorare|dimentica|dimenticate|esqueça|esquece|\
        desconsidere|desconsidera|negeer|negeren|vergeet|ignoruj|zignoruj|zapomnij|pomiń|\
        игнорируй|игнорируйте|проигнорируй|забудь|забудьте";
    verbs.split('|').collect()
});
/// Words that distinguish an assistant's instructions from the instructions for a lamp.
const ORDERED: &[&str] = &[
    "all", "your", "system", "alle", "deine", "sämtliche", "toutes", "tes", "todas", "tus",
    "tutte", "tue", "suas", "tuas", "jouw", "wszystkie", "swoje", "twoje", "все", "свои", "твои",
];
/// Such words that people also use for each other's instructions: they count after a verb that
/// begins a sentence.
const EARLIER: &[&str] = &[
    "any", "previous", "prior", "earlier", "above", "vorherigen", "vorherige", "bisherigen",
    "bisherige", "früheren", "obigen", "précédentes", "antérieures", "anteriores", "previas",
    "precedenti", "prévias", "vorige", "eerdere", "bovenstaande", "poprzednie", "wcześniejsze",
    "powyższe", "предыдущие", "прежние",
];
/// Words for the instructions of the sender.
const OWN: &[&str] = &[
    "my", "our", "meine", "meinen", "unsere", "unseren", "mes", "nos", "mis", "nuestras", "mie",
    "nostre", "minhas", "nossas", "mijn", "onze", "moje", "nasze", "мои", "наши",
];
/// Words for instructions.
const INSTRUCTIONS: &[&str] = &[
    "instruction", "instructions", "prompt", "prompts", "anweisung", "anweisungen",
    "instruktionen", "systemprompt", "consignes", "instrucciones", "indicaciones", "istruzioni",
    "instruções", "instructies", "aanwijzingen", "instrukcje", "polecenia", "инструкции",
    "указания",
];
/// Maximum number of words from the verb to the instructions.
const ORDER: usize = 6;

/// Marks that programs write around the messages of models, in lower case.
const TAGS: &[&str] = &[
    "<system>", "</system>", "[inst]", "<<sys>>", "<|im_start|>", "<|im_end|>", "<|system|>",
    "<|start_header_id|>", "<|endoftext|>", "### instruction:", "begin system prompt",
    "begin system message", "<tool_result", "</tool_result", "<function_result",
    "</function_result", "<function_calls>", "</function_calls>", "<invoke name=", "<tool_call>",
    "</tool_call>", "<tool_response>", "<start_of_turn>", "<end_of_turn>", "[tool_calls]",
    "[tool_results]", "[available_tools]", "<|user|>", "<|assistant|>", "<|eot_id|>",
];
/// Beginnings of tool calls and their results in JSON, without blanks and backslashes. Text that
/// only mentions such a member does not contain them.
const CALLS: &[&str] = &[
    "\"tool_calls\":[{",
    "\"function_call\":{\"",
    "\"method\":\"tools/call\"",
    "\"type\":\"tool_use\"",
    "\"type\":\"tool_result\"",
];
/// Members that a tool result has together in the protocol of this program.
const RESULT: &[&str] = &["\"jsonrpc\":", "\"result\":{", "\"content\":[{\"type\":"];
/// Speakers in a chat transcript that are obeyed.
const SPEAKERS: &[&str] = &["assistant:", "system:"];
/// Signs that may surround a speaker.
const AROUND: &[char] = &['*', '#', '_', '[', ']', '"', '\''];
/// Verbs of orders in such a transcript; they need an address, or all of something.
const ACTS: &[&str] = &[
    "pay", "transfer", "wire", "delete", "trash", "reply", "call", "run", "open", "upload",
    "überweise", "lösche", "paie", "supprime", "paga", "elimina", "apague", "betaal", "verwijder",
    "zapłać", "usuń", "заплати", "удали",
];
/// Words for all of something.
const ALL: &[&str] = &[
    "all", "every", "alle", "tous", "toutes", "todos", "todas", "tutti", "tutte", "wszystkie",
    "все",
];
/// Phrases that address only an assistant: words in lower case, separated by single spaces.
const PHRASES: &str = "\
    do not tell the user|don t tell the user|never tell the user|without telling the user|\
    do not inform the user|don t inform the user|without informing the user|\
    do not mention this to the user|do not reveal this to the user|you are now in developer mode|\
    you are now dan|you are now an unrestricted|as an ai assistant you|as an ai model you|\
    as an ai agent you|as an ai language model you|if you are an ai assistant|\
    if you are an ai model|if you are an ai agent|if you are a language model|if you are an llm|\
    reveal your system prompt|print your system prompt|repeat your system prompt|\
    output your system prompt|reveal the system prompt|new system prompt|\
    your new instructions are|sag dem benutzer nichts|sage dem benutzer nichts|\
    informiere den benutzer nicht|als ki assistent|en tant qu assistant ia|\
    ne dis pas à l utilisateur|n informe pas l utilisateur|como asistente de ia|\
    no informes al usuario|no se lo digas al usuario|come assistente ai|non dire all utente|\
    non informare l utente|como assistente de ia|não diga ao usuário|não informe o usuário|\
    als ai assistent|vertel de gebruiker niet|jako asystent ai|nie mów użytkownikowi|\
    как ии ассистент|не говори пользователю|не сообщай пользователю";
/// The same in scripts without spaces.
const UNSPACED: &str = "\
    指示を無視|指示は無視|指示をすべて無視|命令を無視|プロンプトを無視|ユーザーに知らせない|\
    ユーザーには知らせない|ユーザーに伝えない|不要告诉用户|不要告訴用戶|无需告知用户";
/// Chinese verbs and nouns of an order, and the maximum number of characters between them.
const IGNORE: &[&str] = &["忽略", "无视", "無視", "忘记", "忘記"];
const DIRECTIONS: &[&str] = &["指令", "指示", "提示词", "命令"];
const APART: usize = 12;
/// Words for an assistant and the people it works for, in text that people do not see.
const ADDRESSED: &str = "the user|the assistant|language model|system prompt|ai assistant|ai agent";
/// Verbs for sending something to an address, in text that people do not see.
const SEND: &[&str] = &[
    "send", "forward", "sende", "leite", "weiterleiten", "envoie", "envoyez", "transfère", "envía",
    "reenvía", "invia", "inoltra", "envie", "encaminhe", "stuur", "wyślij", "prześlij", "отправь",
    "перешли",
];
/// Maximum number of words from such a verb to the address.
const ADDRESS: usize = 14;

/// The combining dot above.
const DOT: char = '\u{307}';

/// Words of which every recognised order in words has one, if it does not name instructions.
const SIGNS: &str = "\
    user|benutzer|utilisateur|usuario|utente|usuário|gebruiker|użytkownikowi|пользователю|\
    assistant|assistent|asistente|assistente|ассистент|ai|llm|dan|developer|unrestricted|model|\
    system";

/// These words and the ones for instructions, by their number of characters: every word of every row
/// is looked up.
static SIGNS_BY_LENGTH: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let mut all: Vec<Vec<&str>> = Vec::new();
    for sign in SIGNS.split('|').chain(INSTRUCTIONS.iter().copied()) {
        let length = sign.chars().count();
        all.resize(all.len().max(length + 1), Vec::new());
        all.get_mut(length).into_iter().for_each(|signs| signs.push(sign));
    }
    all
});

/// Returns true if a text may give an order; nearly all texts have no such sign.
fn may_order(text: &str) -> bool {
    let is_sign = |word: &str| {
        // `lower` changes the number of bytes, but not of characters.
        let mut signs = SIGNS_BY_LENGTH.get(word.chars().count()).into_iter().flatten();
        if word.is_ascii() {
            signs.any(|sign| word.eq_ignore_ascii_case(sign))
        } else {
            signs.any(|sign| lower(word).eq(sign.chars()))
        }
    };
    // Tags and JSON need no such word, East Asian text is not split into words, and a word with
    // accents as characters of their own is not whole.
    let is_mark = |c| matches!(c, '<' | '[' | '#' | '{' | '\u{300}'..='\u{36f}' | '\u{3000}'..);
    text.contains(is_mark) || text.split(|c: char| !c.is_alphanumeric()).any(is_sign)
}

/// Returns one clean line, in which accents are part of their letters.
fn composed(raw: &str) -> String {
    cell(raw).nfc().collect()
}

/// Returns a text in lower case, without the dot that `İ` becomes beside its `i`.
fn lower(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase).filter(|c| *c != DOT)
}

/// The note on a text that gives orders to an assistant and is shown.
pub const SHOWN: &str = "it has orders to an assistant";

/// Returns true for a text that gives orders to an assistant.
pub fn gives_orders(raw: &str) -> bool {
    if !may_order(raw) {
        return false;
    }
    let text = composed(raw);
    let words = words(&text);
    let lower: String = lower(&text).collect();
    overrides(&words)
        || TAGS.iter().any(|tag| lower.contains(tag))
        || calls(&lower)
        || speaks(raw)
        || has_phrase(&words, PHRASES)
        || UNSPACED.split('|').any(|phrase| text.contains(phrase))
        || IGNORE.iter().any(|verb| text.split(verb).skip(1).any(directs))
}

/// Returns true for a text that people do not see and that gives orders to an assistant, judging by
/// its words.
pub fn gives_orders_unseen(text: &str) -> bool {
    if gives_orders(text) {
        return true;
    }
    let text: String = lower(&composed(text)).collect();
    let parts: Vec<&str> = text.split(' ').collect();
    let sends = parts.iter().enumerate().any(|(at, part)| {
        let verb = part.trim_matches(|c: char| !c.is_alphanumeric());
        let next = parts.iter().skip(at + 1).take(ADDRESS);
        SEND.contains(&verb) && next.into_iter().any(|part| part.contains('@'))
    });
    sends || has_phrase(&words(&text), ADDRESSED)
}

/// Returns true for a text in lower case with a call of a tool, or its result, in JSON.
fn calls(lower: &str) -> bool {
    if !lower.contains('{') {
        return false;
    }
    // In JSON within a string, the quotes are escaped.
    let dense: String = lower.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect();
    CALLS.iter().any(|call| dense.contains(call)) || RESULT.iter().all(|part| dense.contains(part))
}

/// Returns true if a line or a sentence is an order in a chat transcript. A snippet has no lines.
fn speaks(raw: &str) -> bool {
    raw.lines().any(|line| {
        let line: String = lower(&composed(line)).collect();
        let parts: Vec<&str> = line.split(' ').map(|part| part.trim_matches(AROUND)).collect();
        let begins = |at: usize| {
            let before = at.checked_sub(1).and_then(|at| parts.get(at));
            before.is_none_or(|part| part.is_empty() || part.ends_with(['.', '!', '?', ':', '>']))
        };
        parts.iter().enumerate().any(|(at, part)| {
            SPEAKERS.contains(part) && begins(at) && acts(parts.get(at + 1..).unwrap_or_default())
        })
    })
}

/// Returns true if words begin with an act on an address, or on all of something.
fn acts(words: &[&str]) -> bool {
    let mut words = words.iter().map(|word| word.trim_matches(|c: char| ",.;".contains(c)));
    let Some(verb) = words.find(|word| !matches!(*word, "" | "please" | "now" | "bitte")) else {
        return false;
    };
    (ACTS.contains(&verb) || SEND.contains(&verb))
        && words
            .take(ADDRESS)
            .any(|word| ALL.contains(&word) || word.contains('@') || word.contains("://"))
}

/// Returns true if an instruction follows within a few characters.
fn directs(after: &str) -> bool {
    let near: String = after.chars().take(APART).collect();
    DIRECTIONS.iter().any(|noun| near.contains(noun))
}

/// Returns the words of a text in lower case, and for each whether it begins a sentence.
fn words(text: &str) -> Vec<(String, bool)> {
    let mut words: Vec<(String, bool)> = Vec::new();
    let mut begins = true;
    let is_between = |c: char| !c.is_alphanumeric() && c != DOT;
    for part in text.split_inclusive(is_between) {
        let word: String = lower(part.trim_end_matches(is_between)).collect();
        if !word.is_empty() {
            words.push((word, begins || part.starts_with(char::is_uppercase)));
            begins = false;
        }
        begins |= part.ends_with(['.', '!', '?', ':', ';']);
    }
    words
}

fn has_phrase(words: &[(String, bool)], phrases: &str) -> bool {
    let words: Vec<&str> = words.iter().map(|(word, _)| word.as_str()).collect();
    let text = format!(" {} ", words.join(" "));
    phrases.split('|').any(|phrase| text.contains(&format!(" {phrase} ")))
}

/// Returns true if words are an order to ignore instructions.
fn overrides(words: &[(String, bool)]) -> bool {
    let is_instruction = |word: &str| INSTRUCTIONS.contains(&word);
    let orders = |from: usize, begins: bool| {
        let next = words.get(from..).unwrap_or_default().iter().map(|(word, _)| word.as_str());
        let next = || next.clone().take(ORDER);
        let Some(noun) = next().position(is_instruction) else { return false };
        // In Romance languages, such a word may follow the noun.
        let near = || next().take(noun + 2);
        let has = |list: &[&str]| near().any(|word| list.contains(&word));
        has(ORDERED) || begins && has(EARLIER) && !has(OWN)
    };
    let mut verbs = words.iter().enumerate().filter(|(_, (word, _))| VERBS.contains(&**word));
    verbs.any(|(at, (_, begins))| orders(at + 1, *begins))
}
