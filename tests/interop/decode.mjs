// Judges documents with the official TOON decoder, for decode.py.
//
//   node decode.mjs CASES.json
//
// CASES.json is a list of {name, toon, json}; one JSON line per case says what
// is wrong: {name, problem}, with an empty problem when nothing is. Beside the
// values, the text must be what the official encoder writes for them, because
// the specification leaves no choice of quoting.

import { readFileSync } from "node:fs";
import { decode, encode } from "@toon-format/toon";

// Keys that JSON rows alone have.
const JSON_ONLY = new Set(["provider_id", "text"]);

function withoutJsonOnly(document) {
  const cell = (value) =>
    Object.fromEntries(Object.entries(value).filter(([key]) => !JSON_ONLY.has(key)));
  return Object.fromEntries(
    Object.entries(document).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.map(cell) : value,
    ]),
  );
}

// A cursor is new with every call.
function withoutCursor(document) {
  if (typeof document.next === "string" && /^p\d+$/.test(document.next)) {
    return { ...document, next: "p" };
  }
  return document;
}

// Text keeps types, nulls and the order of keys, unlike a deep comparison.
function firstDifference(got, want) {
  if (got === want) return "";
  let at = 0;
  while (got[at] === want[at]) at += 1;
  const around = (text) => text.slice(Math.max(0, at - 60), at + 100);
  return `got  …${around(got)}\nwant …${around(want)}`;
}

function judge({ toon, json }) {
  const decoded = decode(toon, { strict: true });
  const expected = withoutJsonOnly(JSON.parse(json));
  const values = firstDifference(
    JSON.stringify(withoutCursor(decoded)),
    JSON.stringify(withoutCursor(expected)),
  );
  if (values) return `values differ:\n${values}`;
  const text = firstDifference(toon, encode(decoded, { delimiter: "\t" }));
  return text ? `text differs from the official encoder:\n${text}` : "";
}

for (const sample of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  let problem;
  try {
    problem = judge(sample);
  } catch (error) {
    problem = `${error.message}\n${sample.toon.slice(0, 300)}`;
  }
  console.log(JSON.stringify({ name: sample.name, problem }));
}
