// What the devices give (PHASE-11, PHASE-13): rates by request size and order of access, metadata operations.
import { type Bar, bars } from "../bars";
import { type ChartSpec, panels } from "../chart";
import { type Block, blocksOf, fact, fileLabel, input, number, param, type ParameterSet, type Report } from "../data";
import { h } from "../dom";
import { caption, figure, type Table } from "../figure";
import { bytes, digits, rate, time } from "../format";
import { statistics, wholeRegion } from "../stats";
import type { View } from "../views";

interface Measured { block: Block; set: ParameterSet; operation: string; access: string; request: number; direct: boolean; rate: number; place: string }

const placeOf = (report: Report, block: Block): string => [input(block, "on") ?? fact(block, "filesystem") ?? fileLabel(report, block.file), fact(block, "io_node")].filter(Boolean).join(", ");

function measured(report: Report): Measured[] {
  return blocksOf(report, "Peak").flatMap((block) => block.sets.flatMap((set) => {
    const operation = param(set, "operation") ?? "", slowest = Math.max(0, ...set.times.filter(([, key]) => key === `${operation}_time`).map(([, , ns]) => ns));
    if (!(slowest > 0) || !Number.isFinite(number(set, "bytes"))) return [];
    return [{ block, set, operation, access: param(set, "access") ?? "", request: number(set, "request_bytes"), direct: param(set, "direct") === "yes", rate: (number(set, "bytes") * 1e3) / slowest, place: placeOf(report, block) }];
  }));
}

function specs(list: Measured[]): ChartSpec[] {
  const groups = [...new Set(list.map((m) => `${m.place}\n${m.operation}`))];
  const accesses = [...new Set(list.map((m) => m.access + (m.direct ? ", direct" : "")))];
  return groups.map((group) => ({
    title: group.split("\n").reverse().join(", "), label: `peak ${group}`, height: 250,
    x: { label: "request size", unit: "bytes" as const, log: true }, y: { label: "MB/s", unit: "rate" as const, log: true },
    lines: accesses.map((access, i) => ({ name: access, colour: i, points: list.filter((m) => `${m.place}\n${m.operation}` === group && m.access + (m.direct ? ", direct" : "") === access).sort((a, b) => a.request - b.request).map((m) => ({ x: m.request, y: m.rate })) })).filter((line) => line.points.length),
  }));
}

function metadata(report: Report): { bars: Bar[]; blocks: Block[]; table: Table } {
  const rows = blocksOf(report, "Peak").flatMap((block) => block.sets.filter((set) => param(set, "kind") !== "device" && !Number.isFinite(number(set, "bytes"))).flatMap((set) => set.series.filter((series) => series.unit === "ns" && series.count > 0).map((series) => ({ block, set, series, s: statistics(series, wholeRegion(series)) }))));
  return {
    blocks: rows.map((row) => row.block),
    bars: rows.map((row, i) => ({ label: `${param(row.set, "operation") ?? row.series.key}, process ${row.series.rank}`, group: placeOf(report, row.block), value: row.s.median, low: row.s.p5, high: row.s.p95, colour: i, text: `${time(row.s.median)}   ${digits(1e9 / row.s.mean, 3)}/s` })),
    table: { name: "metadata operations", columns: ["place", "operation", "process", "operations", "median ns", "5 % ns", "95 % ns", "mean ns", "per second"], rows: rows.map((row) => [placeOf(report, row.block), param(row.set, "operation"), row.series.rank, row.s.n, row.s.median, row.s.p5, row.s.p95, row.s.mean, 1e9 / row.s.mean]) },
  };
}

/** The configuration record of each place (Tables VI, VII). */
export function configuration(report: Report, list: Block[]): HTMLElement | null {
  const keys = [...new Set(list.flatMap((block) => block.facts.filter(([key]) => key.startsWith("config.")).map(([key]) => key)))];
  if (!keys.length) return null;
  const places = [...new Map(list.map((block) => [placeOf(report, block), block]))];
  const value = (block: Block, key: string) => block.facts.filter((pair) => pair[0] === key).map((pair) => pair[1]).join(", ");
  return figure({ title: "Configurations", caption: caption("What was found of the file system, its devices and the memory behind each place, or given by the user.", list), table: () => ({ name: "configurations", columns: ["key", ...places.map(([name]) => name)], rows: keys.map((key) => [key.slice(7), ...places.map(([, block]) => value(block, key))]) }), body: h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "configurations" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "configuration"), places.map(([name]) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, keys.map((key) => h("tr", {}, h("th", { scope: "row" }, key.slice(7).replaceAll("_", " ")), places.map(([, block]) => h("td", {}, value(block, key)))))))) });
}

export const peak: View = {
  id: "peak", title: "Peak of the devices", about: "What each place gives at most, by request size and order of access.",
  applies: (report) => blocksOf(report, "Peak").length > 0,
  render: (report) => {
    const list = measured(report), small = metadata(report), record = configuration(report, blocksOf(report, "Peak"));
    return [
      ...(list.length ? [figure({ title: "Rate by request size", body: panels(specs(list)), caption: caption("Bytes over the time of the slowest process with its fsync, MB = 10⁶ bytes; same axes everywhere.", list.map((m) => m.block)), table: () => ({ name: "peak", columns: ["place", "operation", "access", "request bytes", "direct", "processes", "file bytes", "bytes", "MB/s"], rows: list.map((m) => [m.place, m.operation, m.access, m.request, m.direct ? "yes" : "no", number(m.set, "processes"), number(m.set, "file_bytes"), number(m.set, "bytes"), m.rate]) }) })] : []),
      ...(list.length ? [h("p", { class: "lead" }, [...new Set(list.map((m) => m.operation))].map((operation) => { const best = list.filter((m) => m.operation === operation).sort((a, b) => b.rate - a.rate)[0]; return `${operation}: ${rate(best.rate)} at most (${best.access}, ${bytes(best.request)}, ${best.place}). `; }))] : []),
      ...(small.bars.length ? [figure({ title: "Metadata operations", body: bars(small.bars, "metadata operations"), caption: caption("Median time of an operation, thin bar from 5 % to 95 %, and operations a second.", small.blocks), table: () => small.table })] : []),
      ...(record ? [record] : []),
    ];
  },
};
