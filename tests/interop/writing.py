"""A scenario over the writing of mail, for the parts that watch what goes over
the wire.

Everything a person does with mail besides reading: drafts of every kind and
their sending, files small and large, putting in order and back again, folders,
labels, categories, rules, contacts and automatic answers. `run` is told how to
call a tool; every call has to succeed and to leave behind what it says.
"""

import os

# Larger than both providers take in one piece: 3 MiB at each.
LARGE = 4 << 20
ROUND = os.urandom(1 << 10) * (LARGE >> 10)


def folder_of_files(interop):
    """A folder with files to attach, for DAYSHEET_FILES."""
    folder = interop.temp_folder("files")
    with open(os.path.join(folder, "large.bin"), "wb") as file:
        file.write(ROUND)
    with open(os.path.join(folder, "Übersicht.txt"), "wb") as file:
        file.write("Größe\r\n".encode())
    return folder


def run(name, checks, call, account, provider, folder, own=True):
    """Runs all of it on one account; `call(tool, arguments)` gives a document. A
    mailbox that is not one's `own` has no categories, rules, contacts and settings."""
    outlook = provider == "microsoft"
    mine = {"account": account}

    def draft(**said):
        return call("mail_draft", {**({} if "id" in said else mine), **said})

    def send(made, **more):
        outcomes = call("mail_send", {"id": made.get("draft", "d0"), **more}).get("outcomes", [])
        return [row["result"] for row in outcomes]

    def search(**asked):
        return call("mail_search", {**mine, "limit": 10, **asked}).get("messages", [])

    def modify(**said):
        return call("mail_modify", said if "undo" in said else {**mine, **said})

    def manage(kind, op, **said):
        return call("manage", {**mine, "kind": kind, "op": op, **said})

    def lookup(kind):
        return next((rows for rows in call("lookup", {"kind": kind, **mine}).values()
                     if isinstance(rows, list)), [])

    def file(path):
        return os.path.join(folder, path)

    # Drafts and sending.
    first = draft(to=['"Weber, Jonas" <jonas@example.com>'], cc=["cc@interop.example"],
                  bcc=["bcc@interop.example"], subject="Interop: Größe", body="**ä** <b>",
                  attach=["data:text/plain;name=n%C3%B6te.txt;base64,aGk=", file("Übersicht.txt")],
                  importance="high")
    checks.same(f"{name}: files of a draft", first.get("attached"), "nöte.txt 2 B, Übersicht.txt 9 B")
    edited = draft(mode="edit", id=first.get("draft"), to=["jonas@example.com"],
                   subject="Interop: edited", body="again", detach=["nöte.txt"])
    checks.same(f"{name}: an edited draft", [edited.get(k) for k in ("to", "subject", "attached")],
                ["jonas@example.com", "Interop: edited", "Übersicht.txt 9 B"])
    checks.same(f"{name}: sent", send(edited), ["sent"])
    checks.same(f"{name}: sent once", send(edited), ["already sent"])
    large = draft(to=["jonas@example.com"], subject="Interop: large", body="x",
                  attach=[file("large.bin")])
    checks.same(f"{name}: a large file", large.get("attached"), "large.bin 4 MB")
    checks.same(f"{name}: a large file sent", send(large), ["sent"])
    picture = draft(to=["jonas@example.com"], subject="Interop: picture", body_format="html",
                    body='<p><img src="cid:p.png"></p>', attach=["data:image/png;name=p.png,x"])
    checks.same(f"{name}: a picture sent", send(picture), ["sent"])
    with_file = [row["id"] for row in search(q="has:attachment", folder="inbox")][:1]
    checks.same(f"{name}: there is a letter with a file", len(with_file), 1)
    for mode in ("reply", "reply_all", "forward"):
        answer = draft(mode=mode, id=with_file[0], body=f"Interop {mode}",
                       **({"to": ["jonas@example.com"]} if mode == "forward" else {}))
        if mode == "reply_all":
            gone = draft(mode="discard", id=answer.get("draft")).get("outcomes", [])
            checks.same(f"{name}: discarded", [row["result"] for row in gone], ["done"])
        else:
            checks.same(f"{name}: {mode} sent", send(answer), ["sent"])
    letter = draft(to=["jonas@example.com"], subject="Interop: a letter in a letter",
                   body="see", attach=[with_file[0]])
    checks.same(f"{name}: a letter attached and sent", send(letter), ["sent"])
    if outlook:
        later = draft(to=["jonas@example.com"], subject="Interop: later", body="x")
        checks.same(f"{name}: scheduled", send(later, at="2027-01-04 09h00"), ["scheduled"])
    want = {"Interop: edited", "Interop: large", "Interop: picture",
            "Interop: a letter in a letter"}
    seen = {row["subject"] for row in search(folder="sent", limit=25)}
    checks.that(f"{name}: all lie among the sent", want <= seen, sorted(want - seen))

    # Files of a letter.
    listed = call("mail_attachment", {"ids": with_file[0], "as": "list"}).get("attachments", [])
    checks.that(f"{name}: its files are listed", listed, with_file)
    sent = [row for row in search(folder="sent", limit=25) if row["subject"] == "Interop: large"]
    held = call("mail_attachment", {"ids": sent[0]["id"], "as": "list"}).get("attachments", [])
    os.remove(file("large.bin"))
    call("mail_attachment", {"ids": held[0]["id"], "as": "file", "dir": folder})
    with open(file("large.bin"), "rb") as back:
        checks.that(f"{name}: a large file comes back as it was", back.read() == ROUND)

    # Putting in order.
    if own:
        manage("label" if not outlook else "category", "create", name="Interop tag")
    manage("folder", "create", name="Interop box/Inner")
    tag, untag = ("categorize", "uncategorize") if outlook else ("label", "unlabel")
    some = [row["id"] for row in search(folder="inbox", limit=3)]
    verbs = [("read", {}), ("unread", {}), ("star", {}), ("unstar", {}), ("archive", {}),
             ("trash", {}), ("spam", {}), ("move", {"to": ["Interop box/Inner"]})]
    if own:
        verbs += [(tag, {"to": ["Interop tag"]}), (untag, {"to": ["Interop tag"]})]
    if outlook:
        verbs += [("star", {"due": "2027-01-05"}), ("done", {})]
    for verb, more in verbs:
        done = modify(ids=some, do=verb, **more)
        told = done.get("done", 0) + done.get("unchanged", 0)
        checks.that(f"{name}: {verb} {more}", told == len(some), done)
        if "undo" in done:
            modify(undo=done["undo"])
    now = [row["id"] for row in search(folder="inbox", limit=3)]
    checks.same(f"{name}: all is where it was", sorted(now), sorted(some))
    trashed = modify(ids=some[:1], do="trash")
    checks.same(f"{name}: trashed", trashed.get("done"), 1)
    checks.same(f"{name}: restored", modify(ids=some[:1], do="restore").get("done"), 1)
    if outlook:
        checks.same(f"{name}: copied", modify(
            ids=some[:1], do="copy", to=["Interop box/Inner"]).get("done"), 1)
    by_query = modify(q="is:unread", do="read")
    checks.that(f"{name}: all unread read", by_query.get("done", 0) > 0, by_query)
    modify(undo=by_query.get("undo", "u0"))
    doomed = [row["id"] for row in search(folder="sent", limit=25)
              if row["subject"] == "Interop: picture"]
    checks.same(f"{name}: deleted for good", modify(ids=doomed, do="delete").get("done"), 1)

    # Setting up.
    manage("folder", "rename", id="Interop box/Inner", name="Interop box/Outer")
    names = {row["name"] for row in lookup("folders")}
    checks.that(f"{name}: the folder is renamed", "Interop box/Outer" in names, sorted(names))
    if own:
        mailbox_of_ones_own(name, checks, manage, lookup, outlook)
    # At Gmail it is a label, whose messages stay; at Outlook they go with it.
    along = {"set": {"messages": "trash"}} if outlook else {}
    manage("folder", "delete", id="Interop box/Outer", **along)
    # The level above was created with it, and goes with it if it is known to be empty.
    if any(row["name"] == "Interop box" for row in lookup("folders")):
        manage("folder", "delete", id="Interop box", **along)
    if own:
        manage("label" if not outlook else "category", "delete", id="Interop tag")
    left = [row["name"] for row in lookup("folders") if row["name"].startswith("Interop")]
    # A folder of Outlook's goes into Deleted Items.
    checks.same(f"{name}: no folder of ours is left", left, [])


def mailbox_of_ones_own(name, checks, manage, lookup, outlook):
    """Rules, automatic answers, settings, signatures, contacts and colours."""
    # Rules that hide mail are refused here, where nobody can be asked.
    then = 'important category:"Interop tag"' if outlook else 'star label:"Interop tag"'
    said = {"when": "from:ana@interop.example subject:lamp", "then": then}
    rule = manage("rule", "create", set={**said, **({"name": "Interop"} if outlook else {})})
    id = (rule.get("rules") or [{}])[0].get("id", "r0")
    manage("rule", "update", id=id, set={"when": "from:bo@interop.example has:attachment"})
    rules = lookup("rules")
    checks.that(f"{name}: the rule is changed", len(rules) == 1
                and "bo@interop.example" in rules[0]["when"], rules)
    id = rules[0]["id"] if rules else id
    manage("rule", "run", id=id, dry_run=True)
    manage("rule", "run", id=id)
    if outlook:
        manage("rule", "update", id=id, set={"enabled": False})
    manage("rule", "delete", id=id)
    checks.same(f"{name}: no rule is left", lookup("rules"), [])
    for status, more in (("on", {"text": "Away, **sorry**", "audience": "contacts"}),
                         ("scheduled", {"from": "2027-02-01", "to": "2027-02-05", "text": "Away"}),
                         ("off", {})):
        manage("auto_reply", "update", set={"status": status, **more})
        told = [row["status"] for row in lookup("auto_reply")]
        checks.same(f"{name}: automatic answers are {status}", told, [status])
    manage("settings", "update", set={"language": "de-DE" if outlook else "de"})
    told = [row["language"] for row in lookup("settings")]
    checks.same(f"{name}: the language", [one[:2] for one in told], ["de"])
    manage("signature", "update", set={"text": "Mira\nLamps"})
    manage("contact", "create", set={"name": "Ina Interop", "emails": "ina@interop.example",
                                     "phone": "+49 1", "company": "Interop"})
    manage("contact", "update", id="ina@interop.example", set={"role": "Tester"})
    manage("contact", "delete", id="ina@interop.example")
    if outlook:
        manage("category", "update", id="Interop tag", set={"color": "green"})
