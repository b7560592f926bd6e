// Predictions (PHASE-11, PHASE-12): which configuration is fastest, phase by phase, with usage and errors.
import { blocksOf } from "../classes";
import {
  type Block,
  cellOf,
  distinct,
  fact,
  intervalPercent,
  number,
  param,
  type ParameterSet,
  type Report,
} from "../data";
import { h } from "../dom";
import { type Cell, figure, type Table, tableOf } from "../figure";
import { bytes, digits, time } from "../format";
import { caption, fileLabel, joined } from "../origin";
import { bars } from "../rows";
import type { Entry, View } from "../views";

const setsOf = (block: Block, kind: string): ParameterSet[] => block.sets.filter((set) => param(set, "kind") === kind);
const configurationOf = (set: ParameterSet): string => param(set, "configuration") ?? "";
const configurations = (block: Block): string[] => distinct(block.sets.map(configurationOf));

/** "TITLE, FILE" where the page holds several predictions. */
const titleOf = (report: Report, block: Block, title: string): string =>
  joined([title, blocksOf(report, "prediction").length > 1 && fileLabel(report, block.file)]);

// ---- ranking ----

function reasonOf(set: ParameterSet): HTMLElement | null {
  const reason = param(set, "reason");
  const tie = param(set, "tie_with");
  if (!reason && !tie) return null;
  return h("li", {}, h("b", {}, configurationOf(set)), ": ", reason, tie ? ` No sure difference to ${tie}.` : "");
}

const RANKING = ["place", "configuration", "time_ns", "time_low_ns", "time_high_ns", "tie_with", "decides", "reason"];

function ranking(report: Report, block: Block): HTMLElement | null {
  const order = (set: ParameterSet) => number(set, "place");
  const totals = setsOf(block, "total").sort(
    (a, b) => order(a) - order(b) || number(a, "time_ns") - number(b, "time_ns"),
  );
  if (!totals.length) return null;
  const list = totals.map((set) => ({
    label: `${param(set, "place") ?? "–"}. ${configurationOf(set)}`,
    value: number(set, "time_ns"),
    low: number(set, "time_low_ns"),
    high: number(set, "time_high_ns"),
    colour: param(set, "place") === "1" ? 2 : 0,
    text: time(number(set, "time_ns")),
    note: param(set, "reason"),
  }));
  const program = fact(block, "program");
  const level = intervalPercent(block);
  const text = `Estimated I/O time of the whole program, the shortest first; thin bars are ${level} % intervals.`;
  return figure({
    title: titleOf(report, block, `Ranking${program ? `: ${program}` : ""}`),
    body: [bars(list, "estimated I/O time"), h("ul", { class: "reasons" }, totals.map(reasonOf))],
    caption: caption(text, [block]),
    table: () => ({
      name: "ranking",
      columns: RANKING.map((key) => key.replaceAll("_", " ")),
      rows: totals.map((set) => RANKING.map((key) => cellOf(set, key))),
    }),
  });
}

// ---- phase by phase ----

const megabytes = (value: number): string => digits(value / 1e6);
const percent = (value: number): string => digits(value, 2);

const COLUMNS: [key: string, title: string, show: (value: number) => string][] = [
  ["weight_bytes", "weight", (value) => bytes(value)],
  ["count", "count", (value) => digits(value, 6)],
  ["time_ns", "time", (value) => time(value)],
  ["bw_ch_bytes_per_s", "BW_CH MB/s", megabytes],
  ["bw_pk_bytes_per_s", "BW_PK MB/s", megabytes],
  ["bw_pk_plain_bytes_per_s", "BW_PK plain MB/s", megabytes],
  ["usage_percent", "usage %", (value) => digits(value)],
  ["measured_ns", "measured", (value) => time(value)],
  ["measured_bw_bytes_per_s", "BW_MD MB/s", megabytes],
  ["error_bw_percent", "error on BW %", percent],
  ["error_time_percent", "error on time %", percent],
  ["noise_percent", "noise of runs %", percent],
  ["replay_noise_percent", "noise of replays %", percent],
];

/** Phases, then the calls outside of them and the whole program: the table adds up. */
const rowsOf = (block: Block): ParameterSet[] => ["phase", "calls", "total"].flatMap((kind) => setsOf(block, kind));

function rowName(set: ParameterSet): string {
  const kind = param(set, "kind");
  return kind === "phase" ? (param(set, "phase") ?? "") : kind === "calls" ? "other calls" : "whole program";
}

const wordsOf = (set: ParameterSet): string =>
  param(set, "words") ?? param(set, "operations")?.replaceAll(",", ", ") ?? "";

const ERROR_MARKED = 10; // percent

function phaseTable(block: Block, configuration: string): HTMLElement {
  const sets = rowsOf(block).filter((set) => configurationOf(set) === configuration);
  const used = COLUMNS.filter(([key]) => sets.some((set) => Number.isFinite(number(set, key))));
  const classOf = (row: Cell[], column: number) => {
    if (column === 1) return "words";
    const isError = used.at(column - 2)?.[0].startsWith("error") && column > 1;
    return isError && Math.abs(Number(row[column])) > ERROR_MARKED ? "off" : undefined;
  };
  const table: Table = {
    name: configuration,
    columns: ["phase", "what", ...used.map(([, title]) => title), "method"],
    show: [undefined, undefined, ...used.map(([, , show]) => show)],
    classOf,
    rows: sets.map((set) => [
      rowName(set),
      wordsOf(set),
      ...used.map(([key]) => number(set, key)),
      param(set, "method") ?? "",
    ]),
  };
  return h("div", {}, h("h4", {}, configuration), tableOf(table));
}

function wholeTable(block: Block): Table {
  const first = ["kind", "configuration", "phase", "words", "operations"];
  const keys = [...first, ...COLUMNS.map(([key]) => key), "time_low_ns", "time_high_ns", "method"];
  return { name: "prediction", columns: keys, rows: rowsOf(block).map((set) => keys.map((key) => cellOf(set, key))) };
}

function phaseFigure(report: Report, block: Block): HTMLElement {
  const text =
    "BW_CH: bandwidth of the replayed phase; BW_PK: peak of the devices for its operations; usage: their ratio; " +
    `errors: against the program's own run. Marked: more than ${ERROR_MARKED} %.`;
  return figure({
    title: titleOf(report, block, "Phase by phase"),
    body: configurations(block).map((name) => phaseTable(block, name)),
    caption: caption(text, [block]),
    table: () => wholeTable(block),
  });
}

function usageFigure(report: Report, block: Block): HTMLElement | null {
  const sets = setsOf(block, "phase").filter((set) => Number.isFinite(number(set, "usage_percent")));
  if (!sets.length) return null;
  const names = configurations(block);
  const list = sets.map((set) => ({
    group: joined([`phase ${param(set, "phase")}`, param(set, "words")], ": "),
    label: configurationOf(set),
    value: number(set, "usage_percent"),
    text: `${digits(number(set, "usage_percent"))} %`,
    colour: names.indexOf(configurationOf(set)),
  }));
  list.sort((a, b) => a.group.localeCompare(b.group, undefined, { numeric: true }));
  const text =
    "Bandwidth of the phase over the peak of the devices (equation 5). A low value says that another configuration " +
    "or another way of access could be faster; a value far above 100 % says that memory, not the devices, took or " +
    "gave the bytes.";
  return figure({
    title: titleOf(report, block, "Usage of the devices"),
    body: bars(list, "usage", Math.max(100, ...list.map((bar) => bar.value))),
    caption: caption(text, [block]),
    table: () => wholeTable(block),
  });
}

/** A configuration alone is not the best of any. */
function entries(report: Report): Entry[] {
  const blocks = blocksOf(report, "prediction");
  return blocks.flatMap((block) => {
    const totals = setsOf(block, "total");
    return totals.map((set) => {
      const place = param(set, "place");
      const best = totals.length > 1 && place === "1";
      const file = blocks.length > 1 && fileLabel(report, block.file);
      return {
        value: time(number(set, "time_ns")),
        size: -number(set, "time_ns"),
        where: joined([file, fact(block, "program"), configurationOf(set)], " · "),
        verdict: totals.length > 1 ? (best ? "best" : `place ${place ?? "–"}`) : undefined,
        good: best || undefined,
      };
    });
  });
}

export const prediction: View = {
  title: "Prediction",
  about: "How long the program's I/O would take on each configuration, and why.",
  applies: (report) => blocksOf(report, "prediction").some((block) => block.sets.length > 0),
  render: (report) =>
    blocksOf(report, "prediction")
      .flatMap((block) => [ranking(report, block), usageFigure(report, block), phaseFigure(report, block)])
      .filter((element) => element !== null),
  cards: (report) => [{ label: "Predicted I/O time", entries: entries(report) }],
};
