// Our engine against the system's MPI-IO, and what the place could give at most.
import { type ChartSpec, panels } from "../chart";
import { derived } from "../classes";
import type { AllavCurve, GpfsPoint } from "../analysis";
import { type Block, distinct, fact, groupBy, type Report } from "../data";
import { h } from "../dom";
import { figure, type Table } from "../figure";
import { bytes, digits, rate } from "../format";
import { caption, joined, operationName, placeLabel, systemLabel } from "../origin";
import { dots } from "../rows";
import type { View } from "../views";
import { facetsOf } from "./kernels";
import { type Measured, measuredRates } from "./peak";
import { cellsOf, engineAndSystem } from "./piobench";

/** The same work by both; rates in MB/s. */
interface Pair {
  source: string;
  what: string;
  op: string;
  system: number;
  engine: number;
  by: string; // what did it in the engine
  posix: number;
  line?: { name: string; block: number }; // of a chart by data block size
  blocks: Block[];
}

// ---- finding pairs ----

/** In each cell the engine's fastest, and the system's. */
function fromPiobench(report: Report): Pair[] {
  const found = derived(report, "piobench");
  return found.flatMap(({ result, blocks }) => {
    const place = placeLabel(report, blocks[0], found.length > 1);
    return cellsOf(result.points).flatMap((cell): Pair[] => {
      const pair = engineAndSystem(cell);
      if (!pair) return [];
      const { system, engine } = pair;
      const { distribution, ranks, block_bytes: block } = engine;
      const common = {
        source: "piobench",
        op: engine.op,
        system: system.rate_mb_per_s,
        engine: engine.rate_mb_per_s,
        by: engine.algorithm,
        posix: cell.find((p) => p.family === "naive")?.rate_mb_per_s ?? NaN,
        blocks,
      };
      const name = joined([distribution, `${ranks} ranks`, place]);
      return [
        { ...common, what: joined([distribution, bytes(block), `${ranks} ranks`, place]), line: { name, block } },
      ];
    });
  });
}

function fromGpfs(report: Report): Pair[] {
  const key = (p: GpfsPoint) => JSON.stringify([p.benchmark, p.mpi, p.conditions, p.moved_bytes, ...p.cell]);
  return derived(report, "gpfs").flatMap(({ result, blocks }) =>
    [...groupBy(result.points, key).values()].flatMap((cell): Pair[] => {
      const measured = cell.filter((p) => p.mean_mb_per_s > 0).sort((a, b) => b.mean_mb_per_s - a.mean_mb_per_s);
      const system = measured.find((p) => p.contestant === "system");
      const posix = measured.find((p) => p.contestant === "posix");
      const engine = measured.find((p) => p !== system && p !== posix);
      if (!system || !engine) return [];
      const size = engine.record_bytes || engine.block_bytes;
      return [
        {
          source: "gpfs",
          op: engine.op,
          system: system.mean_mb_per_s,
          engine: engine.mean_mb_per_s,
          by: engine.contestant,
          posix: posix?.mean_mb_per_s ?? NaN,
          blocks,
          what: joined([engine.benchmark, `${engine.ranks} ranks`, size > 0 && bytes(size)]),
        },
      ];
    }),
  );
}

/** One rate of a test that may have been run on both. */
interface Single {
  what: string;
  op: string;
  mpiio: string;
  value: number;
  blocks: Block[];
}

function kernelRates(report: Report): Single[] {
  return derived(report, "kernel").flatMap(({ result, blocks }) =>
    result.cases.flatMap((item) => {
      const place = systemLabel(report, blocks[0]) || item.filesystem;
      const what = joined([item.testname, ...facetsOf(item), `${item.nprocs} ranks`, place]);
      return item.measures.map((m) => ({ what, op: m.key, mpiio: item.mpiio, value: m.rate_mb_per_s, blocks }));
    }),
  );
}

function lowlevelRates(report: Report): Single[] {
  const traits = (curve: AllavCurve) => [
    curve.testname,
    curve.collective === "true" && "collective",
    curve.layout !== "strided" && curve.layout,
  ];
  return derived(report, "allav").flatMap(({ result, blocks }) =>
    result.curves.flatMap((curve) => {
      const place = systemLabel(report, blocks[0]) || curve.filesystem;
      return curve.points.map((p) => {
        const sizes = [`block ${bytes(p.block_bytes)}`, `file ${bytes(p.file_bytes)}`];
        const what = joined([...traits(curve), ...sizes, `${curve.nprocs} ranks`, place]);
        return { what, op: operationName(curve.op), mpiio: curve.mpiio, value: p.rate_mb_per_s, blocks };
      });
    }),
  );
}

/** Tests that were run on both. Of two systems none is compared with the other: they are part of the case. */
function fromTests(report: Report): Pair[] {
  const all = [...kernelRates(report), ...lowlevelRates(report)].filter((item) => item.value > 0);
  const isEngine = (item: Single) => item.mpiio.startsWith("piolet");
  return [...groupBy(all, (item) => `${item.what} ${item.op}`).values()].flatMap((same): Pair[] => {
    const engine = same.filter(isEngine).at(-1);
    const system = same.filter((item) => !isEngine(item)).at(-1);
    if (!engine || !system) return [];
    const { what, op } = engine;
    const blocks = [...system.blocks, ...engine.blocks];
    const rates = { system: system.value, engine: engine.value, by: engine.mpiio, posix: NaN };
    return [{ source: "tests", what, op, ...rates, blocks }];
  });
}

const pairsOf = (report: Report): Pair[] => [...fromPiobench(report), ...fromGpfs(report), ...fromTests(report)];

// ---- showing them ----

/** The device's best rate by operation and system. */
function limitText(report: Report): string {
  const key = (item: Measured) => `${item.operation} ${placeLabel(report, item.block, false)}`;
  const groups = [...groupBy(measuredRates(report), key).values()];
  const best = groups.map((same) => same.reduce((a, b) => (b.rate > a.rate ? b : a)));
  const texts = best.map((item) => {
    const where = joined([fact(item.block, "filesystem"), `${item.access} ${bytes(item.request)}`]);
    return `${item.operation} ${rate(item.rate)} (${where})`;
  });
  return texts.length ? `The limit, by 'piolet peak': ${texts.join("; ")}.` : "";
}

function ratioSpec(list: Pair[], op: string): ChartSpec {
  const names = distinct(list.map((p) => p.line?.name ?? ""));
  const lines = names.map((name, colour) => {
    const own = list.filter((p) => p.op === op && p.line?.name === name);
    const points = own.map((p) => ({
      x: p.line?.block ?? NaN,
      y: p.engine / p.system,
      note: `${p.by}: ${rate(p.engine)}; system: ${rate(p.system)}`,
    }));
    return { name, colour, points: points.sort((a, b) => a.x - b.x) };
  });
  return {
    title: op,
    label: `ratio of rates, ${op}`,
    rules: [{ at: 1, text: "as fast as the system's MPI-IO" }],
    x: { label: "data block size", unit: "bytes", log: true },
    y: { label: "engine / system", unit: "number", log: true },
    lines: lines.filter((line) => line.points.length),
  };
}

function pairDots(list: Pair[]): HTMLElement {
  const rows = list.map((p) => ({
    label: `${p.op}: ${p.what}`,
    text: `${digits(p.engine / p.system)} ×`,
    note: `engine by ${p.by}`,
    dots: [
      { name: "plain POSIX", colour: 2, value: p.posix, text: rate(p.posix) },
      { name: "system's MPI-IO", colour: 1, value: p.system, text: rate(p.system) },
      { name: "engine", colour: 0, value: p.engine, text: `${rate(p.engine)} by ${p.by}` },
    ].filter((dot) => Number.isFinite(dot.value)),
  }));
  return dots(rows, "rate", "MB/s");
}

const COLUMNS = [
  "source",
  "operation",
  "case",
  "engine by",
  "engine MB/s",
  "system MB/s",
  "engine / system",
  "plain POSIX MB/s",
];

function tableOf(list: Pair[]): Table {
  const rows = list.map((p) => [p.source, p.op, p.what, p.by, p.engine, p.system, p.engine / p.system, p.posix]);
  return { name: "engine against system", columns: COLUMNS, rows };
}

/** In how many cases who is ahead, and by how much in the middle. */
function sentence(list: Pair[]): string {
  const ratios = list.map((p) => p.engine / p.system).sort((a, b) => a - b);
  const ahead = ratios.filter((r) => r >= 1).length;
  const [least, middle, most] = [ratios[0], ratios[ratios.length >> 1], ratios[ratios.length - 1]].map((r) =>
    digits(r),
  );
  return (
    `The engine is ahead in ${ahead} of ${list.length} cases; ` +
    `the median ratio is ${middle}, the least ${least}, the largest ${most}.`
  );
}

const SHOWN = 40;

function lineFigure(list: Pair[]): HTMLElement {
  const text =
    "Ratio of the engine's fastest algorithm to the system's MPI-IO, measured in alternation in one run. " +
    "Above the line the engine is ahead.";
  return figure({
    title: "Collective access by data block size",
    body: panels(distinct(list.map((p) => p.op)).map((op) => ratioSpec(list, op))),
    caption: caption(
      text,
      list.flatMap((p) => p.blocks),
    ),
    table: () => tableOf(list),
  });
}

function dotFigure(list: Pair[]): HTMLElement {
  const cut = list.length > SHOWN ? `; ${SHOWN} of ${list.length} cases, the table has all` : "";
  const text = `Rates, MB = 10⁶ bytes; behind each row the ratio of engine to system${cut}.`;
  return figure({
    title: "Benchmarks and kernels",
    body: pairDots(list.slice(0, SHOWN)),
    caption: caption(
      text,
      list.flatMap((p) => p.blocks),
    ),
    table: () => tableOf(list),
  });
}

export const compare: View = {
  title: "Engine and system",
  about: "The same work by piolet's MPI-IO and by the MPI's own, and the limit of the place.",
  applies: (report) => pairsOf(report).length > 0,
  render: (report) => {
    const all = pairsOf(report);
    const lines = all.filter((p) => p.line);
    const others = all.filter((p) => !p.line);
    const limit = limitText(report);
    return [
      h("p", { class: "lead" }, sentence(all)),
      ...(limit ? [h("p", {}, limit)] : []),
      ...(lines.length ? [lineFigure(lines)] : []),
      ...(others.length ? [dotFigure(others)] : []),
    ];
  },
};
