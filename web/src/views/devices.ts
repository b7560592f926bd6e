// Replayed phases, and what the devices did meanwhile (PHASE-14): the same time axis.
import { type Bar, bars } from "../bars";
import type { Axis } from "../axis";
import { type ChartSpec, panels, type Span } from "../chart";
import { type Block, blocksOf, fact, fileLabel, number, param, type ParameterSet, type Report } from "../data";
import { chooser, h } from "../dom";
import { caption, figure, type Table } from "../figure";
import { bytes, time } from "../format";
import type { View } from "../views";
import { configuration } from "./peak";

const POINTS = 600; // more than a screen shows: neighbours are put together

const isPhase = (set: ParameterSet): boolean => param(set, "kind") === "phase" || param(set, "kind") === "call";
const seriesOf = (set: ParameterSet, key: string) => set.series.find((series) => series.key === key);
/** The configuration; where two replays have the same, the files tell them apart. */
function nameOf(report: Report, block: Block): string {
  const name = fact(block, "configuration"), same = blocksOf(report, "Replay").filter((other) => fact(other, "configuration") === name);
  return !name ? fileLabel(report, block.file) : same.some((other) => other.file !== block.file) ? `${name}, ${fileLabel(report, block.file)}` : name;
}
const repetitions = (block: Block): string[] => [...new Set(block.sets.map((set) => param(set, "repetition") ?? "1"))];
const unitOf = (set: ParameterSet): string => (param(set, "kind") === "call" ? `${param(set, "operation") ?? "call"}${param(set, "step") ? ` (${param(set, "step")})` : ""}` : `phase ${param(set, "phase")}`);

function spans(block: Block, repetition: string): Span[] {
  return block.sets.filter((set) => param(set, "kind") === "phase" && (param(set, "repetition") ?? "1") === repetition && Number.isFinite(number(set, "begin_ns")))
    .map((set, i) => ({ from: number(set, "begin_ns"), to: number(set, "end_ns"), text: param(set, "phase") ?? "", colour: i }));
}

interface Activity { at: number[]; columns: Record<string, number[]>; period: number[] }

/** Sums of the samples in at most POINTS pieces of time. */
function activity(set: ParameterSet, keys: string[]): Activity {
  const at = seriesOf(set, "at")?.sums ?? new Float64Array(0), step = Math.max(1, Math.ceil(at.length / POINTS));
  const begin = Number.isFinite(number(set, "begin_ns")) ? number(set, "begin_ns") : at.length > 1 ? Math.max(0, 2 * at[0] - at[1]) : 0;
  const out: Activity = { at: [], period: [], columns: Object.fromEntries(keys.map((key) => [key, []])) };
  for (let i = 0; i < at.length; i += step) {
    const end = Math.min(at.length, i + step), before = i > 0 ? at[i - 1] : begin;
    out.at.push(at[end - 1]);
    out.period.push(Math.max(1, at[end - 1] - before));
    for (const key of keys) { let sum = 0; const values = seriesOf(set, key)?.sums; for (let k = i; values && k < end; k++) sum += values[k]; out.columns[key].push(sum); }
  }
  return out;
}

interface Shown { name: string; activity: Activity; marks: Span[] }

const METRICS: { title: string; axis: Axis; height: number; lines: [name: string, colour: number, value: (a: Activity, i: number) => number][] }[] = [
  { title: "bytes", height: 190, axis: { label: "MB/s", unit: "rate" }, lines: [["written", 1, (a, i) => (a.columns.written[i] * 1e3) / a.period[i]], ["read", 0, (a, i) => (a.columns.read[i] * 1e3) / a.period[i]]] },
  { title: "operations", height: 160, axis: { label: "operations/s", unit: "count" }, lines: [["writes", 1, (a, i) => (a.columns.writes[i] * 1e9) / a.period[i]], ["reads", 0, (a, i) => (a.columns.reads[i] * 1e9) / a.period[i]]] },
  { title: "busy", height: 140, axis: { label: "busy (%)", unit: "percent", min: 0, max: 100 }, lines: [["busy", 4, (a, i) => Math.min(100, (100 * a.columns.busy[i]) / a.period[i])]] },
  { title: "queue", height: 140, axis: { label: "queue length", unit: "number" }, lines: [["queue", 6, (a, i) => a.columns.queue[i] / a.period[i]]] },
];

/** A device of a configuration in one repetition; null: it was not sampled. */
function shownOf(report: Report, block: Block, device: string, repetition: string): Shown | null {
  const set = block.sets.find((s) => param(s, "kind") === "device" && param(s, "device") === device && (param(s, "repetition") ?? "1") === repetition);
  return set ? { name: `${nameOf(report, block)}: ${device}`, activity: activity(set, ["read", "written", "reads", "writes", "busy", "queue"]), marks: spans(block, repetition) } : null;
}

/** Each sample is level over its period, so that a single one is seen too. */
function levels(activity: Activity, value: (a: Activity, i: number) => number): { x: number; y: number }[] {
  return activity.at.flatMap((end, i) => [end - activity.period[i], end].map((x) => ({ x, y: value(activity, i) })));
}

/** A row of panels for each metric; all have the same time axis, and those of a row the same other axis. */
function metricRows(list: Shown[]): HTMLElement[] {
  const max = Math.max(1, ...list.flatMap((item) => [...item.activity.at, ...item.marks.map((mark) => mark.to)]));
  return METRICS.map((metric) => panels(list.map((item): ChartSpec => ({
    title: `${metric.title}, ${item.name}`, label: `${metric.title} of ${item.name}`, height: metric.height, spans: item.marks,
    x: { label: "time since the start of the replay", unit: "ns", min: 0, max }, y: metric.axis,
    lines: metric.lines.map(([name, colour, value]) => ({ name, colour, marker: "none", area: true, points: levels(item.activity, value) })),
  }))));
}

function activityTable(report: Report, block: Block): Table {
  const keys = ["at", "read", "written", "reads", "writes", "busy", "queue"];
  const rows = block.sets.filter((set) => param(set, "kind") === "device").flatMap((set) => Array.from(seriesOf(set, "at")?.sums ?? [], (_, i) => [nameOf(report, block), param(set, "device"), param(set, "repetition"), ...keys.map((key) => seriesOf(set, key)?.sums[i])]));
  return { name: "device activity", columns: ["configuration", "device", "repetition", "at ns", "read B", "written B", "reads", "writes", "busy ns", "queue ns"], rows };
}

function activityFigure(report: Report, list: Block[]): HTMLElement | null {
  const sampled = list.filter((block) => block.sets.some((set) => param(set, "kind") === "device"));
  if (!sampled.length) return null;
  const turns = [...new Set(sampled.flatMap(repetitions))], place = h("div", { class: "stack" });
  const devicesOf = (block: Block) => [...new Set(block.sets.filter((set) => param(set, "kind") === "device").map((set) => param(set, "device") ?? ""))];
  const draw = (turn: number) => place.replaceChildren(...metricRows(sampled.flatMap((block) => devicesOf(block).map((device) => shownOf(report, block, device, turns[turn]))).filter((item): item is Shown => item !== null)));
  draw(0);
  return figure({
    title: `Device activity${fact(list[0], "program") ? `: ${fact(list[0], "program")}` : ""}`, body: [turns.length > 1 ? h("div", { class: "controls" }, chooser("repetition", turns, 0, draw)) : null, place],
    caption: caption("Differences between samples of the kernel's counters of the device. Shaded and numbered: the phases as they were replayed.", sampled),
    table: () => { const tables = sampled.map((block) => activityTable(report, block)); return { ...tables[0], rows: tables.flatMap((table) => table.rows) }; },
  });
}

function phaseFigure(report: Report, list: Block[]): HTMLElement | null {
  const names = list.map((block) => nameOf(report, block));
  const rows: Bar[] = list.flatMap((block, b) => block.sets.filter((set) => isPhase(set) && (param(set, "repetition") ?? "1") === repetitions(block)[0] && Number.isFinite(number(set, "total_ns"))).map((set) => ({
    group: `${unitOf(set)}${param(set, "operations") ? `: ${param(set, "operations")}` : ""}${Number.isFinite(number(set, "weight_bytes")) ? `, ${bytes(number(set, "weight_bytes"))}` : ""}${number(set, "count") > 1 ? ` × ${param(set, "count")}` : ""}`,
    label: names[b], value: number(set, "total_ns"), low: number(set, "total_low_ns"), high: number(set, "total_high_ns"), colour: b, text: time(number(set, "total_ns")),
  })));
  if (!rows.length) return null;
  const order = [...new Set(rows.map((row) => row.group!))];
  rows.sort((a, b) => order.indexOf(a.group!) - order.indexOf(b.group!));
  const keys = ["kind", "phase", "step", "operation", "operations", "count", "executed", "weight_bytes", "read_bytes", "written_bytes", "repetition", "total_ns", "total_low_ns", "total_high_ns"];
  return figure({
    title: `Replayed phases${fact(list[0], "program") ? `: ${fact(list[0], "program")}` : ""}`, body: bars(rows, "time of replayed phases"),
    caption: caption("Estimate for all executions in the program, of the slowest rank, from the first repetition; thin bars are 95 % intervals. The table has all repetitions.", list),
    table: () => ({ name: "replay", columns: ["configuration", ...keys], rows: list.flatMap((block, b) => block.sets.filter(isPhase).map((set) => [names[b], ...keys.map((key) => (Number.isFinite(number(set, key)) ? number(set, key) : param(set, key)))])) }),
  });
}

export const devices: View = {
  id: "devices", title: "Replay and devices", about: "The program's phases on each configuration, and what the devices did meanwhile.",
  applies: (report) => blocksOf(report, "Replay").some((block) => block.sets.length > 0),
  render: (report) => {
    const list = blocksOf(report, "Replay"), programs = [...new Set(list.map((block) => fact(block, "model_hash") ?? ""))];
    const record = configuration(report, list);
    const figures = programs.flatMap((hash) => { const same = list.filter((block) => (fact(block, "model_hash") ?? "") === hash); return [phaseFigure(report, same), activityFigure(report, same)]; });
    return [...figures, record].filter((element): element is HTMLElement => !!element);
  },
};
