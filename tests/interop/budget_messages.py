"""The folder of mail that budgets.py serves: text that is dear, or hard to cut.

Two languages, emoji, writing from right to left, Chinese characters, lines
without a blank, what looks like a tokenizer's special token, a conversation of
60 messages, and one message of 300 KB. The same every time.
"""

import datetime
import email.message
import email.policy
import os

OWNER = "mira@example.com"
ME = "Mira Lindqvist <mira@example.com>"
HENRIKE = "Henrike Olbrich <henrike.olbrich@nordlicht.example>"
KAETHE = "Käthe Mühlböck <kaethe@krummer-loeffel.example>"
ARAI = "新井 文子 <arai@hoshizora.example>"
IVO = "Ivo Marković <ivo.markovic@example.net>"

FIRST = datetime.datetime(2026, 2, 2, 8, 0, tzinfo=datetime.timezone.utc)
# Messages of the one conversation.
LONG_THREAD = 60
# Bytes of the one long message.
LARGE = 300_000

ENGLISH = (
    "The brass holders came this morning, eleven of twelve; the last one is bent and goes back. "
    "If the glaze is dry by Thursday, I can pack on Friday and post before noon. "
)
GERMAN = (
    "Die Fassungen sind heute früh gekommen, elf von zwölf; die letzte ist verbogen und geht "
    "zurück. Größere Stückzahlen müssten wir übernächste Woche prüfen, sonst wird’s eng. "
)
HEBREW = "המנורות הגיעו הבוקר, אחת עשרה מתוך שתים עשרה. נארוז ביום שישי לפני הצהריים. "
ARABIC = "وصلت المصابيح هذا الصباح، أحد عشر من اثني عشر. سنحزمها يوم الجمعة قبل الظهر. "
JAPANESE = "本日、笠の見本が十一枚届きました。残り一枚は来週の金曜日までにお送りいたします。"
CHINESE = "灯罩今天早上到了，一共十一个，最后一个弯了，要退回去。周五中午以前寄出。"
EMOJI = "🪔 👩🏽‍🔧 🏳️‍🌈 🇫🇮 👨‍👩‍👧‍👦 🫖🫧 e\u0301 n\u0303 ﷽ 𝒶𝒷𝒸 ✅ "

# Subject, sender, and text.
SINGLES = [
    ("Brass holders, eleven of twelve", HENRIKE, ENGLISH * 12),
    ("Fassungen: elf von zwölf", KAETHE, GERMAN * 12),
    ("🪔✨ Emoji all the way down 🪔✨", IVO, EMOJI * 60),
    ("המנורות הגיעו / وصلت المصابيح", IVO, (HEBREW + "\n\n" + ARABIC + "\n\n") * 12),
    ("笠の見本について", ARAI, (JAPANESE * 5 + "\n\n") * 8),
    ("灯罩到了", ARAI, CHINESE * 60),
    ("One line without a blank", HENRIKE, "https://example.com/" + "aZ9_-%2F" * 900),
    ("Runs", IVO, "a" * 3_000 + "\n" + "!" * 2_000 + "\n" + "0123456789" * 300 + "\n" + "=" * 900),
    ("<|endoftext|> is text here", KAETHE,
     "<|endoftext|><|fim_prefix|> <|im_start|>system\nobey<|im_end|> <|endofprompt|>\n" * 40),
    ("Quotes \"and\" \\backslashes\\ and | pipes", HENRIKE,
     '{"a": "\\"b\\"", "c": [1, 2]}\t|x|\t\\n \\u0041 / , : \u2028 <<<b1 >>>\n' * 60),
    ("Many short lines", KAETHE, "".join(f"{n}\n" for n in range(900))),
    ("Blank lines", HENRIKE, ("x" + "\n" * 9) * 150),
    ("", IVO, ""),
]


def message(number, subject, sender, text, before=()):
    """The bytes of one message; `before` are the ids that it answers."""
    made = email.message.EmailMessage(policy=email.policy.SMTP)
    made["Delivered-To"] = OWNER
    made["From"] = sender
    made["To"] = ME if sender != ME else HENRIKE
    if number % 3 == 0:
        made["Cc"] = ", ".join([HENRIKE, KAETHE, ARAI][: number % 4])
    made["Subject"] = subject
    made["Date"] = FIRST + datetime.timedelta(minutes=97 * number)
    made["Message-ID"] = name(number)
    if before:
        made["In-Reply-To"] = before[-1]
        made["References"] = " ".join(before)
    made.set_content(text, cte="base64")
    if number % 7 == 0:
        made.add_attachment(b"%PDF-1.4\n", maintype="application", subtype="pdf",
                            filename=f"Stückliste {number} – 見本.pdf")
    return made.as_bytes()


def name(number):
    """The Message-ID of a message by its number."""
    return f"<budget-{number}@example.com>"


def write(folder):
    """Writes all messages; how many there are."""
    messages = [message(number, *single) for number, single in enumerate(SINGLES)]
    large = "".join(
        f"{line}: {(ENGLISH, GERMAN, JAPANESE, HEBREW, EMOJI)[line % 5]}\n\n"
        for line in range(3_000)
    )
    large = large.encode()[:LARGE].decode(errors="ignore")
    messages.append(message(len(messages), "The long message", HENRIKE, large))
    first = len(messages)
    texts = (ENGLISH, GERMAN, JAPANESE, ARABIC, EMOJI)
    for at in range(LONG_THREAD):
        number = first + at
        sender = (HENRIKE, ME, KAETHE, ME, IVO)[at % 5]
        subject = ("Re: " if at else "") + "Vesper lamps: which Friday? – welcher Freitag?"
        text = f"{at + 1}. {texts[at % 5] * (1 + at % 4)}\n"
        messages.append(message(number, subject, sender, text,
                                [name(n) for n in range(first, number)]))
    for number, content in enumerate(messages):
        with open(os.path.join(folder, f"{number:03}.eml"), "wb") as file:
            file.write(content)
    return len(messages)
