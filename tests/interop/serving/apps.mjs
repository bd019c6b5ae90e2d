// Daysheet's view in a strict host of MCP Apps; for apps.py.
//
//   node apps.mjs SETTINGS
//
// SETTINGS is JSON: where Daysheet serves, and which Chromium there is. The first part draws the view
// with answers that are written here, for what a server does not do on request: loses the connection,
// answers in a wrong order, sends hostile text unchanged. The second part has Daysheet behind it. Each
// check is a line of JSON.

import { join } from "node:path";
import {
  HOSTILE, MIME, Session, accessible, account, argumentsOf, check, drawn, found, harmless, part, result, same, textOf,
} from "./apps_common.mjs";
import { ABLE, Host, theme as themed, until } from "./apps_host.mjs";

const at = JSON.parse(process.argv[2]);
const VIEW = "ui://daysheet/view";
const READING = ["brief", "calendar_free", "calendar_search", "mail_draft", "mail_read"];
const WRITING = ["calendar_delete", "calendar_respond", "calendar_save", "mail_modify", "mail_send", "manage"];
const CARD_TOOLS = ["approval_decide", "approval_show"];

// Answers that are written here ----------------------------------------------------

const TOOL = { name: "mail_send", inputSchema: { type: "object" } };
const WAITING = {
  state: "waiting", tool: "mail_send", word: "word-1", until: "2026-11-16T10:15:00Z",
  question: "Send this mail?\nFrom: Mira Lindqvist <mira@example.com>\nTo: hello@rookery.example\n"
    + "Subject: Two bags\nNever written to before: hello@rookery.example",
  content: "Hello,\n\nplease put two bags aside.\n\nMira",
};

/** A server whose answers to a tool are a value, a result, or an error that breaks the connection. */
const scripted = (answers) => async (name) => {
  const answer = answers[name];
  if (answer === undefined) throw new Error(`unexpected call of ${name}`);
  if (answer instanceof Error) throw answer;
  return answer.content && Array.isArray(answer.content) ? answer : result(JSON.stringify(answer));
};
const LOST = new Error("connection closed");
const GOOD = { approval_show: WAITING, approval_decide: { state: "approved" }, mail_send: result("d2 sent as m3") };

async function scriptedView(host, answers, { args = { id: "d2" }, got = result("it waits"), ...settings } = {}) {
  const view = await host.mount({ server: scripted(answers), tool: TOOL, ...settings });
  if (args) await view.tell("sendToolInput", { arguments: args });
  await view.tell("sendToolResult", got);
  return view;
}

async function handshake(host) {
  const view = await host.mount({ server: scripted(GOOD), tool: TOOL });
  same("the view opens with the handshake", view.methods.slice(0, 2), ["ui/initialize", "ui/notifications/initialized"]);
  await view.tell("sendToolInputPartial", { arguments: { id: "d" } });
  await view.tell("sendToolInputPartial", { arguments: {} });
  await view.tell("sendToolInput", { arguments: { id: "d2" } });
  await new Promise((resolve) => setTimeout(resolve, 300));
  same("before the result, the view calls nothing", view.calls, []);
  await view.tell("sendToolResult", result("it waits"));
  await view.asks();
  same("the arguments in full count, not in part", view.calls, [["approval_show", { tool: "mail_send", arguments: { id: "d2" } }]]);
  await view.tell("sendToolResult", result("again"));
  await view.frame.evaluate(() => window.postMessage({ jsonrpc: "2.0", id: 1, method: "ui/resource-teardown", params: {} }, "*"));
  await new Promise((resolve) => setTimeout(resolve, 200));
  same("a second result, and messages of others than the host, change nothing",
    [view.calls.length, await view.frame.locator("#approve").count()], [1, 1]);

  same("an unknown request is refused",
    (await view.post({ jsonrpc: "2.0", id: "raw-1", method: "ui/unknown", params: {} })).error?.code, -32601);
  same("a ping is answered", (await view.post({ jsonrpc: "2.0", id: "raw-2", method: "ping" })).result, {});
  for (const theme of ["dark", "light"]) {
    await view.tell("setHostContext", { theme, styles: themed({ "--color-text-primary": theme === "dark" ? "#fafafa" : "#010101" }) });
    const want = theme === "dark" ? "rgb(250, 250, 250)" : "rgb(1, 1, 1)";
    await until(() => view.frame.evaluate(([color, scheme]) => getComputedStyle(document.body).color === color
      && getComputedStyle(document.documentElement).colorScheme === scheme, [want, theme]));
    check(`the view follows the host to ${theme}`, true);
  }
  const height = await view.frame.evaluate(() => [document.documentElement.style.height, document.querySelector("main").offsetHeight]);
  const told = view.messages.filter(([, one]) => one.method === "ui/notifications/size-changed").at(-1)[1].params.height;
  check("the height of the document is the height that the host got", height[0] === `${told}px` && Math.abs(height[1] - told) <= 1, `${height} ${told}`);
  same("the view can be torn down", await view.tell("teardownResource", {}), {});
}

async function card(host) {
  const view = await scriptedView(host, GOOD);
  const shown = await view.asks();
  check("the time is in the host's zone", shown.includes("11:15"), shown);
  check("the card says what happens if nothing is pressed", /press nothing, nothing is\s+done/.test(shown), shown);
  check("the word is not in the document", !(await view.frame.content()).includes(WAITING.word));
  await view.frame.evaluate(() => {
    for (const id of ["approve", "approve", "refuse"]) document.getElementById(id).click();
  });
  await view.sees("d2 sent as m3");
  await until(() => view.contexts.length);
  same("a double press decides once, and calls once", view.calls.slice(1),
    [["approval_decide", { word: "word-1", decision: "approve" }], ["mail_send", { id: "d2" }]]);
  check("the model is told the result", view.contexts.length === 1 && view.contexts[0].includes("d2 sent as m3"), view.contexts);
  check("and not the word", !view.contexts.join().includes(WAITING.word));

  const quiet = await scriptedView(host, GOOD, { capabilities: { serverTools: {} } });
  await quiet.asks();
  await quiet.press("approve");
  await quiet.sees("d2 sent as m3");
  check("a host without a context for the model gets none", !quiet.methods.includes("ui/update-model-context"));

  const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`).join("\n");
  const none = await scriptedView(host, { approval_show: { state: "none" } }, { got: result(lines) });
  await none.sees("line 12");
  check("without a waiting write, the first lines of the answer are shown, and the rest is folded",
    await none.frame.getByText("28 more lines").isVisible() && !(await none.frame.getByText("line 40").isVisible()), await none.text());
  const early = await scriptedView(host, { approval_show: { state: "none" } }, { args: null, got: result("early") });
  await early.sees("early");
  same("a result without arguments", early.calls, [["approval_show", { tool: "mail_send", arguments: {} }]]);
  const nameless = await scriptedView(host, { approval_show: { state: "none" } }, { tool: undefined });
  await nameless.sees("it waits");
  same("a host that does not name the tool", nameless.calls, [["approval_show", { arguments: { id: "d2" } }]]);
}

// What a person reads if something breaks, and whether it names the terminal.
const BROKEN = {
  "the connection is lost before the card": { answers: { approval_show: LOST }, reads: /could not ask Daysheet/, terminal: true },
  "the host lets no view call": { answers: {}, capabilities: {}, reads: /does not let a card call/, terminal: true },
  "the connection is lost between the card and the decision": {
    answers: { ...GOOD, approval_decide: LOST }, press: "approve", reads: /unknown whether your decision arrived/, terminal: true, calls: 2 },
  "the connection is lost after the decision": {
    answers: { ...GOOD, mail_send: LOST }, press: "approve", reads: /unknown whether it was done/, told: /unknown whether/, calls: 3 },
  "the write has expired": { answers: { ...GOOD, approval_decide: { state: "expired" } }, press: "approve", reads: /no longer waits/, calls: 2 },
  "the decision is refused": { answers: { ...GOOD, approval_decide: result("the word is not valid", true) }, press: "approve", reads: /the word is not valid/, calls: 2 },
  "the approved call fails": { answers: { ...GOOD, mail_send: result("the provider refused", true) }, press: "approve", reads: /the provider refused/, told: /the provider refused/, calls: 3 },
  "the user refuses": { answers: { ...GOOD, approval_decide: { state: "refused" } }, press: "refuse", reads: /Nothing was done/, told: /refused/, calls: 2 },
  "the answer is not JSON": { answers: { approval_show: result("no JSON") }, reads: /could not ask Daysheet/, terminal: true },
};

async function breaking(host) {
  for (const [name, { answers, press, reads, terminal, told, calls, capabilities }] of Object.entries(BROKEN)) {
    await part(name, async () => {
      const view = await scriptedView(host, answers, { capabilities: capabilities ?? ABLE });
      if (press) {
        await view.asks();
        await view.press(press);
      }
      const shown = await view.sees(reads);
      check(`${name}: in words${terminal ? ", with the command to run" : ""}`, !terminal || shown.includes("daysheet approve"), shown);
      if (calls) same(`${name}: calls`, view.calls.length, calls);
      if (told) await until(() => told.test(view.contexts.join()));
      if (!told) check(`${name}: the model is told nothing`, view.contexts.length === 0, view.contexts);
    });
  }
}

async function hostile(host) {
  const long = HOSTILE + "x".repeat(100_000);
  const asking = {
    ...WAITING, content: long, until: HOSTILE,
    question: `${HOSTILE}\nFrom: ${HOSTILE}\nSubject: ${HOSTILE}\n${HOSTILE}`,
  };
  const ways = {
    "a card": [{ approval_show: asking, approval_decide: { state: "approved" }, mail_send: result(long) }, {}],
    "an answer": [{ approval_show: { state: "none" } }, { got: result(long) }],
    "an error": [{ approval_show: result(HOSTILE, true) }, {}],
    "a lost connection": [{ approval_show: new Error(HOSTILE) }, {}],
    "a context": [{ approval_show: asking }, { context: {
      locale: HOSTILE, timeZone: HOSTILE, styles: themed({ "--color-background-primary": "url(https://evil.example/)" }) } }],
  };
  for (const [name, [answers, more]] of Object.entries(ways)) {
    await part(`hostile text in ${name}`, async () => {
      const view = await scriptedView(host, answers, { width: 390, ...more });
      await view.sees(/alert/);
      const text = await harmless(view, name);
      if (!["a card", "an answer"].includes(name)) return;
      const way = name === "a card" ? "daysheet ui" : "Ask your assistant";
      check(`${name}: long text is cut, with the way to the whole`, text.length < 45_000 && text.includes(way), text.length);
      if (name !== "a card") return;
      await view.press("approve");
      await view.sees("Approved. Daysheet answers");
      await harmless(view, "an outcome");
    });
  }
}

async function looking(host) {
  const long = result(Array.from({ length: 40 }, (_, index) => `line ${index + 1}`).join("\n"));
  const states = {
    card: [GOOD, "#approve"],
    answer: [{ approval_show: { state: "none" } }, "details", { got: long }],
    problem: [{ approval_show: LOST }, "[role=alert]"],
  };
  for (const scheme of ["light", "dark"]) {
    for (const [name, [answers, selector, more]] of Object.entries(states)) {
      const view = await scriptedView(host, answers, { scheme, width: 390, ...more });
      await view.frame.locator(selector).waitFor();
      await accessible(view, `${name}, ${scheme}`);
      await view.page.close();
    }
  }
}

// With Daysheet --------------------------------------------------------------------

const DRAFT = {
  to: ["hello@rookery.example"], subject: "Two bags for the workshop",
  body: "Hello, please put two bags of the winter coffee aside for us. Yusuf comes by on Saturday at ten. Mira",
};
const draftTo = (name, subject) => ({ ...DRAFT, to: [`${name}@rookery.example`], subject });

async function listing(session, plain) {
  const bare = JSON.stringify(plain.tools);
  check("without the extension, the tools are as ever", plain.tools.length > 10 && !CARD_TOOLS.some((name) => plain.tool(name)) && !bare.includes('"ui"') && !bare.includes("ui/resourceUri"), bare.slice(0, 600));
  for (const name of CARD_TOOLS) {
    same(`${name} is for apps alone`, session.tool(name)?._meta?.ui?.visibility, ["app"]);
    same(`${name} does nothing without the extension`, (await plain.state(name, { word: "x", decision: "approve", arguments: {} })).state, "error");
    check(`the model of a strict host cannot call ${name}`, await session.model(name, {}).then(() => false, () => true));
  }
  same("the tools with a view name it", session.tools.filter((one) => one._meta?.ui?.resourceUri).map((one) => one.name).sort(), [...READING, ...WRITING].sort());
  same("and no other view", [...new Set(session.tools.map((one) => one._meta?.ui?.resourceUri).filter(Boolean))], [VIEW]);
  same("the other tools are the same", JSON.stringify(session.tools.filter((one) => plain.tool(one.name)).map(({ _meta, ...one }) => one)),
    JSON.stringify(plain.tools.map(({ _meta, ...one }) => one)));
}

/** A message to somebody new is sent by one click, in sessions of one mode. */
async function trial(host, mode, settings, press) {
  const session = await Session.open(at.base, { mode });
  const word = `trial${mode.replace(/\W/g, "")}${settings.name}`;
  const draft = draftTo(word, `Two bags ${word}`);
  const id = await session.draft(draft);
  const view = await drawn(host, session, "mail_send", { id }, settings);
  const shown = await view.asks();
  const name = `${mode}, ${settings.name}`;
  for (const wanted of [draft.to[0], draft.subject, draft.body, "Never written to before"]) {
    check(`${name}: the card has ${wanted.slice(0, 30)}`, shown.includes(wanted), shown);
  }
  same(`${name}: nothing is sent yet`, await session.sent(word), 0);
  await press(view);
  await view.sees("Approved. Daysheet answers");
  await until(() => view.contexts.length);
  check(`${name}: the model is told`, view.contexts[0].includes("sent"), view.contexts);
  const again = textOf(await session.model("mail_send", { id }));
  check(`${name}: a repetition sends nothing more`, again.includes("already sent"), again);
  same(`${name}: the message is sent once`, await session.sent(word), 1);
  await session.client.close();
}

async function refusing(host, session) {
  const id = await session.draft(draftTo("refused", "Bags refused"));
  const view = await drawn(host, session, "mail_send", { id });
  await view.asks();
  await view.press("refuse");
  await view.sees("Nothing was done");
  await until(() => view.contexts.length);
  check("refused: the model is told", view.contexts[0].includes("refused"), view.contexts);
  const again = textOf(await session.model("mail_send", { id }));
  check("refused: a repetition is refused", /refused|declined/.test(again) && !/approval\twaiting/.test(again), again);
  same("refused: nothing is sent", await session.sent("refused"), 0);
}

async function words(_, session) {
  const [one, other] = [await session.draft(draftTo("one", "Bags one")), await session.draft(draftTo("other", "Bags other"))];
  const answer = textOf(await session.model("mail_send", { id: one }));
  await session.model("mail_send", { id: other });
  const { word, state } = await session.state("approval_show", { tool: "mail_send", arguments: { id: one } });
  check("a waiting write has a word", state === "waiting" && word?.length >= 16, state);
  check("the answer to the model does not contain it", !answer.includes(word), answer);
  same("a call that does not wait has none", (await session.state("approval_show", { tool: "mail_send", arguments: { id: "d999" } })).state, "none");
  const bad = {
    "a made-up word": { word: "A".repeat(word.length), decision: "approve" },
    "no word": { decision: "approve" },
    "an empty word": { word: "", decision: "approve" },
    "another decision": { word, decision: "maybe" },
  };
  for (const [name, args] of Object.entries(bad)) {
    const got = await session.state("approval_decide", args);
    check(`${name} approves nothing`, ["error", "expired"].includes(got.state), JSON.stringify(got));
  }
  const still = textOf(await session.model("mail_send", { id: one }));
  check("after that, the write still waits", /waiting/.test(still), still);
  const fresh = await session.state("approval_show", { tool: "mail_send", arguments: { id: one } });
  same("the word approves", (await session.state("approval_decide", { word: fresh.word, decision: "approve" })).state, "approved");
  const replay = await session.state("approval_decide", { word: fresh.word, decision: "approve" });
  check("a second time it approves nothing", ["error", "expired"].includes(replay.state), JSON.stringify(replay));
  const theOther = textOf(await session.model("mail_send", { id: other }));
  check("it does not approve another call", /waiting/.test(theOther), theOther);
  const itsOwn = textOf(await session.model("mail_send", { id: one }));
  check("it approves its own", /sent/.test(itsOwn) && !/waiting/.test(itsOwn), itsOwn);
  same("only that is sent", [await session.sent("one"), await session.sent("other")], [1, 0]);
}

/** A host may pass the members of the arguments on in another order. */
async function reordered(host, session) {
  const id = await session.draft(draftTo("swapped", "Bags swapped"));
  const view = await host.mount({ server: session.app, tool: session.tool("mail_send") });
  const got = await session.model("mail_send", { id, format: "json" });
  await view.tell("sendToolInput", { arguments: { format: "json", id } });
  await view.tell("sendToolResult", got);
  await view.asks();
  await view.press("approve");
  await view.sees("Approved. Daysheet answers");
  same("reordered arguments: the message is sent once", await session.sent("swapped"), 1);
}

/** Claude Desktop opens one session for the model, and another one for views. */
async function twoSessions(host, session) {
  const apps = await Session.open(at.base);
  const id = await session.draft(draftTo("second", "Bags second"));
  const view = await drawn(host, session, "mail_send", { id }, { server: apps.app });
  await view.asks();
  await view.press("approve");
  await view.sees("Approved. Daysheet answers");
  same("a view in a session of its own: the message is sent once", await session.sent("second"), 1);
  await apps.client.close();
}

async function losing(host, session) {
  const id = await session.draft(draftTo("lost", "Bags lost"));
  const broken = async (name, args) => {
    if (name === "approval_decide") throw LOST;
    return session.app(name, args);
  };
  const view = await drawn(host, session, "mail_send", { id }, { server: broken });
  await view.asks();
  await view.press("approve");
  check("a lost connection is shown, with the command", (await view.sees(/unknown whether your decision arrived/)).includes("daysheet approve"));
  same("and nothing is sent", await session.sent("lost"), 0);
}

async function hostileMail(host, session) {
  const tags = HOSTILE.replace(/[\u202a-\u2069]/g, "");
  const id = await session.draft({ to: ['"<img src=x onerror=alert(1)>" <evil@rookery.example>'],
    subject: `<script>alert(1)</script> <img src=x onerror=alert(2)>`, body: `${tags}\n`.repeat(20) });
  const view = await drawn(host, session, "mail_send", { id }, { width: 390 });
  const shown = await view.asks();
  check("a hostile message is shown as text", ["<script>alert(1)</script>", "<svg onload=alert(3)>", "evil@rookery.example"].every((one) => shown.includes(one)), shown);
  same("and makes no elements", await view.frame.locator("main :is(script, img, svg, a, iframe)").count(), 0);
  await view.press("refuse");
  await view.sees("Nothing was done");
}

const ME = { account: "mira@example.com" };
/** The other writes that need the user's yes, and what the card shows of them. */
const KINDS = {
  "unsubscribing": ["mail_modify", async (session) => ({
    do: "unsubscribe", ids: [await found(session, "mail_search", { q: "from:ledgerline" })],
  }), /Unsubscribe from.*cosima@ledgerline\.example/s],
  "deleting for good": ["mail_modify", async (session) => ({
    do: "delete", ids: [await found(session, "mail_search", { q: "from:ledgerline" })],
  }), /Permanently delete 1 message.*cannot be undone/s],
  "inviting somebody new": ["calendar_save", {
    ...ME, events: [{ title: "Glaze", start: "2026-11-25 11:30", end: "12:00", people: ["zoe@example.org"] }], notify: "all",
  }, /Glaze.*Never written to before\s+zoe@example\.org/s],
  "forwarding an invitation": ["calendar_respond", async (session) => ({
    id: await found(session, "calendar_search", { q: "rehearsal", from: "2026-11-16", to: "2026-11-30" }, /(e\d+)\t/),
    response: "forward", to: ["zoe@example.org"],
  }), /Vesper: rehearsal.*zoe@example\.org/s],
  "an automatic reply": ["manage", { ...ME, kind: "auto_reply", op: "update", set: { status: "on", text: "I am away.", audience: "all" } },
    /anybody who writes.*I am away\./s],
  "a rule that hides mail": ["manage", { ...ME, kind: "rule", op: "create", set: { when: "from:jonas", then: "archive" } },
    /from:jonas.*archive/s],
};

async function kinds(host, session) {
  await session.model("mail_search", { limit: 3 });
  for (const [name, [tool, args, shows]] of Object.entries(KINDS)) {
    await part(name, async () => {
      const view = await drawn(host, session, tool, await argumentsOf(args, session));
      const shown = await view.asks();
      check(`${name}: the card`, shows.test(shown), shown);
      await view.press("refuse");
      await view.sees("Nothing was done");
      await view.page.close();
    });
  }
}

async function notWaiting(host, session) {
  const view = await drawn(host, session, "mail_modify", { do: "star", ids: ["m1"] });
  await view.sees(/star/);
  same("a write that needs no approval has no card", await view.frame.locator("button").count(), 0);
}

async function takePictures(host, session) {
  for (const scheme of ["light", "dark"]) {
    const id = await session.draft(DRAFT);
    const view = await drawn(host, session, "mail_send", { id }, { scheme, width: 560 });
    await view.asks();
    await view.page.locator("iframe").screenshot({ path: join(at.pictures, `card${scheme === "dark" ? "-dark" : ""}.png`) });
  }
}

const session = await Session.open(at.base);
const host = new Host();
async function lane(parts) {
  for (const [name, steps] of Object.entries(parts)) await part(name, () => steps(host, session));
}
await part("the host", async () => {
  const { contents: [{ text, mimeType, _meta }] } = await session.client.readResource({ uri: VIEW });
  same("the view is a resource", [mimeType, _meta?.ui], [MIME, { prefersBorder: true }]);
  check(`the view has ${text.length} characters, at most 60 kB`, text.length <= 60_000);
  await host.start(at.chromium, text);
  const plain = await Session.open(at.base, { draws: false });
  const otherwise = await Session.open(at.otherwise);
  await part("listing", () => listing(session, plain));
  check("approve = terminal rules cards out", !CARD_TOOLS.some((name) => otherwise.tool(name)));
  // Two lanes at once: a view waits more than it works.
  await Promise.all([lane({ handshake, card, breaking, hostile, looking }), lane({
    "trial, mouse": () => trial(host, "legacy", { name: "mouse" }, (view) => view.press("approve")),
    "trial, modern": () => trial(host, "auto", { name: "mouse" }, (view) => view.press("approve")),
    "trial, keyboard": () => trial(host, "legacy", { name: "keyboard", scheme: "dark", width: 390 }, async (view) => {
      check("the keyboard reaches Approve, which shows the focus", await view.reach("approve"));
      await view.page.keyboard.press("Enter");
    }),
    refusing, words, reordered, twoSessions, losing, hostileMail, kinds, notWaiting,
    ...(at.pictures && { takePictures }),
  })]);
  account(host, 300);
  await host.stop();
});
process.exit(0);
