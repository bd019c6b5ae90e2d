// Draws pages in Chromium and says which show a word; for hiding.py.
//
//   node hiding.mjs SETTINGS
//
// SETTINGS is JSON: where Chromium is, and a file with the pages, as a list of names and
// pages in which SECRET stands for the word. Each page is drawn twice, with two words of the
// same letters, so that nothing but the word can change. One line of JSON for each page: its
// name, how many pixels differ, and whether `innerText` has the word.

import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const at = JSON.parse(process.argv[2]);
const pages = JSON.parse(readFileSync(at.pages, "utf8"));
// What differs less than this in red, green and blue is not seen.
const SEEN = 24;
const WORDS = ["MWMWMWMW", "WMMWWMWM"];

const browser = await chromium.launch({ executablePath: at.chromium, args: ["--no-sandbox", "--disable-gpu"] });
const context = await browser.newContext({
  javaScriptEnabled: false,
  colorScheme: "light",
  viewport: { width: 1280, height: 800 },
});
await context.route("**/*", (route) =>
  route.request().url().startsWith("data:") ? route.continue() : route.abort());
let page, devtools;
async function open() {
  await page?.close();
  page = await context.newPage();
  devtools = await context.newCDPSession(page);
}
await open();
const helper = await (await browser.newContext()).newPage();

async function shot(html, name) {
  await page.setContent(html, { waitUntil: "load" });
  if (name.includes("anim")) await page.waitForTimeout(60);
  const { cssContentSize: size } = await devtools.send("Page.getLayoutMetrics");
  const clip = { x: 0, y: 0, width: Math.min(size.width, 1280), height: Math.min(Math.max(size.height, 200), 800), scale: 1 };
  const { data } = await devtools.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip });
  return data;
}

// How many pixels of two pictures differ.
const differing = (shots) => helper.evaluate(async ([shots, seen]) => {
  const [one, other] = await Promise.all(shots.map(async (data) => {
    const response = await fetch(`data:image/png;base64,${data}`);
    const canvas = new OffscreenCanvas(1280, 800).getContext("2d");
    canvas.drawImage(await createImageBitmap(await response.blob()), 0, 0);
    return canvas.getImageData(0, 0, 1280, 800).data;
  }));
  let count = 0;
  for (let at = 0; at < one.length; at += 4) {
    if ([0, 1, 2].some((part) => Math.abs(one[at + part] - other[at + part]) >= seen)) count += 1;
  }
  return count;
}, [shots, SEEN]);

for (const [name, html] of pages) {
  // The colour scheme of a page stays for the next one, and so does how its styles were read.
  const alone = html.includes("color-scheme") || !html.startsWith("<!DOCTYPE");
  if (alone) await open();
  const shots = [];
  let inner = false;
  for (const word of WORDS) {
    shots.push(await shot(html.replaceAll("SECRET", word), name));
    if (word === WORDS[0]) {
      const text = await page.evaluate(() => document.body?.innerText ?? "");
      inner = text.toUpperCase().includes(word);
    }
  }
  const pixels = shots[0] === shots[1] ? 0 : await differing(shots);
  console.log(JSON.stringify({ name, pixels, inner }));
  if (alone) await open();
}
await browser.close();
