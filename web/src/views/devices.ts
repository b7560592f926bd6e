// Replayed phases, and what the devices did meanwhile (PHASE-14): the same time axis.
import { type ChartSpec, panels, type Point, type Span } from "../chart";
import { blocksOf } from "../classes";
import {
  type Block,
  cellOf,
  distinct,
  fact,
  groupBy,
  intervalPercent,
  number,
  param,
  type ParameterSet,
  type Report,
  type Series,
} from "../data";
import { chooser, h } from "../dom";
import { figure, type Table } from "../figure";
import { bytes, time } from "../format";
import { caption, fileLabel, joined } from "../origin";
import { type Bar, bars } from "../rows";
import { type Axis, extent } from "../scale";
import type { View } from "../views";
import { configurationFigure } from "./peak";

const kindOf = (set: ParameterSet): string => param(set, "kind") ?? "";
const repetitionOf = (set: ParameterSet): string => param(set, "repetition") ?? "1";
const repetitions = (block: Block): string[] => distinct(block.sets.map(repetitionOf));
const seriesOf = (set: ParameterSet, key: string): Series | undefined => set.series.find((s) => s.key === key);
const devicesOf = (block: Block): ParameterSet[] => block.sets.filter((set) => kindOf(set) === "device");

/** The configuration; where two replays have the same, the files tell them apart. */
function nameOf(report: Report, block: Block): string {
  const name = fact(block, "configuration");
  const same = blocksOf(report, "devices").filter((other) => fact(other, "configuration") === name);
  const unclear = !name || same.some((other) => other.file !== block.file);
  return joined([name, unclear && fileLabel(report, block.file)]);
}

const programTitle = (title: string, block: Block): string => joined([title, fact(block, "program")], ": ");

// ---- activity of devices ----

const POINTS = 600; // more than a screen shows: neighbours are put together
const COUNTERS = ["read", "written", "reads", "writes", "busy", "queue"] as const;

/** A piece of time, and what the counters grew by in it. */
interface Piece extends Record<(typeof COUNTERS)[number], number> {
  from: number;
  to: number;
}

/** The samples in at most POINTS pieces of time. */
function piecesOf(set: ParameterSet): Piece[] {
  const at = seriesOf(set, "at")?.sums ?? new Float64Array(0);
  const step = Math.max(1, Math.ceil(at.length / POINTS));
  const guess = at.length > 1 ? Math.max(0, 2 * at[0] - at[1]) : 0;
  const begin = Number.isFinite(number(set, "begin_ns")) ? number(set, "begin_ns") : guess;
  const sum = (key: string, from: number, end: number): number =>
    Array.from(seriesOf(set, key)?.sums.subarray(from, end) ?? []).reduce((a, b) => a + b, 0);
  return Array.from({ length: Math.ceil(at.length / step) }, (_, i) => {
    const first = i * step;
    const end = Math.min(at.length, first + step);
    const counted = Object.fromEntries(COUNTERS.map((key) => [key, sum(key, first, end)]));
    return { from: first > 0 ? at[first - 1] : begin, to: at[end - 1], ...counted } as Piece;
  });
}

const period = (piece: Piece): number => Math.max(1, piece.to - piece.from);

interface Metric {
  title: string;
  axis: Axis;
  height: number;
  lines: [name: string, colour: number, value: (piece: Piece) => number][];
}

const METRICS: Metric[] = [
  {
    title: "bytes",
    height: 190,
    axis: { label: "MB/s", unit: "rate" },
    lines: [
      ["written", 1, (piece) => (piece.written * 1e3) / period(piece)],
      ["read", 0, (piece) => (piece.read * 1e3) / period(piece)],
    ],
  },
  {
    title: "operations",
    height: 160,
    axis: { label: "operations/s", unit: "count" },
    lines: [
      ["writes", 1, (piece) => (piece.writes * 1e9) / period(piece)],
      ["reads", 0, (piece) => (piece.reads * 1e9) / period(piece)],
    ],
  },
  {
    title: "busy",
    height: 140,
    axis: { label: "busy (%)", unit: "percent", min: 0, max: 100 },
    lines: [["busy", 4, (piece) => Math.min(100, (100 * piece.busy) / period(piece))]],
  },
  {
    title: "queue",
    height: 140,
    axis: { label: "queue length", unit: "number" },
    lines: [["queue", 6, (piece) => piece.queue / period(piece)]],
  },
];

interface Shown {
  name: string;
  pieces: Piece[];
  phases: Span[];
}

function phaseSpans(block: Block, repetition: string): Span[] {
  const isShown = (set: ParameterSet) =>
    kindOf(set) === "phase" && repetitionOf(set) === repetition && Number.isFinite(number(set, "begin_ns"));
  return block.sets
    .filter(isShown)
    .map((set, colour) => ({
      from: number(set, "begin_ns"),
      to: number(set, "end_ns"),
      text: param(set, "phase") ?? "",
      colour,
    }));
}

/** Each sample is level over its period, so that a single one is seen too. */
const levels = (pieces: Piece[], value: (piece: Piece) => number): Point[] =>
  pieces.flatMap((piece) => [piece.from, piece.to].map((x) => ({ x, y: value(piece) })));

/** A row of panels for each metric; all have the same time axis, and those of a row the same other axis. */
function metricRows(list: Shown[]): HTMLElement[] {
  const ends = list.flatMap((item) => [...item.pieces, ...item.phases].map((piece) => piece.to));
  const x: Axis = { label: "time since the start of the replay", unit: "ns", min: 0, max: extent(ends)?.max ?? 1 };
  const specOf = (metric: Metric, item: Shown): ChartSpec => ({
    title: `${metric.title}, ${item.name}`,
    label: `${metric.title} of ${item.name}`,
    height: metric.height,
    spans: item.phases,
    x,
    y: metric.axis,
    lines: metric.lines.map(([name, colour, value]) => {
      return { name, colour, marker: "none", area: true, points: levels(item.pieces, value) };
    }),
  });
  return METRICS.map((metric) => panels(list.map((item) => specOf(metric, item))));
}

function activityTable(report: Report, blocks: Block[]): Table {
  const keys = ["at", ...COUNTERS];
  const rowsOf = (block: Block, set: ParameterSet) =>
    Array.from(seriesOf(set, "at")?.sums ?? [], (_, i) => [
      nameOf(report, block),
      param(set, "device"),
      param(set, "repetition"),
      ...keys.map((key) => seriesOf(set, key)?.sums[i]),
    ]);
  const units = ["at ns", "read B", "written B", "reads", "writes", "busy ns", "queue ns"];
  return {
    name: "device activity",
    columns: ["configuration", "device", "repetition", ...units],
    rows: blocks.flatMap((block) => devicesOf(block).flatMap((set) => rowsOf(block, set))),
  };
}

function activityFigure(report: Report, list: Block[]): HTMLElement | null {
  const sampled = list.filter((block) => devicesOf(block).length > 0);
  if (!sampled.length) return null;
  const turns = distinct(sampled.flatMap(repetitions));
  const place = h("div", { class: "stack" });
  const draw = (turn: number) => {
    const shown = sampled.flatMap((block) => {
      const sets = devicesOf(block).filter((set) => repetitionOf(set) === turns[turn]);
      return sets.map((set) => ({
        name: joined([nameOf(report, block), param(set, "device")], ": "),
        pieces: piecesOf(set),
        phases: phaseSpans(block, turns[turn]),
      }));
    });
    place.replaceChildren(...metricRows(shown));
  };
  draw(0);
  const text =
    "Differences between samples of the kernel's counters of the device. " +
    "Shaded and numbered: the phases as they were replayed.";
  return figure({
    title: programTitle("Device activity", list[0]),
    body: [turns.length > 1 ? h("div", { class: "controls" }, chooser("repetition", turns, 0, draw)) : null, place],
    caption: caption(text, sampled),
    table: () => activityTable(report, sampled),
  });
}

// ---- times of phases ----

const isUnit = (set: ParameterSet): boolean => kindOf(set) === "phase" || kindOf(set) === "call";

/** "phase 1: write_at_all, 42.4 MB × 40". */
function unitTitle(set: ParameterSet): string {
  const step = param(set, "step");
  const call = `${param(set, "operation") ?? "call"}${step ? ` (${step})` : ""}`;
  const what = kindOf(set) === "call" ? call : `phase ${param(set, "phase")}`;
  const weight = number(set, "weight_bytes");
  const times = number(set, "count") > 1 ? ` × ${param(set, "count")}` : "";
  return joined([joined([what, param(set, "operations")], ": "), Number.isFinite(weight) && bytes(weight)]) + times;
}

const KEYS = [
  "kind",
  "phase",
  "step",
  "operation",
  "operations",
  "count",
  "executed",
  "weight_bytes",
  "read_bytes",
  "written_bytes",
  "repetition",
  "total_ns",
  "total_low_ns",
  "total_high_ns",
];

function phaseFigure(report: Report, list: Block[]): HTMLElement | null {
  const barOf = (set: ParameterSet, colour: number): Bar => ({
    group: unitTitle(set),
    label: nameOf(report, set.block),
    value: number(set, "total_ns"),
    low: number(set, "total_low_ns"),
    high: number(set, "total_high_ns"),
    colour,
    text: time(number(set, "total_ns")),
  });
  const all = list.flatMap((block, colour) => {
    const first = repetitions(block).at(0);
    const sets = block.sets.filter((set) => isUnit(set) && repetitionOf(set) === first);
    return sets.filter((set) => Number.isFinite(number(set, "total_ns"))).map((set) => barOf(set, colour));
  });
  if (!all.length) return null;
  const rows = [...groupBy(all, (bar) => bar.group ?? "").values()].flat();
  const text =
    "Estimate for all executions in the program, of the slowest rank, from the first repetition; thin bars are " +
    `${intervalPercent(list[0])} % intervals. The table has all repetitions.`;
  return figure({
    title: programTitle("Replayed phases", list[0]),
    body: bars(rows, "time of replayed phases"),
    caption: caption(text, list),
    table: () => ({
      name: "replay",
      columns: ["configuration", ...KEYS],
      rows: list.flatMap((block) =>
        block.sets.filter(isUnit).map((set) => [nameOf(report, block), ...KEYS.map((key) => cellOf(set, key))]),
      ),
    }),
  });
}

export const devices: View = {
  title: "Replay and devices",
  about: "The program's phases on each configuration, and what the devices did meanwhile.",
  applies: (report) => blocksOf(report, "devices").some((block) => block.sets.length > 0),
  render: (report) => {
    const list = blocksOf(report, "devices");
    const programs = [...groupBy(list, (block) => fact(block, "model_hash") ?? "").values()];
    const figures = programs.flatMap((same) => [phaseFigure(report, same), activityFigure(report, same)]);
    return [...figures, configurationFigure(report, list)].filter((element) => element !== null);
  },
};
