"""The mailbox that emulate is seeded with: eight messages, as RFC 5322 text.

The rows that Daysheet must make of them stand in emulate.py. What emulate
cannot hold is left out: other headers than the usual ones, parts in charsets
that it does not know.
"""

import base64
import json

EMAIL = "nora@example.com"

OFFSITE = """\
From: Ana Ruiz <ana@example.org>
To: Nora Quint <nora@example.com>
Cc: Bo Lind <bo@example.org>
Subject: Offsite agenda
Date: Tue, 03 Feb 2026 18:05:00 +0100
Message-ID: <offsite-1@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Hello Nora,

the offsite starts at 9 in room <Elbe> & ends at 17.
Please bring the plan.

Ana
"""

OFFSITE_REPLY = """\
From: Nora Quint <nora@example.com>
To: Ana Ruiz <ana@example.org>
Subject: Re: Offsite agenda
Date: Wed, 04 Feb 2026 09:12:00 +0100
Message-ID: <offsite-2@example.com>
In-Reply-To: <offsite-1@example.org>
References: <offsite-1@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

I will bring it.

On Tue, 3 Feb 2026 at 18:05, Ana Ruiz <ana@example.org> wrote:
> Please bring the plan.
"""

# Encoded words in a name and a subject (RFC 2047), a quoted-printable text.
GREETINGS = """\
From: =?UTF-8?B?SsO8cmdlbiBHcm/Dnw==?= <juergen@example.org>
To: nora@example.com
Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe_aus?= =?UTF-8?Q?_K=C3=B6ln?=
Date: Thu, 05 Feb 2026 07:30:00 +0000
Message-ID: <greetings@example.org>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Der Dom l=C3=A4sst gr=C3=BC=C3=9Fen, und der Zug f=C3=A4hrt erst um zehn nac=
h acht.
"""

# Two alternatives; the HTML has what newsletters have before their text.
NEWSLETTER = """\
From: "Garden Weekly" <news@garden.example>
To: nora@example.com
Subject: Seven plants for shade
Date: Fri, 06 Feb 2026 06:00:00 +0100
Message-ID: <week-6@garden.example>
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="alternatives"

--alternatives
Content-Type: text/plain; charset=utf-8

Seven plants that like shade: hosta, fern and more.

--alternatives
Content-Type: text/html; charset=utf-8

<html><head><style>p {color: green}</style></head><body>
<div style="display:none">Preheader&zwnj; &zwnj; &zwnj;</div>
<h1>Seven plants</h1>
<p>Hosta, <b>fern</b> and <a href="https://garden.example/shade?week=6">five more</a>.</p>
</body></html>

--alternatives--
"""

# An attachment behind a text; the content is 23 bytes long.
INVOICE = """\
From: Billing <billing@supplier.example>
To: nora@example.com
Subject: Invoice 2026-014
Date: Mon, 09 Feb 2026 11:00:00 +0100
Message-ID: <invoice-014@supplier.example>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="parts"

--parts
Content-Type: text/plain; charset=utf-8

Please find the invoice attached. It is due on 23 February.

--parts
Content-Type: application/pdf; name="invoice-014.pdf"
Content-Disposition: attachment; filename="invoice-014.pdf"
Content-Transfer-Encoding: base64

JVBERi0xLjQgbm90IGEgcmVhbCBvbmU=

--parts--
"""

# A subject with what tables must quote, and HTML alone.
DEPLOY = """\
From: Build Bot <bot@ci.example>
To: nora@example.com, team@example.com
Subject: Deploy "blue": done - 100%, [ok] {v2}
Date: Tue, 10 Feb 2026 23:59:00 +0100
Message-ID: <deploy-7@ci.example>
MIME-Version: 1.0
Content-Type: text/html; charset=utf-8

<p>Version 2 is live.</p><p>Next: <i>cleanup</i></p>
"""

# Archived, with a folded subject and a name with a comma.
CONTRACT = """\
From: "Okafor, Chidi" <chidi@example.net>
To: nora@example.com
Subject: The contract of the third of February,
 second reading
Date: Sun, 15 Mar 2026 10:00:00 +0100
Message-ID: <contract@example.net>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Second reading is done.
"""

SPAM = """\
From: Prize <prize@spam.example>
To: nora@example.com
Subject: You have won
Date: Mon, 16 Mar 2026 10:00:00 +0100
Message-ID: <won@spam.example>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

Click here.
"""

# Id, text, labels. Ids look like Gmail's; labels beside the system's are
# made by name below.
MESSAGES = [
    ("19c2000000000001", OFFSITE, ["INBOX", "UNREAD", "Label_1"]),
    ("19c2000000000002", OFFSITE_REPLY, ["SENT"]),
    ("19c2000000000003", GREETINGS, ["INBOX", "STARRED"]),
    ("19c2000000000004", NEWSLETTER, ["INBOX", "UNREAD", "CATEGORY_PROMOTIONS"]),
    ("19c2000000000005", INVOICE, ["INBOX", "IMPORTANT", "Label_2"]),
    ("19c2000000000006", DEPLOY, ["INBOX"]),
    ("19c2000000000007", CONTRACT, ["Label_1", "Label_2"]),
    ("19c2000000000008", SPAM, ["SPAM", "UNREAD"]),
]

LABELS = {"Label_1": "Plans", "Label_2": "Receipts"}


def raw(text):
    """A message as Gmail's `raw`: CRLF line ends, base64url."""
    return base64.urlsafe_b64encode(text.replace("\n", "\r\n").encode()).decode()


def seed(path):
    """Writes emulate's seed file; JSON is YAML.

    No OAuth client is registered: emulate compares redirects with their port,
    and ours is a new one every time. PKCE is checked all the same.
    """
    google = {
        "users": [{"email": "other@example.com"}, {"email": EMAIL, "name": "Nora Quint"}],
        "labels": [
            {"id": id, "name": name, "user_email": EMAIL} for id, name in LABELS.items()
        ],
        "messages": [
            {"id": id, "user_email": EMAIL, "raw": raw(text), "label_ids": labels}
            for id, text, labels in MESSAGES
        ],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"google": google}, file)
