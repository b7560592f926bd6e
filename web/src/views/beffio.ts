// b_eff_io: its value and verdict, and the document's three diagrams (BIO-9): bandwidth on a log axis against the chunk
// size on a pseudo-logarithmic one, where sizes stand at equal distances and each has its "+8" beside it.
import { type Bar, bars } from "../bars";
import { type ChartSpec, type Line, panels } from "../chart";
import { type Block, derived, type Report, type ResultFile } from "../data";
import { h } from "../dom";
import { caption, figure, type Table } from "../figure";
import { bytes, digits, rate, time } from "../format";
import { systemLabel } from "../systems";
import type { View } from "../views";

interface Partition { file: ResultFile; block: Block; name: string; result: any }

const CHUNKS = ["1k", "1k+8", "32k", "32k+8", "1M", "1M+8", "M_PART"];
const PLACES = [0, 0.35, 1.15, 1.5, 2.3, 2.65, 3.45];
const EXACT = [1024, 1032, 32768, 32776, 2 ** 20, 2 ** 20 + 8];
const TYPES = ["0 strided, scattering", "1 shared pointer", "2 separate files", "3 segmented", "4 segmented, collective", "5 random"];
const METHODS: [string, string][] = [["write", "initial write"], ["rewrite", "rewrite"], ["read", "read"]];

function partitions(report: Report): Partition[] {
  const list = derived(report, "beffio").flatMap(({ file, result }) => result.partitions.map((p: any) => ({ file, p })));
  return list.map(({ file, p }) => {
    const block = file.blocks.find((b: Block) => b.class === "beffio")!;
    return { file, block, result: p, name: [systemLabel(report, block), p.folder, `${p.processes} processes`, p.mpiio].filter(Boolean).join(", ") };
  });
}

/** Bytes over time of a type's patterns with this chunk size that have time units; fill-ups are left out. */
function rateOf(partition: Partition, method: string, type: number, chunk: number): number {
  let moved = 0, ns = 0;
  for (const p of partition.result.patterns) {
    const exact = EXACT.indexOf(p.chunk_bytes), index = exact >= 0 ? exact : 6;
    if (p.method !== method || p.type !== type || p.failed || !p.units || index !== chunk || p.pattern === 33 || p.pattern === 42) continue;
    moved += p.bytes;
    ns += p.time_ns;
  }
  return ns > 0 ? (moved * 1e3) / ns : NaN;
}

function linesOf(partition: Partition, method: string): Line[] {
  const markers = ["circle", "square", "triangle", "diamond"] as const;
  return TYPES.map((name, type) => ({ name: `type ${name}`, colour: type, marker: markers[type % 4], points: CHUNKS.map((_, chunk) => ({ x: PLACES[chunk], y: rateOf(partition, method, type, chunk) })) })).filter((line) => line.points.some((p) => Number.isFinite(p.y)));
}

function diagrams(partition: Partition): ChartSpec[] {
  const names = CHUNKS.map((text, i) => ({ at: PLACES[i], text: text.endsWith("+8") ? "+8" : text, minor: text.endsWith("+8") }));
  return METHODS.map(([method, title]) => ({
    title, label: `b_eff_io, ${title}`, height: 280,
    x: { label: "contiguous chunk on disk", unit: "number", names, min: -0.2, max: 3.65 }, y: { label: "MB/s", unit: "rate", log: true }, lines: linesOf(partition, method),
  }));
}

function verdict(partition: Partition, most: number): HTMLElement {
  const r = partition.result, official = r.verdict === "VALID";
  const list: Bar[] = [{ label: "b_eff_io", value: r.b_eff_io_mb_per_s, text: rate(r.b_eff_io_mb_per_s ?? NaN), colour: 4 }, ...r.methods.map((m: any, i: number) => ({ label: m.method, value: m.value_mb_per_s ?? NaN, text: rate(m.value_mb_per_s ?? NaN), colour: i, note: `${bytes(m.bytes)} moved; ${digits(100 * m.cache_share, 2)} % may be in caches only` }))];
  return h("div", {}, h("h4", {}, partition.name),
    h("p", { class: `verdict ${official ? "good" : "doubtful"}` }, official ? "Official value." : `Not official: ${r.reasons.slice(0, 2).join("; ")}${r.reasons.length > 2 ? ` and ${r.reasons.length - 2} more reasons` : ""}.`),
    bars(list, `values of ${partition.name}`, most),
    h("p", { class: "note" }, `Memory to disk in ${time((r.coffee_cup_minutes ?? NaN) * 60e9)}. By release 2.1's rule: ${rate(r.release_2_1_mb_per_s ?? NaN)}.`));
}

function table(list: Partition[]): Table {
  const keys = ["method", "type", "pattern", "units", "chunk_bytes", "call_bytes", "calls", "bytes", "time_ns", "sync_ns", "decide_ns", "decisions"];
  return { name: "b_eff_io patterns", columns: ["partition", ...keys, "MB/s"], rows: list.flatMap((item) => item.result.patterns.map((p: any) => [item.name, ...keys.map((key) => p[key]), p.time_ns ? (p.bytes * 1e3) / p.time_ns : null])) };
}

export const beffio: View = {
  id: "beffio", title: "b_eff_io", about: "One number for the I/O of a system, and the patterns behind it.",
  applies: (report) => derived(report, "beffio").some(({ result }) => result.partitions.length > 0),
  render: (report) => {
    const list = partitions(report);
    const most = Math.max(...list.flatMap((p) => [p.result.b_eff_io_mb_per_s ?? 0, ...p.result.methods.map((m: any) => m.value_mb_per_s ?? 0)]));
    const all = list.flatMap((partition) => diagrams(partition).map((spec) => ({ ...spec, title: list.length > 1 ? `${spec.title}: ${partition.name}` : spec.title })));
    return [
      figure({ title: "Values and verdict", body: h("div", { class: "columns" }, list.map((p) => verdict(p, most))), caption: caption("25 % initial write, 25 % rewrite, 50 % read; of each the average over pattern types, type 0 counted twice. Bytes over time from open to close.", list.map((p) => p.block)), table: () => ({ name: "b_eff_io values", columns: ["partition", "verdict", "b_eff_io MB/s", "write", "rewrite", "read", "reasons"], rows: list.map((p) => [p.name, p.result.verdict, p.result.b_eff_io_mb_per_s, ...p.result.methods.map((m: any) => m.value_mb_per_s), p.result.reasons.join("; ")]) }) }),
      figure({ title: "The three diagrams", body: panels(all), caption: caption("Bytes of a pattern over its time with MPI_File_sync. Chunk sizes at equal distances; +8 is 8 bytes more, not wellformed.", list.map((p) => p.block)), table: () => table(list) }),
    ];
  },
};
