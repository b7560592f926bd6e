// decoder.mjs WEB CORPUS COUNT|SECONDSs: gives the page's decoder what no report would hold: the corpus, then changed copies
// of it. It returns a report that can be walked through, or throws an Error that says what is damaged; nothing else.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , web, corpus, amount] = process.argv;
const { buildSync } = createRequire(pathToFileURL(join(web, "package.json")))("esbuild");
buildSync({
  entryPoints: [join(web, "src/data.ts")],
  bundle: true,
  format: "esm",
  outfile: "data.mjs",
  logLevel: "error",
});
const { decode, fact, input, param, facts, number, slowest } = await import(
  pathToFileURL(join(process.cwd(), "data.mjs"))
);

let state = 1; // every run is the same
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const HOSTILE = [
  null,
  true,
  0,
  -1,
  1,
  8,
  1e308,
  2 ** 53,
  -(2 ** 53),
  4294967295,
  0.5,
  "",
  "x",
  "__proto__",
  "\u0000",
  [],
  [0],
  [0, 1, 4],
  [0, 1e9, 8],
  [8, -1, 8],
  {},
  { length: 1e9 },
];
const pick = (list) => list[random(list.length)];

/** A copy in which one value, anywhere, is another one, or is gone. */
function change(value) {
  if (typeof value !== "object" || value === null || random(6) === 0) return structuredClone(pick(HOSTILE));
  const copy = Array.isArray(value) ? [...value] : { ...value },
    keys = Object.keys(copy);
  if (keys.length === 0) return structuredClone(pick(HOSTILE));
  const key = pick(keys);
  if (random(8) === 0) Array.isArray(copy) ? copy.splice(Number(key), 1) : delete copy[key];
  else if (random(12) === 0 && Array.isArray(copy)) copy.push(...copy.slice(0, 4));
  else copy[key] = change(copy[key]);
  return copy;
}

/** Goes everywhere where the views go; what is not of its type throws. */
function walk(report) {
  let sum = 0;
  for (const block of report.blocks) {
    fact(block, "nprocs")?.trim();
    input(block, "on")?.trim();
    facts(block, "x").join();
    if (!report.files.includes(block.file)) throw new Error("a block without its file");
    for (const set of block.sets) {
      sum += number(set, "filesize_bytes") + slowest(set).size;
      param(set, "x")?.trim();
      for (const series of set.series) for (const one of [series.sums, series.least, series.most]) sum += one?.[0] ?? 0;
    }
  }
  for (const model of report.models) {
    report.files[model.file].path.trim();
    for (const column of Object.values(model.points)) sum += column[column.length - 1] ?? 0;
    for (const phase of model.phases) for (const step of phase.steps) step.operation?.trim();
  }
  for (const file of report.files) {
    for (const result of Object.values(file.derived)) for (const list of Object.values(result)) sum += list.length;
    for (const item of file.quantities) sum += item.value.toFixed().length + item.what.trim().length;
    for (const document of file.documents) {
      document.notes.join();
      for (const table of document.tables) for (const row of table.rows) sum += row.length + table.columns.length;
      for (const chart of document.charts)
        for (const series of chart.series) for (const [, y, low, high] of series.points) sum += y + low + high;
    }
  }
  return sum;
}

function attempt(text, columns) {
  let report;
  try {
    report = decode(text, columns);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("The data of this page are damaged")) return false;
    keep(text, error);
  }
  try {
    walk(report);
  } catch (error) {
    keep(text, error);
  }
  return true;
}

function keep(text, error) {
  writeFileSync("found.json", text);
  console.error(
    `found: ${error.stack}\nthe input is found.json: add it to tests/fuzz/corpus/page\n${text.slice(0, 2000)}`,
  );
  process.exit(1);
}

const seeds = readdirSync(corpus).map((name) => readFileSync(join(corpus, name), "utf8"));
const columns = new ArrayBuffer(1 << 12),
  seconds = amount.endsWith("s") ? parseFloat(amount) : Infinity;
const most = Number.isFinite(seconds) ? Infinity : Number(amount),
  begin = performance.now();
let done = 0,
  whole = seeds.filter((text) => attempt(text, columns)).length;
if (whole === 0) throw new Error("no input of the corpus is a report");
const values = seeds.flatMap((text) => {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
});
for (; done < most && performance.now() - begin < seconds * 1000; done++) {
  let value = change(pick(values));
  while (random(3) === 0) value = change(value);
  let text = JSON.stringify(value) ?? "";
  if (random(20) === 0) text = text.slice(0, random(text.length)) + text.slice(random(text.length));
  whole += attempt(text, random(10) ? columns : new ArrayBuffer(random(64)));
}
console.log(
  `${done} inputs, ${whole} of them whole, ${Math.round(done / ((performance.now() - begin) / 1000))} a second`,
);
