//! Recognition of texts that ask for payment to a new account, the commonest fraud by mail.
//!
//! A text counts if it names an account by its number and says that it is new or has changed.
//! Invoices name accounts and shops announce new things, so one of the two is not enough. The words
//! are in ten languages, Chinese and Japanese; texts in other languages are not recognised.

use super::search_text::words;

/// Words for new and old, in the forms that they have beside an account.
const NEW: &[&str] = &[
    "new", "old", "different", "updated", "another", "previous", "former", "neu", "neue", "neuen",
    "neuer", "neues", "neuem", "alte", "alten", "altes", "geänderte", "geänderten", "andere",
    "anderes", "sofort", "künftig", "nouveau", "nouvel", "nouvelle", "nouvelles", "ancien",
    "anciennes", "nuevo", "nueva", "nuevos", "nuevas", "antigua", "nuovo", "nuova", "nuove",
    "vecchio", "nieuw", "nieuwe", "oude", "novo", "nova", "novos", "antiga", "nowy", "nowe",
    "nowego", "nowym", "stary", "nytt", "nya", "ny", "nye", "новый", "новые", "новым", "новых",
    "новому", "старый",
];
/// Words for a change.
const CHANGED: &[&str] = &[
    "changed", "change", "changes", "changing", "switched", "geändert", "ändert", "änderung",
    "gewechselt", "changé", "changent", "modifié", "modifiées", "changement", "cambiado", "cambio",
    "cambia", "cambiato", "cambiati", "cambiate", "gewijzigd", "veranderd", "wijziging", "mudou",
    "mudaram", "alterados", "alteração", "zmieniony", "zmienił", "zmiana", "ändrats", "ändrat",
    "ændret", "endret", "изменились", "изменился", "изменение",
];
/// Words that mean a bank account in any context.
const CERTAIN: &[&str] = &[
    "iban", "bankverbindung", "kontoverbindung", "bankdaten", "kontodaten", "bankkonto",
    "kontonummer", "rib", "bancaire", "bancaires", "bancaria", "bancarias", "bancarios",
    "bancarie", "bancario", "bancária", "bancários", "bankgegevens", "bankrekening",
    "rekeningnummer", "bankuppgifter", "bankkontonummer", "kontonumret", "реквизиты", "реквизитам",
];
/// Words that may mean another kind of account.
const POSSIBLE: &[&str] = &[
    "account", "konto", "konta", "compte", "cuenta", "conto", "rekening", "conta", "rachunek",
    "rachunku", "счёт", "счет",
];
/// Words before `details` that make them the details of an account.
const DETAILS: &[&str] = &["bank", "banking", "payment", "account", "wire", "remittance"];
/// Words before an account that make it the reader's, as banks and shops write.
const YOURS: &[&str] = &[
    "your", "ihr", "ihre", "ihrem", "ihren", "ihres", "dein", "deine", "deinem", "votre", "vos",
    "ton", "tu", "su", "tuo", "tua", "vostro", "uw", "je", "sua", "seu", "twój", "twoje", "ditt",
    "din", "ваш", "ваши",
];
/// Words after `account` that give it another meaning.
const OTHERWISE: &[&str] =
    &["manager", "managers", "executive", "team", "settings", "password", "tenu", "rendu"];
/// Words before the number of an account.
const NUMBERS: &[&str] = &[
    "account", "acct", "kontonummer", "konto", "compte", "cuenta", "conto", "rekeningnummer",
    "rekening", "conta", "rachunku", "konta", "kontonr", "счёт", "счет",
];
/// The same in scripts without spaces, for an account that is new or has changed.
const UNSPACED: &[&str] = &[
    "振込先変更", "振込先が変更", "振込先の変更", "新しい口座", "新口座", "口座変更", "新账户",
    "新账号", "账户变更", "账号变更", "新帳戶", "新帳號", "帳戶變更",
];

/// Returns true for a text that names a new account, or a changed one, for payments.
pub fn names_new_account(text: &str) -> bool {
    UNSPACED.iter().any(|phrase| text.contains(phrase)) && digits_in_a_row(text) >= 7
        || parts(text).any(|part| tells_of_change(&words(part))) && has_account_number(text)
}

/// Returns the parts of a text between punctuation marks, within which words belong together.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    text.split(move |c: char| {
        // A full stop after a number belongs to a date.
        let ends = match c {
            '.' => !before.is_ascii_digit(),
            c => matches!(c, '!' | '?' | ';' | ':' | ',' | '\n' | '|' | '·' | '•'),
        };
        before = c;
        ends
    })
}

fn tells_of_change(words: &[String]) -> bool {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let any = |from: usize, to: usize, list: &[&str]| {
        let some = words.get(from..to.min(words.len())).unwrap_or_default();
        some.iter().any(|word| list.contains(&word.as_str()))
    };
    (0..words.len()).any(|at| {
        let back = |many: usize| at.saturating_sub(many);
        let yours = (back(2)..at).any(|at| YOURS.contains(&word(at)));
        let before = at.checked_sub(1).map_or("", word);
        let details = word(at) == "details" && DETAILS.contains(&before)
            || word(at) == "account" && before == "bank";
        if details || CERTAIN.contains(&word(at)) {
            let (from, to) = (back(6), at + 7);
            return !yours && (any(from, to, NEW) || any(from, to, CHANGED));
        }
        POSSIBLE.contains(&word(at))
            && !yours
            && !OTHERWISE.contains(&word(at + 1))
            && (any(back(3), at, NEW)
                || any(at + 1, at + 2, NEW)
                || any(at + 1, at + 6, CHANGED)
                || any(back(4), at, CHANGED))
    })
}

/// Returns true if a text has an IBAN, or a number beside a word for an account.
fn has_account_number(text: &str) -> bool {
    let tokens: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c == '\u{a0}')
        .map(|token| token.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|token| !token.is_empty())
        .collect();
    (0..tokens.len()).any(|at| {
        let rest = tokens.get(at..).unwrap_or_default();
        is_iban(rest) || is_numbered(rest)
    })
}

/// Returns true if tokens begin with an IBAN (ISO 13616), in groups or not. Its check digits are
/// not verified.
fn is_iban(tokens: &[&str]) -> bool {
    let mut number = String::new();
    for token in tokens {
        let fits = token.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        if !fits || number.len() + token.len() > 34 {
            break;
        }
        number.push_str(token);
    }
    let mut chars = number.chars();
    let country = chars.by_ref().take(2).all(|c| c.is_ascii_uppercase());
    let check = chars.by_ref().take(2).all(|c| c.is_ascii_digit());
    let digits = number.chars().filter(char::is_ascii_digit).count();
    // An IBAN has 15 to 34 characters.
    country && check && number.len() >= 15 && digits >= 10
}

/// Returns true if tokens begin with a word for an account, followed by its number.
fn is_numbered(tokens: &[&str]) -> bool {
    let Some((first, rest)) = tokens.split_first() else {
        return false;
    };
    let first = first.to_lowercase();
    NUMBERS.contains(&first.as_str())
        && rest.iter().take(4).any(|token| {
            let digits = token.chars().filter(char::is_ascii_digit).count();
            digits >= 6 && token.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '/' | '.'))
        })
}

/// Returns the length of the longest run of digits.
fn digits_in_a_row(text: &str) -> usize {
    let runs = text.split(|c: char| !c.is_ascii_digit());
    runs.map(str::len).max().unwrap_or_default()
}
