// Messages, drafts, and the rows of other tables. Calls no tool.

const Mail = (() => {
  "use strict";

  const { element, textBox, terms, written } = Elements;
  /** The note of a draft that can be sent here, with its id. */
  const SENDS = /\bmail_send id=(\S+) sends it$/;
  /** The columns that head a row, and those that say nothing to a person. */
  const HEADS = ["subject", "title", "name", "recipient"];
  /** The tables that are drawn as messages. */
  const TABLES = ["messages", "bodies", "attachments"];
  const HINT = "Ask your assistant for the rest.";
  /** The checks of a sender who is confirmed. */
  const CONFIRMED = /^passed:[^;]*\bdmarc\b[^;]*$/;
  const INTERNAL = ["id", "message", "provider_id", "thread", "event", "block"];
  const TITLES = {
    needs_me: "Needs you", drafts: "Drafts", unread: "Other unread mail", invited: "Not answered yet",
    invitations: "Invitations", reports: "Delivery reports", outcomes: "Outcomes", undrawn: "Without a place in these days",
  };
  const WARNINGS = {
    dmarc: "the sender is not confirmed", spf: "the sending server is not confirmed",
    dkim: "the signature is not confirmed", unchecked: "the sender was not checked",
    name: "the name shows another address", senders: "several senders", reply_to: "replies go elsewhere",
    script: "the address mixes scripts", punycode: "the address is encoded",
    lookalike: "looks like an address that you know", injection: "gives an assistant orders",
    payment: "names a new account for payments",
  };

  const warnings = (cell) =>
    String(cell ?? "").split(" ").filter(Boolean).map((word) => WARNINGS[word] ?? word).join("; ");

  function date(cell, locale) {
    const time = Answer.time(cell);
    const form = { weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" };
    return time ? written(new Date(time.at), locale, { ...form, timeZone: "UTC" }) : cell;
  }

  const size = (bytes) => {
    const number = Number(bytes);
    if (number < 1024) return `${number} B`;
    return number < 1 << 20 ? `${Math.ceil(number / 1024)} KB` : `${Math.ceil(number / (1 << 20))} MB`;
  };

  function attachments(rows) {
    if (!rows.length) return [];
    return [element("h3", {}, rows.length === 1 ? "Attachment" : "Attachments"),
      element("ul", { class: "rows" }, ...rows.map(({ name, type, size: bytes }) =>
        element("li", { dir: "auto" }, element("strong", {}, name || "(no name)"), ` ${[type, bytes && size(bytes)].filter(Boolean).join(", ")}`)))];
  }

  /** Returns one message: its headers, its text, and its attachments. */
  function message(row, answer, { locale }) {
    const text = Answer.body(answer, answer.tables.bodies.find(({ id }) => id === row.id) ?? {});
    const flags = String(row.flags ?? "").split(" ");
    const id = `message-${row.id}`;
    const made = element("article", { "aria-labelledby": id },
      element("h2", { id, dir: "auto" }, row.subject || "(no subject)"),
      terms([
        ["From", row.from],
        ["To", row.to],
        ["Cc", row.cc],
        ["Bcc", row.bcc],
        ["Date", date(row.date, locale)],
        ["Account", row.account],
        ["State", flags.filter((flag) => ["draft", "unread", "starred"].includes(flag)).join(", ")],
        // A sender who was confirmed needs no line.
        ["Sender checks", CONFIRMED.test(row.auth ?? "") ? "" : row.auth],
        ["Warnings", warnings(row.warn), { class: "new" }],
      ]));
    if (text.length) made.append(...textBox(text, id, HINT));
    made.append(...attachments((answer.tables.attachments ?? []).filter((one) => one.message === row.id)));
    return made;
  }

  /** Returns the messages of an answer of mail_read, or `null`. Of several, those that were read are
   * folded. */
  function draw(answer, host) {
    const { messages, bodies } = answer.tables;
    if (!messages || !bodies) return null;
    const made = element("section", { "aria-labelledby": "title" },
      element("h1", { id: "title", class: "small" }, messages.length === 1 ? "Message" : `${messages.length} messages`));
    const isUnread = ({ flags }) => /\bunread\b/.test(flags ?? "");
    const none = !messages.some(isUnread);
    messages.forEach((row, at) => {
      const shown = message(row, answer, host);
      if (messages.length === 1) {
        made.append(shown);
        return;
      }
      const isOpen = isUnread(row) || (none && at === 0);
      made.append(element("details", isOpen ? { open: "" } : {},
        element("summary", { dir: "auto" }, [row.from, date(row.date, host.locale)].filter(Boolean).join(", ")), shown));
    });
    return made;
  }

  /** Returns the draft of an answer of mail_draft, or `null`. `send` gets its id when the user
   * presses the button. */
  function drawDraft(answer, send) {
    const { draft, from, to, cc, bcc, subject, attached, quote, text } = answer.fields;
    if (!draft || from === undefined) return null;
    const made = element("section", { class: "card", "aria-labelledby": "title" },
      element("h1", { id: "title", class: "small" }, "Draft"),
      element("h2", { id: "subject", dir: "auto" }, subject || "(no subject)"),
      terms([["From", from], ["To", to || "nobody yet"], ["Cc", cc], ["Bcc", bcc], ["Attached", attached]]));
    const body = Answer.body(answer, { block: text, text });
    if (body.length) made.append(...textBox(body, "subject", HINT));
    if (quote && quote !== "none") made.append(element("p", { class: "quiet", dir: "auto" }, `The quoted message follows: ${quote}`));
    // What an edit removed, or a service changed, has to be read before it is sent.
    made.append(...answer.notes.filter((note) => !SENDS.test(note))
      .map((note) => element("p", { class: /^[A-Z ]{6,}:/.test(note) ? "alert" : "quiet", dir: "auto" }, note)));
    const id = answer.notes.map((note) => SENDS.exec(note)).find(Boolean)?.[1];
    if (id && send) {
      const button = element("button", { type: "button", id: "send", class: "main" }, "Send…");
      button.addEventListener("click", () => send(id), { once: true });
      made.append(
        element("p", { class: "quiet" }, "Nothing was sent. You are asked once more, with everything that goes out."),
        element("div", { class: "buttons" }, button));
    }
    return made;
  }

  /** Returns a row of any table: its title, and its other cells with their names. */
  function row(cells, locale) {
    const head = HEADS.find((column) => cells[column]);
    const rest = Object.entries(Week.words(cells, locale)).filter(([column]) => column !== head && !INTERNAL.includes(column));
    const title = head ? [element("strong", { dir: "auto" }, String(cells[head]))] : [];
    return element("li", {}, ...title, terms(rest.map(([column, cell]) => {
      if (column === "date") return ["date", date(cell, locale)];
      if (column === "warn") return ["warnings", warnings(cell), { class: "new" }];
      return [column === "start" ? "when" : column.replaceAll("_", " "), cell];
    })));
  }

  /** Returns a table as a list that is folded unless `isOpen`. */
  function rows(name, table, locale, isOpen) {
    return element("details", isOpen ? { open: "" } : {}, element("summary", {}, `${TITLES[name] ?? name}: ${table.length}`),
      element("ul", { class: "rows" }, ...table.map((cells) => row(cells, locale))));
  }

  return { TABLES, draw, drawDraft, rows };
})();
