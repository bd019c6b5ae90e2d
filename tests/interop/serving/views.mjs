// Daysheet's view of answers in a strict host of MCP Apps: days, messages and drafts; for views.py.
//
//   node views.mjs SETTINGS
//
// SETTINGS is JSON: where Daysheet serves, with its samples and with hostile mail, which Chromium there
// is, and the file of expected trees. A tree is what a screen reader gets of a view, as Playwright
// writes it. With `accept`, the file is written anew. Approval is in apps.mjs.

import { AssertionError } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  HOSTILE, Session, accessible, account, argumentsOf, check, drawn, found, harmless, part, result, same, textOf,
} from "./apps_common.mjs";
import { Host, until } from "./apps_host.mjs";

const at = JSON.parse(process.argv[2]);

// Trees ----------------------------------------------------------------------------

const WEEK = ["calendar_search", { from: "2026-11-16", to: "2026-11-22" }];
const SLOTS = ["calendar_free", { who: ["priya@example.com"], duration: "60m", from: "2026-11-25", to: "2026-11-27" }];
/** The views of Daysheet's own answers, by name. The words of fences and the ids of outputs are random,
 * and so is what they cost, by up to ten tokens: the budgets are ones with which that cuts no other row. */
const VIEWS = {
  "a week": WEEK,
  "words in a month": ["calendar_search", { q: "rehearsal", from: "2026-11-01", to: "2026-11-30" }],
  "from a time of the day": ["calendar_search", { from: "2026-11-16 13:42", to: "2026-11-16" }],
  "no events": ["calendar_search", { q: "nothing of the kind", from: "2026-11-16", to: "2026-11-30" }],
  "clashes": ["calendar_search", { q: "is:clash", from: "2026-11-16", to: "2026-11-30" }],
  "the first page": ["calendar_search", { from: "2026-11-16", to: "2026-11-18", limit: 9 }],
  "the second page": ["calendar_search", async (session) => ({ cursor: await found(session, "calendar_search", { from: "2026-11-16", to: "2026-11-18", limit: 9 }, /^next: (p\d+)/m) })],
  "a budget": ["calendar_search", { from: "2026-11-16", to: "2026-12-06", budget: 765 }],
  "an event by its id": ["calendar_search", async (session) => ({ ids: [await found(session, "calendar_search", { q: "choir", from: "2026-11-16", to: "2026-11-16" }, /(e\d+)\t/)] })],
  "series": ["calendar_search", { series: true, from: "2026-11-16", to: "2026-11-17" }],
  "columns without ends": ["calendar_search", { from: "2026-11-16", to: "2026-11-16", fields: ["title", "start"] }],
  "titles alone": ["calendar_search", { from: "2026-11-16", to: "2026-11-16", fields: ["title"] }],
  "free times": SLOTS,
  "free stretches": ["calendar_free", { hours: "9-17", from: "2026-11-25", to: "2026-11-26" }],
  "busy times": ["calendar_free", { from: "2026-11-18", to: "2026-11-19" }],
  "the brief": ["brief", {}],
  "a brief with a budget": ["brief", { budget: 905 }],
  "a message with warnings": ["mail_read", async (session) => ({ ids: [await found(session, "mail_search", { q: "subject:88213 from:holunder-billing" })] })],
  "a thread": ["mail_read", async (session) => ({ ids: [await found(session, "mail_search", { q: "subject:vesper from:henrike", fields: ["thread"] }, /(t\d+)$/m)] })],
  "a thread with a budget": ["mail_read", async (session) => ({ ...(await VIEWS["a thread"][1](session)), budget: 680, quoted: true })],
  "an invitation": ["mail_read", async (session) => ({ ids: [await found(session, "mail_search", { q: "subject:invitation subject:box" })] })],
  "a delivery report": ["mail_read", async (session) => ({ ids: [await found(session, "mail_search", { q: "from:mailer-daemon" })] })],
  "a draft": ["mail_draft", { account: "mira@example.com", to: ["zoe@example.org"], cc: ["priya@example.com"],
    subject: "Two bags", body: "Hello Zoe,\n\nplease put *two* bags aside." }],
  "an edited draft": ["mail_draft", async (session) => ({
    mode: "edit", to: ["priya@example.com"], body: "toString",
    id: await found(session, "mail_draft", { account: "mira@example.com", to: ["zoe@example.org"], subject: "Bags", body: "Hello" }, /(d\d+)/),
  })],
  "a draft without recipients": ["mail_draft", { account: "mira@example.com", subject: "Bags", body: "constructor" }],
  "a long reply": ["mail_draft", async (session) => ({ mode: "reply", id: (await VIEWS["an invitation"][1](session)).ids[0],
    body: "This line has forty characters, and ends.\n\n".repeat(12) })],
  "a discarded draft": ["mail_draft", async (session) => ({ mode: "discard", id: await found(session, "mail_draft", { account: "mira@example.com", subject: "Away", body: "x" }, /(d\d+)/) })],
  "an unknown id": ["mail_read", { ids: ["m999"] }],
};
const IN_JSON = ["a week", "free times", "the brief", "an invitation"];

/** Handles depend on what was called before; what is in later chunks, on random words. */
const steady = (text) => text.replace(/\b[demptu]\d+\b/g, "N").replace(/\bchunk=(\d+): [^"\n]*/g, "chunk=$1: rows");

/** The expected trees by their names, as in the file, where each follows its name. */
const expected = Object.fromEntries(
  readFileSync(at.trees, "utf8").split(/^# /m).slice(1).map((one) => {
    const end = one.indexOf("\n");
    return [one.slice(0, end), one.slice(end + 1).trim()];
  }));
const got = {};

/** Returns what a screen reader gets, folded parts included. */
async function treeOf(view) {
  await view.frame.evaluate(() => {
    for (const one of document.querySelectorAll("details")) one.open = true;
  });
  return steady(await view.frame.locator("main").ariaSnapshot());
}

async function compare(name, view) {
  got[name] = await treeOf(view);
  if (!at.accept) check(`${name}: the tree`, got[name] === expected[name], new AssertionError({ actual: got[name], expected: expected[name], operator: "strictEqual" }).message);
}

const QUOTED = ["From", "To", "Cc", "Bcc", "Where", "Organizer", "Account", "Attached", "from", "to", "cc", "snippet", "where", "organizer", "account", "detail", "reason"];

/** Checks that all texts of others in a view are in the answer. */
async function within(name, view, answer) {
  const shown = await view.frame.evaluate((terms) =>
    [...document.querySelectorAll("main :is(strong, h2, .where, .text, .alert, dd)")]
      .filter((one) => !one.closest(".day > h2, .slot") && (one.tagName !== "DD" || terms.includes(one.previousSibling.textContent)))
      .flatMap((one) => one.textContent.split("\n")).map((line) => line.trim()).filter(Boolean), QUOTED);
  // TOON and JSON write quotes and backslashes with a backslash; in a text, the word of its fence is
  // left out.
  const plain = answer.replaceAll('\\"', '"').replaceAll("\\\\", "\\").replaceAll("\\n", "\n")
    .replace(/^<<<\w+ (\w+)$[^]*?^\1>>>$/gm, (block, word) => block.replaceAll(`${word} `, "").replace(/; \w+=true shows it\]|, offset=\d+$/gm, (end) => (end.endsWith("]") ? "]" : "")));
  const ours = ["Draft", "(no subject)", "(no title)", "(no name)", "free", "nobody yet"];
  const more = shown.filter((line) => !plain.includes(line) && !ours.includes(line));
  check(`${name}: all ${shown.length} texts are in the answer`, more.length === 0, more.join("\n"));
}

async function trees(host, session) {
  for (const [name, [tool, given]] of Object.entries(VIEWS)) {
    await part(name, async () => {
      const args = await argumentsOf(given, session);
      const answer = await session.model(tool, args);
      const view = await host.mount({ server: session.app, tool: session.tool(tool) });
      await view.tell("sendToolInput", { arguments: args });
      await view.tell("sendToolResult", answer);
      await view.isDrawn();
      await compare(name, view);
      await within(name, view, textOf(answer));
      same(`${name}: the view calls nothing`, view.calls, []);
      await view.page.close();
      if (IN_JSON.includes(name)) await sameInJson(name, host, session);
    });
  }
}

/** JSON is drawn as TOON is; also by hosts that name no tool, and by those that let no view call. */
async function sameInJson(name, host, session) {
  const [tool, args] = VIEWS[name];
  const view = await host.mount({ server: session.app, capabilities: {} });
  await view.tell("sendToolResult", await session.model(tool, { ...(await argumentsOf(args, session)), format: "json" }));
  await view.isDrawn();
  const own = await treeOf(view);
  check(`${name} in JSON: the same tree`, own === got[name], `${own}\nwant\n${got[name]}`);
  await view.page.close();
}

// Choosing and sending -------------------------------------------------------------

/** Returns the events whose beginning is covered. */
async function covered(view) {
  // Nothing is found at a point outside the frame, and the host gives it its height late.
  await until(() => view.frame.evaluate(() =>
    [...document.querySelectorAll(".event")].every((one) => one.getBoundingClientRect().top + 8 < innerHeight)));
  return view.frame.evaluate(() => [...document.querySelectorAll(".event")].filter((one) => {
    const { left, top } = one.getBoundingClientRect();
    return document.elementFromPoint(left + 8, top + 8)?.closest(".event") !== one;
  }).map((one) => one.textContent));
}

async function facts(host, session) {
  for (const width of [700, 390]) {
    const view = await drawn(host, session, ...WEEK, { width });
    const event = view.frame.locator(".event", { hasText: "Brennan" });
    await event.press("Enter");
    const panel = view.frame.locator("#panel");
    const text = await panel.innerText();
    check(`${width} pixels: an event opens by the keyboard`, /jonas \(maybe, optional\)/.test(text) && /11h30 New York/.test(text), text);
    await event.click();
    same(`${width} pixels: and closes`, [await panel.innerText(), await event.getAttribute("aria-expanded")], ["", "false"]);
    const inside = await view.frame.evaluate(() => [...document.querySelectorAll(".event")].every((one) => {
      const [box, day] = [one.getBoundingClientRect(), one.closest(".day").getBoundingClientRect()];
      return box.left >= day.left - 1 && box.right <= day.right + 1 && box.top >= day.top && box.bottom <= day.bottom + 1 && box.height >= 20;
    }));
    check(`${width} pixels: each event is inside its day`, inside);
    same(`${width} pixels: no event covers where another one begins`, await covered(view), []);
    await view.page.close();
  }
  const month = await drawn(host, session, "calendar_search", { from: "2026-11-01", to: "2026-11-30", limit: 100 });
  const title = month.frame.locator("h1");
  const names = [await title.innerText()];
  for (const button of ["Later", "Earlier"]) {
    await month.frame.getByRole("button", { name: button }).click();
    names.push(await title.innerText());
  }
  same("a month is turned by weeks", names, ["1 – 7 November 2026", "8 – 14 November 2026", "1 – 7 November 2026"]);
  check("and the focus stays", await title.evaluate((one) => one === document.activeElement));
}

async function choosing(host, session) {
  const choice = "I choose this time: Wed 2026-11-25 11:30 to 12:30 (Europe/Berlin).";
  const ways = {
    "a host that takes messages": [{}, [choice], [], "Your choice is in the conversation.", "true"],
    "a host that keeps a context": [{ capabilities: { updateModelContext: { text: {} } } }, [], [choice], "Your assistant gets your choice with your next message.", "true"],
    "a host that refuses": [{ refusesMessages: true }, [choice], [], `Tell your assistant: ${choice}`, "false"],
    "a host that takes nothing": [{ capabilities: {} }, [], [], `Tell your assistant: ${choice}`, "false"],
  };
  for (const [name, [settings, said, contexts, shown, pressed]] of Object.entries(ways)) {
    const view = await drawn(host, session, ...SLOTS, settings);
    const slot = view.frame.locator(".slot").first();
    await slot.press("Enter");
    await view.sees(shown);
    same(`${name}: the choice`, [view.said, view.contexts, await slot.getAttribute("aria-pressed")], [said, contexts, pressed]);
    check(`${name}: the focus stays`, await slot.evaluate((one) => one === document.activeElement));
    if (name !== "a host that takes messages") {
      await view.page.close();
      continue;
    }
    const other = view.frame.locator(".slot").nth(1);
    const isPressed = (one) => one.getAttribute("aria-pressed").then((value) => value === "true");
    await other.dblclick();
    await until(() => isPressed(other));
    await other.click();
    await slot.click();
    await until(() => isPressed(slot));
    same("each choice replaces the one before, once", [view.said.slice(1), await view.frame.locator(".slot[aria-pressed=true]").count()],
      [["Wed 2026-11-25 16:00 to 17:00", "Wed 2026-11-25 11:30 to 12:30"].map((time) => `Instead, I choose this time: ${time} (Europe/Berlin).`), 1]);
    await view.page.close();
  }
}

const DRAFT = { account: "mira@example.com", to: ["hello@rookery.example"], body: "Two bags, please." };

/** The draft of a view is sent by its button and the card. */
async function sending(host, session) {
  const view = await drawn(host, session, "mail_draft", { ...DRAFT, subject: "Bags from the draft" });
  check("the keyboard reaches Send", await view.reach("send"));
  await view.frame.evaluate(() => {
    for (const id of ["send", "send"]) document.getElementById(id)?.click();
  });
  const shown = await view.asks();
  check("Send asks with everything that goes out", ["hello@rookery.example", "Bags from the draft", "Two bags, please."].every((one) => shown.includes(one)), shown);
  same("a double press calls once, and sends nothing", [view.calls.map(([name]) => name), await session.sent("from the draft")], [["mail_send", "approval_show"], 0]);
  check("the card has the focus", await view.frame.locator("h1").evaluate((one) => one === document.activeElement));
  await view.press("approve");
  await view.sees("Approved. Daysheet answers");
  same("the draft is sent once", await session.sent("from the draft"), 1);
  await until(() => view.contexts.length);
  check("the model is told", view.contexts[0].includes("sent"), view.contexts);

  // The card shows the draft as it is by then.
  const old = await drawn(host, session, "mail_draft", { ...DRAFT, subject: "Bags before" });
  const [, id] = /mail_send id=(d\d+)/.exec(old.result);
  await session.model("mail_draft", { mode: "edit", id, subject: "Bags afterwards" });
  await old.press("send");
  check("an older view asks about the draft of today", (await old.asks()).includes("Bags afterwards"));

  for (const lost of ["mail_send", "approval_show"]) {
    const server = async (name, args) => {
      if (name === lost) throw new Error("closed");
      return session.app(name, args);
    };
    const broken = await drawn(host, session, "mail_draft", { ...DRAFT, subject: `Bags lost ${lost}` }, { server });
    await broken.press("send");
    await broken.sees(/Nothing is sent without your approval.*daysheet approve/);
  }
  const unable = await drawn(host, session, "mail_draft", { ...DRAFT, subject: "Bags unable" }, { capabilities: {} });
  await unable.sees("Bags unable");
  same("a host that lets no view call has no Send", await unable.frame.locator("#send").count(), 0);
}

/** Where the settings rule cards out, a draft has no button: nothing would be asked. */
async function withoutCards(session) {
  const host = new Host();
  await host.start(at.chromium, await documentOf(session));
  const view = await drawn(host, session, "mail_draft", { ...DRAFT, to: ["priya@example.com"], subject: "Bags by the terminal" });
  await view.sees("Bags by the terminal");
  same("without cards, there is no Send", await view.frame.locator("#send").count(), 0);
  await host.stop();
}

const documentOf = async ({ client }) => (await client.readResource({ uri: "ui://daysheet/view" })).contents[0].text;

// Answers that are written here ----------------------------------------------------

const EVENTS = "zone: Europe/Berlin\nevents[2\t]{id\tstart\tend\ttitle}:\n";
const MESSAGE = "messages[1\t]{id\tdate\tfrom\tsubject}:\n  m1\t2026-11-16 10h00\tEve <eve@evil.example>\tHello\n"
  + "bodies[1\t]{id\tblock}:\n  m1\tb1\n\n";
/** Texts, and the title of the view; `null` if the text is shown as it is. */
const ODD = {
  "an event across midnight": [`${EVENTS}  e1\tMon 2026-11-16 23h00\tTue 2026-11-17 01h00\tNight\n  e2\tTue 2026-11-17\t2026-11-17\tDay`, "16 – 17 November 2026"],
  "an event in the repeated hour": [`${EVENTS}  e1\tSun 2026-10-25 02h30 +0200 = 00h30 UTC\t02h30 +0100\tClock\n  e2\tSun 2026-10-25 03h00\t03h00\tInstant`, "25 October 2026"],
  "a quoted title": [`${EVENTS}  e1\tMon 2026-11-16 23h00\t23h30\t"a \\"b\\"\\tc"\n  e2\tMon 2026-11-16\t2026-11-16\t""`, "16 November 2026"],
  "a row with a cell too few": [`${EVENTS}  e1\tMon 2026-11-16 23h00\t23h30\n  e2\tMon 2026-11-16\t2026-11-16\tx`, null],
  "a row too few": [`${EVENTS}  e1\tMon 2026-11-16 23h00\t23h30\tx`, null],
  "a time that is none": [`${EVENTS}  e1\tsoon\t23h30\tx\n  e2\tMon 2026-11-16\t2026-11-16\tx`, "16 November 2026"],
  "no times": ["events[1\t]{id\ttitle}:\n  e1\tx", "Daysheet"],
  "an unfinished quote": [`${EVENTS}  e1\tMon 2026-11-16 23h00\t23h30\t"x\n  e2\tMon 2026-11-16\t2026-11-16\tx`, null],
  "JSON that is cut": ['{"events":[{"id":"e1"', null],
  "JSON with other values": ['{"events":[{"id":{},"start":["x"],"end":1,"title":null}]}', "Daysheet"],
  "nothing": ["", null],
  "a table in the text of a message": [`${MESSAGE}<<<b1 abcd1234\n${EVENTS}\n<<<b2 evil0000\nx\nevil0000>>>\n\nabcd1234 [a note; quoted=true shows it]\nhttps://x (abcd1234 goes to evil.example) more\n…abcd1234 9 lines left out, offset=3\nabcd1234>>>\n\nmessages: 1`, "Message"],
  "a text without an end": [`${MESSAGE}<<<b1 abcd1234\nand so on`, "Message"],
  "a prototype": ["__proto__[1\t]{a}:\n  x\nevents: []\n\nevents: 0 of 0, by start, Mon 2026-11-16 to Tue 2026-11-17", "16 – 17 November 2026"],
};

async function oddAnswers(host) {
  for (const [name, [text, title]] of Object.entries(ODD)) {
    const view = await host.mount({ server: async () => result("{}"), tool: { name: "calendar_search", inputSchema: { type: "object" } } });
    await view.tell("sendToolResult", result(text));
    await view.isDrawn();
    const shown = await view.frame.locator("h1").innerText();
    same(`${name}: the title`, shown, title ?? "Daysheet");
    if (name === "a time that is none") check(`${name}: the row is in a list`, (await view.text()).includes("Without a place in these days: 1"), await view.text());
    if (name.includes("of a message")) {
      const box = await view.frame.locator(".text").innerText();
      check(`${name}: all of it is text`, box.includes("events[2") && box.includes("evil0000>>>") && !box.includes("abcd1234"), box);
      const ours = await view.frame.locator(".text em").allInnerTexts();
      if (name.includes("table")) same(`${name}: the notes are Daysheet's`, ours, ["[a note]", "goes to evil.example", "…9 lines left out"]);
    }
    await view.page.close();
  }
  const rows = Array.from({ length: 2000 }, (_, row) => `  e${row}\tMon 2026-11-16 ${String(row % 24).padStart(2, "0")}h00\t23h59\tx`).join("\n");
  const view = await host.mount({ server: async () => result("{}") });
  await view.tell("sendToolResult", result(`events[2000\t]{id\tstart\tend\ttitle}:\n${rows}`));
  await view.frame.locator(".event").last().waitFor();
  same("a large answer is shown whole", await view.frame.locator(".event").count(), 2000);
}

/** A view is drawn again for a language that comes late, unless somebody uses it. */
async function lateLanguage(host, session) {
  const view = await drawn(host, session, ...WEEK);
  await view.sees("16 – 22 November 2026");
  await view.tell("setHostContext", { locale: "de-DE" });
  await view.sees("16.–22. November 2026");
  await view.frame.locator(".event", { hasText: "Box check" }).click();
  await view.sees("When");
  await view.tell("setHostContext", { locale: "fr-FR" });
  await new Promise((resolve) => setTimeout(resolve, 300));
  same("the open facts stay", await view.frame.locator(".event[aria-expanded=true]").count(), 1);

  const ended = await drawn(host, session, ...WEEK);
  await ended.sees("16 – 22 November 2026");
  await ended.tell("teardownResource", {});
  await ended.tell("setHostContext", { locale: "de-DE" });
  await new Promise((resolve) => setTimeout(resolve, 300));
  same("a view that was ended stays empty", await ended.text(), "");
}

/** Events at the same time are side by side; a later one leaves the title of an earlier one in sight. */
async function crowded(host) {
  const times = ["09h00\t12h00", "09h00\t10h00", "09h15\t11h00", "10h15\t10h30", "11h30\t13h00"];
  const rows = times.map((time, at) => `  e${at}\tMon 2026-11-16 ${time}\tx${at}`).join("\n");
  const view = await host.mount({ server: async () => result("{}") });
  await view.tell("sendToolResult", result(`events[${times.length}\t]{id\tstart\tend\ttitle}:\n${rows}`));
  await view.isDrawn();
  same("crowded events: none covers where another one begins", await covered(view), []);
}

/** Mail and events whose every text tries to break out. */
async function hostileAnswers(host) {
  const session = await Session.open(at.hostile);
  const found = textOf(await session.model("mail_search", { fields: ["subject"] }));
  const ids = [...found.matchAll(/^ {2}(m\d+)/gm)].map((one) => one[1]);
  check("there is hostile mail", ids.length >= 3, found);
  const calls = {
    "messages": ["mail_read", { ids }],
    "messages in JSON": ["mail_read", { ids, format: "json" }],
    "a week": ["calendar_search", { from: "2026-11-16", to: "2026-11-22" }],
    "a brief": ["brief", {}],
    "a draft": ["mail_draft", { mode: "reply", id: ids[0], body: HOSTILE }],
    "a forwarded message": ["mail_draft", { mode: "forward", id: ids[0], to: ["zoe@example.org"], body: HOSTILE.repeat(5) }],
  };
  for (const [name, [tool, args]] of Object.entries(calls)) {
    await part(`hostile ${name}`, async () => {
      const view = await drawn(host, session, tool, args, { width: 390 });
      await view.isDrawn();
      await view.frame.evaluate(() => {
        for (const one of document.querySelectorAll("details")) one.open = true;
      });
      for (const event of await view.frame.locator(".event").all()) await event.click();
      await harmless(view, name);
      await view.page.close();
    });
  }
  // The server cleans such texts; a text that is not clean does no harm either.
  const raw = `${MESSAGE.replaceAll("Hello", HOSTILE)}<<<b1 abcd1234\n${HOSTILE}\nabcd1234>>>`;
  const events = `${EVENTS.replace("2\t", "1\t")}  e1\tMon 2026-11-16 10h00\t11h00\t${HOSTILE}`;
  for (const [name, text] of Object.entries({ "an unclean message": raw, "an unclean event": events })) {
    const view = await host.mount({ server: async () => result("{}"), width: 390, context: { locale: HOSTILE, timeZone: HOSTILE } });
    await view.tell("sendToolResult", result(text));
    await view.sees(/alert/);
    await harmless(view, name);
  }
}

// The look -------------------------------------------------------------------------

async function looking(host, session) {
  // Colours differ in the dark, and not the elements.
  const dark = ["a week", "free times", "a message with warnings", "a draft"];
  const light = [...dark, "clashes", "no events", "the brief", "a thread with a budget", "an invitation", "an edited draft"];
  for (const scheme of ["light", "dark"]) {
    for (const name of scheme === "dark" ? dark : light) {
      const [tool, args] = VIEWS[name];
      const view = await drawn(host, session, tool, await argumentsOf(args, session), { scheme, width: 390 });
      await view.isDrawn();
      for (const event of (await view.frame.locator(".event").all()).slice(0, 1)) await event.click();
      await accessible(view, `${name}, ${scheme}`);
      await view.page.close();
    }
  }
  const wide = await drawn(host, session, ...WEEK, { width: 700 });
  await accessible(wide, "a wide week", 700);
}

async function takePictures(host, session) {
  const draft = ["mail_draft", { ...DRAFT, subject: "Two bags for the workshop", body: "Hello,\n\nplease put two bags aside for us.\n\nMira" }];
  const pictures = { week: WEEK, message: VIEWS["a message with warnings"], draft };
  for (const scheme of ["light", "dark"]) {
    for (const [name, [tool, args]] of Object.entries(pictures)) {
      const view = await drawn(host, session, tool, await argumentsOf(args, session), { scheme, width: name === "week" ? 760 : 560 });
      await view.isDrawn();
      if (name === "week") await view.frame.locator(".event", { hasText: "Box check" }).click();
      await new Promise((resolve) => setTimeout(resolve, 300));
      await view.page.locator("iframe").screenshot({ path: join(at.pictures, `${name}${scheme === "dark" ? "-dark" : ""}.png`) });
    }
  }
}

const host = new Host();
await part("the views", async () => {
  const session = await Session.open(at.base);
  const terminal = await Session.open(at.otherwise);
  await host.start(at.chromium, await documentOf(session));
  // First, so that the handles are the same in each run.
  await part("trees", () => trees(host, session));
  if (at.accept) {
    writeFileSync(at.trees, Object.entries(got).map(([name, one]) => `# ${name}\n${one}\n`).join("\n"));
  } else {
    same("all trees of the file were drawn", Object.keys(got), Object.keys(expected));
  }
  const lane = async (parts) => {
    for (const [name, steps] of Object.entries(parts)) await part(name, () => steps(host, session));
  };
  await Promise.all([
    lane({ facts, choosing, sending, oddAnswers, crowded, lateLanguage }),
    part("without cards", () => withoutCards(terminal)),
    lane({ hostileAnswers, ...(at.pictures && { takePictures }) }),
    lane({ looking }),
  ]);
  account(host, 300);
  await host.stop();
});
process.exit(0);
