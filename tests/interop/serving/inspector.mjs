// Daysheet's view in the web page of the MCP Inspector, in Chromium; for apps.py.
//
//   node inspector.mjs SETTINGS
//
// SETTINGS is JSON: where Daysheet and the Inspector serve, the word that opens the Inspector, and
// which Chromium there is. The Inspector is a host that others wrote: it draws a view inside two
// frames, of which the outer one has an origin of its own, names no tool to the view, and offers no
// context of a model. Each check is a line of JSON.

import { chromium } from "playwright-core";
import { Session, argumentsOf, check, found, part, same } from "./apps_common.mjs";
import { PATIENCE, until } from "./apps_host.mjs";

const at = JSON.parse(process.argv[2]);

const TEXT = "Hello, please put two bags of the winter coffee aside for us. Yusuf comes by on Saturday at ten. Mira";
/** Returns the arguments of sending a new draft to somebody who was never written to. */
const newDraft = (word) => async (session) => ({
  id: await session.draft({ to: [`${word}@rookery.example`], subject: `Two bags ${word}`, body: TEXT }),
});

// The views, by the names of their checks. `tool` and `args` are the call, `args` as a value or a
// function of a session; `sees` are texts that the frame must show. The others may be left out:
// - `elicits: false`: the Inspector does not declare elicitation, so that Daysheet asks on a card;
// - `answer`: the button of the Inspector's own question, which comes before the view's texts;
// - `press` and `then`: a button in the frame, and what the frame must show after it;
// - `sends`: a word of the subject of a message that is sent once, by the last button.
const VIEWS = {
  "a card": {
    tool: "mail_send", args: newDraft("inspected"), elicits: false,
    sees: ["inspected@rookery.example", "Two bags inspected", TEXT, "Never written to before", "Approve", "Refuse"],
    press: "Approve", then: ["Approved. Daysheet answers", "send\tsent"], sends: "inspected",
  },
  "the outcome of a question": {
    tool: "mail_send", args: newDraft("questioned"), answer: "Submit", sees: ["Outcomes: 1", "sent"], sends: "questioned",
  },
  "a week": {
    tool: "calendar_search", args: { from: "2026-11-16", to: "2026-11-22" },
    sees: ["2026", "Brennan Lights: Vesper in New York", "mira@lindqvist-lamps.example"],
    press: /Flight FW 618/, then: ["Same time", "Calendar"],
  },
  "free times": {
    tool: "calendar_free", args: { duration: "60m", from: "2026-11-25", to: "2026-11-27" }, sees: ["Choose a time"],
    // The Inspector takes messages of views, and does not say so.
    press: /^Choose 11:30/, then: ["Tell your assistant: I choose this time: Wed 2026-11-25 11:30 to 12:30"],
  },
  "the brief": { tool: "brief", args: {}, sees: ["Choir", "Needs you: 14"] },
  "a message": {
    tool: "mail_read",
    args: async (session) => ({ ids: [await found(session, "mail_search", { q: "subject:88213 from:holunder-billing" })] }),
    sees: ["Second reminder: invoice 88213", "gives an assistant orders", "Dear Ms Lindqvist"],
  },
  "a draft": {
    tool: "mail_draft", args: { account: "mira@example.com", to: ["drafted@rookery.example"], subject: "Two bags drafted", body: TEXT },
    elicits: false, sees: ["drafted@rookery.example", TEXT, "Nothing was sent"],
    press: "Send…", then: ["Never written to before", "Approve"],
  },
};

/** Checks that a view shows some texts, once it has had time to draw them. */
async function sees(name, view, wanted) {
  let shown = "";
  await until(async () => {
    shown = await view.innerText();
    return wanted.every((text) => shown.includes(text));
  }).catch(() => {});
  for (const text of wanted) check(`${name}: the frame shows ${text.slice(0, 40)}`, shown.includes(text), shown);
}

/** Leaves out a capability where the Inspector declares it. Its web page cannot be set to do so. */
async function withoutElicitation(route) {
  const body = route.request().postDataJSON();
  if (body.message.method !== "initialize") return route.continue();
  delete body.message.params.capabilities.elicitation;
  return route.continue({ postData: JSON.stringify(body) });
}

/** Opens the Inspector's page of an app, with arguments, connected to Daysheet. */
async function open(browser, tool, args, elicits) {
  // Each page holds streams open, and the pages of one context share six connections.
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  // The Inspector's page requests fonts from elsewhere.
  await context.route(({ hostname }) => hostname !== "127.0.0.1", (route) => route.abort());
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE * 1000);
  if (!elicits) await page.route("**/api/mcp/send", withoutElicitation);
  const link = new URL(at.inspector);
  link.search = new URLSearchParams({
    serverUrl: `${at.base}/mcp`, transport: "http", autoConnect: at.word, openApp: tool,
    appArgs: Buffer.from(JSON.stringify(args)).toString("base64url"),
  });
  await page.goto(link.href);
  return page;
}

async function drawn(browser, session, name, { tool, args, elicits = true, answer, sees: wanted, press, then = [], sends }) {
  const page = await open(browser, tool, await argumentsOf(args, session), elicits);
  const bad = [];
  page.on("pageerror", (error) => bad.push(error.stack));
  page.on("console", (message) => {
    if (/Content.Security.Policy/i.test(message.text())) bad.push(message.text());
  });
  await page.getByTestId("open-app").click();
  const outer = page.getByTestId("apps-form").locator("iframe");
  const view = outer.contentFrame().locator("iframe").contentFrame().locator("main");
  const pressIn = async (place, button) => {
    const shown = place.getByRole("button", { name: button, exact: true });
    await shown.waitFor();
    if (sends) same(`${name}: nothing is sent before ${button}`, await session.sent(sends), 0);
    await shown.click();
  };
  if (answer) await pressIn(page, answer);
  await sees(name, view, wanted);
  const { width, height } = await outer.boundingBox();
  const needs = await view.evaluate((main) => main.offsetHeight);
  check(`${name}: the frame has the size that the view asked for`, width > 300 && height >= Math.min(needs, 500), `${width} ${height} ${needs}`);
  if (press) {
    await pressIn(view, press);
    await sees(name, view, then);
  }
  if (sends) same(`${name}: the message is sent once`, await session.sent(sends), 1);
  check(`${name}: no script fails, and no policy is broken`, bad.length === 0, bad.join("\n"));
  await page.context().close();
}

await part("the Inspector", async () => {
  const session = await Session.open(at.base);
  const browser = await chromium.launch({ executablePath: at.chromium, args: ["--no-sandbox"] });
  // Two lanes at once: a view waits more than it works.
  const left = Object.entries(VIEWS);
  const lane = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [name, view] = next;
      await part(name, () => drawn(browser, session, name, view));
    }
  };
  await Promise.all([lane(), lane()]);
  await browser.close();
});
process.exit(0);
