// Days and weeks of an answer: events by account, busy times, and free times to choose from. Wide
// frames show columns of days, narrow ones a list. Calls no tool.
//
// A day without entries is drawn only where the answer has all events of its range. Otherwise it would
// look free.

const Week = (() => {
  "use strict";

  const { element, terms, written } = Elements;
  const HOUR = 3_600_000;
  const DAY = 24 * HOUR;
  /** The tables that have events. */
  const EVENTS = ["events", "today", "tomorrow", "next_day", "clashes"];
  /** The days in one page. */
  const PAGE = 7;
  /** The shortest time that is drawn, so that a finger can hit it. */
  const SHORTEST = HOUR / 2;
  /** The height of an hour, in rem. */
  const HEIGHT = 3;
  /** The accounts that have a colour of their own. */
  const COLOURS = 6;
  const DATE = "(?:[A-Z][a-z]{2} )?(\\d{4}-\\d\\d-\\d\\d)(?: (\\d\\d)h(\\d\\d)(?: [+-]\\d{4})?)?";
  /** The note with the range of the answer. */
  const RANGE = new RegExp(`^(?:events|busy|free|slots|clashes|brief)\\b.*?${DATE}(?: to ${DATE})?`);
  /** Notes by which rows are missing, on other pages or for lack of room. */
  const PARTIAL = / on earlier pages| words searched |^dropped here|: shortened, /;
  /** The arguments that leave out events of the range. */
  const SELECTION = ["q", "ids", "calendars", "series"];
  const ANSWERS = { "+": "yes", "-": "no", "~": "maybe", "?": "no answer" };
  const FLAGS = {
    free: "shown as free", oof: "out of office", elsewhere: "working elsewhere", focus: "focus time",
  };

  const dayOf = (at) => Math.floor(at / DAY) * DAY;
  const utc = (form) => ({ ...form, timeZone: "UTC" });
  const clock = (at, locale) => written(new Date(at), locale, utc({ hour: "2-digit", minute: "2-digit" }));
  const dayName = (at, locale, form = { weekday: "short", day: "numeric", month: "short" }) =>
    written(new Date(at), locale, utc(form));

  // Reading --------------------------------------------------------------------------

  /** Returns an entry of the calendar, or `undefined` if its times cannot be read. */
  function entry(kind, row) {
    const start = Answer.time(row.start);
    // The columns may have been chosen without ends.
    const hasEnd = row.end !== undefined;
    const end = start && (hasEnd ? Answer.time(row.end, start) : start);
    if (!end) return undefined;
    // All-day events name their last day. A clock that is put back can end an event before it begins.
    const until = Math.max(end.at + (end.isDay ? DAY : 0), start.at);
    const isLong = start.isDay || until - start.at >= DAY;
    return { kind, row, start: start.at, end: until, hasEnd, other: start.other, isDay: start.isDay, isLong,
      offsets: [start.offset, end.offset] };
  }

  /** Returns the rows of an answer as pairs of a kind and a row, or `null` if it has no calendar. */
  function readRows({ tables, notes }) {
    const names = EVENTS.filter((name) => tables[name]);
    if (!names.length && !tables.busy && !tables.slots) return null;
    // Whole stretches of free time are no proposals.
    const slots = notes.some((note) => note.startsWith("free: ")) ? "free" : "slot";
    return [
      ...names.flatMap((name) => tables[name].map((row) => ["event", row])),
      ...(tables.busy ?? []).map((row) => ["busy", { ...row, title: row.show, account: row.who }]),
      ...(tables.slots ?? []).map((row) => [slots, { ...row, title: "free" }]),
    ];
  }

  /** Returns the first and the last day of an answer, and the hour and minute at which it begins. */
  const readRange = (notes) => notes.map((note) => RANGE.exec(note)).find(Boolean) ?? [];

  /** Returns the entries of an answer, each once, and the rows that cannot be drawn. */
  function readEntries(rows, notes) {
    // A series has the time of its first event, which may be years before.
    const isSeries = notes.some((note) => note.startsWith("series are rows"));
    const first = isSeries ? Date.parse(readRange(notes)[1]) : -Infinity;
    const seen = new Map();
    const undrawn = [];
    for (const [kind, row] of rows) {
      const one = entry(kind, row);
      if (!one || one.end < first) {
        undrawn.push(row);
        continue;
      }
      const key = row.id ? `${row.id} ${one.start}` : `${seen.size}`;
      // The table of clashes repeats events, with what they clash with.
      seen.set(key, { ...one, row: { ...seen.get(key)?.row, ...row } });
    }
    return { entries: [...seen.values()], undrawn };
  }

  /** Returns the days to draw, and the time before which the first one is not covered. */
  function readDays(answer, entries, input) {
    const { notes, tables } = answer;
    const [, from, hour, minute, to] = readRange(notes);
    const isPart = Answer.isPart(answer) || tables.slots || !from || notes.some((note) => PARTIAL.test(note))
      || SELECTION.some((name) => input[name] !== undefined);
    if (isPart) {
      return { days: [...new Set(entries.map((one) => dayOf(one.start)))].sort((a, b) => a - b) };
    }
    const first = Date.parse(from);
    const last = Date.parse(to ?? from) + (tables.tomorrow || tables.next_day ? DAY : 0);
    const days = [];
    for (let day = first; day <= last; day += DAY) days.push(day);
    return { days, begins: hour && first + (hour * 60 + Number(minute)) * 60_000 };
  }

  /** Returns the ids of events that clash: of those in the table, and of those which they name. */
  function readClashes({ tables }) {
    const ids = (tables.clashes ?? []).flatMap(({ id, with: others }) => {
      // Titles are between backticks, and could name anything.
      const named = String(others ?? "").replace(/`[^`]*`/g, "").matchAll(/(?:^|, )(e\d+) /g);
      return [id, ...Array.from(named, (one) => one[1])];
    });
    return new Set(ids);
  }

  // Layout ---------------------------------------------------------------------------

  /** Returns what a day has: entries that are listed above the hours, and pieces with their place
   * among the hours. Pieces that overlap get lanes. */
  function readDay(day, entries) {
    const here = entries.filter((one) => one.start < day + DAY && (one.end > day || one.start === day));
    const above = here.filter((one) => one.isLong);
    const pieces = here.filter((one) => !one.isLong).map((one) => {
      const from = Math.max(one.start, day);
      return { one, from, to: Math.max(Math.min(one.end, day + DAY), from + SHORTEST) };
    });
    pieces.sort((a, b) => a.from - b.from || b.to - a.to);
    let group;
    let end = -Infinity;
    for (const piece of pieces) {
      if (piece.from >= end) group = { pieces: [], lanes: 0 };
      const taken = new Set(group.pieces.filter((other) => other.to > piece.from).map((other) => other.lane));
      piece.lane = 0;
      while (taken.has(piece.lane)) piece.lane += 1;
      group.lanes = Math.max(group.lanes, piece.lane + 1);
      group.pieces.push(piece);
      piece.group = group;
      end = Math.max(end, piece.to);
    }
    return { day, above, pieces };
  }

  /** Returns the left side and the width of a piece, as parts of its day. */
  function place({ lane, from, group }) {
    const { pieces, lanes } = group;
    // A later piece may cover an earlier one, except for its title.
    const isBeside = pieces.some((other) => other.lane > lane && other.from < from + SHORTEST);
    return { left: lane / lanes, width: isBeside ? 1 / lanes : 1 - lane / lanes };
  }

  /** Returns the first and the last hour of some days, counted from midnight. */
  function readHours(days) {
    const pieces = days.flatMap(({ day, pieces: some }) => some.map(({ from, to }) => [from - day, to - day]));
    if (!pieces.length) return null;
    const first = Math.floor(Math.min(...pieces.map(([from]) => from)) / HOUR);
    const last = Math.ceil(Math.max(...pieces.map(([, to]) => to)) / HOUR);
    return { first, last: Math.max(last, first + 4) };
  }

  // Texts ----------------------------------------------------------------------------

  function times({ start, end, isDay, hasEnd, offsets }, locale) {
    const lastDay = isDay ? end - DAY : end;
    if (isDay) {
      const days = dayOf(lastDay) > start ? `${dayName(start, locale)} – ${dayName(lastDay, locale)}` : dayName(start, locale);
      return `${days}, all day`;
    }
    const [from, to] = [start, end].map((at, which) => [clock(at, locale), offsets[which]].filter(Boolean).join(" "));
    const begins = `${dayName(start, locale)} ${from}`;
    if (!hasEnd) return begins;
    const isSameDay = dayOf(end) === dayOf(start) || end === dayOf(start) + DAY;
    return `${begins} – ${isSameDay ? to : `${dayName(end, locale)} ${to}`}`;
  }

  /** Returns the times for the model: "Tue 2026-12-01 09:00 to 10:00". */
  function exactly({ start, end }) {
    const [from, to] = [start, end].map((at) => [
      `${dayName(at, "en", { weekday: "short" })} ${new Date(at).toISOString().slice(0, 10)}`, clock(at, "en-GB")]);
    return `${from.join(" ")} to ${from[0] === to[0] ? to[1] : to.join(" ")}`;
  }

  /** Writes out "jonas+ aurel?*": "jonas (yes), aurel (no answer, optional)". */
  function people(cell) {
    return String(cell ?? "").split(" ").filter(Boolean).map((one) => {
      const [, name, answer, optional] = /^(.+?)([-+~?])(\*?)$/.exec(one) ?? [];
      return name ? `${name} (${ANSWERS[answer]}${optional && ", optional"})` : one;
    }).join(", ");
  }

  const flagWords = (cell) => String(cell ?? "").split(" ").filter(Boolean).map((one) => FLAGS[one] ?? one).join(", ");

  /** Returns the titles of entries at the same time. Time that counts as free does not matter. */
  function overlapping(one, entries) {
    const counts = ({ kind, isLong, row }) =>
      kind === "event" && !isLong && !/\b(free|cancelled)\b/.test(row.flags ?? "") && !/(?:^| )me-/.test(row.people ?? "");
    if (!counts(one)) return [];
    return entries.filter((other) => other !== one && counts(other) && other.start < one.end && one.start < other.end)
      .map(({ row }) => row.title || "(no title)");
  }

  // Elements -------------------------------------------------------------------------

  /** Shows the facts of an entry, or nothing, in the panel. */
  function inform(panel, one, { model, host }) {
    if (!one) {
      panel.replaceChildren();
      return;
    }
    const { row } = one;
    const isClash = model.clashes.has(row.id);
    panel.replaceChildren(element("h2", { dir: "auto" }, row.title || "(no title)"), terms([
      ["When", times(one, host.locale) + (one.other ? ` = ${one.other}` : "")],
      ["Where", row.where],
      ["Organizer", row.organizer],
      ["People", people(row.people)],
      [isClash ? "Clash with" : "Same time", row.with || overlapping(one, model.entries).join(", "),
        isClash ? { class: "new" } : {}],
      ["Status", flagWords(row.flags)],
      ["Missing", row.missing],
      ["Calendar", row.calendar],
      [one.kind === "busy" ? "Person" : "Account", row.account],
    ]));
  }

  /** Returns the button of an event. Its facts open below the days or, in a list, below the event. */
  function eventButton(one, drawing) {
    const { model, host, panel } = drawing;
    const { row } = one;
    const at = model.accounts.indexOf(row.account);
    const weak = /\b(free|tentative|cancelled)\b/.test(row.flags ?? row.show ?? "") ? " weak" : "";
    const button = element("button", {
      type: "button", class: `event a${at < 0 ? "" : at % COLOURS}${weak}`, "aria-expanded": "false", "aria-controls": "panel", dir: "auto",
    });
    if (!one.isLong) {
      const until = one.hasEnd ? [element("span", { class: "until" }, ` – ${clock(one.end, host.locale)}`)] : [];
      button.append(element("span", {}, clock(one.start, host.locale), ...until), " ");
    }
    button.append(element("strong", {}, row.title || "(no title)"));
    if (row.where) button.append(" ", element("span", { class: "where" }, row.where));
    if (model.clashes.has(row.id)) button.append(" ", element("span", { class: "badge" }, "clash"));
    if (model.accounts.length > 1) button.append(element("span", { class: "unseen" }, `, ${row.account}`));
    button.addEventListener("click", () => {
      const isOpen = button.getAttribute("aria-expanded") === "true";
      for (const other of document.querySelectorAll("[aria-expanded=true]")) other.setAttribute("aria-expanded", "false");
      button.setAttribute("aria-expanded", String(!isOpen));
      if (window.matchMedia("(max-width: 35rem)").matches) button.after(panel);
      inform(panel, isOpen ? undefined : one, drawing);
    });
    return button;
  }

  /** Returns the button of a free time. Choosing it puts it into the conversation. */
  function slotButton(one, { model, host, choose }) {
    const { row } = one;
    const button = element("button", { type: "button", class: "slot", "aria-pressed": "false" },
      element("span", { class: "unseen" }, "Choose "),
      element("strong", {}, `${clock(one.start, host.locale)} – ${clock(one.end, host.locale)}`));
    if (row.missing) button.append(" ", element("span", { class: "where" }, row.missing));
    let isBusy = false;
    button.addEventListener("click", async () => {
      // A second press would say it twice.
      if (isBusy || button.getAttribute("aria-pressed") === "true") return;
      isBusy = true;
      const others = document.querySelectorAll(".slot[aria-pressed=true]");
      const begin = others.length ? "Instead, I choose this time" : "I choose this time";
      // No word of a title or a name gets into the user's message.
      const isChosen = await choose(`${begin}: ${exactly(one)} (${model.zone ?? "my time"}).`);
      for (const other of isChosen ? others : []) other.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-pressed", String(isChosen));
      isBusy = false;
    });
    return button;
  }

  function column({ day, above, pieces }, hours, drawing) {
    const id = `day-${day}`;
    const make = (one) => (one.kind === "slot" ? slotButton : eventButton)(one, drawing);
    const placed = pieces.map((piece) => {
      // A short piece has room for one line.
      const item = element("li", piece.to - piece.from < 0.75 * HOUR ? { class: "short" } : {}, make(piece.one));
      const { left, width } = place(piece);
      item.style.top = `${((piece.from - day) / HOUR - hours.first) * HEIGHT}rem`;
      item.style.height = `${((piece.to - piece.from) / HOUR) * HEIGHT}rem`;
      item.style.insetInlineStart = `${left * 100}%`;
      item.style.width = `${width * 100}%`;
      return item;
    });
    const list = (name, items) => (items.length ? [element("ul", { class: name }, ...items)] : []);
    const timed = element("div", { class: "timed" }, ...list("placed", placed));
    if (hours) timed.style.height = `${(hours.last - hours.first) * HEIGHT}rem`;
    const top = element("div", { class: "above" }, ...list("listed", above.map((one) => element("li", {}, make(one)))));
    if (!above.length && !pieces.length) top.append(element("p", { class: "quiet" }, "Nothing in this answer"));
    return element("section", { class: "day", "aria-labelledby": id },
      element("h2", { id }, dayName(day, drawing.host.locale)), top, timed);
  }

  function hourLabels(hours, locale) {
    const labels = element("div", { class: "hours", "aria-hidden": "true" });
    for (let hour = hours.first; hour < hours.last; hour += 1) {
      const label = element("span", {}, clock(hour * HOUR, locale));
      label.style.top = `${(hour - hours.first) * HEIGHT}rem`;
      labels.append(label);
    }
    return labels;
  }

  /** Returns the columns of some days. */
  function page(days, drawing) {
    const read = days.map((day) => readDay(day, drawing.model.entries));
    const hours = readHours(read);
    const columns = element("div", { class: "days" });
    columns.style.setProperty("--days", days.length);
    if (hours) columns.append(hourLabels(hours, drawing.host.locale));
    columns.append(...read.map((day) => column(day, hours, drawing)));
    return columns;
  }

  function legend({ accounts, entries }) {
    const named = accounts.length > 1 || entries.some(({ kind }) => kind === "busy") ? accounts : [];
    return named.length
      ? [element("ul", { class: "legend", "aria-label": "Accounts" },
        ...named.map((name, at) => element("li", { class: `a${at % COLOURS}` }, name)))]
      : [];
  }

  /** Returns what an answer has of a calendar, or `null` if that is nothing. `input` are the arguments
   * of the call; `undrawn` are rows for a list. */
  function read(answer, input) {
    const rows = readRows(answer);
    if (!rows) return null;
    const { entries, undrawn } = readEntries(rows, answer.notes);
    if (!entries.length && undrawn.length) return null;
    const accounts = [...new Set(entries.map(({ row }) => row.account).filter(Boolean))];
    const zone = answer.fields.zone;
    return { entries, undrawn, accounts, zone, clashes: readClashes(answer), ...readDays(answer, entries, input) };
  }

  /** Returns the lines above the days. */
  function intro({ entries, zone, begins }, { locale }) {
    const choose = entries.some(({ kind }) => kind === "slot") ? "Choose a time. " : "";
    const from = begins ? `From ${dayName(begins, locale)} ${clock(begins, locale)}. ` : "";
    return element("p", { class: "quiet" }, `${choose}${from}Times in ${zone ?? "your zone"}.`);
  }

  /** Returns the days of a calendar that was read. `choose` puts a text into the conversation, and
   * returns true if that was possible. */
  function draw(model, host, choose) {
    const { days, entries } = model;
    const panel = element("div", { id: "panel", "aria-live": "polite" });
    const drawing = { model, host, choose, panel };
    const holder = element("div", {});
    const title = element("h1", { id: "title", tabindex: "-1" });
    const name = (shown) => {
      const form = utc({ day: "numeric", month: "long", year: "numeric" });
      return written(new Date(shown[0]), host.locale, form, new Date(shown.at(-1)));
    };
    const show = (from) => {
      const shown = days.slice(from, from + PAGE);
      title.textContent = name(shown);
      const turn = (label, to) => {
        const button = element("button", { type: "button" }, label);
        button.disabled = to < 0 || to >= days.length;
        button.addEventListener("click", () => {
          show(to);
          // The button that was pressed is gone.
          title.focus();
        });
        return button;
      };
      const turns = days.length > PAGE
        ? [element("nav", { class: "buttons", "aria-label": "Days" }, turn("Earlier", from - PAGE), turn("Later", from + PAGE))]
        : [];
      panel.replaceChildren();
      holder.replaceChildren(page(shown, drawing), panel, ...turns);
    };
    if (entries.length) {
      // Pages before the first entry are empty.
      const first = Math.min(...entries.map((one) => dayOf(one.start)));
      show(Math.floor(Math.max(days.indexOf(first), 0) / PAGE) * PAGE);
    } else {
      title.textContent = days.length ? name(days) : "Nothing found";
      holder.append(element("p", {}, "Nothing in this answer."));
    }
    return element("section", { "aria-labelledby": "title" }, title, intro(model, host), ...legend(model), holder);
  }

  /** Returns the labelled words of an event in a list: its times, and the cells that have marks. */
  function words(row, locale) {
    const one = entry("event", row);
    return { ...row, ...(one && { start: times(one, locale), end: "" }), people: people(row.people), flags: flagWords(row.flags) };
  }

  return { TABLES: [...EVENTS, "busy", "slots"], read, draw, words };
})();
