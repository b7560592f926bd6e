// b_eff_io: its value and verdict, and the document's three diagrams (BIO-9): bandwidth on a log axis against the chunk
// size on a pseudo-logarithmic one, where sizes stand at equal distances and each has its "+8" beside it.
import { type ChartSpec, type Line, panels } from "../chart";
import { derived } from "../classes";
import type { BeffioPartition } from "../analysis";
import { type Block, type Report } from "../data";
import { h } from "../dom";
import { figure, type Table } from "../figure";
import { bytes, digits, rate, time } from "../format";
import { caption, fileLabel, joined, systemLabel } from "../origin";
import { type Bar, bars } from "../rows";
import { extent } from "../scale";
import type { Entry, View } from "../views";

interface Partition {
  blocks: Block[];
  name: string;
  result: BeffioPartition;
}

// In the order of the tool's chunk numbers.
const CHUNKS: { text: string; at: number; minor?: boolean }[] = [
  { text: "1k", at: 0 },
  { text: "+8", at: 0.35, minor: true },
  { text: "32k", at: 1.15 },
  { text: "+8", at: 1.5, minor: true },
  { text: "1M", at: 2.3 },
  { text: "+8", at: 2.65, minor: true },
  { text: "M_PART", at: 3.45 }, // of any size
];
const TYPES = [
  "strided, scattering",
  "shared pointer",
  "separate files",
  "segmented",
  "segmented, collective",
  "random",
];
const MARKERS = ["circle", "square", "triangle", "diamond"] as const;
const METHODS: [key: string, title: string][] = [
  ["write", "initial write"],
  ["rewrite", "rewrite"],
  ["read", "read"],
];

function partitionsOf(report: Report): Partition[] {
  return derived(report, "beffio").flatMap(({ blocks, result }) =>
    result.partitions.map((p) => ({
      blocks,
      result: p,
      name: joined([systemLabel(report, blocks[0]), p.folder, `${p.processes} processes`, p.mpiio]),
    })),
  );
}

// ---- diagrams ----

/** The point of a diagram, as the tool computed it; MB/s. */
function rateOf({ result }: Partition, method: string, type: number, chunk: number): number {
  const point = result.diagrams.find((p) => p.method === method && p.type === type && p.chunk === chunk);
  return point ? point.rate_mb_per_s : NaN;
}

function diagram(partition: Partition, [method, title]: (typeof METHODS)[number], many: boolean): ChartSpec {
  const lines = TYPES.map((name, type): Line => ({
    name: `type ${type} ${name}`,
    colour: type,
    marker: MARKERS[type % MARKERS.length],
    points: CHUNKS.map((chunk, i) => ({ x: chunk.at, y: rateOf(partition, method, type, i) })),
  }));
  return {
    title: many ? `${title}: ${partition.name}` : title,
    label: `b_eff_io, ${title}`,
    height: 280,
    x: { label: "contiguous chunk on disk", unit: "number", names: CHUNKS, min: -0.2, max: 3.65 },
    y: { label: "MB/s", unit: "rate", log: true },
    lines: lines.filter((line) => line.points.some((p) => Number.isFinite(p.y))),
  };
}

const KEYS = [
  "method",
  "type",
  "pattern",
  "units",
  "chunk_bytes",
  "call_bytes",
  "calls",
  "bytes",
  "time_ns",
  "sync_ns",
  "decide_ns",
  "decisions",
  "rate_mb_per_s",
] as const;

function patternTable(list: Partition[]): Table {
  const rows = list.flatMap(({ name, result }) => result.patterns.map((p) => [name, ...KEYS.map((key) => p[key])]));
  return { name: "b_eff_io patterns", columns: ["partition", ...KEYS], rows };
}

function diagramFigure(list: Partition[]): HTMLElement {
  const specs = list.flatMap((p) => METHODS.map((method) => diagram(p, method, list.length > 1)));
  const blocks = list.flatMap((p) => p.blocks);
  const text =
    "Bytes of a pattern over its time with MPI_File_sync. Chunk sizes at equal distances; " +
    "+8 is 8 bytes more, not wellformed.";
  return figure({
    title: "The three diagrams",
    body: panels(specs),
    caption: caption(text, blocks),
    table: () => patternTable(list),
  });
}

// ---- values ----

function barsOf({ result }: Partition): Bar[] {
  const value = result.b_eff_io_mb_per_s;
  const methods = result.methods.map((m, colour) => ({
    label: m.method,
    value: m.value_mb_per_s,
    text: rate(m.value_mb_per_s),
    colour,
    note: `${bytes(m.bytes)} moved; up to ${digits(100 * m.cache_share, 2)} % may be in caches only`,
  }));
  return [{ label: "b_eff_io", value, text: rate(value), colour: 4 }, ...methods];
}

function reasonText(reasons: string[]): string {
  const more = reasons.length > 2 ? ` and ${reasons.length - 2} more reasons` : "";
  return `Not official: ${reasons.slice(0, 2).join("; ")}${more}.`;
}

// By the document's definition alone. What caches may have hidden is another statement.
const isOfficial = (result: BeffioPartition): boolean => result.verdict === "OFFICIAL";

function cacheText(result: BeffioPartition): string {
  if (!result.caches.length) return "Each method moved at least 20 times what caches can hold.";
  return `Caches: ${result.caches.join("; ")}.`;
}

function releaseText(result: BeffioPartition): string {
  const value = rate(result.release_2_1_mb_per_s);
  const kept = result.release_2_1_kept_mb_per_s;
  if (result.release === "2.1") return `By release 2.1's schedule and average: ${value}.`;
  if (kept === result.release_2_1_mb_per_s) return `By release 2.1's average: ${value}, files kept.`;
  return `By release 2.1's average: ${value} with its delete in the close of a read, ${rate(kept)} without.`;
}

function verdict(partition: Partition, most: number | undefined): HTMLElement {
  const { result, name } = partition;
  const official = isOfficial(result);
  const text = official ? "Official value." : reasonText(result.reasons);
  const coffee = time(result.coffee_cup_minutes * 60e9);
  return h(
    "div",
    {},
    h("h4", {}, name),
    h("p", { class: `verdict ${official ? "good" : "doubtful"}` }, text),
    bars(barsOf(partition), `values of ${name}`, most),
    h("p", { class: "note" }, cacheText(result)),
    result.warnings.map((warning) => h("p", { class: "note" }, `${warning}.`)),
    h("p", { class: "note" }, `Memory to disk in ${coffee}. ${releaseText(result)}`),
  );
}

function valueFigure(list: Partition[]): HTMLElement {
  const most = extent(list.flatMap(barsOf).map((bar) => bar.value))?.max;
  const methodValue = (result: BeffioPartition, method: string) =>
    result.methods.find((m) => m.method === method)?.value_mb_per_s;
  const rows = list.map(({ name, result }) => [
    name,
    result.verdict,
    result.b_eff_io_mb_per_s,
    ...METHODS.map(([key]) => methodValue(result, key)),
    result.release_2_1_mb_per_s,
    result.reasons.join("; "),
    result.caches.join("; "),
    result.warnings.join("; "),
  ]);
  const columns = [
    "partition",
    "verdict",
    "b_eff_io MB/s",
    ...METHODS.map(([key]) => key),
    "release 2.1 MB/s",
    "reasons",
    "caches",
    "warnings",
  ];
  const text =
    "25 % initial write, 25 % rewrite, 50 % read; of each the average over pattern types, type 0 counted twice. " +
    "Bytes over time from open to close.";
  return figure({
    title: "Values and verdict",
    body: h(
      "div",
      { class: "columns" },
      list.map((p) => verdict(p, most)),
    ),
    caption: caption(
      text,
      list.flatMap((p) => p.blocks),
    ),
    table: () => ({ name: "b_eff_io values", columns, rows }),
  });
}

function entryOf({ name, result }: Partition): Entry {
  const good = isOfficial(result);
  return {
    value: rate(result.b_eff_io_mb_per_s),
    size: result.b_eff_io_mb_per_s,
    where: name,
    verdict: good ? "official" : `not official: ${result.reasons.at(0) ?? "see below"}`,
    good,
  };
}

export const beffio: View = {
  title: "b_eff_io",
  about: "One number for the I/O of a system, and the patterns behind it.",
  applies: (report) => partitionsOf(report).length > 0,
  render: (report) => {
    const list = partitionsOf(report);
    return [valueFigure(list), diagramFigure(list)];
  },
  cards: (report) => [{ label: "b_eff_io", entries: partitionsOf(report).map(entryOf) }],
  remarks: (report) =>
    derived(report, "beffio").flatMap(({ file, result }) =>
      result.partitions.flatMap((p) => {
        const where = fileLabel(report, file);
        return [
          ...p.reasons.map((text) => ({ level: "note" as const, text: `b_eff_io is not official: ${text}`, where })),
          ...p.caches.map((text) => ({ level: "note" as const, text: `b_eff_io and caches: ${text}`, where })),
          ...p.warnings.map((text) => ({ level: "warning" as const, text: `b_eff_io: ${text}`, where })),
        ];
      }),
    ),
};
