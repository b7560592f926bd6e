// Predictions (PHASE-11, PHASE-12): which configuration is fastest, phase by phase, with usage and errors.
import { type Bar, bars } from "../bars";
import { type Block, blocksOf, fact, fileLabel, number, param, type ParameterSet, type Report } from "../data";
import { h } from "../dom";
import { caption, figure, type Table } from "../figure";
import { bytes, digits, time } from "../format";
import type { View } from "../views";

const setsOf = (block: Block, kind: string): ParameterSet[] => block.sets.filter((set) => param(set, "kind") === kind);
const configurations = (block: Block): string[] => [...new Set(block.sets.map((set) => param(set, "configuration") ?? ""))];
const megabytes = (value: number): number => value / 1e6;

/** ", FILE" where the page holds several predictions. */
const sourceOf = (report: Report, block: Block): string => (blocksOf(report, "Prediction").length > 1 ? `, ${fileLabel(report, block.file)}` : "");

function ranking(report: Report, block: Block): HTMLElement | null {
  const totals = [...setsOf(block, "total")].sort((a, b) => number(a, "place") - number(b, "place") || number(a, "time_ns") - number(b, "time_ns"));
  if (!totals.length) return null;
  const list: Bar[] = totals.map((set) => ({
    label: `${param(set, "place") ?? "–"}. ${param(set, "configuration") ?? ""}`, value: number(set, "time_ns"), low: number(set, "time_low_ns"), high: number(set, "time_high_ns"),
    colour: param(set, "place") === "1" ? 2 : 0, text: time(number(set, "time_ns")), note: param(set, "reason"),
  }));
  const reasons = totals.filter((set) => param(set, "reason") || param(set, "tie_with")).map((set) => h("li", {}, h("b", {}, param(set, "configuration") ?? ""), ": ", param(set, "reason") ?? "", param(set, "tie_with") ? ` No sure difference to ${param(set, "tie_with")}.` : ""));
  return figure({
    title: `Ranking${fact(block, "program") ? `: ${fact(block, "program")}` : ""}${sourceOf(report, block)}`, body: [bars(list, "estimated I/O time"), reasons.length ? h("ul", { class: "reasons" }, reasons) : null],
    caption: caption("Estimated I/O time of the whole program, the shortest first; thin bars are 95 % intervals.", [block]),
    table: () => ({ name: "ranking", columns: ["place", "configuration", "time ns", "low ns", "high ns", "tie with", "decides", "reason"], rows: totals.map((set) => [number(set, "place"), param(set, "configuration"), number(set, "time_ns"), number(set, "time_low_ns"), number(set, "time_high_ns"), param(set, "tie_with"), param(set, "decides"), param(set, "reason")]) }),
  });
}

const COLUMNS: [key: string, title: string, show: (value: number) => string][] = [
  ["weight_bytes", "weight", (v) => bytes(v)], ["count", "count", (v) => digits(v, 6)], ["time_ns", "time", (v) => time(v)],
  ["bw_ch_bytes_per_s", "BW_CH MB/s", (v) => digits(megabytes(v))], ["bw_pk_bytes_per_s", "BW_PK MB/s", (v) => digits(megabytes(v))], ["bw_pk_plain_bytes_per_s", "BW_PK plain MB/s", (v) => digits(megabytes(v))],
  ["usage_percent", "usage %", (v) => digits(v)], ["measured_ns", "measured", (v) => time(v)], ["measured_bw_bytes_per_s", "BW_MD MB/s", (v) => digits(megabytes(v))],
  ["error_bw_percent", "error on BW %", (v) => digits(v, 2)], ["error_time_percent", "error on time %", (v) => digits(v, 2)], ["noise_percent", "noise of runs %", (v) => digits(v, 2)], ["replay_noise_percent", "noise of replays %", (v) => digits(v, 2)],
];

/** Phases, then the calls outside of them and the whole program: the table adds up. */
const rowsOf = (block: Block): ParameterSet[] => ["phase", "calls", "total"].flatMap((kind) => setsOf(block, kind));
const rowName = (set: ParameterSet): string => (param(set, "kind") === "phase" ? param(set, "phase") ?? "" : param(set, "kind") === "calls" ? "other calls" : "whole program");

function phaseTable(block: Block, configuration: string): HTMLElement {
  const sets = rowsOf(block).filter((set) => (param(set, "configuration") ?? "") === configuration);
  const used = COLUMNS.filter(([key]) => sets.some((set) => Number.isFinite(number(set, key))));
  return h("div", {}, h("h4", {}, configuration), h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": configuration }, h("table", { class: "dense" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "phase"), h("th", { scope: "col" }, "what"), used.map(([, title]) => h("th", { scope: "col", class: "num" }, title)), h("th", { scope: "col" }, "method"))),
    h("tbody", {}, sets.map((set) => h("tr", {}, h("th", { scope: "row" }, rowName(set)), h("td", { class: "words" }, param(set, "words") ?? param(set, "operations")?.replaceAll(",", ", ") ?? ""),
      used.map(([key, , show]) => h("td", { class: `num${key.startsWith("error") && Math.abs(number(set, key)) > 10 ? " off" : ""}` }, Number.isFinite(number(set, key)) ? show(number(set, key)) : "")), h("td", {}, param(set, "method") ?? "")))))));
}

function wholeTable(block: Block): Table {
  const keys = ["kind", "configuration", "phase", "words", "operations", ...COLUMNS.map(([key]) => key), "time_low_ns", "time_high_ns", "method"];
  return { name: "prediction", columns: keys, rows: rowsOf(block).map((set) => keys.map((key) => (Number.isFinite(number(set, key)) ? number(set, key) : param(set, key)))) };
}

function usage(report: Report, block: Block): HTMLElement | null {
  const sets = setsOf(block, "phase").filter((set) => Number.isFinite(number(set, "usage_percent")));
  if (!sets.length) return null;
  const names = configurations(block);
  const list: Bar[] = sets.map((set) => ({ group: `phase ${param(set, "phase")}${param(set, "words") ? `: ${param(set, "words")}` : ""}`, label: param(set, "configuration") ?? "", value: number(set, "usage_percent"), text: `${digits(number(set, "usage_percent"))} %`, colour: names.indexOf(param(set, "configuration") ?? "") })).sort((a, b) => a.group.localeCompare(b.group, undefined, { numeric: true }));
  return figure({ title: `Usage of the devices${sourceOf(report, block)}`, body: bars(list, "usage", Math.max(100, ...list.map((bar) => bar.value))), caption: caption("Bandwidth of the phase over the peak of the devices (equation 5). A low value says that another configuration or another way of access could be faster; a value far above 100 % says that memory, not the devices, took or gave the bytes.", [block]), table: () => wholeTable(block) });
}

export const prediction: View = {
  id: "prediction", title: "Prediction", about: "How long the program's I/O would take on each configuration, and why.",
  applies: (report: Report) => blocksOf(report, "Prediction").some((block) => block.sets.length > 0),
  render: (report) => blocksOf(report, "Prediction").flatMap((block) => [
    ranking(report, block), usage(report, block),
    figure({ title: `Phase by phase${sourceOf(report, block)}`, body: configurations(block).map((name) => phaseTable(block, name)), caption: caption("BW_CH: bandwidth of the replayed phase; BW_PK: peak of the devices for its operations; usage: their ratio; errors: against the program's own run. Marked: more than 10 %.", [block]), table: () => wholeTable(block) }),
  ]).filter((element): element is HTMLElement => element !== null),
};
