// The elements of the view: the approve card, an answer, a problem. All text is put into text nodes.
// Calls no tool.

const Card = (() => {
  "use strict";

  /** The longest text that is shown, in UTF-16 units. */
  const LONGEST = 20_000;
  /** The lines of an answer that are shown unfolded. */
  const FIRST_LINES = 12;
  /** The longest label of a line, such as "Never written to before". */
  const LABELLED = /^([A-Z][A-Za-z -]{0,40}): (.*)$/;
  const NEW_PEOPLE = /^never written to/i;
  /** Characters that reorder text or control a terminal. The server removes them; one that arrives
   * all the same is written out. */
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

  /** Returns an element with attributes and children; strings become text nodes. */
  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const visible = (text) =>
    text.replace(/\r\n?/g, "\n").replace(HIDDEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

  /** Returns a text that is short enough to show, and a note if it was cut. */
  function cut(text) {
    const whole = visible(String(text));
    if (whole.length <= LONGEST) return { shown: whole, note: "" };
    // Never cut a surrogate pair.
    const isPair = /[\ud800-\udbff]/.test(whole[LONGEST - 1]);
    const shown = whole.slice(0, isPair ? LONGEST - 1 : LONGEST);
    const count = (number) => number.toLocaleString("en");
    return {
      shown,
      note: `Only the first ${count(shown.length)} of ${count(whole.length)} characters are shown `
        + "here. To see all of it, run `daysheet ui` and open its page.",
    };
  }

  /** Returns the time until which a write waits, in the zone and language of the host. */
  function time(until, { locale, timeZone }) {
    const date = new Date(until);
    if (Number.isNaN(date.getTime())) return element("span", {}, visible(String(until ?? "")));
    const form = { weekday: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
    let written;
    try {
      written = new Intl.DateTimeFormat(locale, { ...form, timeZone }).format(date);
    } catch {
      // The host named an unknown language or zone.
      written = new Intl.DateTimeFormat("en", { ...form, timeZone: "UTC" }).format(date);
    }
    return element("time", { datetime: date.toISOString() }, written);
  }

  /** Returns the lines below the title: labelled ones as a list of terms, others as paragraphs. */
  function lines(text) {
    const made = [];
    let list;
    for (const line of text.split("\n")) {
      const [, label, value] = LABELLED.exec(line) ?? [];
      if (label === undefined) {
        list = undefined;
        if (line.trim()) made.push(element("p", { dir: "auto" }, line));
        continue;
      }
      if (!list) {
        list = element("dl", {});
        made.push(list);
      }
      const look = NEW_PEOPLE.test(label) ? { class: "new" } : {};
      list.append(element("div", look, element("dt", {}, label), element("dd", { dir: "auto" }, value)));
    }
    return made;
  }

  /** Returns a card for a waiting write. `decide` is called once, with `approve` or `refuse`. */
  function approval({ question, content, until }, host, decide) {
    const whole = cut(question);
    const [title, ...rest] = whole.shown.split("\n");
    const card = element("section", { class: "card", "aria-labelledby": "title" },
      element("h1", { id: "title", dir: "auto" }, title || "Approve this?"),
      ...lines(rest.join("\n")));
    if (whole.note) card.append(element("p", { class: "cut" }, whole.note));
    if (content) {
      const { shown, note } = cut(content);
      card.append(
        element("h2", { id: "text" }, "Text"),
        // A box that scrolls must be reachable by the keyboard.
        element("div", { class: "text", role: "region", "aria-labelledby": "text", tabindex: "0", dir: "auto" },
          shown));
      if (note) card.append(element("p", { class: "cut" }, note));
    }
    const press = (decision) => () => {
      for (const button of buttons) button.disabled = true;
      decide(decision);
    };
    const buttons = [["approve", "Approve", "main"], ["refuse", "Refuse", "danger"]].map(
      ([decision, label, look]) => {
        const button = element("button", { type: "button", id: decision, class: look }, label);
        // An event handler that fires once makes a second press of the same button harmless; the
        // disabled state does so for the other one.
        button.addEventListener("click", press(decision), { once: true });
        return button;
      });
    card.append(
      element("p", { class: "quiet" }, "Approve it only if you asked for it. If you press nothing, nothing is ",
        "done. Waits until ", time(until, host), "."),
      element("div", { class: "buttons" }, ...buttons));
    return card;
  }

  /** Returns the lines of an answer, folded after the first ones. */
  function answer(text) {
    const { shown, note } = cut(text);
    const all = shown.split("\n");
    const made = [element("pre", { dir: "auto" }, all.slice(0, FIRST_LINES).join("\n"))];
    const rest = all.slice(FIRST_LINES);
    if (rest.length) {
      made.push(element("details", {},
        element("summary", {}, rest.length === 1 ? "1 more line" : `${rest.length} more lines`),
        element("pre", { dir: "auto" }, rest.join("\n"))));
    }
    if (note) made.push(element("p", { class: "cut" }, note));
    return made;
  }

  return { element, approval, answer, visible };
})();
