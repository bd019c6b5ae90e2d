//! Splitting of messages into new text, quoted history and signatures, with complete expected
//! parts.

use daysheet_core::text::fence::OURS;
use daysheet_core::text::html::{TextStyle, marked};
use daysheet_core::text::quote::{QuoteParts, fold, split, split_quoted};

use crate::text::{markdown, text};

fn parts(fresh: &str, quoted: Option<&str>, signature: Option<&str>) -> QuoteParts {
    QuoteParts {
        fresh: fresh.to_owned(),
        quoted: quoted.map(str::to_owned),
        signature: signature.map(str::to_owned),
        ..QuoteParts::default()
    }
}

fn sends_on(fresh: &str, forwarded: &str) -> QuoteParts {
    QuoteParts { forwarded: Some(forwarded.to_owned()), ..parts(fresh, None, None) }
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
            sends_on("FYI", "---------- Forwarded message ---------\nFrom: Bob\nDate: Monday\nTo: Ann\nSubject: x\n\nHi\n> a\n--\nBob")),
        ("apple forward", "FYI\n\n> Begin forwarded message:\n>\n> From: Bob\n> hello".into(),
            sends_on("FYI", "> Begin forwarded message:\n>\n> From: Bob\n> hello")),
        ("russian, without a subject", "Да.\n\nОт: Боб\nОтправлено: четверг, 26 июня 2025 г. 15:05\nКому: Аня\n\nКогда?".into(),
            parts("Да.", Some("От: Боб\nОтправлено: четверг, 26 июня 2025 г. 15:05\nКому: Аня\n\nКогда?"), None)),
        ("a journey", "Route:\n\nFrom: Rome\nDate: 26 June 2025 15:05\nTo: Bari\n\nSee you".into(),
            parts("Route:\n\nFrom: Rome\nDate: 26 June 2025 15:05\nTo: Bari\n\nSee you", None, None)),
        ("sfr", "Oui.\n\n========\n\nMessage du : 05/10/2026 10:12\nDe : \"Bob\" <b@y.fr>\nA : ann@x.fr\nCopie à :\nSujet : Quand\n\nQuand ?".into(),
            parts("Oui.", Some("========\n\nMessage du : 05/10/2026 10:12\nDe : \"Bob\" <b@y.fr>\nA : ann@x.fr\nCopie à :\nSujet : Quand\n\nQuand ?"), None)),
        ("qq", "Noon.\n\nOriginal Email\nSender:\"Bob\"< b@y.org >;\nSent Time:2026/10/5 10:12\nTo:\"Ann\"< a@x.org >;\nSubject:When\n\nWhen?".into(),
            parts("Noon.", Some("Original Email\nSender:\"Bob\"< b@y.org >;\nSent Time:2026/10/5 10:12\nTo:\"Ann\"< a@x.org >;\nSubject:When\n\nWhen?"), None)),
        ("groupwise", "Noon.\n\n>>> Bob <b@y.org> 05.10.2026 10:12 >>>\nWhen?".into(),
            parts("Noon.", Some(">>> Bob <b@y.org> 05.10.2026 10:12 >>>\nWhen?"), None)),
        ("supercite", "Noon.\n\n>>>>> \"Bob\" == Bob Oak <b@y.org> writes:\n\n    Bob> When?".into(),
            parts("Noon.", Some(">>>>> \"Bob\" == Bob Oak <b@y.org> writes:\n\n    Bob> When?"), None)),
        ("no colon", "Noon.\n\nOn Mon, 5 Oct 2026 10:12:43 -0200 Bob <b@y.org> wrote\n\nWhen?".into(),
            parts("Noon.", Some("On Mon, 5 Oct 2026 10:12:43 -0200 Bob <b@y.org> wrote\n\nWhen?"), None)),
        ("no colon, prose", "On 5 Oct Bob <b@y.org> wrote\nthat he comes.".into(),
            parts("On 5 Oct Bob <b@y.org> wrote\nthat he comes.", None, None)),
        ("broken off", format!("Noon.\n\n{gmail}\n> the lines of this one were longer than the limit of the program so\nthey\n> broke."),
            parts("Noon.", Some(&format!("{gmail}\n> the lines of this one were longer than the limit of the program so\nthey\n> broke.")), None)),
        ("answered", format!("{gmail}\n> could you come to the office at nine on Tuesday and bring the plans?\nyes\n> Bob"),
            parts(&format!("{gmail}\n> could you come to the office at nine on Tuesday and bring the plans?\nyes"), Some("> Bob"), None)),
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

/// Returns a text with this subject as a reader sees it; `%` is the mark of our lines.
fn shown(subject: &str, text: &str) -> String {
    fold(text, subject, false, false).replace(OURS, "%")
}

/// Attribution lines of mail programs.
const ATTRIBUTIONS: &[&str] = &[
    "On Mon, 5 Oct 2026 at 10:12, Bob <b@y.org> wrote:",
    "On Oct 5, 2026, at 10:12 AM, Bob\n<b@y.org> wrote:",
    "On Mon, Oct 5, 2026 at 10:12 AM Bob Longname, Department of Long Names <\nb@y.org> wrote:",
    "Am Mo., 5. Okt. 2026 um 10:12 Uhr schrieb Bob <b@y.de>:",
    "Am 05.10.26 um 10:12 schrieb Bob:",
    "Le lun. 5 oct. 2026 à 10:12, Bob <b@y.fr> a écrit :",
    "El lun, 5 oct 2026 a las 10:12, Bob (<b@y.es>) escribió:",
    "Il giorno lun 5 ott 2026 alle ore 10:12 Bob <b@y.it> ha scritto:",
    "Em seg., 5 de out. de 2026 às 10:12, Bob <b@y.br> escreveu:",
    "Bob <b@y.pt> escreveu (segunda, 5/10/2026 à(s) 10:12):",
    "Op ma 5 okt 2026 om 10:12 schreef Bob <b@y.nl>:",
    "Den mån 5 okt. 2026 kl 10:12 skrev Bob <b@y.se>:",
    "Den mån 5 okt. 2026 kl 10:12 skrev Bob <b@y.se\n>:",
    "Den man. 5. okt. 2026 kl. 10.12 skrev Bob <b@y.dk>:",
    "man. 5. okt. 2026 kl. 10:12 skrev Bob <\nb@y.no>:",
    "ma 5. lokak. 2026 klo 10.12 Bob (b@y.fi) kirjoitti:",
    "po 5. 10. 2026 v 10:12 odesílatel Bob <b@y.cz> napsal:",
    "po 5. 10. 2026 v 10:12 odesílatel Bob Dlouhý z Oddělení <\nb@y.cz> napsal(a):",
    "po 5. 10. 2026 o 10:12 Bob <b@y.sk> napísal(a):",
    "pon., 5 paź 2026 o 10:12 Bob <b@y.pl> napisał(a):",
    "W dniu 5.10.2026 o 10:12, Bob pisze:",
    "пн, 5 окт. 2026 г. в 10:12, Боб <b@y.ru>:",
    "5 октября 2026 г. 10:12 пользователь Боб <b@y.ru> написал:",
    "пн, 5 жовт. 2026 р. о 10:12 Боб <b@y.ua> пише:",
    "пон, 5. окт 2026. у 10:12 Боб <b@y.rs>\nје написао/ла:",
    "На пн, 5.10.2026 г. в 10:12 Боб <b@y.bg> написа:",
    "Bob <b@y.tr>, 5 Eki 2026 Pzt, 10:12 tarihinde şunu yazdı:",
    "Bob <b@y.hu> ezt írta (időpont: 2026. okt. 5., H, 10:12):",
    "Στις Δευ 5 Οκτ 2026 στις 10:12, ο/η Bob <b@y.gr> έγραψε:",
    "În lun., 5 oct. 2026 la 10:12, Bob <b@y.ro> a scris:",
    "2026年10月5日(月) 10:12 Bob <b@y.jp>:",
    "Bob <b@y.cn> 于2026年10月5日周一 10:12写道：",
    "Bob <b@y.tw> 於 2026年10月5日 週一 上午10:12寫道：",
    "2026년 10월 5일 (월) 오전 10:12, Bob <b@y.kr>님이 작성:",
    "Vào Th 2, 5 thg 10, 2026 vào lúc 10:12 Bob <b@y.vn> đã viết:",
    "---- On Mon, 05 Oct 2026 10:12:00 +0200 Bob <b@y.org> wrote ----",
    "Bob wrote:",
    "Bob schrieb:",
];

#[test]
fn lines_above_quotes_are_known_in_many_languages() {
    for above in ATTRIBUTIONS {
        for quote in ["> When?\n>\n> Where?", "\n> When?"] {
            let got = split_quoted(&format!("Noon.\n\n{above}\n{quote}"));
            assert_eq!(got, parts("Noon.", Some(&format!("{above}\n{quote}")), None));
        }
        // A signature or a list footer may follow the quote.
        let below = "--\nAnn Lee, Head of Sales\nACME Ltd, Mill Lane 1, London";
        let got = split_quoted(&format!("Noon.\n\n{above}\n> When?\n\n{below}"));
        assert_eq!(got, parts("Noon.", Some(&format!("{above}\n> When?")), Some(below)));
        // Inline answers stay whole, with the lines they answer.
        let inline = format!("{above}\n> When?\nNoon.\n> Where?\nHere.");
        assert_eq!(split_quoted(&inline), parts(&inline, None, None));
    }
}

/// Labels for From, Sent, To and Subject.
const LABELS: &[[&str; 4]] = &[
    ["From:", "Sent:", "To:", "Subject:"],
    ["Von:", "Gesendet:", "An:", "Betreff:"],
    ["De :", "Envoyé :", "À :", "Objet :"],
    ["De:", "Enviado el:", "Para:", "Asunto:"],
    ["Da:", "Inviato:", "A:", "Oggetto:"],
    ["De:", "Enviada em:", "Para:", "Assunto:"],
    ["Van:", "Verzonden:", "Aan:", "Onderwerp:"],
    ["Från:", "Skickat:", "Till:", "Ämne:"],
    ["Fra:", "Sendt:", "Til:", "Emne:"],
    ["Od:", "Wysłano:", "Do:", "Temat:"],
    ["Od:", "Odesláno:", "Komu:", "Předmět:"],
    ["От:", "Отправлено:", "Кому:", "Тема:"],
    ["Від:", "Надіслано:", "Кому:", "Тема:"],
    ["Kimden:", "Gönderildi:", "Kime:", "Konu:"],
    ["Lähettäjä:", "Lähetetty:", "Vastaanottaja:", "Aihe:"],
    ["Feladó:", "Elküldve:", "Címzett:", "Tárgy:"],
    ["Από:", "Στάλθηκε:", "Προς:", "Θέμα:"],
    ["差出人:", "送信日時:", "宛先:", "件名:"],
    ["发件人：", "发送时间：", "收件人：", "主题："],
    ["寄件者:", "日期:", "收件者:", "主旨:"],
    ["보낸 사람:", "보낸 날짜:", "받는 사람:", "제목:"],
    ["Od:", "Odoslané:", "Komu:", "Predmet:"],
    ["Šalje:", "Poslano:", "Prima:", "Predmet:"],
    ["De la:", "Trimis:", "Către:", "Subiect:"],
    ["От:", "Изпратено:", "До:", "Относно:"],
    ["Nuo:", "Išsiųsta:", "Kam:", "Tema:"],
    ["No:", "Nosūtīts:", "Kam:", "Temats:"],
    ["Saatja:", "Saadetud:", "Kellele:", "Teema:"],
    ["מאת:", "נשלח:", "אל:", "נושא:"],
    ["من:", "تاريخ الإرسال:", "إلى:", "الموضوع:"],
    ["จาก:", "ส่ง:", "ถึง:", "เรื่อง:"],
    ["Dari:", "Tanggal:", "Ke:", "Subjek:"],
    ["Từ:", "Đã gửi:", "Tới:", "Chủ đề:"],
    ["**From:**", "**Sent:**", "**To:**", "**Subject:**"],
];

#[test]
fn header_blocks_are_history_of_answers_and_content_of_forwards() {
    for [from, sent, to, subject] in LABELS {
        let lines = [
            format!("{from} Bob <b@y.org>"),
            format!("{sent} Monday, 5 October 2026 10:12"),
            format!("{to} Ann"),
            format!("{subject} The offer"),
        ];
        let [from, sent, to, subject] = &lines;
        // Hotmail orders the fields differently.
        for block in [[from, sent, to, subject], [sent, subject, from, to]] {
            let block = block.map(String::as_str).join("\n");
            let below =
                format!("{block}\n\nHere it is.\n\nOn 1 Oct 2026, Cy <c@z.org> wrote:\n> Offer?");
            let text = format!("Thanks.\n\n{below}");
            for mark in ["Re: ", "AW: ", "[dev] SV: ", "Antw.: Re: ", "Re[2]: Fwd: ", "XY: "] {
                let got = split(&text, &format!("{mark}The offer"));
                assert_eq!(got, parts("Thanks.", Some(&below), None), "{mark}");
            }
            for mark in
                ["FW: ", "Fwd: ", "WG: ", "TR: ", "I: ", "RV: ", "ENC: ", "VS: ", "[x] Fw: Re: "]
            {
                let got = split(&text, &format!("{mark}The offer"));
                let want =
                    QuoteParts { forwarded: Some(below.clone()), ..parts("Thanks.", None, None) };
                assert_eq!(got, want, "{mark}");
            }
            let got = split(&text, "The offer");
            assert_eq!(got.forwarded.as_deref(), Some(&*below));
            // A form filled in on a web page.
            let form = format!("A new request:\n\n{block}\n\nPlease call.");
            assert_eq!(split(&form, "Contact form"), parts(&form, None, None));
        }
    }
}

#[test]
fn what_stands_below_a_text_is_folded() {
    let disclaimer = "This e-mail and any attachments are confidential and may be privileged. If you \
                      are not the intended recipient, please notify the sender and delete this message.";
    let list = "_______________________________________________\nDev mailing list\nDev@lists.example\n\
                https://lists.example/listinfo/dev";
    let quote = "On Mon, 5 Oct 2026 at 10:12, Bob <b@y.org> wrote:\n> When?\n> Where?";
    let signed = "Ann Lee\nHead of Sales\nACME GmbH, Mill Lane 1, Berlin\nTel. +49 30 1234567\nwww.acme.example";
    let github = "—\nReply to this email directly, view it on GitHub, or unsubscribe.\n\
                  You are receiving this because you were mentioned.";
    let google = "--\nYou received this message because you are subscribed to the Google Groups \"dev\" \
                  group.\nTo unsubscribe from this group, send an email to dev+unsubscribe@googlegroups.com.";
    let groups = "-=-=-=-=-=-=-=-=-=-=-=-\nGroups.io Links: You receive all messages sent to this group.\n\
                  View/Reply Online (#7): https://groups.io/g/dev/message/7\n-=-=-=-=-=-=-=-=-=-=-=-";
    let german = "Diese E-Mail enthält vertrauliche Informationen. Wenn Sie nicht der richtige Adressat \
                  sind, informieren Sie bitte den Absender und vernichten Sie diese Nachricht.\n\n\
                  Please consider the environment before printing this e-mail.";
    let (delimited, reach) = (format!("--\n{signed}"), signed.replace("Ann Lee\n", ""));
    let size = |name: &str, text: &str| {
        let shows = if name == "quoted history" { "quoted" } else { "signature" };
        let it = text.chars().count();
        format!("\n%[{name}: {it} characters not shown; {shows}=true shows it]")
    };
    let history = size("quoted history", quote);
    let (signature, disclaims) = (size("signature", &reach), size("disclaimer", disclaimer));
    let footer = |text: &str| size("list footer", text);
    let cases: Vec<(String, String)> = vec![
        (format!("Yes.\n\n{quote}"), format!("Yes.\n{history}")),
        (
            format!("Yes.\n\n{quote}\n\n--\nAnn Lee\nACME"),
            format!("Yes.\n\n--\nAnn Lee\nACME\n{history}"),
        ),
        (
            format!("Yes.\n{delimited}\n\n{quote}"),
            format!("Yes.\n{}{history}", size("signature", &delimited)),
        ),
        (format!("Yes.\n\n{quote}\n{list}"), format!("Yes.\n{}{history}", footer(list))),
        (format!("Yes.\n\nAnn\n\n{disclaimer}"), format!("Yes.\n\nAnn\n{disclaims}")),
        (
            format!("Yes.\n\nAnn\n\n{disclaimer}\n\n{quote}\n\n{list}"),
            format!("Yes.\n\nAnn\n{disclaims}{}{history}", footer(list)),
        ),
        (
            format!("Yes, fine.\n\nBest regards,\n{signed}"),
            format!("Yes, fine.\n\nBest regards,\nAnn Lee\n{signature}"),
        ),
        (
            format!("Ja.\n\nMit freundlichen Grüßen\n\n{signed}\n\n{quote}"),
            format!("Ja.\n\nMit freundlichen Grüßen\n\nAnn Lee\n{signature}{history}"),
        ),
        (format!("See issue 7\n\n{github}"), format!("See issue 7\n{}", footer(github))),
        (format!("News.\n\n{google}"), format!("News.\n{}", footer(google))),
        (format!("News.\n\n{groups}"), format!("News.\n{}", footer(groups))),
        (format!("Danke.\n\n{german}"), format!("Danke.\n{}", size("disclaimer", german))),
        // Another paragraph below it.
        (format!("Yes.\n\n{disclaimer}\n\nAnn"), format!("Yes.\n\n{disclaimer}\n\nAnn")),
    ];
    for (text, want) in &cases {
        assert_eq!(shown("Re: x", text), *want);
    }
    // All of it is shown on request.
    for (text, _) in &cases {
        let all =
            fold(text, "Re: x", true, true).replace(OURS, "%").replace("%[quoted history]\n", "");
        let words = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.sort();
            words
        };
        assert_eq!(words(&all), words(text));
    }
}

/// Texts that resemble quotes, signatures or disclaimers but are not folded.
#[test]
fn what_people_write_stays() {
    for text in [
        "The wrapper contract is confidential; do not disclose it.\n\nAnn",
        "Your trip:\n\nFrom: Berlin\nTo: Lisbon\nDate: 5 October 2026\n\nSeat 7A",
        "Thanks,\nAnn\n\nThe plan: https://x.org/plan",
        "Thanks,\nAnn\n\nPS: call me on +49 30 1234567.\nOr write to ann@x.org.",
        "Best,\nAnn\n\nCan you call Bob?\n+49 30 1234567",
        "Two things:\n--------------------\nBread and butter\n--------------------\nTea and cake",
        "Please unsubscribe me from this.\n\nAnn",
        "He wrote to me at 10:12 and said:\nsee you\n\nAnn",
        "On 5 October at 10 he said that Bob wrote it.\n\nAnn",
        "> When?\nNoon.\n\n> Where?\nHere.",
        "a <b@y.org> or 10:12\n\nx:\n\n1. 2026",
        "--\nAnn",
        "Sent from my iPhone",
    ] {
        for subject in ["", "Re: x", "x", "FW: x"] {
            assert_eq!(shown(subject, text), text, "{subject}");
        }
    }
}

/// Forwarded messages in HTML of mail programs are shown in full.
#[test]
fn forwards_are_shown_whole() {
    let cases = cases! {
        "<div>FYI</div><div class=gmail_quote><div dir=ltr class=gmail_attr>---------- Forwarded message ---------<br>\
        From: Bob &lt;b@y.org&gt;<br>Date: Monday<br>Subject: Offer<br>To: Ann<br></div><br><div>Here it is.</div></div>",
            "Fwd: Offer",
            "FYI\n\n%[forwarded message]\n---------- Forwarded message ---------\nFrom: Bob <b@y.org>\nDate: Monday\n\
            Subject: Offer\nTo: Ann\n\nHere it is.";
        "<p class=MsoNormal>FYI</p><div><div style='border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0in 0in 0in'>\
        <p class=MsoNormal><b>Von:</b> Bob<br><b>Gesendet:</b> Montag<br><b>An:</b> Ann<br><b>Betreff:</b> Angebot</p></div></div>\
        <p class=MsoNormal>Hier ist es.</p><blockquote type=cite>Wann?</blockquote>",
            "WG: Angebot",
            "FYI\n\n%[forwarded message]\nVon: Bob\nGesendet: Montag\nAn: Ann\nBetreff: Angebot\nHier ist es.\n\n> Wann?";
        "<div>FYI</div><blockquote type=cite><div>Begin forwarded message:</div><div><b>From: </b>Bob</div><p>Here.</p></blockquote>",
            "Fwd: Offer",
            "FYI\n\n%[forwarded message]\n> Begin forwarded message:\n> From: Bob\n>\n> Here.";
        "<div>FYI</div><div id=divRplyFwdMsg><b>Xyz:</b> Bob<br><b>Abc:</b> Monday</div><div>Here.</div>",
            "FW: Offer", "FYI\n\n%[forwarded message]\nXyz: Bob\nAbc: Monday\nHere.";
    };
    for (input, subject, want) in cases {
        assert_eq!(shown(subject, &marked(input, TextStyle::Text, false).text), want);
    }
}

/// Quotes that HTML marks are recognised in any language; unmarked text is not folded.
#[test]
fn containers_of_mail_programs_are_known() {
    let line = "%[quoted history: N characters not shown; quoted=true shows it]";
    let cases = cases! {
        // The attribution is in an unknown language.
        "<div>Yes.</div><div class=gmail_quote><div class=gmail_attr>Zxc 5 qwe Bob poi:</div>\
        <blockquote class=gmail_quote>When?</blockquote></div>", format!("Yes.\n\n{line}");
        "<div>Yes.</div><hr><div id=x_divRplyFwdMsg><b>Xyz:</b> Bob<br><b>Abc:</b> Ann</div><div>When?</div>",
            format!("Yes.\n\n{line}");
        "<div>Yes.</div><div id=mail-editor-reference-message-container><div><p><b>Xyz:</b> Bob<br><b>Abc:</b> Ann</p></div><p>When?</p></div>",
            format!("Yes.\n\n{line}");
        "<div>Yes.</div><div class=tutanota_quote>Zxc Bob:<br>When?</div>", format!("Yes.\n\n{line}");
        "<p>Yes.</p><div class=moz-cite-prefix>Zxc Bob qwe</div><blockquote type=cite>When?</blockquote>",
            format!("Yes.\n\n{line}");
        "<div>Yes.</div><div class=zmail_extra><div>---- On 5 Oct, Bob wrote ----</div><blockquote>When?</blockquote></div>",
            format!("Yes.\n\n{line}");
        // Answers inside the container of a quote.
        "<div class=gmail_quote><div class=gmail_attr>Zxc Bob:</div><blockquote class=gmail_quote>When?</blockquote>\
        <div>Noon.</div><blockquote class=gmail_quote>Where?</blockquote><div>Here.</div></div>",
            "Zxc Bob:\n\n> When?\n\nNoon.\n\n> Where?\n\nHere.".to_owned();
        // Signatures.
        "<div>Yes.</div><div class=gmail_signature>Ann Lee<br>Head of Everything at ACME Limited<br>Mill Lane 1, London</div>",
            "Yes.\n\n%[signature: N characters not shown; signature=true shows it]".to_owned();
        "<div>Yes.</div><div id=Signature>Ann<br>ACME</div>", "Yes.\n\nAnn\nACME".to_owned();
        "<div class=gmail_signature>All of it is here.</div>", "All of it is here.".to_owned();
        // Block quotes used for layout.
        "<p>Dear all,</p><blockquote><p>An indented paragraph.</p><blockquote>And one.</blockquote></blockquote>",
            "Dear all,\n\nAn indented paragraph.\n\nAnd one.".to_owned();
        "<p>As he put it:</p><blockquote>Bread, slowly.</blockquote><p>Indeed.</p>",
            "As he put it:\n\nBread, slowly.\n\nIndeed.".to_owned();
        "<p>Yes.</p><p>On 5 Oct 2026 at 10:12, Bob wrote:</p><blockquote>When?</blockquote>",
            format!("Yes.\n\n{line}");
    };
    for (input, want) in cases {
        for style in [TextStyle::Text, TextStyle::Markdown] {
            let got = shown("Re: x", &marked(input, style, false).text);
            let got = got.replace('\\', "").replace("**", "");
            let (digits, words) = (|c: char| c.is_ascii_digit(), got.replace("Mill Lane 1", ""));
            let got = if words.contains("not shown") {
                words.split(digits).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("N")
            } else {
                got
            };
            assert_eq!(got.replace("\n\n---\n\n", "\n\n"), want, "{input}");
        }
    }
}
