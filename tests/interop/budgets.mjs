// Counts tokens with gpt-tokenizer, and reads TOON with the official decoder,
// for npm_partners.py.
//
// One JSON line in, one out: {text} is answered by its tokens in each
// vocabulary, {toon} by {value, problem}, with an empty problem when nothing is
// wrong. The text must be what the official encoder writes for its values.

import { createInterface } from "node:readline";
import { decode, encode } from "@toon-format/toon";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";

// What looks like a special token in a letter is text that somebody wrote.
const AS_TEXT = { allowedSpecial: new Set(), disallowedSpecial: new Set() };

function read(toon) {
  try {
    const value = decode(toon, { strict: true });
    const same = encode(value, { delimiter: "\t" }) === toon;
    return { value, problem: same ? "" : "the official encoder writes something else" };
  } catch (error) {
    return { value: {}, problem: error.message };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { text, toon } = JSON.parse(line);
  const answer =
    toon === undefined
      ? { o200k_base: o200k(text, AS_TEXT), cl100k_base: cl100k(text, AS_TEXT) }
      : read(toon);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
