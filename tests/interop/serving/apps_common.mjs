// A client of MCP Apps that calls Daysheet, and checks of its views; for the scripts of apps.py.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const EXTENSION = "io.modelcontextprotocol/ui";
export const MIME = "text/html;profile=mcp-app";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** What a sender could write to break out of a text. */
export const HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
  + '<a href="javascript:alert(4)">x</a> [x](javascript:alert(5)) <iframe src=https://evil.example/>'
  + "<style>main{display:none}</style><base href=//evil.example> \u202egnp.exe\u2066 </main></body>";

export const check = (name, ok, detail = "") =>
  console.log(JSON.stringify({ name, ok: Boolean(ok), detail: ok ? "" : String(detail).slice(0, 1500) }));
export const same = (name, got, want) =>
  check(name, JSON.stringify(got) === JSON.stringify(want), `got  ${JSON.stringify(got)}\nwant ${JSON.stringify(want)}`);
export async function part(name, steps) {
  try {
    await steps();
  } catch (error) {
    check(`${name} runs to its end`, false, error.stack);
  }
}
export const textOf = (result) => (result.content ?? []).map((block) => block.text).join("\n");
export const result = (text, isError = false) => ({ content: [{ type: "text", text }], isError });

/** Checks that the text of others makes no elements, and no frame wider than it is; returns the text. */
export async function harmless(view, name) {
  const [made, text] = await view.frame.evaluate(() => [
    [...document.querySelectorAll("main :is(script, img, svg, a, iframe, style, base, object, form, link)")].map((one) => one.outerHTML),
    document.querySelector("main").textContent]);
  check(`hostile text in ${name}: is text`, made.length === 0 && text.includes("script>alert(1)</script>"), made + text.slice(0, 500));
  check(`hostile text in ${name}: no character reorders it`, !/[\u202a-\u202e\u2066-\u2069]/.test(text), "");
  const wide = await view.frame.evaluate(() => document.documentElement.scrollWidth);
  check(`hostile text in ${name}: no wider than the frame`, wide <= 390, wide);
  return text;
}

/** Checks a view by axe-core, and that it is no wider than its frame. */
export async function accessible(view, name, width = 390) {
  await view.frame.evaluate(axe);
  const found = await view.frame.evaluate(() => globalThis.axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  }));
  const bad = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  check(`${name}: axe-core finds nothing serious in ${found.passes.length} rules`, bad.length === 0,
    JSON.stringify(bad.map((one) => [one.id, one.nodes.map((node) => node.html)])));
  const mild = found.violations.filter((one) => !bad.includes(one));
  if (mild.length) console.log(JSON.stringify({ note: `${name}: ${mild.map((one) => one.id)}` }));
  const wide = await view.frame.evaluate(() => document.documentElement.scrollWidth);
  check(`${name}: no wider than ${width} pixels`, wide <= width, wide);
}

/** Checks all that passed between a host and its views, and all results of calls. */
export function account(host, least) {
  const { count, faults, escapes } = host.account();
  check(`all ${count} messages are as the extension's schema has them`, count > least && faults.length === 0, faults.join("\n"));
  check("nothing runs in a frame or leaves it", escapes.length === 0, escapes.join("\n"));
  const structured = results.filter(([, one]) => "structuredContent" in one);
  check(`none of ${results.length} results has structuredContent`, results.length > 30 && structured.length === 0, JSON.stringify(structured).slice(0, 500));
}

// Daysheet -------------------------------------------------------------------------

/** All results of calls, of the model and of views. */
export const results = [];

/** A session of a client, without elicitation, that draws MCP Apps unless told otherwise. */
export class Session {
  static async open(url, { draws = true, mode = "legacy" } = {}) {
    const session = new Session();
    session.client = new Client({ name: "strict-host", version: "1" }, {
      capabilities: draws ? { extensions: { [EXTENSION]: { mimeTypes: [MIME] } } } : {},
      versionNegotiation: { mode },
    });
    await session.client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
    session.tools = (await session.client.listTools()).tools;
    return session;
  }

  tool(name) {
    return this.tools.find((one) => one.name === name);
  }

  /** A call of the view: only tools that an app may see. */
  app = async (name, args) => {
    const visibility = this.tool(name)?._meta?.ui?.visibility ?? ["model", "app"];
    if (!this.tool(name) || !visibility.includes("app")) throw new Error(`no tool ${name} for views`);
    return this.any(name, args);
  };

  /** A call of the model, which sees no tool that only apps may see. */
  model = async (name, args) => {
    const visibility = this.tool(name)?._meta?.ui?.visibility ?? ["model", "app"];
    if (!this.tool(name) || !visibility.includes("model")) throw new Error(`no tool ${name} for models`);
    return this.any(name, args);
  };

  async any(name, args) {
    const got = await this.client.callTool({ name, arguments: args });
    results.push([name, got]);
    return got;
  }

  /** The state that a tool of the card answers, or `error`. */
  async state(name, args) {
    try {
      const got = await this.any(name, args);
      return got.isError ? { state: "error", text: textOf(got) } : JSON.parse(got.content[0].text);
    } catch (error) {
      return { state: "error", text: error.message };
    }
  }

  async draft(draft) {
    // From now on a message to an address that was never written to needs the person's yes.
    await this.model("mail_search", { limit: 3 });
    const got = textOf(await this.model("mail_draft", { account: "mira@example.com", ...draft }));
    return /^draft: (d\d+)/m.exec(got)[1];
  }

  async sent(words) {
    const got = textOf(await this.model("mail_search", { q: `in:sent subject:${words}` }));
    return Number(/messages: (\d+) of/.exec(got)?.[1] ?? NaN);
  }
}

/** Returns a part of an answer, by default the first id of a message. */
export async function found(session, tool, args, part = /^ {2}(m\d+)/m) {
  const answer = textOf(await session.model(tool, args));
  const [, one] = part.exec(answer) ?? [];
  if (!one) throw new Error(`${part} is not in ${answer}`);
  return one;
}

/** Returns arguments, which may be a function of the session if they contain ids. */
export const argumentsOf = (args, session) => (typeof args === "function" ? args(session) : args);

/** Calls a tool as the model does, mounts the view, and sends it the arguments and the result. */
export async function drawn(host, session, name, args, settings = {}) {
  const got = await session.model(name, args);
  const view = await host.mount({ server: session.app, tool: session.tool(name), ...settings });
  await view.tell("sendToolInput", { arguments: args });
  await view.tell("sendToolResult", got);
  view.result = textOf(got);
  return view;
}
