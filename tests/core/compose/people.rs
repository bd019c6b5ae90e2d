//! Recipients as a model writes them.

use daysheet_core::compose::people::{ascii, known_person, read};
use daysheet_core::provider::mail::MailPerson;
use daysheet_core::text::Note;
use proptest::prelude::*;

use super::person;

fn text(items: &[&str]) -> daysheet_core::error::Result<(Vec<MailPerson>, Vec<Note>)> {
    let items: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
    read("to", &items).map(|found| (found.people, found.warnings))
}

#[test]
fn recipients_are_read_as_people_write_them() {
    for (items, expected) in cases! {
        vec!["jonas@example.com"], vec![("", "jonas@example.com")];
        vec!["Jonas <jonas@Example.COM>"], vec![("Jonas", "jonas@example.com")];
        vec![
            "\"Lindqvist, Mira\" <mira@example.com>, priya@example.com; Yusuf <yusuf@example.com>",
        ],
            vec![
                ("Lindqvist, Mira", "mira@example.com"),
                ("", "priya@example.com"),
                ("Yusuf", "yusuf@example.com"),
            ];
        vec!["Mira Lindqvist (Sales) <mira@example.com>"],
            vec![("Mira Lindqvist (Sales)", "mira@example.com")];
        vec!["\"Mira \\\"Mi\\\" L\" <mira@example.com>"],
            vec![("Mira \"Mi\" L", "mira@example.com")];
        vec!["<mira@example.com>", "MIRA@example.com", ""], vec![("", "mira@example.com")];
        vec!["mira@example.com <mira@example.com>"], vec![("", "mira@example.com")];
        vec!["李雷 <lei@example.com>"], vec![("李雷", "lei@example.com")];
        vec!["mira+lamps@mail.example.com"], vec![("", "mira+lamps@mail.example.com")];
    } {
        let expected: Vec<MailPerson> =
            expected.iter().map(|(name, address)| person(name, address)).collect();
        assert_eq!(text(&items), Ok((expected, Vec::new())), "{items:?}");
    }
}

#[test]
fn ambiguous_recipients_are_refused() {
    for (item, expected) in cases! {
        "Jonas",
            "`to` `Jonas`: `Jonas` is not an address: give an address, and quote a name with a \
             comma: \"Lindqvist, Mira\" <mira@example.com>";
        "Lindqvist, Mira <mira@example.com>",
            "`to` `Lindqvist, Mira <mira@example.com>`: `Lindqvist` is not an address: give an \
             address, and quote a name with a comma: \"Lindqvist, Mira\" <mira@example.com>";
        "\"ceo@bank.example\" <eve@example.net>",
            "`to` `\"ceo@bank.example\" <eve@example.net>`: the name says `ceo@bank.example` but \
             the address is eve@example.net: leave out the name, or the address in it";
        "ceo＠bank.example <eve@example.net>",
            "`to` `ceo＠bank.example <eve@example.net>`: the name says `ceo＠bank.example` but the \
             address is eve@example.net: leave out the name, or the address in it";
        "friends: eve@example.net;",
            "`to` `friends: eve@example.net;`: it looks like a group: give the addresses alone, \
             without the group's name, colon and semicolon";
        "mira@example.com (eve@example.net)",
            "`to` `mira@example.com (eve@example.net)`: it has an address in parentheses: leave \
             out the parentheses and their content";
        "mira@example.com (work)",
            "`to` `mira@example.com (work)`: `mira@example.com (work)` has no domain such as \
             example.com: correct the part after the @";
        "<@relay.example,@other.example:mira@example.com>",
            "`to` `<@relay.example,@other.example:mira@exa…`: the address has a route: leave out \
             everything up to the last colon";
        "Mira <mira@example.com> <eve@example.net>",
            "`to` `Mira <mira@example.com>…`: there is text after the address: write `Name \
             <name@example.com>` followed by a comma";
        "Mira <mira@example.com> eve@example.net",
            "`to` `Mira <mira@example.com> eve@example.net`: there is text after the address: \
             write `Name <name@example.com>` followed by a comma";
        "Mira <mira@example.com",
            "`to` `Mira <mira@example.com`: it has an unclosed quote, bracket or parenthesis: \
             write `Name <name@example.com>`";
        "Mira <<mira@example.com>>",
            "`to` `Mira <<mira@example.com>>`: it has nested brackets: write `Name \
             <name@example.com>`";
        "mira@example.com eve@example.net",
            "`to` `mira@example.com eve@example.net`: `mira@example.com eve@example.net` is not an \
             address: write it as name@example.com";
        "mira@example.com\r\nBcc: eve@example.net",
            "`to` `mira@example.com Bcc: eve@example.net`: it has a line break: write it on one line";
        "mira\u{200b}@example.com",
            "`to` `mira@example.com`: it holds the invisible character U+200B: retype the address";
        "\u{202e}moc.elpmaxe@arim <eve@example.net>",
            "`to` `moc.elpmaxe@arim <eve@example.net>`: it holds the invisible character U+202E: \
             retype the address";
        "=?utf-8?Q?ceo=40bank.example?= <eve@example.net>",
            "`to` `=?utf-8?Q?ceo=40bank.example?=…`: the name looks encoded: write the name in \
             plain characters";
        "mira@localhost",
            "`to` `mira@localhost`: `mira@localhost` has no domain such as example.com: correct \
             the part after the @";
        "mira@[192.0.2.1]",
            "`to` `mira@[192.0.2.1]`: `mira@[192.0.2.1]` has no domain such as example.com: \
             correct the part after the @";
        "mira@192.0.2.1",
            "`to` `mira@192.0.2.1`: `mira@192.0.2.1` has no domain such as example.com: correct \
             the part after the @";
        "mira@ex%61mple.com",
            "`to` `mira@ex%61mple.com`: `mira@ex%61mple.com` has no domain such as example.com: \
             correct the part after the @";
        "jürgen@example.com",
            "`to` `jürgen@example.com`: `jürgen@example.com` has non-ASCII characters before the \
             @: ask for an ASCII address";
        "mira@exаmple.com",
            "`to` `mira@exаmple.com`: the domain of `mira@exаmple.com` mixes look-alike scripts \
             (xn--exmple-4nf.com): check the domain letter by letter and retype it";
        "mira@xn--exmple-4nf.com",
            "`to` `mira@xn--exmple-4nf.com`: the domain of `mira@xn--exmple-4nf.com` mixes \
             look-alike scripts (xn--exmple-4nf.com): check the domain letter by letter and retype \
             it";
    } {
        let error = text(&[item]).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let long = format!("{}@example.com", "a".repeat(65));
    assert!(text(&[&long]).unwrap_err().message().ends_with("is too long for an address"));
    let many: Vec<String> = (0..501).map(|n| format!("p{n}@example.com")).collect();
    let error = read("cc", &many).unwrap_err();
    assert_eq!(error.to_string(), "`cc` has 501 recipients, more than 500: write to fewer people");
}

#[test]
fn non_ascii_domains_are_reported() {
    let (people, warnings) =
        text(&["Zoë <zoe@münchen.example>", "lei@例え.example", "a@аррӏе.example"]).unwrap();
    let addresses: Vec<&str> = people.iter().map(|one| one.address.as_str()).collect();
    assert_eq!(
        addresses,
        ["zoe@xn--mnchen-3ya.example", "lei@xn--r8jz45g.example", "a@xn--80ak6aa92e.example"]
    );
    assert_eq!(
        warnings,
        [
            "`münchen.example` is `xn--mnchen-3ya.example` in ASCII: check that it is not a \
             look-alike",
            "`例え.example` is `xn--r8jz45g.example` in ASCII: check that it is not a look-alike",
            "`аррӏе.example` is `xn--80ak6aa92e.example` in ASCII: check that it is not a look-alike",
        ]
    );
}

#[test]
fn unknown_senders_are_answered_by_address_alone() {
    let mut warnings = Vec::new();
    let mut one = |name: &str, address: &str| known_person(&person(name, address), &mut warnings);
    assert_eq!(
        one("Jonas\u{202e} Berg\r\n", "jonas@example.com"),
        Some(person("Jonas Berg", "jonas@example.com"))
    );
    assert_eq!(one("ceo@bank.example", "eve@example.net"), Some(person("", "eve@example.net")));
    assert_eq!(one("List", "undisclosed"), None);
    assert_eq!(
        warnings,
        [
            "`eve@example.net` shows the name `ceo@bank.example`: the name was left out",
            "left out, not an address: `undisclosed`",
        ]
    );
}

proptest! {
    /// Accepted recipients have one address per person, and read back unchanged.
    #[test]
    fn accepted_recipients_are_plain_and_reread_the_same(item in "[a-cA-C@<>\",;:()\\\\ .é=?\u{202e}\r\n-]{0,30}(@example\\.com>?)?") {
        if let Ok((people, _)) = text(&[&item]) {
            for one in people {
                prop_assert_eq!(ascii(one.address.as_str()).unwrap(), one.address.as_str());
                prop_assert_eq!(one.address.as_str().matches('@').count(), 1);
                prop_assert!(one.address.as_str().is_ascii());
                prop_assert!(!one.name.unwrap_or_default().contains(['\r', '\n', '@']));
            }
        }
    }
}
