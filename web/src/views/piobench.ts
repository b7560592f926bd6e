// PIOBENCH (COLL-6, COLL-7): the matrix of algorithms and block sizes, rate by block size, and findings in words.
import { type ChartSpec, panels } from "../chart";
import { derived } from "../classes";
import type { PiobenchPoint } from "../analysis";
import { type Block, distinct, groupBy, type Report, type ResultFile } from "../data";
import { chooser, h } from "../dom";
import { figure, type Table } from "../figure";
import { bytes, digits, rate } from "../format";
import { caption, joined, placeLabel, systemLabel } from "../origin";
import type { Entry, View } from "../views";

interface Run {
  file: ResultFile;
  blocks: Block[];
  points: PiobenchPoint[];
  findings: string[];
  place: string;
}

function runsOf(report: Report): Run[] {
  const found = derived(report, "piobench");
  const runs = found.map(({ file, result, blocks }) => {
    return { file, blocks, ...result, place: placeLabel(report, blocks[0], found.length > 1) };
  });
  return runs.filter((run) => run.points.length > 0);
}

const varies = (run: Run, key: "mpi" | "conditions"): boolean => distinct(run.points.map((p) => p[key])).length > 1;

const algorithmOf = (run: Run, point: PiobenchPoint): string =>
  joined([varies(run, "mpi") && point.mpi, point.algorithm], " ");

const caseOf = (run: Run, point: PiobenchPoint): string =>
  joined([
    `${point.op} ${point.distribution}`,
    `${point.ranks} ranks`,
    `file ${bytes(point.file_bytes)}`,
    run.place,
    varies(run, "conditions") && point.conditions,
  ]);

/** Points of the same work by different algorithms. */
export function cellsOf(points: PiobenchPoint[]): PiobenchPoint[][] {
  const key = (p: PiobenchPoint) =>
    JSON.stringify([p.op, p.distribution, p.file_bytes, p.block_bytes, p.ranks, p.mpi, p.conditions]);
  return [...groupBy(points, key).values()];
}

/** Of a cell the system's MPI-IO and the fastest algorithm of the engine; undefined: one of the two is missing. */
export function engineAndSystem(cell: PiobenchPoint[]): { system: PiobenchPoint; engine: PiobenchPoint } | undefined {
  const measured = cell.filter((p) => p.rate_mb_per_s > 0).sort((a, b) => b.rate_mb_per_s - a.rate_mb_per_s);
  const system = measured.find((p) => p.family === "system");
  const engine = measured.find((p) => p.family !== "system" && p.family !== "naive");
  return system && engine ? { system, engine } : undefined;
}

// ---- the matrix ----

function shade(part: number): string {
  const share = Math.round(Math.max(0, Math.min(1, part)) * 62);
  return `background:color-mix(in oklab, var(--c0) ${share}%, var(--surface))`;
}

function matrixCell(point: PiobenchPoint | undefined): HTMLElement {
  if (!point) return h("td", { class: "num" }, "");
  if (!Number.isFinite(point.rate_mb_per_s)) return h("td", { class: "num failed" }, "failed");
  const title = joined(
    [
      `${rate(point.rate_mb_per_s)} ± ${digits(point.error_mb_per_s)}`,
      `${digits(point.ratio_to_naive)} × naive`,
      `${point.trials} trials`,
      point.warning,
    ],
    "; ",
  );
  const best = point.ratio_to_best >= 0.9999;
  const attributes = { class: `num heat${best ? " best" : ""}`, style: shade(point.ratio_to_best), title };
  return h("td", attributes, digits(point.rate_mb_per_s), point.warning ? "*" : "");
}

/** A table with a tint by the ratio to the fastest of the cell. */
function matrix(run: Run, name: string): HTMLElement {
  const points = run.points.filter((p) => caseOf(run, p) === name);
  const sizes = distinct(points.map((p) => p.block_bytes)).sort((a, b) => a - b);
  const rows = [...groupBy(points, (p) => algorithmOf(run, p))].map(([algorithm, own]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, algorithm),
      sizes.map((size) => matrixCell(own.find((p) => p.block_bytes === size))),
    ),
  );
  const heads = sizes.map((size) => h("th", { scope: "col", class: "num" }, bytes(size)));
  return h(
    "div",
    { class: "table-box", tabindex: 0, role: "region", "aria-label": name },
    h(
      "table",
      { class: "matrix" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "MB/s by data block"), heads)),
      h("tbody", {}, rows),
    ),
  );
}

const KEYS = [
  "op",
  "distribution",
  "ranks",
  "file_bytes",
  "block_bytes",
  "mpi",
  "algorithm",
  "family",
  "conditions",
  "trials",
  "failures",
  "rate_mb_per_s",
  "error_mb_per_s",
  "ratio_to_naive",
  "ratio_to_best",
  "warning",
] as const;

function tableOf(runs: Run[], name: string): Table {
  return {
    name,
    columns: ["file", ...KEYS.map((key) => key.replaceAll("_", " "))],
    rows: runs.flatMap((run) => run.points.map((p) => [run.file.path, ...KEYS.map((key) => p[key])])),
  };
}

function runFigures(run: Run): HTMLElement[] {
  const cases = distinct(run.points.map((p) => caseOf(run, p)));
  const place = h("div", {});
  const show = (i: number) => place.replaceChildren(matrix(run, cases[i]));
  show(0);
  const suffix = run.place ? `, ${run.place}` : "";
  const text =
    "Bytes moved over the mean time from the first start to the last end. The darker, the nearer to the " +
    "fastest of the column; the fastest is bold. * was warned of.";
  const element = figure({
    title: `Matrix${suffix}`,
    body: [h("div", { class: "controls" }, chooser("case", cases, 0, show)), place],
    caption: caption(text, run.blocks),
    table: () => tableOf([run], `piobench ${run.file.path}`),
  });
  if (!run.findings.length) return [element];
  const findings = h(
    "ul",
    {},
    run.findings.map((text) => h("li", {}, text)),
  );
  return [element, h("div", { class: "findings" }, h("h3", {}, `Findings${suffix}`), findings)];
}

// ---- lines ----

function specOf(run: Run, name: string, algorithms: string[]): ChartSpec {
  const measured = run.points.filter((p) => caseOf(run, p) === name && Number.isFinite(p.rate_mb_per_s));
  const points = measured.sort((a, b) => a.block_bytes - b.block_bytes);
  const lines = algorithms.map((algorithm, colour) => ({
    name: algorithm,
    colour,
    dashed: colour >= 8,
    points: points
      .filter((p) => algorithmOf(run, p) === algorithm)
      .map(({ block_bytes: x, rate_mb_per_s: y, error_mb_per_s: error }) => ({
        x,
        y,
        low: Math.max(0, y - error),
        high: y + error,
      })),
  }));
  return {
    title: name,
    label: `rate by block size: ${name}`,
    height: 240,
    x: { label: "data block size", unit: "bytes", log: true },
    y: { label: "MB/s", unit: "rate", log: true },
    lines: lines.filter((line) => line.points.length),
  };
}

/** All runs in one figure, as panels of a figure have the same axes. */
function lineFigure(runs: Run[], op: string): HTMLElement {
  const algorithms = distinct(runs.flatMap((run) => run.points.map((p) => algorithmOf(run, p))));
  const specs = runs.flatMap((run) => {
    const cases = distinct(run.points.filter((p) => p.op === op).map((p) => caseOf(run, p)));
    return cases.map((name) => specOf(run, name, algorithms));
  });
  const text = "All panels have the same axes; bars are 90 % confidence of the mean.";
  return figure({
    title: `Rate by block size, ${op}`,
    body: panels(specs),
    caption: caption(
      text,
      runs.flatMap((run) => run.blocks),
    ),
    table: () => tableOf(runs, `piobench ${op}`),
  });
}

/** The engine's best against the system's MPI-IO, in the cell where it gains most. */
function entries(report: Report): Entry[] {
  return derived(report, "piobench").flatMap(({ result, blocks }) => {
    const pairs = cellsOf(result.points)
      .map(engineAndSystem)
      .filter((pair) => pair !== undefined)
      .filter(({ engine }) => engine.ranks > 1); // one rank alone has nothing to do together
    const all = pairs.map(({ system, engine }): Entry => {
      const ratio = engine.rate_mb_per_s / system.rate_mb_per_s;
      const work = `${engine.op} ${engine.distribution}, blocks of ${bytes(engine.block_bytes)}, ${engine.ranks} ranks`;
      return {
        size: ratio,
        value: `${digits(ratio, 2)} ×`,
        where: joined([systemLabel(report, blocks[0]), `${engine.algorithm}, ${work}`], " · "),
        verdict: `${rate(engine.rate_mb_per_s)} against ${rate(system.rate_mb_per_s)} of the system's MPI-IO`,
      };
    });
    return all.sort((a, b) => b.size - a.size).slice(0, 1);
  });
}

export const piobench: View = {
  title: "Collective algorithms",
  about: "PIOBENCH: algorithms of collective I/O over distributions and data block sizes.",
  applies: (report) => runsOf(report).length > 0,
  render: (report) => {
    const runs = runsOf(report);
    const ops = distinct(runs.flatMap((run) => run.points.map((p) => p.op)));
    return [...runs.flatMap(runFigures), ...ops.map((op) => lineFigure(runs, op))];
  },
  cards: (report) => [{ label: "Engine over system, at best", entries: entries(report) }],
};
