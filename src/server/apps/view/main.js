// The course of the view: the handshake with the host, the look that the host asks for, the answer,
// and the approval. Daysheet decides what waits; the view shows it and passes on what was pressed.

(() => {
  "use strict";

  const { element } = Elements;
  const main = document.getElementById("main");
  const root = document.documentElement;
  const TERMINAL = "run `daysheet approve` in a terminal";
  /** The tools that need no approval, so that their answers are shown at once. */
  const READS = main.dataset.reads.split(" ");
  /** True if the settings allow cards. */
  const HAS_CARDS = main.dataset.cards === "true";
  /** The context and the capabilities of the host; empty before the handshake. */
  let context = {};
  let capabilities = {};
  let input = {};
  /** True once a result has arrived: a view belongs to one call. */
  let isShown = false;
  /** True once a button was pressed. */
  let isPressed = false;
  /** Draws again what is shown, for a host that names its language late; `null` once it is used. */
  let redraw = null;

  // Output ---------------------------------------------------------------------------

  const heading = () => element("h1", { id: "title", class: "small" }, "Daysheet");

  /** Shows an outcome, announced by screen readers, with elements below it. */
  function outcome(text, below = [], role = "status") {
    redraw = null;
    const line = element("p", { role, tabindex: "-1", class: role }, text);
    main.replaceChildren(
      element("section", { "aria-labelledby": "title" }, heading(), line, ...below));
    // Without the button, the keyboard would start again at the top of the host's page.
    if (isPressed) line.focus();
  }

  const problem = (text, below) => outcome(text, below, "alert");

  /** Returns the elements of an answer, or `null` if it has another form. Without `lists`, it needs
   * days, messages or a draft. */
  function drawn(text, lists = true) {
    try {
      const answer = Answer.read(text);
      return answer && parts(answer, lists);
    } catch {
      // The text is shown as it is: it may be from another version of Daysheet.
      return null;
    }
  }

  function parts(answer, withLists) {
    const { fields, tables, notes } = answer;
    const week = Week.read(answer, input);
    const draft = !week && Mail.drawDraft(answer, HAS_CARDS && capabilities.serverTools && send);
    const body = week ? Week.draw(week, context, choose) : draft || Mail.draw(answer, context);
    const lists = Object.entries({ ...tables, undrawn: week?.undrawn ?? [] })
      .filter(([name, rows]) => rows.length && !(week ? Week.TABLES : Mail.TABLES).includes(name))
      .map(([name, rows]) => Mail.rows(name, rows, context.locale, !body));
    if (!body && !(withLists && lists.length)) return null;
    // Of a single message, the id says nothing to a person.
    const warning = tables.messages?.length === 1 ? fields.warning?.replace(/^m\d+: /, "") : fields.warning;
    const made = [warning, fields.missing].filter(Boolean)
      .map((one) => element("p", { class: "alert", role: "note", dir: "auto" }, one));
    made.push(body || heading(), element("p", { id: "said", role: "status" }), ...lists);
    if (Answer.isPart(answer)) {
      made.push(element("p", { class: "cut" }, "This is a part. Ask your assistant to go on."));
    }
    if (notes.length && !draft) {
      made.push(element("details", {}, element("summary", {}, notes.length === 1 ? "1 note" : `${notes.length} notes`),
        element("ul", {}, ...notes.map((note) => element("li", { dir: "auto" }, note)))));
    }
    return made;
  }

  function show(text) {
    redraw = () => show(text);
    main.replaceChildren(...(drawn(text)
      ?? [element("section", { "aria-labelledby": "title" }, heading(), ...Card.answer(text))]));
  }

  /** Returns the texts of a result. */
  const texts = (result) =>
    (Array.isArray(result?.content) ? result.content : [])
      .filter((block) => block?.type === "text" && typeof block.text === "string")
      .map((block) => block.text)
      .join("\n\n");

  // Calls ----------------------------------------------------------------------------

  /** Thrown for a result that is an error: the call arrived, and Daysheet refused it. */
  class Refusal extends Error {}

  async function call(name, args) {
    const result = await Rpc.request("tools/call", { name, arguments: args });
    if (result.isError) throw new Refusal(texts(result));
    return result;
  }

  /** Returns the JSON document in the first block of an answer. */
  async function ask(name, args) {
    const result = await call(name, args);
    const document = JSON.parse(result.content[0].text);
    if (document === null || typeof document !== "object") throw new Error("unexpected answer");
    return document;
  }

  /** Puts a text into the model's context, if the host can do so. */
  async function report(text) {
    if (!capabilities.updateModelContext) return;
    try {
      await Rpc.request("ui/update-model-context", { content: [{ type: "text", text }] });
    } catch {
      // The user sees the outcome in any case, and the model gets it by its next call.
    }
  }

  /** Puts a choice of the user into the conversation. Returns true if the host takes it. */
  async function choose(text) {
    const content = [{ type: "text", text }];
    const said = document.getElementById("said");
    try {
      if (capabilities.message) {
        const { isError } = await Rpc.request("ui/message", { role: "user", content });
        if (isError) throw new Error("refused");
        said.textContent = "Your choice is in the conversation.";
        return true;
      }
      if (capabilities.updateModelContext) {
        await Rpc.request("ui/update-model-context", { content });
        said.textContent = "Your assistant gets your choice with your next message.";
        return true;
      }
    } catch {
      // The user can still say it.
    }
    said.textContent = `Tell your assistant: ${text}`;
    return false;
  }

  // The approval ---------------------------------------------------------------------

  /** Sends a draft: the call waits, and the card asks. */
  async function send(id) {
    isPressed = true;
    outcome("Waiting for Daysheet …");
    const args = { id };
    let text;
    let waiting;
    try {
      text = texts(await call("mail_send", args));
      waiting = await ask("approval_show", { tool: "mail_send", arguments: args });
    } catch (error) {
      if (error instanceof Refusal) problem("Daysheet does not send it:", Card.answer(error.message));
      else problem(`No answer arrived (${error.message}). Nothing is sent without your approval; if it waits for that, ${TERMINAL}.`);
      return;
    }
    if (waiting.state === "waiting") {
      askUser(waiting, args);
    } else {
      outcome("Daysheet answers:", Card.answer(text));
      await report(`The user pressed Send in the view. Result: ${text}`);
    }
  }

  function askUser(waiting, args) {
    redraw = () => askUser(waiting, args);
    main.replaceChildren(Card.approval(waiting, context, (decision) => decide(waiting, args, decision)));
    if (isPressed) document.getElementById("title").focus();
  }

  async function start(result) {
    const text = texts(result);
    const below = Card.answer(text);
    const tool = context.toolInfo?.tool?.name;
    // A host may name no tool, or put the name of the server before it.
    if (tool === undefined ? drawn(text, false) : READS.some((name) => tool.endsWith(name))) {
      show(text);
      return;
    }
    if (!capabilities.serverTools) {
      problem(`This program does not let a card call Daysheet. If the text below asks for your approval, ${TERMINAL}.`, below);
      return;
    }
    let waiting;
    try {
      waiting = await ask("approval_show", { ...(tool && { tool }), arguments: input });
    } catch (error) {
      problem(`The card could not ask Daysheet (${error.message}). If the text below asks for your approval, ${TERMINAL}.`, below);
      return;
    }
    if (waiting.state === "waiting") askUser(waiting, input);
    else show(text);
  }

  async function decide({ word, tool }, args, decision) {
    isPressed = true;
    let state;
    try {
      ({ state } = await ask("approval_decide", { word, decision }));
    } catch (error) {
      if (error instanceof Refusal) {
        problem(error.message);
      } else {
        problem(`It is unknown whether your decision arrived (${error.message}), and the card has done nothing else. To decide again, ${TERMINAL}.`);
      }
      return;
    }
    if (state === "approved") {
      await carryOut(tool, args);
    } else if (state === "refused") {
      outcome("Refused. Nothing was done.");
      await report("The user refused this in the card; nothing was done. Do not repeat the call.");
    } else {
      problem("This no longer waits: it has expired, or was decided elsewhere. Nothing was done by this card. Ask your assistant to try again.");
    }
  }

  /** Repeats the approved call, exactly once. */
  async function carryOut(tool, args) {
    outcome("Approved. Waiting for Daysheet …");
    let text;
    try {
      text = texts(await call(tool, args));
    } catch (error) {
      if (error instanceof Refusal) {
        problem("You approved this, but it failed:", Card.answer(error.message));
        await report(`The user approved this in the card, but it failed. Result: ${error.message}`);
      } else {
        problem(`You approved this, but no answer arrived (${error.message}). It is unknown whether it was done: ask your assistant to check before it tries again.`);
        await report("The user approved this in the card, but no answer arrived: it is unknown whether it was done. Check before you repeat the call.");
      }
      return;
    }
    outcome("Approved. Daysheet answers:", Card.answer(text));
    await report(`The user approved this in the card, and it was called. Do not repeat the call. Result: ${text}`);
  }

  // The look -------------------------------------------------------------------------

  function apply(changed) {
    context = { ...context, ...changed };
    if (["light", "dark"].includes(changed.theme)) root.style.colorScheme = changed.theme;
    for (const [name, value] of Object.entries(changed.styles?.variables ?? {})) {
      if (name.startsWith("--") && typeof value === "string") root.style.setProperty(name, value);
    }
    if (changed.locale || changed.timeZone) redraw?.();
  }

  let height = 0;
  function measure() {
    const now = Math.ceil(main.getBoundingClientRect().height);
    if (now === height) return;
    height = now;
    // Some hosts ignore the notification and read the height of the document.
    root.style.height = `${height}px`;
    Rpc.notify("ui/notifications/size-changed", { height });
  }

  // Whoever uses the view would lose their place in it.
  for (const kind of ["focusin", "click"]) {
    document.addEventListener(kind, () => {
      redraw = null;
    });
  }

  // The handshake --------------------------------------------------------------------

  Rpc.onRequest("ping", () => ({}));
  Rpc.onRequest("ui/resource-teardown", () => {
    redraw = null;
    main.replaceChildren();
    return {};
  });
  Rpc.onNotification("ui/notifications/host-context-changed", apply);
  // Partial arguments are incomplete, so only this notification counts.
  Rpc.onNotification("ui/notifications/tool-input", (params) => {
    input = params.arguments ?? {};
  });
  Rpc.onNotification("ui/notifications/tool-result", (result) => {
    if (isShown) return;
    isShown = true;
    start(result);
  });
  Rpc.onNotification("ui/notifications/tool-cancelled", () => {
    if (isShown) return;
    isShown = true;
    outcome("The call was cancelled before an answer arrived. If it is unclear what was done, ask your assistant to check.");
  });

  async function begin() {
    outcome("Waiting for Daysheet …");
    const { hostCapabilities, hostContext } = await Rpc.request("ui/initialize", {
      protocolVersion: "2026-01-26",
      appInfo: { name: "daysheet", version: "1" },
      appCapabilities: { availableDisplayModes: ["inline"] },
    });
    capabilities = hostCapabilities ?? {};
    apply(hostContext ?? {});
    Rpc.notify("ui/notifications/initialized", {});
    // The host may send and receive everything only from here on.
    new ResizeObserver(measure).observe(main);
  }

  begin().catch((error) => problem(`The program that shows this card did not answer (${error.message}). To see what waits, ${TERMINAL}.`));
})();
