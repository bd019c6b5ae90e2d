// Reads messages with postal-mime, for messages.py.
//
//   node messages.mjs MESSAGES.json
//
// MESSAGES.json is a list of {name, raw}, the message as Base64. One JSON line per
// message says what postal-mime finds in it, in the form that `of_python` in
// messages.py gives what Python's `email` finds. Contents are given as hashes.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import PostalMime from "postal-mime";

const people = (list) => (list ?? []).map(({ name, address }) => [name, address]);

function hash(content) {
  return createHash("sha256").update(Buffer.from(content)).digest("hex");
}

// A media type and its bytes, whatever the part is called.
function file(part) {
  return {
    name: part.filename,
    media: part.mimeType,
    disposition: part.disposition,
    cid: part.contentId ?? null,
    sha256: hash(part.content),
  };
}

for (const { name, raw } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  let found;
  try {
    // A message inside a message is a file here, as in Python's reading.
    const read = await PostalMime.parse(Buffer.from(raw, "base64"), {
      forceRfc822Attachments: true,
    });
    found = {
      subject: read.subject,
      from: people([read.from]),
      to: people(read.to),
      cc: people(read.cc),
      bcc: people(read.bcc),
      message_id: read.messageId ?? null,
      in_reply_to: read.inReplyTo ?? null,
      references: (read.references ?? "").split(/\s+/).filter(Boolean),
      text: read.text ?? null,
      html: read.html ?? null,
      files: read.attachments.map(file),
    };
  } catch (error) {
    found = { problem: error.stack };
  }
  console.log(JSON.stringify({ name, found }));
}
