"""Interop part: signing in to oidc-provider, and staying signed in.

    oidc.py BINARY

oidc.mjs mounts oidc-provider, an authorization server that others wrote, where
Microsoft and Google have theirs. The APIs are those of Daysheet's sandbox; the
gate before them lets nobody through whose access token oidc-provider does not
call active, and puts a token of the sandbox's own in its place.

Access tokens last two seconds. Daysheet wants a minute to spare, so that every
call refreshes, every refresh rotates the refresh token, and a refresh token
that is used twice ends the grant: a single slip among hundreds would be seen.
"""

import concurrent.futures
import datetime
import queue
import re
import subprocess
import sys
import time
import urllib.parse

import interop
from oidc_stage import (
    EMAIL, MICROSOFT_SCOPE, Gate, Partner, Person, Served, browser, daysheet_for, grant, sign_in,
)

checks = interop.Checks("oidc")

GOOGLE_ID = "interop.apps.googleusercontent.com"
# Clients of oidc.mjs; what they are for stands there.
BRIEF, SLOWED, LONGER = "interop-brief", "interop-slowed", "interop-longer"

# Calls per provider in the long run, and how many of them the process makes
# that has eight in flight; two further processes share the rest.
CALLS = {"microsoft": (200, 140), "google": (60, 40)}
IN_FLIGHT = 8

# Processes that are killed in mid-refresh, by the moment.
KILLS = ["before the request was read"] * 3 + ["before the answer was sent"] * 4 \
    + ["after the answer was sent"] * 3


def partner_is_strict(partner):
    """Its silence about us says something only if it speaks up."""
    paths = {"authorize": "/common/oauth2/v2.0/authorize", "token": "/common/oauth2/v2.0/token",
             "client": {"client_id": "interop"}, "scope": MICROSOFT_SCOPE, "email": EMAIL,
             "person": browser}
    _, got = grant(partner.base, **paths, challenge="")
    checks.same("partner: no PKCE is refused", got.get("error"), "invalid_request")
    status, got = grant(partner.base, **paths, challenge="c" * 43)
    checks.same("partner: wrong PKCE is refused", [status, got.get("error")],
                [400, "invalid_grant"])
    status, first = grant(partner.base, **paths)
    checks.same("partner: right PKCE is taken", status, 200)
    checks.that("partner: its access token is active", partner.active(first["access_token"]))

    def refresh(token):
        return partner.post("/common/oauth2/v2.0/token", client_id="interop",
                            grant_type="refresh_token", refresh_token=token)

    status, second = refresh(first["refresh_token"])
    checks.that("partner: a refresh rotates", status == 200
                and second["refresh_token"] != first["refresh_token"], second)
    before = partner.seen()["reuse"]
    status, got = refresh(first["refresh_token"])
    checks.same("partner: a used refresh token is refused", [status, got.get("error")],
                [400, "invalid_grant"])
    checks.same("partner: which it calls reuse", partner.seen()["reuse"] - before, 1)
    status, got = refresh(second["refresh_token"])
    checks.same("partner: and ends the grant", [status, got.get("error")], [400, "invalid_grant"])
    checks.that("partner: and its access tokens", not partner.active(second["access_token"]))


def signing_in(partner, gate):
    """Consent and refusal on both providers' paths."""
    for provider in ("google", "microsoft"):
        daysheet = daysheet_for(partner, gate)
        code, printed, url, last = sign_in(daysheet, provider)
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        checks.that(f"{provider}: sign-in", code == 0 and EMAIL in printed, printed)
        checks.same(f"{provider}: PKCE with S256", asked.get("code_challenge_method"), "S256")
        checks.that(f"{provider}: the browser ends on a page of ours", "<" in last, last)
        rows = daysheet.document("mail_search", {"limit": 3})["messages"]
        checks.same(f"{provider}: a search", len(rows), 3)
        refused = Person(allow=False)
        code, printed, _, _ = interop.sign_in(daysheet, EMAIL, provider=provider,
                                              person=refused.goes)
        checks.that(f"{provider}: a declined consent is said", code != 0
                    and re.search("consent was (denied|declined)", printed), printed)
        done = daysheet.run("account", "remove", EMAIL)
        checks.that(f"{provider}: account remove", done.returncode == 0, done.stderr)
        if provider == "google":
            checks.that("google: the grant is revoked at oidc-provider",
                        partner.seen(GOOGLE_ID)["grant revoked"] == 1
                        and "could not be revoked" not in done.stdout,
                        f"{partner.seen(GOOGLE_ID)} {done.stdout}")


def device(daysheet, act=None):
    """Runs `account add microsoft --device`; `act` is given page and code."""
    process = interop.track(subprocess.Popen(
        [daysheet.binary, "account", "add", "microsoft", "--device"], env=daysheet.env,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        encoding="utf-8", start_new_session=True))
    try:
        first = process.stdout.readline()
        shown = re.search(r"(http\S+) .*code ([A-Z0-9-]+)", first)
        if shown is None:
            raise RuntimeError(f"no code is shown: {first}{process.stdout.read()}")
        if act:
            act(*shown.groups())
        rest, _ = process.communicate(timeout=interop.PATIENCE)
        return process.returncode, first + rest
    finally:
        interop.stop(process)


def until(holds, what):
    """Waits for something that has to come."""
    end = time.monotonic() + interop.PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} did not come")
        time.sleep(0.02)


def devices(partner, gate):
    """The device flow (RFC 8628): slowly, declined, too late."""
    daysheet = daysheet_for(partner, gate, SLOWED)
    slowed = []

    def consents(page, code):
        until(lambda: partner.seen(SLOWED)["device_code: slow_down"], "slow_down")
        slowed.append(time.monotonic())
        Person().goes(page, EMAIL, code)

    code, printed = device(daysheet, consents)
    waited = time.monotonic() - slowed[0]
    seen = partner.seen(SLOWED)
    checks.that("device: sign-in", code == 0 and EMAIL in printed, printed)
    pending, slow = seen["device_code: authorization_pending"], seen["device_code: slow_down"]
    checks.that(f"device: waited through {pending} authorization_pending", pending >= 1, seen)
    checks.that(f"device: {slow} slow_down, the next poll {waited:.1f} s later",
                slow == 1 and waited >= 5.5, seen)
    checks.same("device: one grant", seen["device_code: granted"], 1)
    rows = daysheet.document("mail_search", {"limit": 3})["messages"]
    checks.same("device: a search", len(rows), 3)

    code, printed = device(daysheet_for(partner, gate),
                           lambda page, code: Person(allow=False).goes(page, EMAIL, code))
    checks.that("device: a declined code is said", code != 0 and "declined" in printed
                and "daysheet account add microsoft" in printed, printed)
    code, printed = device(daysheet_for(partner, gate, BRIEF))
    checks.that("device: an expired code is said", code != 0
                and re.search("expired|in time|nobody", printed)
                and "daysheet account add microsoft" in printed, printed)


def long_run(partner, gate, provider):
    """Hundreds of expiries in three processes that share one home."""
    total, eager = CALLS[provider]
    client = GOOGLE_ID if provider == "google" else "interop"
    daysheet = daysheet_for(partner, gate)
    code, printed, _, _ = sign_in(daysheet, provider)
    checks.that(f"{provider}: sign-in for the long run", code == 0, printed)
    before, passed, refused = partner.seen(client), gate.passed, gate.refused
    servers = [Served(daysheet) for _ in range(3)]
    failed, slowest = [], 0.0
    started = time.monotonic()
    # No two calls are the same, so that the gate can tell a request that is made
    # again.
    days = (datetime.date(2001, 1, 1) + datetime.timedelta(day) for day in range(total))
    gate.one_of, gate.asked = 8, set()

    def one(server, day):
        nonlocal slowest
        begun = time.monotonic()
        try:
            texts = server.call("mail_search", account=EMAIL, limit=2, q=f"after:{day}")
            if "\nmessages[2\t]" not in texts[0]:
                failed.append(texts[0])
        except (interop.CallFailed, queue.Empty) as error:
            failed.append(repr(error)[:300])
        slowest = max(slowest, time.monotonic() - begun)

    pools = [concurrent.futures.ThreadPoolExecutor(IN_FLIGHT),
             *(concurrent.futures.ThreadPoolExecutor(1) for _ in servers[1:])]
    rest = (total - eager) // 2
    for pool, server, calls in zip(pools, servers, (eager, rest, rest)):
        for _ in range(calls):
            pool.submit(one, server, next(days))
    for pool in pools:
        pool.shutdown()
    gate.one_of = 0
    took = time.monotonic() - started
    seen = partner.seen(client) - before
    refreshes = seen["refresh_token: granted"]
    print(f"note  oidc: {provider}: {total} calls in {took:.1f} s, the slowest {slowest:.1f} s: "
          f"{refreshes} refreshes, {seen['rotated']} rotations, {seen['reuse']} reuses, "
          f"{gate.passed - passed} requests let in, {gate.refused - refused} answered 401, "
          f"{len(failed)} errors", flush=True)
    checks.that(f"{provider}: no call of {total} fails", not failed, "\n".join(failed[:5]))
    checks.that(f"{provider}: {gate.refused - refused} requests were answered 401 and made again",
                gate.refused - refused >= 5)
    checks.that(f"{provider}: {refreshes} expiries, at least {total}", refreshes >= total)
    checks.same(f"{provider}: as many rotations", seen["rotated"], refreshes)
    checks.same(f"{provider}: no refresh is refused",
                [seen["refresh_token: asked"], seen["reuse"], seen["grant revoked"]],
                [refreshes, 0, 0])
    for server in servers:
        server.end()
    rows = daysheet.document("accounts")["accounts"]
    checks.same(f"{provider}: the grant lives on", [row["status"] for row in rows], ["ok"])


def shared_refresh(partner, gate):
    """Many at once need a new token: one fetches it for all."""
    daysheet = daysheet_for(partner, gate, LONGER)
    sign_in(daysheet, "microsoft")
    servers = [Served(daysheet) for _ in range(3)]
    # Tokens of this client are fresh for two seconds.
    time.sleep(3.2)
    before = partner.seen(LONGER)["refresh_token: granted"]
    failed = []
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        asked = [pool.submit(server.call, "lookup", kind="categories", account=EMAIL)
                 for server in servers for _ in range(IN_FLIGHT)]
        for future in asked:
            if future.exception():
                failed.append(repr(future.exception()))
    refreshes = partner.seen(LONGER)["refresh_token: granted"] - before
    checks.that("24 calls at once in three processes succeed", not failed, failed)
    checks.that(f"they share {refreshes} refresh, two at most", refreshes in (1, 2))
    for server in servers:
        server.end()


def mid_run(partner, gate):
    """A token that expires in the middle of a call, and between pages."""
    # Outlook's requests are few, for they travel in batches.
    for provider, client, one_of in (("google", GOOGLE_ID, 8), ("microsoft", "interop", 3)):
        daysheet = daysheet_for(partner, gate)
        sign_in(daysheet, provider)

        def pages():
            rows, cursor, count = [], None, 0
            while count == 0 or cursor:
                asked = {"limit": 20, "fields": ["date", "from", "subject"]}
                page = daysheet.document("mail_search", {"cursor": cursor} if cursor else asked)
                rows += interop.project(page["messages"], "date", "from", "subject")
                cursor, count = page.get("next"), count + 1
            return rows, count

        def read(ids):
            document = daysheet.document("mail_read", {"ids": ids})
            return [row.get("text") for row in document["bodies"]]

        ids = [row["id"] for row in daysheet.document("mail_search", {"limit": 25})["messages"]]
        quick, texts = pages(), read(ids)
        refused, reused = gate.refused, partner.seen(client)["reuse"]
        gate.one_of, gate.asked = one_of, set()
        try:
            slow, again = pages(), read(ids)
        finally:
            gate.one_of = 0
        refused = gate.refused - refused
        checks.that(f"{provider}: {refused} requests met an expired token in mid-run", refused >= 2)
        checks.that(f"{provider}: {len(slow[0])} rows on {slow[1]} pages are the same",
                    slow == quick and slow[1] >= 3, f"{slow}\n{quick}")
        checks.that(f"{provider}: {len(again)} texts are the same", again == texts)
        checks.same(f"{provider}: no reuse meanwhile", partner.seen(client)["reuse"] - reused, 0)


def kill(partner, gate, number, moment):
    """Kills a process in mid-refresh and looks what is left of the grant."""
    client = f"interop-killed-{number}"
    daysheet = daysheet_for(partner, gate, client)
    code, printed, _, _ = sign_in(daysheet, "microsoft")
    if code != 0:
        raise RuntimeError(printed)
    event, delays = {
        "before the request was read": ("asked", {"before": 700}),
        "before the answer was sent": ("granted", {"after": 700}),
        "after the answer was sent": ("sent", {}),
    }[moment]
    partner.delay(client, **delays)
    known = partner.seen(client)[f"refresh_token: {event}"]
    process = interop.track(subprocess.Popen(
        [daysheet.binary, "call", "mail_search", "limit=2"], env=daysheet.env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True))
    until(lambda: partner.seen(client)[f"refresh_token: {event}"] > known, event)
    if event == "sent":
        # Time to save what has come; the call itself waits at the gate.
        time.sleep(0.3)
    was_running = process.poll() is None
    process.kill()
    process.wait()
    time.sleep(0.8)
    partner.delay(client)
    return daysheet, client, was_running


def after_kill(partner, daysheet, client):
    """What the next call says, how long it takes, and if a used token was sent."""
    started = time.monotonic()
    done = daysheet.run("call", "mail_search", "limit=2")
    return (done.returncode == 0, done.stdout + done.stderr, time.monotonic() - started,
            partner.seen(client)["reuse"])


def kills(partner, gate):
    """Power cuts in mid-refresh."""
    gate.slow = 1.5
    try:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            victims = list(pool.map(lambda at: kill(partner, gate, *at), enumerate(KILLS)))
    finally:
        gate.slow = 0.0
    checks.that("all ten processes were killed while they ran",
                all(running for _, _, running in victims))
    with concurrent.futures.ThreadPoolExecutor(len(victims)) as pool:
        outcomes = list(pool.map(lambda one: after_kill(partner, *one[:2]), victims))
    for moment in dict.fromkeys(KILLS):
        found = [outcome for at, outcome in zip(KILLS, outcomes) if at == moment]
        kept = sum(lives for lives, _, _, _ in found)
        slowest = max(took for _, _, took, _ in found)
        print(f"note  oidc: killed {moment}: {kept} of {len(found)} grants kept; the next call "
              f"took up to {slowest:.1f} s", flush=True)
    # A refresh token that was used before was sent only if its successor never
    # arrived: with rotation, nobody can do anything about that.
    lost = [said for lives, said, _, reused in outcomes if not lives and not reused]
    checks.that("no grant is lost whose tokens had been saved", not lost, "\n".join(lost))
    saved = [outcome for at, outcome in zip(KILLS, outcomes) if at != KILLS[3]]
    checks.that("nor one whose answer was not lost", all(lives for lives, *_ in saved),
                "\n".join(said for _, said, _, _ in saved))
    ended = [(victim[0], said) for victim, (lives, said, _, _) in zip(victims, outcomes)
             if not lives]
    checks.that("a lost one is said to be lost, with what to do", all(
        "was refused" in said and "daysheet account add microsoft" in said for _, said in ended),
        "\n".join(said for _, said in ended))
    if ended:
        daysheet = ended[0][0]
        code, printed, _, _ = sign_in(daysheet, "microsoft")
        done = daysheet.run("call", "mail_search", "limit=2")
        checks.that("signing in again heals it", code == 0 and done.returncode == 0,
                    printed + done.stdout + done.stderr)


def main():
    started = time.monotonic()
    with checks.section("the part"):
        port = interop.free_port()
        bare = interop.Daysheet(sys.argv[1], running=True)
        interop.start_server([bare.binary, "sandbox", "--port", str(port)], port, env=bare.env)
        partner = Partner()
        gate = Gate(partner, port)
        steps = [
            ("the partner", lambda: partner_is_strict(partner)),
            ("signing in", lambda: signing_in(partner, gate)),
            ("device codes", lambda: devices(partner, gate)),
            ("one refresh for all", lambda: shared_refresh(partner, gate)),
            ("long run, microsoft", lambda: long_run(partner, gate, "microsoft")),
            ("long run, google", lambda: long_run(partner, gate, "google")),
            ("expiry in mid-run", lambda: mid_run(partner, gate)),
            ("kills", lambda: kills(partner, gate)),
        ]
        for name, step in steps:
            begun = time.monotonic()
            with checks.section(name):
                step()
            print(f"note  oidc: {name} took {time.monotonic() - begun:.1f} s", flush=True)
    print(f"note  oidc: {time.monotonic() - started:.0f} s in all", flush=True)
    checks.close()


if __name__ == "__main__":
    main()
