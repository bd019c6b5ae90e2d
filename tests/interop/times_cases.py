"""The cases of `times.py`: events as iCalendar properties, a window, a zone.

The first event of a case is the event or the series; further ones stand in the
place of single occurrences. Windows begin and end at local times of the zone
that times are told in.
"""

import dataclasses


@dataclasses.dataclass
class Case:
    """One calendar with one event or series."""

    name: str
    zone: str
    since: str
    until: str
    events: list
    # Lines of its own zones.
    zones: list = dataclasses.field(default_factory=list)


CASES = []


def case(name, zone, since, until, *events):
    """Adds a case; its events are lists of iCalendar lines."""
    CASES.append(Case(name, zone, since, until, [list(event) for event in events]))


def timed(zone, start, end):
    """A start and an end in a zone."""
    if zone == "UTC":
        return [f"DTSTART:{start}Z", f"DTEND:{end}Z"]
    return [f"DTSTART;TZID={zone}:{start}", f"DTEND;TZID={zone}:{end}"]


def days(start, end):
    """Whole days; the end is the day after the last."""
    return [f"DTSTART;VALUE=DATE:{start}", f"DTEND;VALUE=DATE:{end}"]


# One event in a zone, told in another: around the changes of 2026 and at odd
# offsets.
SINGLE = [
    ("Europe/Berlin", "20260329T013000", "20260329T033000"),
    ("Europe/Berlin", "20261025T013000", "20261025T033000"),
    ("Europe/Berlin", "20260203T180500", "20260203T185000"),
    ("America/New_York", "20260308T013000", "20260308T033000"),
    ("America/New_York", "20261101T003000", "20261101T023000"),
    ("America/St_Johns", "20260701T120000", "20260701T123000"),
    ("America/Sao_Paulo", "20260215T233000", "20260216T003000"),
    ("Asia/Kathmandu", "20260410T090000", "20260410T100000"),
    ("Asia/Kolkata", "20260410T090000", "20260410T100000"),
    ("Asia/Tehran", "20260321T233000", "20260322T013000"),
    ("Asia/Tokyo", "20261231T233000", "20270101T003000"),
    ("Australia/Sydney", "20260405T013000", "20260405T033000"),
    ("Australia/Sydney", "20261004T013000", "20261004T033000"),
    ("Australia/Lord_Howe", "20260405T013000", "20260405T030000"),
    ("Pacific/Chatham", "20260701T100000", "20260701T110000"),
    ("Pacific/Kiritimati", "20260101T003000", "20260101T013000"),
    ("Pacific/Apia", "20260101T003000", "20260101T013000"),
    ("Africa/Casablanca", "20260215T013000", "20260215T033000"),
    ("Europe/Dublin", "20260329T003000", "20260329T023000"),
    ("Pacific/Pago_Pago", "20260630T230000", "20260701T010000"),
    ("UTC", "20240229T233000", "20240301T003000"),
    ("UTC", "20260329T005959", "20260329T010000"),
]
for number, (zone, start, end) in enumerate(SINGLE):
    day = f"{start[:4]}-{start[4:6]}-{start[6:8]}"
    for place in ("Europe/Berlin", "America/Los_Angeles", "Pacific/Auckland"):
        first = f"{int(start[:4]) - (start[4:6] == '01')}-" + (
            "12" if start[4:6] == "01" else f"{int(start[4:6]) - 1:02}") + "-20T00:00"
        last = f"{int(start[:4]) + (start[4:6] == '12')}-" + (
            "01" if start[4:6] == "12" else f"{int(start[4:6]) + 1:02}") + "-20T00:00"
        case(f"single-{number:02}-{place.split('/')[1].lower()}", place, first, last,
             timed(zone, start, end))

# Local times that are skipped, and that come twice.
for name, zone, start, end, day in [
    ("gap-berlin", "Europe/Berlin", "20260329T023000", "20260329T033000", "2026-03-29"),
    ("gap-new-york", "America/New_York", "20260308T023000", "20260308T040000", "2026-03-08"),
    ("gap-sydney", "Australia/Sydney", "20261004T021500", "20261004T034500", "2026-10-04"),
    ("gap-lord-howe", "Australia/Lord_Howe", "20261004T021500", "20261004T031500", "2026-10-04"),
    ("twice-berlin", "Europe/Berlin", "20261025T023000", "20261025T040000", "2026-10-25"),
    ("twice-new-york", "America/New_York", "20261101T013000", "20261101T030000", "2026-11-01"),
    ("twice-sydney", "Australia/Sydney", "20260405T023000", "20260405T040000", "2026-04-05"),
    ("twice-lord-howe", "Australia/Lord_Howe", "20260405T014500", "20260405T030000",
     "2026-04-05"),
]:
    case(name, "UTC", f"{day[:8]}01T00:00" if day[8:] > "03" else "2026-02-20T00:00",
         f"{day[:5]}{int(day[5:7]) + 1:02}-15T00:00", timed(zone, start, end))

# Whole days, wherever they are looked at from.
for place in ("Pacific/Kiritimati", "Europe/Berlin", "America/Los_Angeles", "Pacific/Pago_Pago"):
    short = place.split("/")[1].lower()
    case(f"day-{short}", place, "2026-03-01T00:00", "2026-04-15T00:00", days("20260329", "20260330"))
    case(f"days-{short}", place, "2026-12-01T00:00", "2027-02-01T00:00",
         days("20261230", "20270103"))
    case(f"leap-day-{short}", place, "2024-02-01T00:00", "2024-04-01T00:00",
         days("20240228", "20240302"))
case("day-without-end", "Europe/Berlin", "2026-05-01T00:00", "2026-06-01T00:00",
     ["DTSTART;VALUE=DATE:20260501"])
case("day-by-duration", "Europe/Berlin", "2026-05-01T00:00", "2026-06-01T00:00",
     ["DTSTART;VALUE=DATE:20260501", "DURATION:P3D"])
case("timed-by-duration", "Europe/Berlin", "2026-05-01T00:00", "2026-06-01T00:00",
     ["DTSTART;TZID=Asia/Tokyo:20260501T090000", "DURATION:PT90M"])
case("over-days", "Europe/Berlin", "2026-05-01T00:00", "2026-06-01T00:00",
     timed("America/New_York", "20260502T220000", "20260505T060000"))
case("over-the-change", "Europe/Berlin", "2026-03-01T00:00", "2026-04-10T00:00",
     timed("Europe/Berlin", "20260328T200000", "20260329T080000"))

YEAR = ("2026-01-01T00:00", "2027-01-01T00:00")


def series(name, zone, start, end, rule, *more, told="Europe/Berlin", window=YEAR):
    """A series by its rule; `more` are further lines of the event."""
    case(name, told, *window, [*timed(zone, start, end), f"RRULE:{rule}", *more])


# Series over the changes, in their own zone and in another.
for short, zone in [("berlin", "Europe/Berlin"), ("new-york", "America/New_York"),
                    ("sydney", "Australia/Sydney"), ("kathmandu", "Asia/Kathmandu"),
                    ("utc", "UTC"), ("lord-howe", "Australia/Lord_Howe"),
                    ("casablanca", "Africa/Casablanca"), ("cairo", "Africa/Cairo")]:
    series(f"weekly-{short}", zone, "20260106T090000", "20260106T093000", "FREQ=WEEKLY")
    series(f"weekly-{short}-own", zone, "20260106T090000", "20260106T093000",
           "FREQ=WEEKLY;INTERVAL=2", told="UTC" if zone == "UTC" else zone)
series("daily-early-berlin", "Europe/Berlin", "20260320T023000", "20260320T030000",
       "FREQ=DAILY;COUNT=20")
series("daily-early-new-york", "America/New_York", "20260301T023000", "20260301T030000",
       "FREQ=DAILY;COUNT=20", told="America/New_York")
series("daily-twice-berlin", "Europe/Berlin", "20261020T023000", "20261020T024500",
       "FREQ=DAILY;COUNT=10", told="UTC")
series("daily-far-start", "Europe/Berlin", "20150105T070000", "20150105T071500", "FREQ=DAILY",
       window=("2026-03-25T00:00", "2026-04-02T00:00"))
series("workdays", "Europe/Berlin", "20260302T091500", "20260302T093000",
       "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20260410T215959Z")
series("until-utc-exact", "Europe/Berlin", "20260302T091500", "20260302T093000",
       "FREQ=DAILY;UNTIL=20260331T071500Z")
series("until-just-before", "Europe/Berlin", "20260302T091500", "20260302T093000",
       "FREQ=DAILY;UNTIL=20260331T071459Z")
series("fortnight-monday", "Europe/Berlin", "20260106T090000", "20260106T100000",
       "FREQ=WEEKLY;INTERVAL=2;WKST=MO;BYDAY=TU,SU;COUNT=8")
series("fortnight-sunday", "Europe/Berlin", "20260106T090000", "20260106T100000",
       "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=TU,SU;COUNT=8")
series("every-tenth-day", "Europe/Berlin", "20260106T090000", "20260106T100000",
       "FREQ=DAILY;INTERVAL=10;COUNT=20")
series("monthly", "America/New_York", "20260115T170000", "20260115T180000", "FREQ=MONTHLY")
series("monthly-31", "Europe/Berlin", "20260131T170000", "20260131T180000", "FREQ=MONTHLY")
series("monthly-last-day", "Europe/Berlin", "20260131T170000", "20260131T180000",
       "FREQ=MONTHLY;BYMONTHDAY=-1")
series("monthly-last-friday", "Europe/Berlin", "20260130T170000", "20260130T180000",
       "FREQ=MONTHLY;BYDAY=-1FR")
series("monthly-second-tuesday", "America/New_York", "20260113T170000", "20260113T180000",
       "FREQ=MONTHLY;BYDAY=2TU")
series("monthly-first-workday", "Europe/Berlin", "20260101T170000", "20260101T180000",
       "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1")
series("monthly-last-workday", "Europe/Berlin", "20260130T170000", "20260130T180000",
       "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1")
series("monthly-two-days", "Europe/Berlin", "20260101T170000", "20260101T180000",
       "FREQ=MONTHLY;BYMONTHDAY=1,15")
series("monthly-quarter", "Europe/Berlin", "20260131T170000", "20260131T180000",
       "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=-1")
series("friday-13", "Europe/Berlin", "20260213T130000", "20260213T140000",
       "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13")
series("monthly-fifth-thursday", "Europe/Berlin", "20260129T130000", "20260129T140000",
       "FREQ=MONTHLY;BYDAY=5TH")
series("yearly", "Europe/Berlin", "20200329T120000", "20200329T130000", "FREQ=YEARLY")
series("yearly-leap", "Europe/Berlin", "20200229T120000", "20200229T130000", "FREQ=YEARLY",
       window=("2020-01-01T00:00", "2033-01-01T00:00"))
series("yearly-end-of-february", "Europe/Berlin", "20200229T120000", "20200229T130000",
       "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1", window=("2020-01-01T00:00", "2029-01-01T00:00"))
series("thanksgiving", "America/New_York", "20201126T120000", "20201126T160000",
       "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", told="America/New_York",
       window=("2020-01-01T00:00", "2030-01-01T00:00"))
series("yearly-week-20", "Europe/Berlin", "20200511T090000", "20200511T100000",
       "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", window=("2020-01-01T00:00", "2029-01-01T00:00"))
series("yearly-day-100", "Europe/Berlin", "20200409T090000", "20200409T100000",
       "FREQ=YEARLY;BYYEARDAY=100", window=("2020-01-01T00:00", "2029-01-01T00:00"))
series("yearly-last-day", "Europe/Berlin", "20201231T090000", "20201231T100000",
       "FREQ=YEARLY;BYYEARDAY=-1", window=("2020-01-01T00:00", "2029-01-01T00:00"))
series("yearly-months", "Europe/Berlin", "20200101T090000", "20200101T100000",
       "FREQ=YEARLY;BYMONTH=1,7;BYMONTHDAY=1", window=("2024-01-01T00:00", "2028-01-01T00:00"))
series("daily-in-march", "Europe/Berlin", "20260301T023000", "20260301T030000",
       "FREQ=DAILY;BYMONTH=3")
series("count-one", "Europe/Berlin", "20260301T120000", "20260301T130000", "FREQ=DAILY;COUNT=1")

# Left out, added, moved, cancelled.
BERLIN = ("Europe/Berlin", "20260303T100000", "20260303T110000")
series("exdate", *BERLIN, "FREQ=WEEKLY;COUNT=8", "EXDATE;TZID=Europe/Berlin:20260317T100000")
series("exdate-utc", *BERLIN, "FREQ=WEEKLY;COUNT=8", "EXDATE:20260331T080000Z")
series("exdate-two-lines", *BERLIN, "FREQ=WEEKLY;COUNT=8",
       "EXDATE;TZID=Europe/Berlin:20260310T100000,20260317T100000",
       "EXDATE;TZID=Europe/Berlin:20260407T100000")
series("exdate-first", *BERLIN, "FREQ=WEEKLY;COUNT=4", "EXDATE;TZID=Europe/Berlin:20260303T100000")
series("exdate-elsewhere", *BERLIN, "FREQ=WEEKLY;COUNT=6",
       "EXDATE;TZID=America/New_York:20260310T050000")
series("rdate", *BERLIN, "FREQ=WEEKLY;COUNT=3",
       "RDATE;TZID=Europe/Berlin:20260501T150000,20260329T030000")
series("rdate-utc", *BERLIN, "FREQ=WEEKLY;COUNT=3", "RDATE:20260501T130000Z")
case("rdate-alone", "Europe/Berlin", *YEAR,
     [*timed(*BERLIN), "RDATE;TZID=Europe/Berlin:20260401T100000,20260501T100000"])
case("moved", "Europe/Berlin", *YEAR,
     [*timed(*BERLIN), "RRULE:FREQ=WEEKLY;COUNT=6"],
     [*timed("Europe/Berlin", "20260318T143000", "20260318T153000"),
      "RECURRENCE-ID;TZID=Europe/Berlin:20260317T100000"])
case("moved-to-another-zone", "Europe/Berlin", *YEAR,
     [*timed(*BERLIN), "RRULE:FREQ=WEEKLY;COUNT=6"],
     [*timed("America/New_York", "20260331T100000", "20260331T110000"),
      "RECURRENCE-ID;TZID=Europe/Berlin:20260331T100000"])
case("moved-over-the-change", "America/New_York", *YEAR,
     [*timed(*BERLIN), "RRULE:FREQ=WEEKLY;COUNT=6"],
     [*timed("Europe/Berlin", "20260329T030000", "20260329T040000"),
      "RECURRENCE-ID:20260331T080000Z"])
case("two-moved-one-left-out", "Europe/Berlin", *YEAR,
     [*timed(*BERLIN), "RRULE:FREQ=WEEKLY;COUNT=6",
      "EXDATE;TZID=Europe/Berlin:20260324T100000"],
     [*timed("Europe/Berlin", "20260311T100000", "20260311T113000"),
      "RECURRENCE-ID;TZID=Europe/Berlin:20260310T100000"],
     [*timed("Europe/Berlin", "20260408T080000", "20260408T090000"),
      "RECURRENCE-ID;TZID=Europe/Berlin:20260407T100000"])
case("moved-out-of-the-window", "Europe/Berlin", "2026-03-01T00:00", "2026-04-01T00:00",
     [*timed(*BERLIN), "RRULE:FREQ=WEEKLY;COUNT=6"],
     [*timed("Europe/Berlin", "20260701T100000", "20260701T110000"),
      "RECURRENCE-ID;TZID=Europe/Berlin:20260317T100000"])
case("moved-into-the-window", "Europe/Berlin", "2026-07-01T00:00", "2026-08-01T00:00",
     [*timed(*BERLIN), "RRULE:FREQ=WEEKLY;COUNT=6"],
     [*timed("Europe/Berlin", "20260701T100000", "20260701T110000"),
      "RECURRENCE-ID;TZID=Europe/Berlin:20260317T100000"])

# Series of whole days.
for place in ("Pacific/Auckland", "America/Los_Angeles"):
    short = place.split("/")[1].lower()
    case(f"weekly-days-{short}", place, *YEAR,
         [*days("20260306", "20260308"), "RRULE:FREQ=WEEKLY;COUNT=6",
          "EXDATE;VALUE=DATE:20260320"])
    case(f"birthday-{short}", place, "2020-01-01T00:00", "2030-01-01T00:00",
         [*days("20000229", "20000301"), "RRULE:FREQ=YEARLY"])
    case(f"month-ends-{short}", place, *YEAR,
         [*days("20260131", "20260201"), "RRULE:FREQ=MONTHLY;BYMONTHDAY=-1;UNTIL=20260831"])
case("days-with-rdate", "Europe/Berlin", *YEAR,
     [*days("20260306", "20260307"), "RRULE:FREQ=WEEKLY;COUNT=2", "RDATE;VALUE=DATE:20260701"])

# Zones by Windows' names.
for windows in ("W. Europe Standard Time", "Eastern Standard Time", "India Standard Time",
                "Tokyo Standard Time", "AUS Eastern Standard Time", "GMT Standard Time",
                "Pacific Standard Time", "Nepal Standard Time", "Romance Standard Time",
                "Newfoundland Standard Time", "Egypt Standard Time", "UTC"):
    short = windows.lower().replace(" standard time", "").replace(".", "").replace(" ", "-")
    CASES.append(Case(f"windows-{short}", "Europe/Berlin", *YEAR, [[
        f"DTSTART;TZID={windows}:20260106T090000", f"DTEND;TZID={windows}:20260106T100000",
        "RRULE:FREQ=MONTHLY"]]))


def own_zone(name, standard, daylight, spring, autumn):
    """The lines of a zone with daylight saving, as Exchange and others write it."""
    return ["BEGIN:VTIMEZONE", f"TZID:{name}",
            "BEGIN:STANDARD", "DTSTART:19701101T030000", f"TZOFFSETFROM:{daylight}",
            f"TZOFFSETTO:{standard}", f"RRULE:FREQ=YEARLY;{autumn}", "END:STANDARD",
            "BEGIN:DAYLIGHT", "DTSTART:19700301T020000", f"TZOFFSETFROM:{standard}",
            f"TZOFFSETTO:{daylight}", f"RRULE:FREQ=YEARLY;{spring}", "END:DAYLIGHT",
            "END:VTIMEZONE"]


# Zones that only the document defines: with the rules of a known zone, and with
# rules that no zone has.
OWN = [
    ("europe", "Customized Time Zone", "+0100", "+0200", "BYMONTH=3;BYDAY=-1SU",
     "BYMONTH=10;BYDAY=-1SU"),
    ("america", "Custom, of our own", "-0500", "-0400", "BYMONTH=3;BYDAY=2SU",
     "BYMONTH=11;BYDAY=1SU"),
    ("south", "Far away", "+1000", "+1100", "BYMONTH=10;BYDAY=1SU", "BYMONTH=4;BYDAY=1SU"),
    ("nowhere", "ZE1", "+0123", "+0223", "BYMONTH=5;BYDAY=1MO", "BYMONTH=8;BYDAY=1MO"),
    ("west", "ZW3", "-0330", "-0230", "BYMONTH=6;BYDAY=1MO", "BYMONTH=9;BYDAY=-1SA"),
]
for short, name, *rules in OWN:
    lines = own_zone(name, *rules)
    for season, day in (("winter", "20260203"), ("summer", "20260703"), ("autumn", "20261020")):
        CASES.append(Case(f"own-{short}-{season}", "Europe/Berlin", *YEAR, [
            [f'DTSTART;TZID="{name}":{day}T180000', f'DTEND;TZID="{name}":{day}T193000']], lines))
    CASES.append(Case(f"own-{short}-weekly", "Europe/Berlin", *YEAR, [[
        f'DTSTART;TZID="{name}":20260216T090000', f'DTEND;TZID="{name}":20260216T100000',
        "RRULE:FREQ=WEEKLY;COUNT=40", f'EXDATE;TZID="{name}":20260706T090000']], lines))

# An occurrence that stands for all later ones, at another hour or on another day.
WEEKLY = [*timed("Europe/Berlin", "20260706T090000", "20260706T100000"),
          "RRULE:FREQ=WEEKLY;COUNT=5"]
FUTURE = "RECURRENCE-ID;TZID=Europe/Berlin;RANGE=THISANDFUTURE:20260720T090000"
case("future-later", "Europe/Berlin", *YEAR, WEEKLY,
     [*timed("Europe/Berlin", "20260720T103000", "20260720T123000"), FUTURE])
case("future-another-day", "Europe/Berlin", *YEAR, WEEKLY,
     [*timed("Europe/Berlin", "20260721T090000", "20260721T100000"), FUTURE])
# Dates that end otherwise, a rule of an occurrence, a newer version, and times
# among whole days.
case("periods", "Europe/Berlin", *YEAR,
     [*timed("Europe/Berlin", "20260706T090000", "20260706T100000"),
      "RDATE;VALUE=PERIOD:20260708T070000Z/20260708T100000Z,20260709T070000Z/PT30M"])
case("rule-of-an-occurrence", "Europe/Berlin", *YEAR, WEEKLY,
     [*timed("Europe/Berlin", "20260720T103000", "20260720T123000"),
      "RECURRENCE-ID;TZID=Europe/Berlin:20260720T090000", "RRULE:FREQ=WEEKLY;COUNT=5"])
case("newer-version", "Europe/Berlin", *YEAR, WEEKLY,
     timed("Europe/Berlin", "20260707T090000", "20260707T100000"))
case("day-named-by-a-time", "Europe/Berlin", *YEAR,
     [*days("20260704", "20260705"), "RRULE:FREQ=WEEKLY;COUNT=4",
      "EXDATE;TZID=Europe/Berlin:20260718T000000"],
     [*days("20260712", "20260713"), "RECURRENCE-ID;TZID=Europe/Berlin:20260711T000000"])
