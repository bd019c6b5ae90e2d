"""A scenario over calendars, for the parts that watch what goes over the wire.

Everything a person does with a calendar in a week: look, plan, move, split,
answer, cancel, import, and ask what has changed. `run` is told how to call a
tool; every call has to succeed and to leave behind what it says.
"""

import interop

# Far from the sample's own events, so that nothing stands in the way.
SERIES = {
    "title": "Interop: glaze round", "start": "2027-01-05 09h00", "duration": "30m",
    "repeats": "FREQ=WEEKLY;BYDAY=TU;COUNT=8", "where": "Kiln room", "notes": "Bring tongs",
}
SINGLES = [
    {"title": "Interop: whole day", "start": "2027-01-06"},
    {"title": "Interop: three days", "start": "2027-01-11", "end": "2027-01-13", "show": "free"},
    {"title": "Interop: elsewhere in time", "start": "2027-01-07 18h00", "end": "2027-01-07 19h30",
     "tz": "America/New_York", "visibility": "private", "reminder": "45"},
    {"title": "Interop: over the change", "start": "2027-03-28 01h30", "end": "2027-03-28 03h30",
     "reminder": "none"},
]
MEETING = {
    "title": "Interop: meeting", "start": "2027-01-08 10h00", "duration": "1h",
    "people": ["Jonas Weber <jonas@example.com>", "yusuf@lindqvist-lamps.example?"],
    "online": True,
}
RULES = [
    "FREQ=DAILY;INTERVAL=2;COUNT=5", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20270601T220000Z",
    "FREQ=MONTHLY;BYMONTHDAY=4", "FREQ=MONTHLY;BYDAY=1MO", "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=4",
]

SEARCHES = [
    {}, {"from": "2026-11-16", "to": "2026-11-22"}, {"from": "2026-11-01", "to": "2026-12-31",
                                                     "limit": 10},
    {"q": "lamp OR kiln"}, {"q": "-choir", "from": "2026-11-16", "to": "2026-11-22"},
    {"from": "2026-11-01", "to": "2026-12-31", "series": True},
    {"from": "2026-11-16", "to": "2026-11-22", "detail": "full"},
    {"from": "2026-11-16", "to": "2026-11-22", "tz": "America/New_York", "detail": "minimal"},
]

INVITATION = "\r\n".join([
    "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//interop//EN", "BEGIN:VEVENT",
    "UID:import-1@interop.example", "DTSTAMP:20270101T000000Z", "SUMMARY:Interop: imported",
    "DTSTART;TZID=Europe/Lisbon:20270120T100000", "DTEND;TZID=Europe/Lisbon:20270120T110000",
    "RRULE:FREQ=WEEKLY;COUNT=3", "EXDATE;TZID=Europe/Lisbon:20270127T100000",
    "END:VEVENT", "END:VCALENDAR", "",
])


def run(name, checks, call, account, message=None):
    """Runs all of it on one account; `call(tool, arguments)` gives a document. `message` goes to
    the guests of a cancelled meeting, where the service sends one."""

    def pages(arguments):
        page = call("calendar_search", {"account": account, **arguments})
        rows = page.get("events", [])
        while "next" in page and len(rows) < 300:
            page = call("calendar_search", {"cursor": page["next"]})
            rows += page.get("events", [])
        return rows

    def ours(title, since="2027-01-01", until="2027-06-30"):
        found = pages({"from": since, "to": until, "q": f'"{title}"'})
        return [row for row in found if row["title"].startswith(title)]

    def save(arguments):
        return call("calendar_save", {"if_conflict": "ignore", **arguments}).get("events", [])

    since = call("changes", {"account": account, "kinds": ["events"]})["next"]
    for arguments in SEARCHES:
        pages(arguments)
    call("lookup", {"kind": "calendars", "account": account})
    call("calendar_free", {"account": account, "who": [account, "jonas@example.com"],
                           "from": "2027-01-04", "to": "2027-01-08", "duration": "1h"})

    # Made, and there as it was said.
    save({"account": account, "events": SINGLES})
    rows = ours("Interop: ")
    checks.same(f"{name}: what was made is there", sorted(
        [row["title"], row["start"].split(" = ")[0], row["end"]] for row in rows), [
        ["Interop: elsewhere in time", "Fri 2027-01-08 00h00", "01h30"],
        ["Interop: over the change", "Sun 2027-03-28 01h30", "03h30"],
        ["Interop: three days", "Mon 2027-01-11", "2027-01-13"],
        ["Interop: whole day", "Wed 2027-01-06", "2027-01-06"],
    ])
    # One member changes, and nothing else.
    whole = next(row for row in rows if row["title"].endswith("whole day"))
    save({"id": whole["id"], "events": [{"where": "Shed"}]})
    save({"id": whole["id"], "events": [{"start": "2027-01-06 15h00", "duration": "20m"}]})
    checks.same(f"{name}: a day becomes a time", interop.project(
        ours("Interop: whole day"), "start", "end", "where"),
        [["Wed 2027-01-06 15h00", "15h20", "Shed"]])
    # Changed, deleted, and both undone.
    other = {"id": whole["id"], "events": [{"title": "Interop: other", "where": ""}]}
    call("calendar_save", {"undo": call("calendar_save", other)["undo"]})
    call("calendar_save", {"undo": call("calendar_delete", {"id": whole["id"]})["undo"]})
    checks.same(f"{name}: what was undone is as before", interop.project(
        ours("Interop: whole day"), "start", "end", "where"),
        [["Wed 2027-01-06 15h00", "15h20", "Shed"]])

    # A meeting: asked, changed, called off.
    [meeting] = save({"account": account, "events": [MEETING], "notify": "all"})
    save({"id": meeting["id"], "events": [{"add": ["nora@example.com"]}], "notify": "all"})
    save({"id": meeting["id"], "events": [{"remove": ["jonas@example.com"], "notes": "Short"}],
          "notify": "all"})
    [row] = call("calendar_search", {"ids": [meeting["id"]], "detail": "full"})["events"]
    checks.that(f"{name}: who is asked is kept", "yusuf" in row["attendees"] and
                "nora" in row["attendees"] and "jonas" not in row["attendees"], row)
    checks.that(f"{name}: the link is kept", (row["link"] or "").startswith("https://"), row)
    with_message = {"message": message} if message else {}
    call("calendar_delete", {"id": meeting["id"], "notify": "all", **with_message})

    # A series: one moved, the rest changed, all renamed, one deleted.
    save({"account": account, "events": [SERIES]})
    rows = ours("Interop: glaze")
    checks.same(f"{name}: eight occurrences", len(rows), 8)
    save({"id": rows[1]["id"], "scope": "this", "events": [{"start": "2027-01-13 14h00"}]})
    save({"id": rows[4]["id"], "scope": "following", "events": [{"start": "11h00"}]})
    rows = ours("Interop: glaze")
    checks.same(f"{name}: split and moved", [row["start"][4:].split(" = ")[0] for row in rows], [
        "2027-01-05 09h00", "2027-01-13 14h00", "2027-01-19 09h00", "2027-01-26 09h00",
        "2027-02-02 11h00", "2027-02-09 11h00", "2027-02-16 11h00", "2027-02-23 11h00"])
    save({"id": rows[5]["id"], "scope": "series", "events": [{"title": "Interop: glaze, late"}]})
    # What was changed is looked at before more of it is.
    rows = ours("Interop: glaze")
    call("calendar_delete", {"id": rows[5]["id"], "scope": "this"})
    call("calendar_delete", {"id": rows[3]["id"], "scope": "following"})
    checks.same(f"{name}: what is left of the series", [
        [row["start"][4:].split(" = ")[0], row["title"]] for row in ours("Interop: glaze")], [
        ["2027-01-05 09h00", "Interop: glaze round"], ["2027-01-13 14h00", "Interop: glaze round"],
        ["2027-01-19 09h00", "Interop: glaze round"], ["2027-02-02 11h00", "Interop: glaze, late"],
        ["2027-02-16 11h00", "Interop: glaze, late"], ["2027-02-23 11h00", "Interop: glaze, late"],
    ])
    for number, rule in enumerate(RULES):
        start = "2027-01-04 07h00"
        [row] = save({"account": account, "events": [
            {"title": f"Interop: rule {number}", "start": start, "repeats": rule}]})
        call("calendar_delete", {"id": row["id"], "scope": "series"})

    # Imported, exported.
    call("calendar_save", {"account": account, "ics": INVITATION, "if_conflict": "ignore"})
    checks.same(f"{name}: what was imported", interop.project(ours("Interop: imported"), "start"),
                [["Wed 2027-01-20 11h00"], ["Wed 2027-02-03 11h00"]])

    # Answered.
    invited = [row for row in pages({"from": "2026-11-01", "to": "2026-12-31"})
               if (row["people"] or "").startswith("me?") and "recurring" not in row["flags"]]
    checks.that(f"{name}: there is an invitation", invited)
    for row, response in zip(invited, ("accept", "tentative", "decline")):
        call("calendar_respond", {"id": row["id"], "response": response, "comment": "Thank you"})

    # Calendars.
    call("manage", {"kind": "calendar", "op": "create", "name": "Interop", "account": account})
    save({"account": account, "calendar": "Interop",
          "events": [{"title": "Interop: there", "start": "2027-05-05"}]})
    call("manage", {"kind": "calendar", "op": "rename", "id": "Interop", "name": "Interop 2",
                    "account": account})
    checks.same(f"{name}: in a calendar of its own", interop.project(
        pages({"from": "2027-05-01", "to": "2027-05-31", "calendars": ["Interop 2"]}), "title"),
        [["Interop: there"]])
    call("manage", {"kind": "calendar", "op": "delete", "id": "Interop 2", "account": account})

    changed = call("changes", {"cursor": since}).get("changes", [])
    checks.that(f"{name}: changes are told", len(changed) >= 8, changed)
    call("changes", {"account": account})
