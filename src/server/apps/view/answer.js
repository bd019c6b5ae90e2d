// The answer of a tool, read from its text: a document in TOON or JSON, then blocks and notes. The
// view shows what the model was given, and nothing else.

const Answer = (() => {
  "use strict";

  const TABLE = /^(\w+)\[(\d+)\t?\]\{(.*)\}:$/;
  const FIELD = /^(\w+): (.*)$/;
  const FENCE = /^<<<(\w+) (\w+)$/;
  /** The level of a table with fewer columns, which a short budget splits off. */
  const LEVEL = /_(?:minimal|standard|full)$/;
  /** A time such as "Mon 2026-11-16 08h45 = 07h45 Lisbon"; of an end, only what differs is there. The
   * offset is there in an hour that the clocks repeat. */
  const TIME = /^(?:[A-Z][a-z]{2} )?(?:(\d{4})-(\d\d)-(\d\d))?(?: ?(\d\d)h(\d\d)(?: ([+-]\d{4}))?)?(?: = (.+))?$/;
  /** The arguments that show what was left out are of use to the model alone. */
  const ARGUMENT = /; \w+=true shows it(?=\])|, offset=\d+$/;
  /** An object without members of its own: names and texts of others are looked up in it. */
  const empty = () => Object.create(null);

  const cell = (text) => (text === "null" ? null : text.startsWith('"') ? JSON.parse(text) : text);

  function readToon(lines) {
    const fields = empty();
    const tables = empty();
    let rows;
    let columns = [];
    let left = 0;
    for (const line of lines) {
      const [, name, count, names] = TABLE.exec(line) ?? [];
      const [, key, value] = FIELD.exec(line) ?? [];
      if (left > 0) {
        const cells = line.replace(/^ {2}/, "").split("\t").map(cell);
        if (cells.length !== columns.length) throw new Error("a row has other columns than its table");
        rows.push(Object.fromEntries(columns.map((column, at) => [column, cells[at]])));
        left -= 1;
      } else if (name) {
        rows = tables[name.replace(LEVEL, "")] ??= [];
        columns = names.split("\t");
        left = Number(count);
      } else if (key) {
        if (value === "[]") tables[key] ??= [];
        else fields[key] = cell(value);
      } else {
        throw new Error("a line is neither a field nor a table");
      }
    }
    if (left > 0) throw new Error("rows are missing");
    return { fields, tables };
  }

  function readJson(line) {
    const fields = empty();
    const tables = empty();
    for (const [key, value] of Object.entries(JSON.parse(line))) {
      if (Array.isArray(value)) (tables[key.replace(LEVEL, "")] ??= []).push(...value);
      else fields[key] = value;
    }
    return { fields, tables };
  }

  /** Returns the blocks among lines, by their names, and the other lines. */
  function readBlocks(lines) {
    const blocks = empty();
    const notes = [];
    let open;
    for (const line of lines) {
      const [, name, word] = FENCE.exec(line) ?? [];
      if (open && line === `${open.word}>>>`) {
        open = undefined;
      } else if (open) {
        open.lines.push(line);
      } else if (name) {
        open = { word, lines: [] };
        blocks[name] = open;
      } else if (line) {
        notes.push(line);
      }
    }
    return { blocks, notes };
  }

  /** Returns the fields, tables, blocks and notes of an answer, or `null` if its text has another
   * form. */
  function read(text) {
    const lines = text.split("\n");
    const end = lines.indexOf("");
    const document = lines.slice(0, end < 0 ? undefined : end);
    try {
      const isJson = lines[0].startsWith("{");
      const { fields, tables } = isJson ? readJson(document[0]) : readToon(document);
      return { fields, tables, ...readBlocks(end < 0 ? [] : lines.slice(end)) };
    } catch {
      return null;
    }
  }

  /** Returns true if rows follow on a page, or did not fit into the budget. */
  const isPart = ({ fields }) => Boolean(fields.next) || /^to fit /.test(fields.cut ?? "");

  /** Returns the pieces of a line in a block. Behind the word of the fence, which the sender of the
   * text cannot know, Daysheet speaks: in a line of its own, or up to a bracket. */
  function pieces(line, word) {
    const mark = `${word} `;
    if (line.startsWith(mark) || line.startsWith(`…${mark}`)) {
      return [{ text: line.replace(mark, "").replace(ARGUMENT, ""), isOurs: true }];
    }
    return line.split(mark).flatMap((part, at) => {
      const end = at === 0 ? 0 : part.indexOf(")");
      const own = end < 0 ? part.length : end;
      return [{ text: part.slice(0, own), isOurs: true }, { text: part.slice(own) }];
    }).filter(({ text }) => text);
  }

  /** Returns the text of a body or draft as pieces. In JSON, the text is in the row. */
  function body(answer, { block, text = "" }) {
    const found = answer.blocks[block];
    if (!found) return text ? [{ text: String(text) }] : [];
    return found.lines.flatMap((line, at) => [...(at ? [{ text: "\n" }] : []), ...pieces(line, found.word)]);
  }

  /** Reads a time, or `null`. `at` is the time by the clock of the answer's zone, in milliseconds as
   * if it were UTC; a time without a date is on the day of `start`. `other` is the same time in the
   * zone of the event. */
  function time(text, start) {
    const [whole, year, month, day, hour, minute, offset, other] = TIME.exec(text ?? "") ?? [];
    if (!whole || !(year || (start && hour))) return null;
    const date = year ? Date.UTC(year, month - 1, day) : Math.floor(start.at / 86_400_000) * 86_400_000;
    const isDay = hour === undefined;
    return { at: date + (isDay ? 0 : (hour * 60 + Number(minute)) * 60_000), isDay, offset, other };
  }

  return { read, isPart, body, time };
})();
