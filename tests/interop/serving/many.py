"""Interop part: many people at two instances behind a balancer, over one PostgreSQL.

    many.py BINARY

Everybody has two mailboxes at the sandbox, whose every row has a word of their own: no answer
to anybody may have another's. Meanwhile instances are killed, access tokens expire, and
PostgreSQL is restarted. How much is done is up to the environment: MANY_PEOPLE, MANY_CALLS,
MANY_SENDS, MANY_EXPIRIES, MANY_THREADS.
"""

import collections
import concurrent.futures
import http.client
import json
import os
import random
import re
import sys
import threading
import time

import interop
import people
import stage

checks = interop.Checks("many")

SIZE = {name: int(os.environ.get(f"MANY_{name}", value)) for name, value in {
    "PEOPLE": 10, "CALLS": 1200, "SENDS": 40, "EXPIRIES": 60, "THREADS": 12}.items()}
MESSAGES = 8
# Seconds from one kill to the next, that an answer may take to come, and that PostgreSQL is
# away.
KILLS, PATIENCE, AWAY = 1.5, 60.0, 3.0
# Access tokens that are good for less than a minute more are renewed.
TOKEN_LIFE = 63
# Seconds after which nobody can still be sending a message, and results of one that was sent.
DOUBT, SENT = 181.0, {"sent", "already sent"}
BREAKS = (OSError, http.client.HTTPException)
HASH = re.compile(r"output_read id=([2-9a-z]+)")


class World:
    """Everything that runs."""

    def __init__(self, binary):
        self.people = [people.Person(number) for number in range(SIZE["PEOPLE"])]
        self.sandbox = people.Sandbox(binary, people.write_mail(self.people, MESSAGES), TOKEN_LIFE)
        self.postgres, self.issuer = people.Postgres(), people.Issuer()
        self.port = interop.free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        daysheet = interop.Daysheet(
            binary, running=True, **self.sandbox.settings(), database=self.postgres.url, access="send",
            http_issuer=self.issuer.base, http_public_url=self.base, http_client_id="daysheet",
            http_audience=self.base + "/mcp", http_client_secret="secret",
            new_recipients="allow", sends_per_hour="10000",
            recipients_per_hour="10000", limits_calls_per_minute="100000",
            limits_calls_at_once="64", keys_value=people.MASTER_KEY)
        daysheet.env["DAYSHEET_ZONE"] = daysheet.env["TZ"] = "UTC"
        self.instances = [stage.Instance(daysheet) for _ in range(2)]
        people.Balancer([one.port for one in self.instances], self.port)
        self.audience = self.base + "/mcp"
        self.tokens = {}
        self.local = threading.local()
        self.tally = collections.Counter()
        self.wrong, self.leaks = [], []
        # Messages that may have been sent, by address and subject, and since when at the latest.
        self.doubts, self.doubted = {}, 0.0
        self.slowest = 0.0

    def caller(self, person):
        """This thread's caller for a person."""
        if person.number not in self.tokens:
            self.tokens[person.number] = self.issuer.token(
                person.name, self.audience, seconds=7200, scope="daysheet:send")
        callers = self.local.__dict__.setdefault("callers", {})
        if person.number not in callers:
            callers[person.number] = stage.Caller(self.port, self.tokens[person.number],
                                                  modern=person.number % 2 == 0)
        return callers[person.number]

    def ask(self, person, tool, may_fail=None, **arguments):
        """The texts of an answer, asked for until one comes. What does not come, because an
        instance was killed, is counted; an answer is checked for other people's words. It
        may be a refusal with `may_fail` in it."""
        begun = time.monotonic()
        while True:
            try:
                texts = self.caller(person).call(tool, **arguments)
                break
            except stage.Refused as refused:
                if refused.status not in (502, 503, 504):
                    texts = [refused.text]
                    self.check(person, tool, arguments, texts)
                    self.tally["refused"] += 1
                    if may_fail is None or may_fail not in texts[0]:
                        self.wrong.append(f"{person.name} {tool} {arguments}: {refused}")
                    return None
                self.tally[f"{refused.status}"] += 1
            except BREAKS:
                self.tally["broken off"] += 1
            if time.monotonic() - begun > PATIENCE:
                self.wrong.append(f"{person.name} {tool} {arguments}: no answer in {PATIENCE} s")
                return None
            time.sleep(0.05)
        self.slowest = max(self.slowest, time.monotonic() - begun)
        self.tally["answered"] += 1
        self.check(person, tool, arguments, texts)
        return texts

    def check(self, person, tool, arguments, texts):
        words = set(people.CANARY.findall("\n".join(texts)))
        if words - {person.word[6:]}:
            self.leaks.append(f"{person.name} {tool} {arguments}: {sorted(words)}")


def value(texts, name):
    """The value of a line `name: value` of an answer."""
    found = re.search(rf"^{name}: (\S+)", texts[0], re.M) if texts else None
    return found and found.group(1)


def check_own(world, person, texts, tool):
    """Notes an answer without the person's word as wrong: it has to have rows."""
    if texts and person.word not in "\n".join(texts):
        world.wrong.append(f"{person.name} {tool}: nothing of theirs: {texts[0][:200]}")


# The calls, by how often they are made. ------------------------------------------------


def search(world, person, rng):
    texts = world.ask(person, "mail_search", limit=rng.choice((3, 5)))
    check_own(world, person, texts, "mail_search")
    if texts:
        person.seen["ids"] = re.findall(r"^  (m\d+)", texts[0], re.M)
        person.seen["cursor"] = value(texts, "next")


def find(world, person, rng):
    provider = rng.choice(list(person.addresses))
    texts = world.ask(person, "mail_search", q="message", limit=2,
                      account=person.addresses[provider])
    check_own(world, person, texts, "mail_search q=message")


def find_all(world, person, rng):
    # Whoever looks for everybody's words finds their own.
    world.ask(person, "mail_search", q=f"canary{rng.randrange(SIZE['PEOPLE']):04}", limit=3)


def read(world, person, rng):
    ids = person.seen.get("ids") or []
    if ids:
        check_own(world, person, world.ask(person, "mail_read", ids=ids[:2]), "mail_read")


def next_page(world, person, rng):
    if cursor := person.seen.pop("cursor", None):
        texts = world.ask(person, "mail_search", may_fail="", cursor=cursor)
        person.seen["cursor"] = value(texts, "next") if texts else None


def folders(world, person, rng):
    world.ask(person, "lookup", kind=rng.choice(("folders", "calendars", "contacts")), limit=5)


def brief(world, person, rng):
    check_own(world, person, world.ask(person, "brief", budget=1500), "brief")


def agenda(world, person, rng):
    texts = world.ask(person, "calendar_search", **{"from": "-1d", "to": "+2d"})
    check_own(world, person, texts, "calendar_search")


def shortened(world, person, rng):
    texts = world.ask(person, "mail_search", limit=16, budget=300)
    for found in HASH.finditer("\n".join(texts or [])):
        person.seen["output"] = found.group(1)


def output(world, person, rng):
    if one := person.seen.get("output"):
        # Drafts come and go meanwhile.
        texts = world.ask(person, "output_read", "has changed since", id=one, limit=20)
        check_own(world, person, texts, "output_read")
    else:
        shortened(world, person, rng)


def changes(world, person, rng):
    given = {"cursor": person.seen["changes"]} if person.seen.get("changes") else {}
    texts = world.ask(person, "changes", **given)
    person.seen["changes"] = value(texts, "next") or value(texts, "cursor")


def draft(world, person, rng):
    texts = world.ask(person, "mail_draft", account=rng.choice(list(person.addresses.values())),
                      to=["outside@elsewhere.example"], subject=f"{person.word} draft",
                      body=f"Of {person.word}")
    found = re.search(r"\b(d\d+)\b", texts[0]) if texts else None
    if found:
        kept = world.ask(person, "mail_read", ids=[found.group(1)])
        check_own(world, person, kept, "mail_read of a draft")
        # The first answer may have been lost.
        world.ask(person, "mail_draft", "was discarded", mode="discard", id=found.group(1))


def steal(world, person, rng):
    """What another person was given is of no use."""
    other = rng.choice(world.people)
    if other is person:
        return
    if one := other.seen.get("output"):
        world.ask(person, "output_read", may_fail="", id=one)
    if ids := other.seen.get("ids"):
        world.ask(person, "mail_read", may_fail="", ids=[rng.choice(ids)])
    if cursor := other.seen.get("cursor"):
        world.ask(person, "mail_search", may_fail="", cursor=cursor)
    if cursor := other.seen.get("changes"):
        world.ask(person, "changes", may_fail="", cursor=cursor)
    world.ask(person, "mail_search", may_fail="", account=other.google, limit=2)
    world.ask(person, "mail_draft", may_fail="", mode="edit", id=f"d{rng.randrange(1, 9)}",
              subject=f"{person.word} draft")


MIX = {search: 30, find: 14, find_all: 6, read: 18, next_page: 6, folders: 5, brief: 4, agenda: 5,
       output: 6, changes: 4, draft: 1, steal: 1}


# What happens ----------------------------------------------------------------------


def in_threads(count, work):
    """Does `work(number)` for each number, in as many threads as there are to be."""
    with concurrent.futures.ThreadPoolExecutor(SIZE["THREADS"]) as pool:
        for done in [pool.submit(work, number) for number in range(count)]:
            done.result()


class Killer:
    """Kills an instance every few seconds, in turn, and starts it again."""

    def __init__(self, world):
        self.world, self.kills, self.ended = world, 0, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        # Soon, and then every few seconds.
        while not self.ended.wait(KILLS if self.kills else 0.3):
            instance = self.world.instances[self.kills % 2]
            instance.kill()
            self.kills += 1
            instance.start()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def report(world, name, count, begun):
    took = time.monotonic() - begun
    print(f"note  many: {name}: {world.tally['answered']} answered in {took:.0f} s "
          f"({world.tally['answered'] / took:.0f} a second), the slowest after "
          f"{world.slowest:.1f} s; {dict(world.tally)}", flush=True)
    checks.that(f"{name}: no answer is wrong", not world.wrong, "\n".join(world.wrong[:8]))
    checks.same(f"{name}: answers with somebody else's words", world.leaks[:8], [])
    checks.that(f"{name}: {world.tally['answered']} calls, at least {count}",
                world.tally["answered"] >= count)
    world.tally.clear()
    world.wrong, world.leaks, world.slowest = [], [], 0.0


def connecting(world):
    begun = time.monotonic()
    done = []

    def one(number):
        try:
            people.connect(world.people[number], world.base, world.issuer)
            done.append(number)
        except Exception as error:
            world.wrong.append(f"{number}: {error}")

    in_threads(len(world.people), one)
    checks.same(f"people who connected two mailboxes, in {time.monotonic() - begun:.0f} s",
                len(done), len(world.people))
    checks.that("no sign-in fails", not world.wrong, "\n".join(world.wrong[:3]))
    world.wrong = []
    for person in world.people[:3]:
        rows = world.caller(person).document("accounts")["accounts"]
        checks.same(f"{person.name} has theirs", sorted(row["email"] for row in rows),
                    sorted(person.addresses.values()))


def mixed(world, calls, name):
    """Mixed calls; returns when there were enough answers."""
    begun = time.monotonic()
    works, weights = list(MIX), list(MIX.values())

    def one(number):
        rng = random.Random(f"{name}{number}")
        while world.tally["answered"] < calls and len(world.wrong) < 50:
            rng.choices(works, weights)[0](world, rng.choice(world.people), rng)

    in_threads(SIZE["THREADS"], one)
    report(world, name, calls, begun)


def send(world, person, draft):
    """The result of a call that sends a draft; none if it was refused."""
    texts = world.ask(person, "mail_send", "", id=draft, format="json")
    return json.loads(texts[0])["outcomes"][0]["result"] if texts else None


def check_sent(world, name, sent):
    """Checks that each message of `sent`, as address and subject, was sent once."""
    copies = collections.Counter((address, subject) for address in {one[0] for one in sent}
                                 for subject in world.sandbox.sent(address))
    checks.same(f"{name}: messages that were sent twice",
                [one for one in sent if copies[one] > 1], [])
    checks.same(f"{name}: messages that an answer calls sent, and that were not",
                [one for one in sent if not copies[one]], [])


def sends(world):
    """Messages that are sent while instances are killed, each by two calls at once."""
    begun, count = time.monotonic(), SIZE["SENDS"]
    sent = []

    def one(number):
        person = world.people[number % len(world.people)]
        address = list(person.addresses.values())[number // len(world.people) % 2]
        subject = f"{person.word} sends {number}"
        texts = world.ask(person, "mail_draft", account=address, subject=subject,
                          to=["outside@elsewhere.example"], body="Once.")
        found = re.search(r"\b(d\d+)\b", texts[0]) if texts else None
        if not found:
            world.wrong.append(f"{subject}: no draft: {texts}")
            return
        draft = found.group(1)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda _: send(world, person, draft), range(2)))
        # Whoever was refused asks again.
        while not SENT & set(results) and "unknown" not in results and len(results) < 22:
            time.sleep(0.5)
            results.append(send(world, person, draft))
        if SENT & set(results):
            sent.append((address, subject))
        elif "unknown" in results:
            world.doubts[address, subject] = person, draft
        else:
            world.wrong.append(f"{subject}: {results}")

    in_threads(count, one)
    world.doubted = time.monotonic()
    checks.that(f"sends: {len(sent)} messages of {count} are sent, {len(world.doubts)} unknown, "
                "because an instance was killed while it sent them",
                len(sent) + len(world.doubts) == count and len(world.doubts) <= count // 10)
    check_sent(world, "sends", sent)
    report(world, "sends", count, begun)


def doubts(world):
    """Whoever was told that it is unknown whether a message was sent asks again in some minutes,
    as the answer says; and sends it then if it was not."""
    if not world.doubts:
        return
    time.sleep(max(0.0, world.doubted + DOUBT - time.monotonic()))
    results = {one: [send(world, *of), send(world, *of)] for one, of in world.doubts.items()}
    checks.that(f"doubts: {results}", all(found in (["not sent", "sent"], ["already sent"] * 2)
                                          for found in results.values()))
    check_sent(world, "doubts", list(results))


def expiries(world):
    """Access tokens that run out while instances are killed."""
    begun, before = time.monotonic(), world.sandbox.granted

    def one(number):
        rng = random.Random(number)
        while world.sandbox.granted - before < SIZE["EXPIRIES"] and len(world.wrong) < 50 \
                and time.monotonic() - begun < 600:
            # Both mailboxes are asked.
            search(world, world.people[rng.randrange(len(world.people))], rng)

    in_threads(SIZE["THREADS"], one)
    granted = world.sandbox.granted - before
    checks.that(f"expiries: {granted} refreshes, at least {SIZE['EXPIRIES']}",
                granted >= SIZE["EXPIRIES"])
    report(world, "expiries", 1, begun)


def grants_live(world):
    print(f"note  many: {world.sandbox.granted} refreshes granted, {world.sandbox.refused} "
          f"refused, {world.sandbox.reused} with a token that was used before", flush=True)
    lost = []
    for person in world.people:
        texts = world.ask(person, "accounts", format="json")
        rows = json.loads(texts[0])["accounts"] if texts else []
        lost += [f"{person.name}: {row}" for row in rows if row["status"] != "ok"]
        if len(rows) != 2:
            lost.append(f"{person.name}: {rows}")
    checks.that("no grant is lost", not lost and not world.sandbox.refused, "\n".join(lost[:5]))


def restart(world):
    """PostgreSQL goes away under load: errors say so, and pass."""
    answers, ended = collections.Counter(), threading.Event()
    answered_after = []

    def one(number):
        rng = random.Random(number)
        while not ended.is_set():
            person = rng.choice(world.people)
            try:
                texts = world.caller(person).call("mail_search", limit=3)
                world.check(person, "mail_search", {}, texts)
                answers["answered"] += 1
                if back:
                    answered_after.append(time.monotonic() - back[0])
            except stage.Refused as refused:
                answers[f"{refused.status}: {refused.text[:160]}"] += 1
            except BREAKS as error:
                answers[f"{type(error).__name__}"] += 1
                time.sleep(0.02)

    back = []
    threads = [threading.Thread(target=one, args=(number,)) for number in range(SIZE["THREADS"])]
    for thread in threads:
        thread.start()
    time.sleep(2)
    world.postgres.restart(AWAY)
    back.append(time.monotonic())
    time.sleep(8)
    ended.set()
    for thread in threads:
        thread.join()
    errors = {text: count for text, count in answers.items() if text != "answered"}
    print(f"note  many: PostgreSQL away for {AWAY} s: {answers['answered']} answered, "
          f"the first {min(answered_after, default=99):.2f} s after its return; "
          f"{json.dumps(errors, ensure_ascii=False)}", flush=True)
    unclear = [text for text in errors
               if not re.search("database|PostgreSQL|store|state", text, re.I)]
    checks.that("restart: every error says what is not there", not unclear, "\n".join(unclear))
    checks.that("restart: answers come again within 5 s", min(answered_after, default=99) < 5)
    # The tally has the calls about grants.
    world.tally.clear()
    mixed(world, 100, "after the restart")


def main():
    started = time.monotonic()
    with checks.section("the part"):
        world = World(sys.argv[1])
        connecting(world)
        quiet = SIZE["CALLS"] // 2
        steps = [
            ("calls", lambda: mixed(world, quiet, "calls")),
            ("calls under kills", lambda: mixed(world, SIZE["CALLS"] - quiet,
                                                "calls under kills")),
            ("sends", lambda: sends(world)),
            ("expiries", lambda: expiries(world)),
        ]
        for name, step in steps:
            with checks.section(name):
                if name == "calls":
                    step()
                    continue
                with Killer(world) as killer:
                    step()
                checks.that(f"{name}: {killer.kills} kills", killer.kills > 0)
        for name, step in (("grants", grants_live), ("restart", restart), ("doubts", doubts)):
            with checks.section(name):
                step(world)
    print(f"note  many: {time.monotonic() - started:.0f} s in all", flush=True)
    checks.close()


if __name__ == "__main__":
    main()
