"""Interop part: when events are, held to Python's calendar libraries.

    times.py BINARY

Every case of `times_cases.py` is an iCalendar file, a window and a zone to tell
times in. The sandbox loads the files; Daysheet lists each case's events at both
providers, through the whole program. What it should say is computed by
`icalendar` and `recurring-ical-events` (which expand by `dateutil`, over
`zoneinfo`) and nothing of ours.
"""

import datetime as dt
import json
import os
import subprocess
import sys
import zoneinfo

import icalendar
import recurring_ical_events

import interop
import times_cases

checks = interop.Checks("times")

EMAIL = "mira@example.com"
# Fewer would mean that cases were lost.
LEAST = 190

DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def document(case):
    """The case as an iCalendar document."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//interop//times//EN",
             f"X-WR-CALNAME:{case.name}", *case.zones]
    for at, event in enumerate(case.events):
        lines += ["BEGIN:VEVENT", f"UID:{case.name}@interop.example",
                  "DTSTAMP:20200101T000000Z", f"SUMMARY:{case.name}", *event]
        if at:
            lines.append(f"SEQUENCE:{at}")
        lines.append("END:VEVENT")
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def instant(text, zone):
    """A local time of the case's window, as an instant."""
    return dt.datetime.fromisoformat(text).replace(tzinfo=zone)


def told(when, zone):
    """A start as a row tells it."""
    if not isinstance(when, dt.datetime):
        return f"{DAYS[when.weekday()]} {when.isoformat()}"
    local = exact(when).astimezone(zone)
    return f"{DAYS[local.weekday()]} {local:%Y-%m-%d} {clock(local)}"


def clock(local):
    """A time of day, with the offset in an hour that the clocks repeat."""
    twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return f"{local:%Hh%M %z}" if twice else f"{local:%Hh%M}"


def told_end(start, end, zone):
    """An end as a row tells it: short on the same day, inclusive for whole days."""
    if not isinstance(end, dt.datetime):
        return max(start, end - dt.timedelta(days=1)).isoformat()
    local, first = exact(end).astimezone(zone), exact(start).astimezone(zone)
    if local.date() == first.date():
        return clock(local)
    return told(end, zone)


def recurs(case):
    """True for a series."""
    return any(line.startswith("RRULE") for line in case.events[0])


def exact(when):
    """The instant in UTC; arithmetic on local times would not be exact."""
    return when.astimezone(dt.timezone.utc)


def expected(case):
    """Start and end of every occurrence in the window, as rows tell them."""
    zone = zoneinfo.ZoneInfo(case.zone)
    calendar = icalendar.Calendar.from_ical(document(case))
    since, until = instant(case.since, zone), instant(case.until, zone)
    found = []
    for event in recurring_ical_events.of(calendar).between(since, until):
        start = event["DTSTART"].dt
        if "DTEND" in event:
            end = event["DTEND"].dt
        elif "DURATION" in event:
            end = start + event["DURATION"].dt
        elif isinstance(start, dt.datetime):
            end = start
        else:
            end = start + dt.timedelta(days=1)
        if isinstance(start, dt.datetime) and start.tzinfo is None:
            raise RuntimeError(f"{case.name} has a time without a zone")
        elif isinstance(start, dt.datetime) and recurs(case):
            # The library adds on the clock, so that an occurrence that begins in
            # a gap ends before it begins. RFC 5545 has the same exact duration
            # for all (3.6.1).
            end = exact(start) + (end - start)
        first = start if isinstance(start, dt.datetime) else instant(f"{start}T00:00", zone)
        found.append((exact(first), told(start, zone), told_end(start, end, zone)))
    return [list(row[1:]) for row in sorted(found)]


class Server:
    """`daysheet serve`, spoken to in lines of JSON-RPC."""

    def __init__(self, daysheet):
        self.process = interop.track(subprocess.Popen(
            [daysheet.binary, "serve"], env=daysheet.env, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
            start_new_session=True,
        ))
        self.last = 0
        self.ask("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "interop", "version": "0"},
        })
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"the server ended during {method}")
            answer = json.loads(line)
            if answer.get("id") == self.last:
                return answer["result"]

    def rows(self, arguments):
        """The events of one search, all pages, as start and end."""
        found, more = [], {**arguments, "format": "json", "budget": 100000}
        while True:
            answer = self.ask("tools/call", {"name": "calendar_search", "arguments": more})
            text = answer["content"][0]["text"]
            if answer.get("isError"):
                raise RuntimeError(text)
            page = json.loads(text)
            found += [[row["start"].split(" = ")[0], row["end"]] for row in page.get("events", [])]
            if "next" not in page:
                return found
            more = {"cursor": page["next"], "format": "json", "budget": 100000}


def run_cases(server, provider):
    """Every case at one provider; what differs is a failed check of its own."""
    wrong = same = 0
    for case in times_cases.CASES:
        try:
            got = server.rows({
                "account": f"{provider}:{EMAIL}", "calendars": [case.name], "tz": case.zone,
                "from": case.since, "to": case.until, "fields": ["start", "end"], "limit": 500,
            })
        except RuntimeError as error:
            got = str(error)
        want = expected(case)
        if got == want and want is not None:
            same += 1
        else:
            wrong += 1
            checks.same(f"{provider}: {case.name}", got, want)
    checks.that(f"{provider}: {same} of {same + wrong} cases are as Python has them", not wrong)


def main():
    checks.that(f"there are {len(times_cases.CASES)} cases, at least {LEAST}",
                len(times_cases.CASES) >= LEAST)
    some = sum(bool(expected(case)) for case in times_cases.CASES)
    checks.that(f"{some} of them have occurrences", some >= LEAST - 10)
    with checks.section("both providers"):
        folder = os.path.join(interop.temp_folder("times"), EMAIL)
        os.makedirs(folder)
        for case in times_cases.CASES:
            with open(os.path.join(folder, case.name + ".ics"), "w", newline="") as file:
                file.write(document(case))
        port = interop.free_port()
        bare = interop.Daysheet(sys.argv[1])
        interop.start_server(
            [bare.binary, "sandbox", "--port", str(port), "--calendar", os.path.dirname(folder)],
            port, env=bare.env)
        base = f"http://127.0.0.1:{port}"
        daysheet = interop.Daysheet(
            sys.argv[1], **interop.google_at(base), **interop.microsoft_at(base))
        for provider in ("google", "microsoft"):
            code, printed, _, _ = interop.sign_in(daysheet, EMAIL, provider=provider)
            checks.that(f"sign-in at {provider}", code == 0, printed)
        server = Server(daysheet)
        for provider in ("google", "microsoft"):
            run_cases(server, provider)
        interop.stop(server.process)
    checks.close()


if __name__ == "__main__":
    main()
