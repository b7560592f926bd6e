// Our engine against the system's MPI-IO, and what the place could give at most.
import { type DotRow, dots } from "../dots";
import { type ChartSpec, panels } from "../chart";
import { type Block, blocksOf, derived, fact, number, param, type Report } from "../data";
import { h } from "../dom";
import { caption, figure, type Table } from "../figure";
import { bytes, digits, rate } from "../format";
import { placeLabel, systemLabel } from "../systems";
import type { View } from "../views";

/** The same work by both; rates in MB/s. */
interface Pair { source: string; what: string; op: string; system: number; engine: number; by: string; block?: number; line?: string; blocks: Block[]; posix: number }

const isEngine = (mpiio: string | undefined): boolean => (mpiio ?? "").startsWith("piolet");

/** In each cell the engine's fastest, and the system's. */
function fromPiobench(report: Report): Pair[] {
  const pairs: Pair[] = [], tools = derived(report, "piobench");
  for (const { file, result } of tools) {
    const blocks = file.blocks.filter((b) => b.class === "Piobench"), place = placeLabel(report, blocks[0], tools.length > 1), at = place && `, ${place}`;
    const cells = new Map<string, any[]>();
    for (const p of result.points) {
      const key = JSON.stringify([p.op, p.distribution, p.file_bytes, p.block_bytes, p.ranks, p.mpi, p.conditions]);
      cells.set(key, [...(cells.get(key) ?? []), p]);
    }
    for (const points of cells.values()) {
      const system = points.find((p) => p.family === "system" && p.rate_mb_per_s > 0), naive = points.find((p) => p.family === "naive");
      const best = points.filter((p) => p.family !== "system" && p.family !== "naive" && p.rate_mb_per_s > 0).sort((a, b) => b.rate_mb_per_s - a.rate_mb_per_s)[0];
      if (system && best) pairs.push({ source: "piobench", what: `${best.distribution}, ${bytes(best.block_bytes)}, ${best.ranks} ranks${at}`, op: best.op, system: system.rate_mb_per_s, engine: best.rate_mb_per_s, by: best.algorithm, block: best.block_bytes, line: `${best.distribution}, ${best.ranks} ranks${at}`, posix: naive?.rate_mb_per_s ?? NaN, blocks });
    }
  }
  return pairs;
}

function fromGpfs(report: Report): Pair[] {
  const pairs: Pair[] = [];
  for (const { file, result } of derived(report, "gpfs")) {
    const cells = new Map<string, any[]>();
    for (const p of result.points) {
      const { contestant, max_mb_per_s, mean_mb_per_s, sd_mb_per_s, ratio_to_reference, ratio_to_best, reference, overlap, repetitions, failures, ...cell } = p;
      cells.set(JSON.stringify(cell), [...(cells.get(JSON.stringify(cell)) ?? []), p]);
    }
    for (const points of cells.values()) {
      const system = points.find((p) => p.contestant === "system"), posix = points.find((p) => p.contestant === "posix");
      const best = points.filter((p) => p.contestant !== "system" && p.contestant !== "posix" && p.mean_mb_per_s > 0).sort((a, b) => b.mean_mb_per_s - a.mean_mb_per_s)[0];
      if (system?.mean_mb_per_s > 0 && best) pairs.push({ source: "gpfs", what: `${best.benchmark}, ${best.ranks} ranks${best.record_bytes ? `, ${bytes(best.record_bytes)}` : best.block_bytes ? `, ${bytes(best.block_bytes)}` : ""}`, op: best.op, system: system.mean_mb_per_s, engine: best.mean_mb_per_s, by: best.contestant, posix: posix?.mean_mb_per_s ?? NaN, blocks: file.blocks.filter((b) => b.class === "Gpfs") });
    }
  }
  return pairs;
}

/** Kernels and low-level tests that were run on both. */
function fromTests(report: Report): Pair[] {
  const found = new Map<string, { what: string; op: string; rates: Map<boolean, { value: number; mpiio: string; blocks: Block[] }> }>();
  const put = (what: string, op: string, mpiio: string, value: number | null, blocks: Block[]) => {
    if (!(Number(value) > 0)) return;
    const entry = found.get(`${what} ${op}`) ?? { what, op, rates: new Map() };
    entry.rates.set(isEngine(mpiio), { value: Number(value), mpiio, blocks });
    found.set(`${what} ${op}`, entry);
  };
  // Of two systems none is compared with the other: what tells them apart is part of the case.
  const placeOf = (blocks: Block[]) => systemLabel(report, blocks[0]);
  for (const { file, result } of derived(report, "kernel"))
    for (const c of result.cases) {
      const blocks = file.blocks.filter((b) => b.class === "Kernel");
      const hints = Object.entries(c.hints ?? {}).map(([k, v]) => `${k}=${v}`);
      const what = [c.testname, c.size, c.grid, c.distribution, c.collective === "true" && "collective", c.block && `block ${c.block}`, c.update_frac && `update ${c.update_frac}`, ...hints, `${c.nprocs} ranks`, placeOf(blocks) || c.filesystem].filter(Boolean).join(", ");
      for (const m of c.measures) put(what, m.key, c.mpiio, m.rate_mb_per_s, blocks);
    }
  for (const { file, result } of derived(report, "allav"))
    for (const curve of result.curves) {
      const blocks = file.blocks.filter((b) => b.class === "Lowlevel"), op = curve.op === "w" ? "write" : curve.op === "r" ? "read" : curve.op;
      const what = (p: any) => [curve.testname, curve.collective === "true" && "collective", curve.layout && curve.layout !== "strided" && curve.layout, `block ${bytes(p.block_bytes)}`, `file ${bytes(p.file_bytes)}`, `${curve.nprocs} ranks`, placeOf(blocks) || curve.filesystem].filter(Boolean).join(", ");
      for (const p of curve.points) put(what(p), op, curve.mpiio, p.rate_mb_per_s, blocks);
    }
  return [...found.values()].filter((entry) => entry.rates.size === 2).map((entry) => {
    const system = entry.rates.get(false)!, engine = entry.rates.get(true)!;
    return { source: "tests", what: entry.what, op: entry.op, system: system.value, engine: engine.value, by: engine.mpiio, posix: NaN, blocks: [...system.blocks, ...engine.blocks] };
  });
}

function pairs(report: Report): Pair[] {
  return [...fromPiobench(report), ...fromGpfs(report), ...fromTests(report)];
}

/** The device's best rate by operation and system, from Peak blocks: MB/s. */
export function limits(report: Report): { op: string; rate: number; where: string }[] {
  const best = new Map<string, { op: string; rate: number; where: string }>();
  for (const block of blocksOf(report, "Peak"))
    for (const set of block.sets) {
      const op = param(set, "operation") ?? "", slowest = Math.max(0, ...set.times.filter(([, key]) => key === `${op}_time`).map(([, , ns]) => ns));
      const value = slowest > 0 ? (number(set, "bytes") * 1e3) / slowest : NaN;
      const key = `${op} ${placeLabel(report, block, false)}`;
      if (value > (best.get(key)?.rate ?? 0)) best.set(key, { op, rate: value, where: `${fact(block, "filesystem") ?? ""}, ${param(set, "access") ?? ""} ${bytes(number(set, "request_bytes"))}` });
    }
  return [...best.values()];
}

function ratioSpecs(list: Pair[]): ChartSpec[] {
  return [...new Set(list.map((p) => p.op))].map((op) => {
    const names = [...new Set(list.map((p) => p.line!))];
    return {
      title: op, label: `ratio of rates, ${op}`, height: 250, rules: [{ at: 1, text: "as fast as the system's MPI-IO" }],
      x: { label: "data block size", unit: "bytes" as const, log: true }, y: { label: "engine / system", unit: "number" as const, log: true },
      lines: names.map((name, i) => ({ name, colour: i, points: list.filter((p) => p.op === op && p.line === name).sort((a, b) => a.block! - b.block!).map((p) => ({ x: p.block!, y: p.engine / p.system, note: `${p.by}: ${rate(p.engine)}; system: ${rate(p.system)}` })) })).filter((line) => line.points.length),
    };
  });
}

function pairDots(list: Pair[]): HTMLElement {
  const rows: DotRow[] = list.map((p) => ({
    label: `${p.op}: ${p.what}`, text: `${digits(p.engine / p.system, 3)} ×`, note: `engine by ${p.by}`,
    dots: [
      ...(Number.isFinite(p.posix) ? [{ name: "plain POSIX", colour: 2, value: p.posix, text: rate(p.posix) }] : []),
      { name: "system's MPI-IO", colour: 1, value: p.system, text: rate(p.system) },
      { name: "engine", colour: 0, value: p.engine, text: `${rate(p.engine)} by ${p.by}` },
    ],
  }));
  return dots(rows, "rate", "MB/s");
}

function tableOf(list: Pair[]): Table {
  return { name: "engine against system", columns: ["source", "operation", "case", "engine by", "engine MB/s", "system MB/s", "engine / system", "plain POSIX MB/s"], rows: list.map((p) => [p.source, p.op, p.what, p.by, p.engine, p.system, p.engine / p.system, p.posix]) };
}

/** One figure in words: in how many cells who is ahead, and by how much in the middle. */
function words(list: Pair[]): string {
  const ratios = list.map((p) => p.engine / p.system).sort((a, b) => a - b), ahead = ratios.filter((r) => r >= 1).length;
  return `The engine is ahead in ${ahead} of ${list.length} cases; the median ratio is ${digits(ratios[ratios.length >> 1], 3)}, the least ${digits(ratios[0], 3)}, the largest ${digits(ratios[ratios.length - 1], 3)}.`;
}

export const compare: View = {
  id: "compare", title: "Engine and system", about: "The same work by piolet's MPI-IO and by the MPI's own, and the limit of the place.",
  applies: (report) => pairs(report).length > 0,
  render: (report) => {
    const all = pairs(report), lines = all.filter((p) => p.line), others = all.filter((p) => !p.line), most = limits(report);
    const shown = others.slice(0, 40);
    return [
      h("p", { class: "lead" }, words(all)),
      ...(most.length ? [h("p", {}, "The limit, by 'piolet peak': ", most.map((limit) => `${limit.op} ${rate(limit.rate)} (${limit.where})`).join("; "), ".")] : []),
      ...(lines.length ? [figure({ title: "Collective access by data block size", body: panels(ratioSpecs(lines)), caption: caption("Ratio of the engine's fastest algorithm to the system's MPI-IO, measured in alternation in one run. Above the line the engine is ahead.", lines.flatMap((p) => p.blocks)), table: () => tableOf(lines) })] : []),
      ...(shown.length ? [figure({ title: "Benchmarks and kernels", body: pairDots(shown), caption: caption(`Rates, MB = 10⁶ bytes; behind each row the ratio of engine to system${others.length > shown.length ? `; ${shown.length} of ${others.length} cases, the table has all` : ""}.`, others.flatMap((p) => p.blocks)), table: () => tableOf(others) })] : []),
    ];
  },
};
