// report.mjs CHROMIUM FOLDER [TEST]: looks at the pages that report.sh made; with TEST by one of its functions only.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Browser } from "./browser.mjs";
import { HOSTILE } from "./fixtures.mjs";
import { brightness, coloured, readPng } from "./png.mjs";

const [, , chromium, folder, only] = process.argv;
const browser = new Browser(chromium);
const open = (name, options) => browser.open(`file://${folder}/${name}`, options);
const close = async (page) => {
  assert.deepEqual(page.errors, [], "messages on the console");
  await page.close();
};
const click = (page, scope, text) =>
  page.run(
    `[...document.querySelectorAll(${JSON.stringify(`${scope} button`)})].find((b) => b.textContent.includes(${JSON.stringify(text)})).click()`,
  );
const rest = (ms = 150) => new Promise((resolve) => setTimeout(resolve, ms));

/** Numbers of the first series with this key and rank in a block file. */
function seriesOf(file, key, rank) {
  const lines = readFileSync(`${folder}/${file}`, "utf8").split("\n"),
    at = lines.findIndex((line) => line.startsWith(`series ${rank} ${key} ns `));
  const count = Number(lines[at].split(" ")[4]),
    values = [];
  for (let i = at + 1; values.length < count; i++) values.push(...lines[i].split(" ").map(Number));
  return values;
}

function close_to(found, wanted, what) {
  assert.ok(Math.abs(found - wanted) <= 1e-9 * Math.abs(wanted), `${what}: ${found} in the place of ${wanted}`);
}

/** Columns of raw.ts: process, operations, mean, error, deviation, least, 5 %, median, 95 %, 99 %, largest. */
async function checkRegion(page, file, key) {
  const { from, to, rows } = await page.run(
    `(() => { const d = document.querySelector("#raw .region").dataset; return { from: +d.from, to: +d.to, rows: JSON.parse(d.ns) }; })()`,
  );
  for (const [rank, n, mean, , , least, , median, , p99, largest] of rows) {
    const values = seriesOf(file, key, rank).slice(from, to + 1),
      sorted = [...values].sort((a, b) => a - b),
      at = (q) => sorted[Math.ceil(q * sorted.length) - 1];
    assert.equal(n, values.length);
    close_to(mean, values.reduce((a, b) => a + b, 0) / values.length, "mean");
    close_to(least, sorted[0], "least");
    close_to(median, at(0.5), "median");
    close_to(p99, at(0.99), "99 %");
    close_to(largest, sorted[sorted.length - 1], "largest");
  }
  return { from, to };
}

async function everyView() {
  const page = await open("all.html");
  assert.equal(await page.run("document.querySelector('h1').textContent"), "All <b>views</b>");
  const ids = await page.run("[...document.querySelectorAll('section')].map((s) => s.id)");
  const wanted = [
    "overview",
    "rates",
    "raw",
    "distribution",
    "kernels",
    "apps",
    "compare",
    "piobench",
    "gpfs",
    "beffio",
    "beff",
    "peak",
    "phases",
    "prediction",
    "devices",
    "sources",
  ];
  // The view of results comes with what src/page writes of quantities and documents.
  assert.deepEqual(
    ids.filter((id) => id !== "results"),
    wanted,
  );
  for (const id of ids) {
    await page.show(id);
    const pixels = coloured(readPng(await page.picture(`#${id}`)));
    assert.ok(pixels > (id === "sources" ? 20 : 300), `the view ${id} is blank: ${pixels} coloured pixels`);
  }
  assert.ok(
    !(await page.run(`document.querySelector("#peak").textContent`)).includes("busy, process"),
    "samples of the device stand among metadata operations",
  );
  assert.deepEqual(
    await page.run(
      `[...document.querySelectorAll("figure")].filter((f) => f.querySelector("figcaption").textContent.length < 40 || !f.querySelector("details, .figure-body table") || !f.querySelector("[aria-label*=CSV]")).map((f) => f.querySelector("h3").textContent)`,
    ),
    [],
    "figures without caption, table or CSV",
  );
  assert.equal(
    await page.run(
      `[...document.querySelectorAll("canvas, .chart svg")].filter((e) => !e.closest("[aria-label]")).length`,
    ),
    0,
    "pictures without a name",
  );
  await close(page);
}

/** A link lands at its view, though charts above it find their size only later; tables fit a laptop. */
async function places() {
  const top = (page, id) => page.run(`document.querySelector("#${id} h2").getBoundingClientRect().top`);
  const opened = await open("all.html#prediction");
  await opened.until(
    `Math.abs(document.querySelector("#prediction h2").getBoundingClientRect().top - 32) < 4`,
    "the view of the address",
  );
  await rest(700);
  assert.ok(
    Math.abs((await top(opened, "prediction")) - 32) < 4,
    `the view of the address stands at ${await top(opened, "prediction")}`,
  );
  await opened.run(`document.querySelector("nav a[href='#beff']").click()`);
  await rest(700);
  assert.ok(
    Math.abs((await top(opened, "beff")) - 32) < 4,
    `the view of a link stands at ${await top(opened, "beff")}`,
  );
  await opened.run("scrollTo(0, 0)");
  await rest();
  await opened.run(`document.querySelector("nav a[href='#beff']").click()`);
  await rest(700);
  assert.ok(
    Math.abs((await top(opened, "beff")) - 32) < 4,
    `the view of the same link again stands at ${await top(opened, "beff")}`,
  );
  assert.deepEqual(
    await opened.run(
      `[...document.querySelectorAll("#beff .figure-body .table-box, #prediction .figure-body .table-box")].filter((b) => b.scrollWidth > b.clientWidth).map((b) => b.ariaLabel)`,
    ),
    [],
    "tables scroll sideways",
  );
  await close(opened);
}

async function region() {
  const page = await open("all.html");
  await page.show("raw");
  await page.run(
    `(() => { const s = document.querySelector("#raw select"); s.selectedIndex = [...s.options].findIndex((o) => o.text.startsWith("low.out: multiple, write")); s.dispatchEvent(new Event("change")); })()`,
  );
  await rest(400);
  assert.deepEqual(await checkRegion(page, "low.out", "w"), { from: 0, to: 499 });
  const box = await page.run(
    `(() => { const e = document.querySelector("#raw .u-over"); e.scrollIntoView({ block: "center" }); const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()`,
  );
  await page.drag([box[0] + 0.25 * box[2], box[1] + box[3] / 2], [box[0] + 0.5 * box[2], box[1] + box[3] / 2]);
  await rest();
  const { from, to } = await checkRegion(page, "low.out", "w");
  assert.ok(
    Math.abs(from - 125) <= 3 && Math.abs(to - 250) <= 3,
    `dragged over a quarter to a half of 500, and got ${from} to ${to}`,
  );
  await click(page, "#raw", "Zoom to region");
  await rest();
  assert.equal(await page.run(`document.querySelector("#raw .raw-rows").dataset.zoom`), `${from},${to}`);
  await page.run(
    `(() => { const [a, b] = document.querySelectorAll("#raw input"); a.value = 400; a.dispatchEvent(new Event("change")); })()`,
  );
  assert.deepEqual(
    await checkRegion(page, "low.out", "w"),
    { from: to, to: 400 },
    "a region whose end lies before its begin",
  );
  await click(page, "#raw", "Whole series");
  assert.deepEqual(await checkRegion(page, "low.out", "w"), { from: 0, to: 499 });
  await close(page);
}

/** A rate of the page, from its CSV, against bytes over the slowest rank's time in the file. */
async function numbers() {
  const page = await open("all.html");
  await page.show("rates");
  await page.run(
    `window.saved = []; URL.createObjectURL = (blob) => { blob.text().then((t) => saved.push(t)); return "about:blank#"; }; HTMLAnchorElement.prototype.click = () => {}`,
  );
  await page.run(`document.querySelector("#rates [aria-label*=CSV]").click()`);
  await page.until("saved.length", "the CSV");
  const [head, ...rows] = (await page.run("saved[0]"))
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  const row = rows.find((r) => r[head.indexOf("block bytes")] === "10000");
  const slowest = Math.max(...[0, 1].map((rank) => seriesOf("low.out", "w", rank).reduce((a, b) => a + b, 0)));
  close_to(Number(row[head.indexOf("MB/s")]), (500 * 2 * 10_000 * 1e3) / slowest, "rate");
  await close(page);
}

async function phases() {
  const page = await open("all.html");
  await page.show("phases");
  await rest(400);
  const pixels = () =>
    page.run(
      `(() => { const c = document.querySelector(".scene canvas"), d = document.createElement("canvas"); [d.width, d.height] = [c.width, c.height]; const x = d.getContext("2d"); x.drawImage(c, 0, 0); return [...x.getImageData(0, 0, d.width, d.height).data].reduce((a, b, i) => (a * 31 + b * (i % 97)) % 1e9, 7); })()`,
    );
  const before = await pixels();
  await page.run(
    `document.querySelector(".scene canvas").focus(); document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", cancelable: true }))`,
  );
  await rest(300);
  assert.notEqual(await pixels(), before, "the scene turns by keyboard");
  await page.run(`document.querySelector(".phase-button").click()`);
  const text = await page.run(`document.querySelector(".phase-details").textContent`);
  const offset = /write_at_all .*offset=(\S+)/.exec(readFileSync(`${folder}/btio.model`, "utf8"))[1];
  assert.ok(text.includes(offset), `the formula ${offset} of the phase is not in: ${text}`);
  await close(page);
}

async function surroundings() {
  const light = await open("all.html"),
    bright = brightness(readPng(await light.picture()));
  assert.ok(bright > 200, `light, and brightness ${bright}`);
  await light.run(
    `(() => { const s = document.querySelector(".theme select"); s.value = "dark"; s.dispatchEvent(new Event("change")); })()`,
  );
  assert.ok(brightness(readPng(await light.picture())) < 80, "dark by the switch");
  const { data } = await light.send("Page.printToPDF", { printBackground: true });
  assert.ok(data.length > 100_000, "printed pages");
  assert.equal(
    await light.run(`document.querySelectorAll("section:not([data-state=rendered])").length`),
    0,
    "printing draws all views",
  );
  await close(light);
  const dark = await open("all.html", { scheme: "dark" });
  assert.ok(brightness(readPng(await dark.picture())) < 80, "dark by the system");
  await close(dark);
  const phone = await open("all.html", { width: 390, height: 800, mobile: true });
  for (const id of await phone.run("[...document.querySelectorAll('section')].map((s) => s.id)")) await phone.show(id);
  await phone.run(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`);
  await rest();
  assert.ok((await phone.run("document.documentElement.scrollWidth")) <= 390, "a phone has to scroll sideways");
  await close(phone);
}

async function million() {
  const page = await open("million.html");
  await page.show("raw");
  await rest(400);
  await page.until(`document.querySelector("#raw .u-over")`, "the plot");
  console.log(`1 000 000 samples: opened in ${await page.run("document.documentElement.dataset.ready")} ms`);
  await checkRegion(page, "million.out", "w");
  await page.run(
    `(() => { const [a, b] = document.querySelectorAll("#raw input"); a.value = 100000; a.dispatchEvent(new Event("change")); })()`,
  );
  await click(page, "#raw", "Zoom to region");
  assert.equal((await checkRegion(page, "million.out", "w")).from, 100000);
  assert.ok(coloured(readPng(await page.picture("#raw"))) > 300, "drawn");
  await close(page);
}

async function hostile() {
  const page = await open("hostile.html");
  for (const id of await page.run("[...document.querySelectorAll('section')].map((s) => s.id)")) await page.show(id);
  await page.run(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`);
  await rest(300);
  assert.equal(await page.run("window.hacked"), undefined, "text of a file was run");
  assert.equal(await page.run(`document.querySelectorAll("#app img, #app script").length`), 0);
  assert.equal(await page.run("document.querySelector('h1').textContent"), HOSTILE);
  assert.ok((await page.run("document.querySelector('#overview').textContent")).includes(HOSTILE), "and stays text");
  await close(page);
}

async function broken() {
  const page = await open("broken.html");
  await page.show("overview");
  const text = await page.run("document.querySelector('#overview').textContent");
  for (const name of ["broken.out", "noise.out", "empty.out", "broken.model", "no-such-file"])
    assert.ok(text.includes(name), `${name} is not among the warnings`);
  await page.show("rates");
  await close(page);
}

/** A benchmark that the page has never heard of: by what it wrote, and nothing else. */
async function unheard() {
  const page = await open("unheard.html");
  const ids = await page.run("[...document.querySelectorAll('section')].map((s) => s.id)");
  assert.deepEqual(ids, ["overview", "results", "sources"]);
  for (const id of ids) await page.show(id);
  const textOf = (selector) => page.run(`document.querySelector(${JSON.stringify(selector)}).textContent`);
  const overview = await textOf("#overview");
  for (const text of ["creates a second", "block of class Metadata", "allav: its result cannot be shown"])
    assert.ok(overview.includes(text), `the overview does not say: ${text}`);
  const results = await textOf("#results");
  const said = [
    "Many small files",
    HOSTILE,
    "Operations a second",
    "Operations by ranks",
    "Undocumented",
    "create time",
    "80 µs",
  ];
  for (const text of [...said, "Low-level tests", "Known, as its benchmark wrote it"])
    assert.ok(results.includes(text), `the results do not say: ${text}`);
  assert.equal(await page.run("window.hacked"), undefined, "text of a file was run");

  const firstColumn = `[...document.querySelectorAll("#results [aria-label='table: Operations a second'] tbody tr")].map((r) => r.cells[0].textContent + r.cells[1].textContent)`;
  assert.deepEqual(await page.run(firstColumn), ["create1", "stat1", "unlink1", "create4"]);
  await click(page, "#results thead", "rate (1/s)");
  assert.deepEqual(
    await page.run(firstColumn),
    ["create1", "create4", "stat1", "unlink1"],
    "sorted, without a value last",
  );
  await click(page, "#results thead", "rate (1/s)");
  assert.deepEqual(await page.run(firstColumn), ["stat1", "create4", "create1", "unlink1"], "the other way round");
  await click(page, "#results thead", "rate (1/s)");
  assert.deepEqual(await page.run(firstColumn), ["create1", "stat1", "unlink1", "create4"], "as it was");

  const lines = `[...document.querySelectorAll("#results .chart svg")].map((e) => e.querySelectorAll(".line").length)`;
  const bars = `[...document.querySelectorAll("#results .chart svg")].map((e) => e.querySelectorAll(".error").length)`;
  assert.deepEqual(await page.run(lines), [2]);
  assert.deepEqual(await page.run(bars), [2], "error bars where there are intervals");
  assert.ok((await textOf("#results .chart svg")).includes("operations (1/s)"), "the axis has its unit");
  assert.equal(await page.run(`document.querySelectorAll("#results .dot-track i").length`), 2, "cases get rows");
  await click(page, "#results .legend", "stat");
  assert.deepEqual(await page.run(lines), [1], "a line is taken away by its key");
  await close(page);
}

try {
  for (const test of [everyView, places, region, numbers, phases, surroundings, million, hostile, broken, unheard]) {
    if (only && only !== test.name) continue;
    await test();
    console.log(`ok ${test.name}`);
  }
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await browser.close();
}
