"""Interop part: Daysheet's pages in Chromium.

    pages.py BINARY

Somebody signs in through their issuer, connects an account on the sandbox's consent page,
inspects a call, approves a message, sees what was sent, lowers their level, takes their data along
and erases it: with the mouse, by the keyboard alone, without scripts, in light and dark. axe-core
looks at every page. With PICTURES, a folder, pictures of the pages with the sample mailboxes are left
there, in light and dark: of the accounts, a call, a message that waits, and the log. Those of
docs/images/ are made so.
"""

import os
import sys

import interop
import people
import stage

checks = interop.Checks("pages")

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
# How they work, and with which provider.
WAYS = {
    "mouse": {"provider": "google", "scripts": True, "scheme": "light"},
    "keyboard": {"provider": "microsoft", "scripts": True, "scheme": "dark", "keyboard": True},
    "no scripts": {"provider": "google", "scripts": False, "scheme": "light"},
}


# The sample person's mailboxes, on the day that the samples are written around.
SAMPLES = {"google": "mira@example.com", "microsoft": "mira@lindqvist-lamps.example"}
NOW = "2026-11-16T11:05+01:00"

# Messages to addresses that were never written to: of the sample person, and of the others.
SAMPLE_DRAFT = {
    "to": ["hello@rookery.example"], "subject": "Two bags for the workshop",
    "body": "Hello, please put two bags of the winter coffee aside for us. Yusuf comes by on "
            "Saturday at ten. Mira"}
DRAFT = {"to": ["somebody@elsewhere.example"], "subject": "From the pages", "body": "Hello."}


def take_pictures(binary, issuer, chromium, folder):
    """Leaves pictures of the pages of somebody who has connected the sample mailboxes."""
    for scheme in ("light", "dark"):
        sandbox = people.Sandbox(binary, None, 3600, sandbox_now=NOW)
        port = interop.free_port()
        base = f"http://127.0.0.1:{port}"
        daysheet = interop.Daysheet(
            binary, running=True, **sandbox.settings(), access="send",
            http_issuer=issuer.base, http_public_url=base, http_client_id="daysheet",
            http_client_secret="secret")
        stage.Instance(daysheet, port=port)
        walk(f"pictures, {scheme}", {
            "provider": "google", "also": "microsoft", "addresses": SAMPLES, "scripts": True,
            "scheme": scheme, "base": base, "issuer": issuer.base, "chromium": chromium,
            "person": "mira", "email": SAMPLES["google"], "hostile": "", "pictures": folder,
            "draft": SAMPLE_DRAFT,
            "token": issuer.token("mira", base + "/mcp", scope="daysheet:send")})


def walk(name, settings):
    """Goes through the pages in one way."""
    stage.check_in_node(checks, "browser.mjs", settings, f"{name}: ")


def main():
    with checks.section("the part"):
        chromium = stage.program("chromium", "google-chrome")
        somebody = [people.Person(number) for number in range(len(WAYS))]
        root = people.write_mail(somebody, 4)
        for person in somebody:
            for address in person.addresses.values():
                with open(os.path.join(root, address, "zz.eml"), "w") as file:
                    message = people.MESSAGE.format(
                        word=person.word, address=address, number=99,
                        date="Mon, 01 Jan 2035 00:00:00 +0000")
                    file.write(message.replace(f"{person.word} message 99", HOSTILE))
        sandbox, issuer = people.Sandbox(sys.argv[1], root, 3600), people.Issuer()
        port = interop.free_port()
        base = f"http://127.0.0.1:{port}"
        daysheet = interop.Daysheet(
            sys.argv[1], running=True, **sandbox.settings(), access="send",
            http_issuer=issuer.base, http_public_url=base, http_client_id="daysheet",
            http_client_secret="secret")
        stage.Instance(daysheet, port=port)
        for person, (name, way) in zip(somebody, WAYS.items()):
            with checks.section(name):
                token = issuer.token(person.name, base + "/mcp", scope="daysheet:send")
                walk(name, {
                    **way, "base": base, "issuer": issuer.base, "chromium": chromium,
                    "person": person.name, "email": person.addresses[way["provider"]],
                    "token": token, "hostile": HOSTILE[:25], "draft": DRAFT})
        if folder := os.environ.get("PICTURES"):
            take_pictures(sys.argv[1], issuer, chromium, folder)
    checks.close()


if __name__ == "__main__":
    main()
