//! New text, quoted history and signatures: whole expected parts.

use daysheet_core::text::quote::{QuoteParts, split_quoted};

use crate::text::{markdown, text};

fn parts(fresh: &str, quoted: Option<&str>, signature: Option<&str>) -> QuoteParts {
    QuoteParts {
        fresh: fresh.to_owned(),
        quoted: quoted.map(str::to_owned),
        signature: signature.map(str::to_owned),
    }
}

#[test]
fn replies_are_separated_from_their_quotes() {
    let gmail = "On Mon, 5 Oct 2026 at 10:12, Bob <bob@y.org> wrote:\n\n> Hi Ann,\n>\n> when?";
    let cases: Vec<(&str, String, QuoteParts)> = vec![
        ("gmail", format!("Noon.\n\n{gmail}"), parts("Noon.", Some(gmail), None)),
        ("wrapped", "Noon.\n\nOn Mon, 5 Oct 2026 at 10:12, Bob <\nbob@y.org> wrote:\n> when?".into(),
            parts("Noon.", Some("On Mon, 5 Oct 2026 at 10:12, Bob <\nbob@y.org> wrote:\n> when?"), None)),
        ("signed", "Noon.\n--\nAnn\nMill Lane\n\n> when?\n> where?".into(),
            parts("Noon.", Some("> when?\n> where?"), Some("--\nAnn\nMill Lane"))),
        ("german", "Ja.\n\nAm 5. Okt. 2026 um 10:12 schrieb Bob <b@y.de>:\n> Wann?".into(),
            parts("Ja.", Some("Am 5. Okt. 2026 um 10:12 schrieb Bob <b@y.de>:\n> Wann?"), None)),
        ("french", "Oui.\n\nLe lun. 5 oct. 2026 à 10:12, Bob <b@y.fr> a écrit :\n\n> Quand ?".into(),
            parts("Oui.", Some("Le lun. 5 oct. 2026 à 10:12, Bob <b@y.fr> a écrit :\n\n> Quand ?"), None)),
        ("spanish", "Sí.\n\nEl lun, 5 oct 2026 a las 10:12, Bob (<b@y.es>) escribió:\n> ¿Cuándo?".into(),
            parts("Sí.", Some("El lun, 5 oct 2026 a las 10:12, Bob (<b@y.es>) escribió:\n> ¿Cuándo?"), None)),
        ("italian", "Sì.\n\nIl giorno lun 5 ott 2026 alle 10:12 Bob ha scritto:\n> Quando?".into(),
            parts("Sì.", Some("Il giorno lun 5 ott 2026 alle 10:12 Bob ha scritto:\n> Quando?"), None)),
        ("dutch", "Ja.\n\nOp ma 5 okt 2026 om 10:12 schreef Bob <b@y.nl>:\n> Wanneer?".into(),
            parts("Ja.", Some("Op ma 5 okt 2026 om 10:12 schreef Bob <b@y.nl>:\n> Wanneer?"), None)),
        ("russian", "Да.\n\nпн, 5 окт. 2026 г. в 10:12, Боб <b@y.ru> пишет:\n> Когда?".into(),
            parts("Да.", Some("пн, 5 окт. 2026 г. в 10:12, Боб <b@y.ru> пишет:\n> Когда?"), None)),
        ("outlook", "Noon.\n\nFrom: Bob <b@y.org>\nSent: Monday, 5 October 2026 10:12\nTo: Ann\nSubject: When\n\nWhen?".into(),
            parts("Noon.", Some("From: Bob <b@y.org>\nSent: Monday, 5 October 2026 10:12\nTo: Ann\nSubject: When\n\nWhen?"), None)),
        ("outlook rule", "Noon.\n________________________________\nVon: Bob\nGesendet: Montag\nAn: Ann\nBetreff: Wann\n\nWann?".into(),
            parts("Noon.", Some("________________________________\nVon: Bob\nGesendet: Montag\nAn: Ann\nBetreff: Wann\n\nWann?"), None)),
        ("original", "Noon.\n\n-----Original Message-----\nFrom: Bob\nWhen?".into(),
            parts("Noon.", Some("-----Original Message-----\nFrom: Bob\nWhen?"), None)),
        ("unmarked", "Noon.\n\nOn Mon, Oct 5, 2026 at 10:12 AM Bob <b@y.org> wrote:\nWhen?".into(),
            parts("Noon.", Some("On Mon, Oct 5, 2026 at 10:12 AM Bob <b@y.org> wrote:\nWhen?"), None)),
        ("inline", format!("{gmail}\n\nNoon.\n\n> where?\n\nHere."), parts(&format!("{gmail}\n\nNoon.\n\n> where?\n\nHere."), None, None)),
        ("bottom", format!("{gmail}\n\nNoon.\n--\nAnn"), parts("Noon.", Some(gmail), Some("--\nAnn"))),
        ("short lead", "> when?\nNoon.".into(), parts("> when?\nNoon.", None, None)),
        ("all quote", gmail.into(), parts(gmail, None, None)),
        ("forward", "FYI\n\n---------- Forwarded message ---------\nFrom: Bob\nDate: Monday\nTo: Ann\nSubject: x\n\nHi\n> a\n--\nBob".into(),
            parts("FYI\n\n---------- Forwarded message ---------\nFrom: Bob\nDate: Monday\nTo: Ann\nSubject: x\n\nHi\n> a\n--\nBob", None, None)),
        ("apple forward", "FYI\n\n> Begin forwarded message:\n>\n> From: Bob\n> hello".into(),
            parts("FYI\n\n> Begin forwarded message:\n>\n> From: Bob\n> hello", None, None)),
        ("phone", "Noon.\n\nSent from my iPhone\n\n> when?".into(), parts("Noon.", Some("> when?"), Some("Sent from my iPhone"))),
        ("long tail", format!("a\n--\n{}", "x\n".repeat(20)), parts(&format!("a\n--\n{}x", "x\n".repeat(19)), None, None)),
        ("prose", "On Monday Bob wrote: see you.\nFrom: here to there\n--verbose".into(),
            parts("On Monday Bob wrote: see you.\nFrom: here to there\n--verbose", None, None)),
        ("empty", String::new(), parts("", None, None)),
    ];
    for (name, input, want) in cases {
        assert_eq!(split_quoted(&input), want, "{name}");
    }
}

#[test]
fn quotes_of_mail_clients_are_found_in_html() {
    let cases = cases! {
        "<div dir=ltr>Noon.</div><br><div class='gmail_quote gmail_quote_container'><div dir=ltr class=gmail_attr>\
        On Mon, 5 Oct 2026 at 10:12, Bob &lt;<a href='mailto:b@y.org'>b@y.org</a>&gt; wrote:<br></div>\
        <blockquote class=gmail_quote style='margin:0 0 0 .8ex'><div>When?</div><br></blockquote></div>",
            "On Mon, 5 Oct 2026 at 10:12, Bob <b@y.org> wrote:\n\n> When?";
        "<p class=MsoNormal>Noon.</p><div id=appendonsend></div><hr><div id=divRplyFwdMsg><font><b>From:</b> Bob &lt;b@y.org&gt;<br>\
        <b>Sent:</b> Monday<br><b>To:</b> Ann<br><b>Subject:</b> When</font><div>&nbsp;</div></div><div>When?</div>",
            "From: Bob <b@y.org>\nSent: Monday\nTo: Ann\nSubject: When\n\nWhen?";
        "Noon.<div><br><blockquote type=cite><div>On 5. Oct 2026, at 10:12, Bob &lt;b@y.org&gt; wrote:</div><br><div>When?</div></blockquote></div>",
            "> On 5. Oct 2026, at 10:12, Bob <b@y.org> wrote:\n>\n> When?";
        "<p>Noon.</p><div class=moz-cite-prefix>On 05/10/2026 10:12, Bob wrote:<br></div><blockquote type=cite cite='mid:1'><p>When?</p></blockquote>",
            "On 05/10/2026 10:12, Bob wrote:\n\n> When?";
        "<div>Noon.</div><div class=yahoo_quoted><div>On Monday, 10:12, Bob wrote:</div><div>When?</div></div>",
            "> On Monday, 10:12, Bob wrote:\n> When?";
        "<div>Noon.</div><div class=protonmail_quote>On Monday, October 5th, 2026 at 10:12, Bob &lt;b@y.org&gt; wrote:<br>\
        <blockquote class=protonmail_quote type=cite>When?</blockquote></div>",
            "On Monday, October 5th, 2026 at 10:12, Bob <b@y.org> wrote:\n\n> When?";
    };
    for (input, quoted) in cases {
        let got = split_quoted(&text(input));
        assert_eq!(got, parts("Noon.", Some(quoted), None), "{input}");
        let got = split_quoted(&markdown(input));
        assert_eq!(got.fresh, "Noon.", "{input}");
    }
}
