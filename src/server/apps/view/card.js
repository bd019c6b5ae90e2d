// The approve card, and an answer as plain text. Calls no tool.

const Card = (() => {
  "use strict";

  const { element, cut, textBox, written } = Elements;
  /** The lines of an answer that are shown unfolded. */
  const FIRST_LINES = 12;
  /** The longest label of a line, such as "Never written to before". */
  const LABELLED = /^([A-Z][A-Za-z -]{0,40}): (.*)$/;
  const NEW_PEOPLE = /^never written to/i;
  const HINT = "To see all of it, open the page of approvals: run `daysheet ui`, or go to your team's server.";

  /** Returns the time until which a write waits, in the zone and language of the host. */
  function time(until, { locale, timeZone }) {
    const date = new Date(until);
    if (Number.isNaN(date.getTime())) return element("span", {}, String(until ?? ""));
    const form = { weekday: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short", timeZone };
    return element("time", { datetime: date.toISOString() }, written(date, locale, form));
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
    const whole = cut(question, HINT);
    const [title, ...rest] = whole.shown.split("\n");
    const card = element("section", { class: "card", "aria-labelledby": "title" },
      element("h1", { id: "title", tabindex: "-1", dir: "auto" }, title || "Approve this?"),
      ...lines(rest.join("\n")));
    if (whole.note) card.append(element("p", { class: "cut" }, whole.note));
    if (content) {
      card.append(element("h2", { id: "text" }, "Text"), ...textBox([{ text: content }], "text", HINT));
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
    const { shown, note } = cut(text, "Ask your assistant for the rest.");
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

  return { approval, answer };
})();
