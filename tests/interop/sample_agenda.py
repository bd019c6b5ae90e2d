"""Interop part: when the events of the sample calendars are, as others see it.

    sample_agenda.py BINARY

tests/sandbox/sandbox_ics.rs compares what the sandbox tells of its sample
calendars with tests/fixtures/sample-agenda.tsv. Here that file is compared with
what recurring-ical-events makes of the same calendars: every occurrence of the
last quarter of 2026, across the end of summer time on both sides of the ocean.
The binary is not asked. With `--write`, the file is written instead.
"""

import datetime
import pathlib
import sys

import icalendar
import interop
import recurring_ical_events

ROOT = pathlib.Path(interop.HERE).parent.parent
SAMPLES = ROOT / "providers" / "sandbox" / "samples"
FIXTURE = ROOT / "tests" / "fixtures" / "sample-agenda.tsv"
FIRST, LAST = datetime.date(2026, 10, 1), datetime.date(2027, 1, 1)


def told(when):
    """A date as it is, a time in UTC."""
    if not isinstance(when, datetime.datetime):
        return when.isoformat()
    return when.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def lines():
    """A line per occurrence: file, start, end, title."""
    for path in sorted(SAMPLES.glob("*/*.ics")):
        calendar = icalendar.Calendar.from_ical(path.read_bytes())
        events = recurring_ical_events.of(calendar).between(FIRST, LAST)
        rows = sorted(
            "\t".join([told(event.start), told(event.end), str(event["SUMMARY"])])
            for event in events
            if event.get("STATUS") != "CANCELLED"
        )
        for row in rows:
            yield f"{path.parent.name}/{path.name}\t{row}"


theirs = list(lines())
if "--write" in sys.argv:
    FIXTURE.write_text("".join(line + "\n" for line in theirs), encoding="utf-8")
    sys.exit()
checks = interop.Checks("sample_agenda")
ours = FIXTURE.read_text(encoding="utf-8").splitlines()
checks.that("there are at least 150 occurrences", len(theirs) >= 150, len(theirs))
checks.same("they are when the fixture says", ours, theirs)
checks.close()
