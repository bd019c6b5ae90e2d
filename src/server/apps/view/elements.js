// What all parts of the view are made of: elements, texts that are safe to show, and times. Calls no
// tool.

const Elements = (() => {
  "use strict";

  /** The longest text that is shown, in UTF-16 units. */
  const LONGEST = 20_000;
  /** Characters that reorder text or control a terminal. The server removes them; one that arrives
   * all the same is written out. */
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

  /** Returns an element with attributes and children; strings become text nodes. */
  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
    return made;
  }

  const visible = (text) =>
    text.replace(/\r\n?/g, "\n").replace(HIDDEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

  /** Returns a text of at most so many UTF-16 units; never cuts a surrogate pair. */
  const first = (text, most) => text.slice(0, /[\ud800-\udbff]/.test(text[most - 1] ?? "") ? most - 1 : most);

  /** Returns the note on a text that was cut, or nothing; `hint` names the way to the whole text. */
  function cutNote(shown, all, hint) {
    const count = (number) => number.toLocaleString("en");
    return shown < all ? `Only the first ${count(shown)} of ${count(all)} characters are shown here. ${hint}` : "";
  }

  /** Returns a text that is short enough to show, and a note if it was cut. */
  function cut(text, hint) {
    const whole = visible(String(text));
    const shown = first(whole, LONGEST);
    return { shown, note: cutNote(shown.length, whole.length, hint) };
  }

  /** Returns a box with the pieces of a long text, labelled by the element with the id `labelledBy`. */
  function textBox(pieces, labelledBy, hint) {
    // A box that scrolls must be reachable by the keyboard.
    const box = element("div", { class: "text", role: "region", "aria-labelledby": labelledBy, tabindex: "0", dir: "auto" });
    let left = LONGEST;
    for (const { text, isOurs } of pieces) {
      const shown = first(text, left);
      left -= shown.length;
      box.append(isOurs ? element("em", {}, shown) : visible(shown));
    }
    const all = pieces.reduce((sum, { text }) => sum + text.length, 0);
    const note = cutNote(LONGEST - left, all, hint);
    return note ? [box, element("p", { class: "cut" }, note)] : [box];
  }

  /** Returns a list of terms; pairs without a text are left out. */
  function terms(pairs) {
    const list = element("dl", {});
    for (const [label, text, look = {}] of pairs) {
      if (!text) continue;
      list.append(element("div", look, element("dt", {}, label), element("dd", { dir: "auto" }, String(text))));
    }
    return list;
  }

  /** Formats by language and form: to make one takes longer than to write a hundred times with it. */
  const formats = new Map();

  function formatOf(locale, form) {
    const key = JSON.stringify([locale, form]);
    if (!formats.has(key)) formats.set(key, makeFormat(locale, form));
    return formats.get(key);
  }

  function makeFormat(locale, form) {
    try {
      return new Intl.DateTimeFormat(locale, form);
    } catch {
      // The host named an unknown language or zone.
      return new Intl.DateTimeFormat("en", { ...form, timeZone: "UTC" });
    }
  }

  /** Returns a time, or two times as a range, as the host's language writes it. `form` is that of
   * `Intl.DateTimeFormat`. */
  const written = (date, locale, form, until = date) => formatOf(locale, form).formatRange(date, until);

  return { element, cut, textBox, terms, written };
})();
