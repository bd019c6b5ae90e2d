// Somebody at Daysheet's pages in Chromium; for pages.py.
//
//   node browser.mjs SETTINGS
//
// SETTINGS is JSON: where everything is, and how the person works: with the mouse or by the
// keyboard alone, with scripts or without, light or dark. Each check is a line of JSON.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";

const at = JSON.parse(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const check = (name, ok, detail = "") =>
  console.log(JSON.stringify({ name, ok: Boolean(ok), detail: ok ? "" : String(detail).slice(0, 1500) }));

const browser = await chromium.launch({ executablePath: at.chromium, args: ["--no-sandbox"] });
const context = await browser.newContext({
  javaScriptEnabled: at.scripts,
  colorScheme: at.scheme,
  ignoreHTTPSErrors: true,
  viewport: { width: 1000, height: 680 },
});
await context.addCookies([{ name: "who", value: at.person, url: at.issuer }]);
const page = await context.newPage();
page.setDefaultTimeout(20_000);
const refused = [];
page.on("console", (message) => {
  if (/Content.Security.Policy/i.test(message.text())) refused.push(message.text());
});
page.on("dialog", (dialog) => {
  check("no page runs what others wrote", false, dialog.message());
  dialog.dismiss();
});

// What a person does -------------------------------------------------------------

// Goes to an element by the Tab key, as far as the page has any.
async function reach(selector) {
  const target = page.locator(selector).first();
  await target.waitFor();
  const handle = await target.elementHandle();
  for (let tabs = 0; tabs < 200; tabs += 1) {
    if (await handle.evaluate((element) => element === document.activeElement)) {
      const ring = await handle.evaluate((element) => {
        const style = getComputedStyle(element);
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      });
      if (selector.startsWith("#")) check(`${selector} shows that it has the focus`, ring);
      return;
    }
    await page.keyboard.press("Tab");
  }
  throw new Error(`${selector} cannot be reached by the keyboard at ${page.url()}`);
}

async function press(selector) {
  const left = page.waitForEvent("load");
  if (at.keyboard) {
    await reach(selector);
    await page.keyboard.press("Enter");
  } else {
    await page.locator(selector).first().click();
  }
  await left;
}

async function type(selector, text) {
  if (!at.keyboard) return page.locator(selector).fill(text);
  await reach(selector);
  await page.keyboard.press("Control+A");
  await page.keyboard.type(text);
}

async function choose(selector, value) {
  if (!at.keyboard) return page.locator(selector).selectOption(value);
  await reach(selector);
  // Home and letters do it in every list.
  await page.keyboard.type(value);
}

// The pages that docs show, with the heights of their pictures.
const PICTURED = { accounts: 1150, inspect: 1150, approve: 700, activity: 900 };

const seen = new Set();
// Looks at a page as somebody would who cannot see it.
async function look(name) {
  check(`${name}: one heading of the first level`, (await page.locator("h1").count()) === 1);
  check(`${name}: a language`, await page.locator("html[lang]").count());
  if (seen.has(name)) return;
  seen.add(name);
  if (at.scripts) {
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    }));
    const bad = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
    check(`${name}, ${at.scheme}: axe-core finds nothing serious in ${found.passes.length} rules`,
      bad.length === 0, JSON.stringify(bad.map((one) => [one.id, one.nodes.map((node) => node.html)])));
    const mild = found.violations.filter((one) => !bad.includes(one));
    if (mild.length) console.log(JSON.stringify({ note: `${name}: ${mild.map((one) => one.id)}` }));
  }
  if (at.pictures && PICTURED[name]) {
    await page.setViewportSize({ width: 900, height: PICTURED[name] });
    const scheme = at.scheme === "dark" ? "-dark" : "";
    await page.screenshot({ path: join(at.pictures, `${name}${scheme}.png`) });
  }
}

// Disconnect is in sight on a phone: neither the page nor a table has to be moved sideways.
async function onPhone() {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  const box = await page.locator("#accounts").getByText("Disconnect").first().boundingBox();
  check("Disconnect is within 390 pixels", box && box.x >= 0 && box.x + box.width <= 390,
    JSON.stringify(box));
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  check("and the page is no wider", width <= 390, width);
  await page.setViewportSize(before);
}

// A call over MCP with the person's token.
async function call(tool, args) {
  const answer = await fetch(`${at.base}/mcp`, {
    method: "POST",
    headers: {
      ...(at.token && { authorization: `Bearer ${at.token}` }),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args },
    }),
  });
  const { result, error } = await answer.json();
  const text = (result?.content ?? []).map((block) => block.text).join("\n");
  return { text: error ? JSON.stringify(error) : text, isError: Boolean(error || result.isError) };
}

const text = (selector) => page.locator(selector).first().innerText();

// Goes to the accounts, and signs in where no issuer does it by itself.
async function accounts() {
  await page.goto(`${at.base}/accounts`);
  if (await page.locator("#sign-in").count()) await press("#sign-in");
}

// The way through the pages --------------------------------------------------------

const steps = {
  "signing in": async () => {
    await accounts();
    check("sign-in leads back to the accounts", new URL(page.url()).pathname === "/accounts", page.url());
    check("nothing is connected yet", await page.locator("#none").count());
    const cookies = (await context.cookies()).filter((one) => one.name !== "who");
    check("the session's cookie is out of reach of scripts and of other sites",
      cookies.length && cookies.every((one) => one.httpOnly && one.sameSite !== "None"),
      JSON.stringify(cookies));
    check("and is bound to this host",
      at.base.startsWith("http:") || cookies.some((one) => one.name.startsWith("__Host-") && one.secure),
      JSON.stringify(cookies));
  },
  connecting: async () => {
    await press(`#connect-${at.provider}`);
    await look("connect");
    await press("#continue");
    // A page of ours leads on by itself: a form may not.
    await page.waitForURL((url) => !url.href.startsWith(at.base));
    await page.waitForLoadState();
    check("the provider's consent page comes", (await page.content()).includes("Sign in to the sandbox"), page.url());
    const radio = `input[value="${at.email}"]`;
    if (at.keyboard) {
      // A group of radio buttons is one stop; arrows choose.
      await reach("input[type=radio]:checked");
      for (let times = 0; times < 20 && !(await page.locator(radio).isChecked()); times += 1) {
        await page.keyboard.press("ArrowDown");
      }
    } else {
      await page.locator(radio).check();
    }
    await press('button[value="allow"]');
    check("the account is connected", (await text("#connected")).includes(at.email));
    await look("connected");
    await page.reload();
    check("and listed", (await text("#accounts")).includes(at.email));
    if (at.also) {
      await press(`#connect-${at.also}`);
      await press("#continue");
      await page.waitForURL((url) => !url.href.startsWith(at.base));
      await page.locator(`input[value="${at.addresses[at.also]}"]`).check();
      await press('button[value="allow"]');
      await page.goto(`${at.base}/accounts`);
    }
    await look("accounts");
    await onPhone();
  },
  inspecting: async () => {
    await page.goto(`${at.base}/inspect`);
    await choose("#tool", "mail_search");
    await type("#arguments", '{"limit": 5}');
    await press("#call");
    const costs = await text("#costs");
    for (const form of ["TOON", "JSON", "STC"]) {
      check(`one call as ${form}, with its tokens`, new RegExp(`${form}.*\\d`).test(costs), costs);
    }
    const shown = await page.locator("pre").allInnerTexts();
    check("the forms stand side by side", shown.length >= 4 && shown.every((one) => one.length > 10), shown.length);
    check("what others wrote is text", shown.join("").includes(at.hostile), shown[0]);
    await look("inspect");
  },
  approving: async () => {
    // From now on a message to an address that was never written to needs the person's yes.
    await call("mail_search", { limit: 5 });
    const draft = await call("mail_draft", { account: at.email, ...at.draft });
    const id = /\bd\d+\b/.exec(draft.text)?.[0];
    const waiting = await call("mail_send", { id });
    check("a message to a new recipient waits for the page",
      !waiting.isError && waiting.text.includes("waiting") && waiting.text.includes("/approve"),
      draft.text + waiting.text);
    await page.goto(`${at.base}/approve`);
    const shown = await text("main");
    check("the page has the recipient, the subject and the text",
      Object.values(at.draft).flat().every((part) => shown.includes(part)), shown);
    await look("approve");
    await press('button[value="approve"]');
    check("the person approves it", (await text("#decided")).includes("Approved"));
    const sent = await call("mail_send", { id });
    check("the repeated call sends it", !sent.isError && sent.text.includes("sent"), sent.text);
  },
  "reading the log": async () => {
    const marked = await call("mail_modify", { do: "star", ids: ["m1"] });
    check("a message is marked over MCP", !marked.isError, marked.text);
    await page.goto(`${at.base}/accounts/activity`);
    const log = await text("#log");
    check("the message is in the activity, in words", /^Sent a message to 1 person/m.test(log), log);
    check("without its subject", !log.includes(at.draft.subject), log);
    await page.goto(`${at.base}/accounts/activity?subjects=shown`);
    check("which is looked up on request", (await text("#log")).includes(at.draft.subject), await text("#log"));
    await look("activity");
  },
  "lowering the level": async () => {
    await page.goto(`${at.base}/accounts`);
    await choose("#level-choice", "read");
    await press("#save-level");
    check("the level is kept", (await page.locator("#level-choice").inputValue()) === "read");
    const draft = await call("mail_draft", { to: ["a@b.example"], subject: "No", body: "No." });
    check("a draft is refused over MCP", draft.isError, draft.text);
    const search = await call("mail_search", { limit: 1 });
    check("and a search is not", !search.isError, search.text);
  },
  "taking it along": async () => {
    await page.goto(`${at.base}/accounts/data`);
    await look("data");
    const coming = page.waitForEvent("download");
    if (at.keyboard) {
      await reach("#export");
      await page.keyboard.press("Enter");
    } else {
      await page.locator("#export").click();
    }
    const data = readFileSync(await (await coming).path(), "utf8");
    check("the export is JSON and has the account", data.includes(at.email) && JSON.parse(data));
    check("and no token", !/ya29|eyJ0|1\/\/0|refresh_token/.test(data), data.slice(0, 600));
  },
  erasing: async () => {
    await type("#confirm", "no");
    await press("#erase");
    check("without the word nothing is erased", (await text("#problem")).includes("erase"));
    await type("#confirm", "erase");
    await press("#erase");
    check("everything is erased", await page.locator("#erased").count(), await page.content());
    await look("erased");
    await accounts();
    check("nothing is connected afterwards", await page.locator("#none").count(), await page.content());
    const rows = await call("accounts", {});
    check("nor over MCP", !rows.text.includes(at.email), rows.text);
  },
};

for (const [name, step] of Object.entries(steps)) {
  try {
    await step();
  } catch (error) {
    const shown = await page.content().catch(String);
    check(`${name} runs to its end`, false, `${error.stack}\n${page.url()}\n${shown.slice(0, 900)}`);
  }
}
check("no page asks for what its policy forbids", refused.length === 0, refused.join("\n"));
await browser.close();
