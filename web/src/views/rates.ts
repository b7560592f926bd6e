// Rate against file size and block size, with error bars (IOT-32). Plateaus are caches and disks.
import { type ChartSpec, type Line, panels } from "../chart";
import { derived } from "../classes";
import type { AllavCurve, AllavPoint } from "../analysis";
import { type Block, distinct, fact, type Report, type ResultFile } from "../data";
import { chooser, h } from "../dom";
import { figure, type Table } from "../figure";
import { bytes, digits, rate } from "../format";
import { caption, joined, operationName, placeLabel, systemLabel } from "../origin";
import type { Card, Entry, View } from "../views";

interface Curve {
  file: ResultFile;
  blocks: Block[];
  title: string;
  curve: AllavCurve;
}

/** The test with what it was told, as "multiple, collective". */
const testOf = (curve: AllavCurve): string =>
  joined([curve.testname, curve.collective === "true" && "collective", curve.layout !== "strided" && curve.layout]);

function curvesOf(report: Report): Curve[] {
  const found = derived(report, "allav");
  return found.flatMap(({ file, result, blocks: all }) =>
    result.curves.map((curve) => {
      const blocks = all.filter((block) => block.testname === curve.testname);
      return { file, blocks, curve, title: joined([testOf(curve), placeLabel(report, blocks[0], found.length > 1)]) };
    }),
  );
}

// ---- lines ----

type Size = "file_bytes" | "block_bytes";

const ALIKE = 0.85; // a file is shorter than asked for by the part of a block that is left out at its end

/** Sizes that were asked for. */
function askedSizes(values: number[]): number[] {
  const kept: number[] = [];
  for (const value of distinct(values).sort((a, b) => b - a))
    if (!kept.length || value <= kept[kept.length - 1] * ALIKE) kept.push(value);
  return kept.reverse();
}

function pointOf(point: AllavPoint, against: Size) {
  const { rate_mb_per_s: value, error_mb_per_s: error, asymptotic_mb_per_s: later } = point;
  const note = Number.isFinite(later) ? `second half: ${rate(later)}` : undefined;
  return { x: point[against], y: value, low: Math.max(0, value - error), high: value + error, note };
}

/** A line for each value of the other size. */
function linesOf({ curve }: Curve, against: Size): Line[] {
  const other = against === "file_bytes" ? "block_bytes" : "file_bytes";
  return askedSizes(curve.points.map((p) => p[other])).map((size, colour) => {
    const points = curve.points.filter((p) => p[other] <= size && p[other] > size * ALIKE);
    return {
      name: `${other === "block_bytes" ? "blocks of" : "file of"} ${bytes(size)}`,
      colour,
      points: points.map((p) => pointOf(p, against)).sort((a, b) => a.x - b.x),
    };
  });
}

/** The file grows while it is written: the rate of its first bytes, from one large run of each block size. */
function growthOf({ curve }: Curve): Line[] {
  const sizes = distinct(curve.approximate.map((run) => run.block_bytes)).sort((a, b) => a - b);
  return curve.approximate.map((run) => ({
    name: `blocks of ${bytes(run.block_bytes)}`,
    colour: sizes.indexOf(run.block_bytes),
    marker: "none",
    points: run.points.map((p) => ({ x: p.bytes, y: p.rate_mb_per_s })),
  }));
}

const AGAINST: { name: string; label: string; lines: (curve: Curve) => Line[] }[] = [
  { name: "block size", label: "block size", lines: (curve) => linesOf(curve, "block_bytes") },
  { name: "file size", label: "file size", lines: (curve) => linesOf(curve, "file_bytes") },
  { name: "file size, from one large run", label: "bytes moved so far", lines: growthOf },
];

function specOf(item: Curve, against: number, log: boolean): ChartSpec {
  return {
    title: item.title,
    label: `rate of ${item.title}, ${operationName(item.curve.op)}`,
    height: 230,
    x: { label: AGAINST[against].label, unit: "bytes", log: true },
    y: { label: "MB/s", unit: "rate", log },
    lines: AGAINST[against].lines(item),
  };
}

// ---- figures ----

const COLUMNS = [
  "file",
  "test",
  "ranks",
  "MPI-IO",
  "file system",
  "file bytes",
  "block bytes",
  "sets",
  "MB/s",
  "± 90 %",
  "second half MB/s",
  "±",
];

function tableOf(list: Curve[], op: string): Table {
  const rows = list.flatMap(({ file, title, curve }) =>
    curve.points.map((p) => [
      file.path,
      title,
      curve.nprocs,
      curve.mpiio,
      curve.filesystem,
      p.file_bytes,
      p.block_bytes,
      p.sets,
      p.rate_mb_per_s,
      p.error_mb_per_s,
      p.asymptotic_mb_per_s,
      p.asymptotic_error_mb_per_s,
    ]),
  );
  return { name: `rates ${operationName(op)}`, columns: COLUMNS, rows };
}

function rateFigure(list: Curve[], op: string): HTMLElement {
  const place = h("div", {});
  const isLine = (line: Line) => line.points.length > 1;
  let against = Math.max(
    0,
    AGAINST.findIndex((item) => list.some((curve) => item.lines(curve).some(isLine))),
  );
  let log = true;
  const draw = () => place.replaceChildren(panels(list.map((item) => specOf(item, against, log))));
  const chooseAgainst = (index: number) => {
    against = index;
    draw();
  };
  const chooseLog = (index: number) => {
    log = index === 1;
    draw();
  };
  draw();
  const controls = h(
    "div",
    { class: "controls" },
    chooser(
      "against",
      AGAINST.map((item) => item.name),
      against,
      chooseAgainst,
    ),
    chooser("rate axis", ["linear", "logarithmic"], 1, chooseLog),
  );
  const text =
    "Bytes of all ranks over the time in which at least one of them was in such a call, on one clock " +
    "(without start stamps, as in files of 0.1.0: over the longest sum of one rank's call times); " +
    "MB = 10⁶ bytes; bars are 90 % confidence. " +
    "Level stretches are caches and devices.";
  return figure({
    title: `Rate, ${operationName(op)}`,
    body: [controls, place],
    caption: caption(
      text,
      list.flatMap((item) => item.blocks),
    ),
    table: () => tableOf(list, op),
  });
}

// ---- the overview's cards ----

/** How far a rate can be trusted: a small file is in the page cache, and few samples say little. */
function trust(file: ResultFile, point: AllavPoint): { verdict: string; good: boolean } {
  const memory = Math.max(0, ...file.blocks.map((block) => Number(fact(block, "memory_bytes") ?? 0)));
  const error = point.error_mb_per_s / point.rate_mb_per_s;
  const spread = Number.isFinite(error) ? `± ${digits(100 * error, 2)} %` : "";
  if (point.file_bytes >= memory) return { verdict: spread, good: error < 0.25 };
  const cached = `fits in memory (${bytes(memory)}): the page cache is measured`;
  return { verdict: joined([spread, cached], " · "), good: false };
}

/** Of each file the best rate among the largest files, where caches help least. */
function entries(report: Report, op: string): Entry[] {
  return derived(report, "allav").flatMap(({ file, result, blocks }) => {
    const curves = result.curves.filter((curve) => curve.op === op);
    const all = curves.flatMap((curve) => curve.points.map((point) => ({ curve, point })));
    const largest = all.reduce((most, { point }) => Math.max(most, point.file_bytes), 0);
    const big = all.filter(({ point }) => point.file_bytes > 0.9 * largest);
    const sure = big.filter(({ point }) => point.error_mb_per_s < 0.5 * point.rate_mb_per_s);
    const sorted = (sure.length ? sure : big).sort((a, b) => b.point.rate_mb_per_s - a.point.rate_mb_per_s);
    return sorted.slice(0, 1).map(({ curve, point }) => {
      const sizes = `blocks of ${bytes(point.block_bytes)}, file of ${bytes(point.file_bytes)}`;
      const where = joined([systemLabel(report, blocks[0]), joined([testOf(curve), sizes])], " · ");
      return { value: rate(point.rate_mb_per_s), size: point.rate_mb_per_s, where, ...trust(file, point) };
    });
  });
}

const CARDS: [op: string, label: string][] = [
  ["w", "Writing"],
  ["r", "Reading"],
];

export const rates: View = {
  title: "Rates",
  about: "Low-level tests: rate against block size and file size.",
  applies: (report) => derived(report, "allav").some(({ result }) => result.curves.length > 0),
  render: (report) => {
    const all = curvesOf(report);
    const ops = distinct(all.map((item) => item.curve.op));
    return ops.map((op) =>
      rateFigure(
        all.filter((item) => item.curve.op === op),
        op,
      ),
    );
  },
  cards: (report): Card[] => CARDS.map(([op, label]) => ({ label, entries: entries(report, op) })),
};
