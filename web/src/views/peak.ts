// What the devices give (PHASE-11, PHASE-13): rates by request size and order of access, metadata operations.
import { type ChartSpec, panels } from "../chart";
import { blocksOf } from "../classes";
import {
  type Block,
  distinct,
  fact,
  facts,
  input,
  number,
  param,
  type ParameterSet,
  type Report,
  slowest,
} from "../data";
import { h } from "../dom";
import { figure, type Table, tableFigure } from "../figure";
import { bytes, digits, rate, time } from "../format";
import { caption, fileLabel, joined } from "../origin";
import { bars } from "../rows";
import { statistics, wholeRegion } from "../stats";
import type { View } from "../views";

export interface Measured {
  block: Block;
  set: ParameterSet;
  operation: string;
  access: string;
  request: number;
  direct: boolean;
  rate: number; // MB/s
  place: string;
}

const placeOf = (report: Report, block: Block): string =>
  joined([input(block, "on") ?? fact(block, "filesystem") ?? fileLabel(report, block.file), fact(block, "io_node")]);

/** Each rate of each place: bytes over the time of the slowest process. */
export function measuredRates(report: Report): Measured[] {
  const sets = blocksOf(report, "peak").flatMap((block) => block.sets);
  const all = sets.map((set) => {
    const operation = param(set, "operation") ?? "";
    return {
      block: set.block,
      set,
      operation,
      access: param(set, "access") ?? "",
      request: number(set, "request_bytes"),
      direct: param(set, "direct") === "yes",
      rate: (number(set, "bytes") * 1e3) / (slowest(set).get(`${operation}_time`) ?? NaN),
      place: placeOf(report, set.block),
    };
  });
  return all.filter((item) => Number.isFinite(item.rate));
}

const accessOf = (item: Measured): string => joined([item.access, item.direct && "direct"]);

function rateFigure(list: Measured[]): HTMLElement {
  const accesses = distinct(list.map(accessOf));
  const groups = distinct(list.map((m) => joined([m.operation, m.place])));
  const specs = groups.map((group): ChartSpec => {
    const members = list.filter((m) => joined([m.operation, m.place]) === group).sort((a, b) => a.request - b.request);
    const lines = accesses.map((name, colour) => ({
      name,
      colour,
      points: members.filter((m) => accessOf(m) === name).map((m) => ({ x: m.request, y: m.rate })),
    }));
    return {
      title: group,
      label: `peak ${group}`,
      x: { label: "request size", unit: "bytes", log: true },
      y: { label: "MB/s", unit: "rate", log: true },
      lines: lines.filter((line) => line.points.length),
    };
  });
  const columns = [
    "place",
    "operation",
    "access",
    "request bytes",
    "direct",
    "processes",
    "file bytes",
    "bytes",
    "MB/s",
  ];
  const rows = list.map((m) => [
    m.place,
    m.operation,
    m.access,
    m.request,
    m.direct ? "yes" : "no",
    number(m.set, "processes"),
    number(m.set, "file_bytes"),
    number(m.set, "bytes"),
    m.rate,
  ]);
  const text = "Bytes over the time of the slowest process with its fsync, MB = 10⁶ bytes; same axes everywhere.";
  return figure({
    title: "Rate by request size",
    body: panels(specs),
    caption: caption(
      text,
      list.map((m) => m.block),
    ),
    table: () => ({ name: "peak", columns, rows }),
  });
}

function leadOf(list: Measured[]): HTMLElement {
  const sentences = distinct(list.map((m) => m.operation)).map((operation) => {
    const best = list.filter((m) => m.operation === operation).reduce((a, b) => (b.rate > a.rate ? b : a));
    return `${operation}: ${rate(best.rate)} at most (${best.access}, ${bytes(best.request)}, ${best.place}). `;
  });
  return h("p", { class: "lead" }, sentences);
}

function metadataFigure(report: Report): HTMLElement | null {
  const isMetadata = (set: ParameterSet) => param(set, "kind") !== "device" && !Number.isFinite(number(set, "bytes"));
  const sets = blocksOf(report, "peak").flatMap((block) => block.sets.filter(isMetadata));
  const rows = sets.flatMap((set) =>
    set.series
      .filter((series) => series.unit === "ns" && series.count > 0)
      .map((series) => ({
        set,
        series,
        place: placeOf(report, set.block),
        s: statistics(series, wholeRegion(series)),
      })),
  );
  if (!rows.length) return null;
  const nameOf = (row: (typeof rows)[number]) => param(row.set, "operation") ?? row.series.key;
  const names = distinct(rows.map(nameOf));
  const list = rows.map((row) => {
    const { series, place, s } = row;
    return {
      label: `${nameOf(row)}, process ${series.rank}`,
      group: place,
      value: s.median,
      low: s.p5,
      high: s.p95,
      colour: names.indexOf(nameOf(row)),
      text: `${time(s.median)}   ${digits(1e9 / s.mean, 3)}/s`,
    };
  });
  const table = (): Table => ({
    name: "metadata operations",
    columns: ["place", "operation", "process", "operations", "median ns", "5 % ns", "95 % ns", "mean ns", "per second"],
    rows: rows.map(({ set, series, place, s }) => [
      place,
      param(set, "operation"),
      series.rank,
      s.n,
      s.median,
      s.p5,
      s.p95,
      s.mean,
      1e9 / s.mean,
    ]),
  });
  const text = "Median time of an operation, thin bar from 5 % to 95 %, and operations a second.";
  return figure({
    title: "Metadata operations",
    body: bars(list, "metadata operations"),
    caption: caption(
      text,
      rows.map((row) => row.set.block),
    ),
    table,
  });
}

const PREFIX = "config.";

/** The configuration record of each place (Tables VI, VII). */
export function configurationFigure(report: Report, list: Block[]): HTMLElement | null {
  const names = list.flatMap((block) => block.facts.map(([key]) => key));
  const keys = distinct(names.filter((key) => key.startsWith(PREFIX)));
  if (!keys.length) return null;
  const places = [...new Map(list.map((block) => [placeOf(report, block), block]))];
  const text = "What was found of the file system, its devices and the memory behind each place, or given by the user.";
  return tableFigure("Configurations", caption(text, list), {
    name: "configurations",
    columns: ["configuration", ...places.map(([name]) => name)],
    rows: keys.map((key) => [
      key.slice(PREFIX.length).replaceAll("_", " "),
      ...places.map(([, block]) => facts(block, key).join(", ")),
    ]),
  });
}

export const peak: View = {
  title: "Peak of the devices",
  about: "What each place gives at most, by request size and order of access.",
  applies: (report) => blocksOf(report, "peak").length > 0,
  render: (report) => {
    const list = measuredRates(report);
    const figures = [metadataFigure(report), configurationFigure(report, blocksOf(report, "peak"))];
    return [...(list.length ? [leadOf(list), rateFigure(list)] : []), ...figures.filter((element) => element !== null)];
  },
};
