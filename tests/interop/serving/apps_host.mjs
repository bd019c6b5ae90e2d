// A strict host of MCP Apps: draws a view in Chromium; for apps.mjs. Checks no tool of Daysheet's.
//
// The host side of the protocol is the extension's own AppBridge. The frame is sandboxed, has the
// policy that the extension prescribes by default, and is invisible until the handshake. Calls of
// the view reach the server by a function of the caller's. All messages are kept.

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { Ajv2020 } from "ajv/dist/2020.js";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
  + "img-src 'self' data:; media-src 'self' data:; connect-src 'none'";
/** The capabilities of a host that can do everything that a view of Daysheet's needs. */
export const ABLE = { serverTools: {}, updateModelContext: { text: {} }, message: { text: {} } };
/** A theme in which a host sets some variables. The schema wants all of them, and `initial` leaves a
 * variable unset. */
export const theme = (variables) => ({
  variables: { ...Object.fromEntries(STYLES.map((name) => [name, "initial"])), ...variables },
});
/** Messages of MCP itself, which the extension's schema does not have. */
const PLAIN = ["tools/call", "ping", "notifications/message"];

const require = createRequire(import.meta.url);
const schema = require("@modelcontextprotocol/ext-apps/schema.json");
const STYLES = schema.$defs.McpUiStyleVariableKey.anyOf.map((one) => one.const);

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>
<style>body { margin: 0 } iframe { display: block; width: 100%; height: 40px; border: 0; visibility: hidden }</style>
<body><script src="/bridge.js"></script>`;

// Runs in the page of the host.
function inPage() {
  globalThis.mount = async ({ capabilities, context, refusesMessages }) => {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    document.body.append(frame);
    globalThis.frame = frame;
    const bridge = new Apps.AppBridge(null, { name: "strict-host", version: "1" }, capabilities,
      { hostContext: context });
    globalThis.bridge = bridge;
    bridge.oncalltool = ({ name, arguments: args }) => callServer(name, args ?? {}).then((got) => {
      if (got.lost) throw new Error(got.lost);
      return got.result;
    });
    bridge.onupdatemodelcontext = async () => ({});
    bridge.onmessage = async () => (refusesMessages ? { isError: true } : {});
    bridge.onsizechange = ({ height }) => {
      if (height) frame.style.height = `${height}px`;
    };
    const ready = new Promise((resolve) => {
      bridge.oninitialized = resolve;
    });
    addEventListener("message", ({ source, data }) => {
      if (source === frame.contentWindow) keep("view", data);
    });
    const transport = new Apps.PostMessageTransport(frame.contentWindow, frame.contentWindow);
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      keep("host", JSON.parse(JSON.stringify(message)));
      return send(message, options);
    };
    await bridge.connect(transport);
    frame.src = "/view";
    await ready;
    frame.style.visibility = "visible";
  };
}

/** A validator of messages against the extension's schema. */
class Schema {
  constructor() {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    // Each of the schemas there is a document of its own, with references into itself.
    const compiled = {};
    this.named = (name) => schema.$defs[name] && (compiled[name] ??= ajv.compile(schema.$defs[name]));
    this.byMethod = {};
    for (const [name, one] of Object.entries(schema.$defs)) {
      const method = one.properties?.method?.const;
      if (method) this.byMethod[method] = name;
    }
  }

  /** The faults of a message; `method` is that of the request that it answers. */
  faults({ jsonrpc, id, method, params, result, error }, answered) {
    const faults = jsonrpc === "2.0" ? [] : ["no JSON-RPC 2.0"];
    if (method === undefined) {
      if (error) return faults.concat(Number.isInteger(error.code) && error.message ? [] : ["bad error"]);
      const name = (this.byMethod[answered] ?? "").replace(/Request$/, "Result");
      return faults.concat(this.named(name) ? this.against(name, result) : result ? [] : ["no result"]);
    }
    if (PLAIN.includes(method)) {
      if (method === "tools/call" && typeof params?.name !== "string") faults.push("no tool is named");
      return faults;
    }
    const name = this.byMethod[method];
    if (!name) return faults.concat(`unknown method ${method}`);
    const isRequest = name.endsWith("Request");
    if (isRequest === (id === undefined)) faults.push(`${method} has the wrong kind`);
    return faults.concat(this.against(name, params === undefined ? { method } : { method, params }));
  }

  against(name, value) {
    const validate = this.named(name);
    return validate(value) ? [] : validate.errors.map((one) => `${name}${one.instancePath}: ${one.message}`);
  }
}

/** A mounted view: its frame, and all that has passed between it and the host. */
export class View {
  /** Messages as [from, message], and the calls that the view made as [tool, arguments]. */
  messages = [];
  calls = [];
  /** Unexpected events: dialogs, requests, violations of the policy, errors of scripts. */
  escapes = [];

  /** The texts that the view put into the model's context. */
  get contexts() {
    return this.messages
      .filter(([from, one]) => from === "view" && one.method === "ui/update-model-context")
      .map(([, one]) => one.params.content.map((block) => block.text).join("\n"));
  }

  /** The texts that the view put into the conversation as the user's messages. */
  get said() {
    return this.messages
      .filter(([from, one]) => from === "view" && one.method === "ui/message")
      .map(([, one]) => one.params.content.map((block) => block.text).join("\n"));
  }

  /** The methods of the view's messages, in order. */
  get methods() {
    return this.messages.filter(([from, one]) => from === "view" && one.method).map(([, one]) => one.method);
  }

  text() {
    return this.frame.locator("main").innerText();
  }

  /** Waits until the view has a text. */
  async sees(text) {
    await this.frame.locator("main").getByText(text).first().waitFor();
    return this.text();
  }

  /** Waits until an answer is drawn, or shown as text. */
  async isDrawn() {
    await this.frame.locator("#said, main pre").first().waitFor({ state: "attached" });
  }

  /** Waits until a card asks, and returns its text. */
  async asks() {
    await this.frame.locator("#approve").waitFor();
    return this.text();
  }

  press(id) {
    return this.frame.locator(`#${id}`).click();
  }

  /** Goes to a button by the Tab key alone, and returns true if it shows the focus. */
  async reach(id) {
    for (let tabs = 0; tabs < 20; tabs += 1) {
      await this.page.keyboard.press("Tab");
      const [isThere, ring] = await this.frame.evaluate((wanted) => {
        const style = getComputedStyle(document.activeElement);
        return [document.activeElement.id === wanted,
          style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0];
      }, id);
      if (isThere) return ring;
    }
    return false;
  }

  /** Calls a method of the bridge. */
  tell(method, params) {
    return this.page.evaluate(([name, value]) => bridge[name](value), [method, params]);
  }

  /** Posts a message that the bridge would not send, and returns the answer. */
  async post(message) {
    await this.page.evaluate((value) => frame.contentWindow.postMessage(value, "*"), message);
    return until(() => this.messages.find(([from, one]) => from === "view" && one.id === message.id))
      .then(([, one]) => one);
  }
}

/** The longest wait for anything, in seconds: the gate runs other parts and tests beside this. */
export const PATIENCE = 60;

/** Waits until a function returns something. */
export async function until(found) {
  for (let looks = 0; looks < 20 * PATIENCE; looks += 1) {
    const got = await found();
    if (got) return got;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never true: ${found}`);
}

/** Chromium with the page of the host. */
export class Host {
  schema = new Schema();
  /** All views that were mounted. */
  views = [];

  async start(program, html) {
    const bundle = await build({
      stdin: {
        contents: 'export { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";',
        resolveDir: import.meta.dirname,
      },
      bundle: true, format: "iife", globalName: "Apps", write: false, logLevel: "error",
    });
    const files = {
      "/": ["text/html", PAGE],
      "/bridge.js": ["text/javascript", bundle.outputFiles[0].text],
      "/view": ["text/html", html],
    };
    this.server = createServer(({ url }, answer) => {
      const [type, body] = files[url] ?? ["text/plain", ""];
      const policy = url === "/view" ? { "Content-Security-Policy": POLICY } : {};
      answer.writeHead(files[url] ? 200 : 404, { "Content-Type": `${type}; charset=utf-8`, ...policy });
      answer.end(body);
    });
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.base = `http://127.0.0.1:${this.server.address().port}`;
    this.browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  }

  /** Mounts the view for a call of `tool`. `server` answers the calls of the view: a function of the
   * tool and its arguments, which throws if the connection is lost. */
  async mount({
    server, tool, capabilities = ABLE, context = {}, width = 700, scheme = "light", refusesMessages = false,
  }) {
    const view = new View();
    view.server = server;
    const page = await this.browser.newPage({ viewport: { width, height: 2400 }, colorScheme: scheme });
    page.setDefaultTimeout(PATIENCE * 1000);
    view.page = page;
    const expected = ["/", "/bridge.js", "/view", "/favicon.ico"].map((path) => this.base + path);
    page.on("request", (request) => {
      if (!expected.includes(request.url())) view.escapes.push(`request: ${request.url()}`);
    });
    page.on("dialog", (dialog) => {
      view.escapes.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on("pageerror", (error) => view.escapes.push(`error: ${error.stack}`));
    page.on("console", (message) => {
      // The sandbox ignores a call of alert(), and says so.
      if (/Content.Security.Policy|Ignored call to/i.test(message.text())) view.escapes.push(message.text());
    });
    page.on("popup", (popup) => view.escapes.push(`window: ${popup.url()}`));
    await page.exposeFunction("keep", (from, message) => {
      view.messages.push([from, message]);
    });
    await page.exposeFunction("callServer", async (name, args) => {
      view.calls.push([name, args]);
      try {
        return { result: await view.server(name, args) };
      } catch (error) {
        return { lost: String(error.message) };
      }
    });
    await page.goto(this.base);
    await page.evaluate(inPage);
    await page.evaluate((settings) => mount(settings), {
      capabilities, refusesMessages,
      context: {
        theme: scheme, locale: "en-GB", timeZone: "Europe/Berlin", displayMode: "inline",
        ...(tool && { toolInfo: { id: 1, tool } }), ...context,
      },
    });
    view.frame = await until(() => page.frames().find((one) => one.url() === `${this.base}/view`));
    this.views.push(view);
    return view;
  }

  /** The faults of all messages of all views, and what escaped from their frames. */
  account() {
    const faults = [];
    let count = 0;
    for (const view of this.views) {
      const asked = {};
      for (const [from, message] of view.messages) {
        count += 1;
        if (message.method && message.id !== undefined) asked[from + message.id] = message.method;
        const answered = asked[(from === "view" ? "host" : "view") + message.id];
        for (const fault of this.schema.faults(message, answered)) {
          faults.push(`${from}: ${fault}: ${JSON.stringify(message).slice(0, 300)}`);
        }
      }
    }
    return { count, faults, escapes: this.views.flatMap((view) => view.escapes) };
  }

  async stop() {
    await this.browser.close();
    this.server.close();
  }
}
