// What benchmarks say in the same way: their quantities, and documents of tables, charts and notes. A benchmark that
// this page has never heard of is shown by these alone.
import { panels } from "../chart";
import { classOf, labelOf } from "../classes";
import {
  type Block,
  distinct,
  type DocumentChart,
  type DocumentTable,
  type ParameterSet,
  type Quantity,
  type Report,
  type ResultDocument,
  type ResultFile,
  slowest,
} from "../data";
import { h } from "../dom";
import { type Cell, figure, type Table, tableFigure, tableOf } from "../figure";
import { measure } from "../format";
import { caption, fileLabel, joined, systemLabel } from "../origin";
import { dots } from "../rows";
import type { Axis, Unit } from "../scale";
import type { Card, View } from "../views";

/** The block that a quantity or a document comes from: by its id, or the first of its class. */
const blockOf = (file: ResultFile, name: string): Block | undefined =>
  file.blocks.find((block) => block.id === name) ?? file.blocks.find((block) => block.class === name);

const isKnown = (block: Block | undefined): boolean => block !== undefined && classOf(block) !== undefined;

const titleOf = (label: string, unit: string): string => (unit ? `${label} (${unit})` : label);

// ---- documents ----

const UNITS: Record<string, Unit | undefined> = {
  B: "bytes",
  bytes: "bytes",
  ns: "ns",
  "%": "percent",
  "MB/s": "rate",
  count: "count",
};
const SELF_EXPLAINING: Unit[] = ["bytes", "ns"]; // their ticks have units

function axisOf(axis: DocumentChart["x"]): Axis {
  const unit = UNITS[axis.unit] ?? "number";
  const label = SELF_EXPLAINING.includes(unit) ? axis.label : titleOf(axis.label, axis.unit);
  return { label, unit, log: axis.log };
}

/** Where a point's x is a text, all x are cases in their order, and get rows. */
function chartBody(chart: DocumentChart): HTMLElement {
  const all = chart.series.flatMap((series) => series.points);
  if (all.some(([x]) => typeof x === "string")) return caseRows(chart, distinct(all.map(([x]) => String(x))));
  const lines = chart.series.map(({ name, points }, colour) => ({
    name,
    colour,
    dashed: colour >= 8,
    points: points.map(([x, y, low, high]) => ({ x: Number(x), y, low, high })),
  }));
  return panels([{ label: chart.title, x: axisOf(chart.x), y: axisOf(chart.y), lines }]);
}

function caseRows(chart: DocumentChart, cases: string[]): HTMLElement {
  const { label, unit } = axisOf(chart.y);
  const dotsOf = (name: string) =>
    chart.series.flatMap((series, colour) =>
      series.points
        .filter(([x]) => String(x) === name)
        .map(([, value, low, high]) => ({
          name: series.name,
          colour,
          value,
          low,
          high,
          text: measure(value, chart.y.unit),
        })),
    );
  const rows = cases.map((name) => {
    const found = dotsOf(name);
    // more than a phone has room for stand in the table
    return { label: name, dots: found, text: found.length > 3 ? "" : found.map((dot) => dot.text).join("   ") };
  });
  return dots(rows, unit, label);
}

function chartTable(chart: DocumentChart): Table {
  const [x, y] = [titleOf(chart.x.label, chart.x.unit), titleOf(chart.y.label, chart.y.unit)];
  const rows = chart.series.flatMap(({ name, points }) => points.map((point): Cell[] => [name, ...point]));
  return { name: chart.title, columns: ["series", x, y, "low", "high"], rows };
}

function tableFrom(table: DocumentTable): Table {
  const { columns, rows, title, key } = table;
  const inUnits = (unit: string) =>
    unit === "ns" || unit === "B" ? (value: number) => measure(value, unit) : undefined;
  return {
    name: title || key,
    columns: columns.map((column) => titleOf(column.label || column.key, inUnits(column.unit) ? "" : column.unit)),
    show: columns.map((column) => inUnits(column.unit)),
    rows,
  };
}

/** Everything that a benchmark says about a result. */
function documentElements(report: Report, file: ResultFile, document: ResultDocument): HTMLElement[] {
  const block = blockOf(file, document.block);
  const blocks = block ? [block] : file.blocks;
  const where = joined([systemLabel(report, block), report.files.length > 1 && fileLabel(report, file)]);
  const origin = (text: string) => caption(`${joined([document.title, text], ": ")}.`, blocks);
  const hasIntervals = (chart: DocumentChart) =>
    chart.series.some((series) => series.points.some(([, , , high]) => Number.isFinite(high)));
  const charts = document.charts.map((chart) =>
    figure({
      title: chart.title || document.title,
      body: chartBody(chart),
      caption: origin(
        `${chart.y.label} by ${chart.x.label}${hasIntervals(chart) ? "; bars are the benchmark's intervals" : ""}`,
      ),
      table: () => chartTable(chart),
    }),
  );
  const tables = document.tables.map((table) =>
    tableFigure(table.title || table.key, origin(table.title), tableFrom(table)),
  );
  const notes = h(
    "ul",
    {},
    document.notes.map((note) => h("li", {}, note)),
  );
  return [
    h("h3", { class: "document-title" }, joined([document.title, where], " · ")),
    ...(document.notes.length ? [h("div", { class: "findings" }, notes)] : []),
    ...charts,
    ...tables,
  ];
}

/** Documents of benchmarks that have a view of their own: there for those who want them, drawn when opened. */
function moreDocuments(report: Report, list: { file: ResultFile; document: ResultDocument }[]): HTMLElement[] {
  if (!list.length) return [];
  return list.map(({ file, document }) => {
    const place = h("div", { class: "stack" });
    const details = h("details", {}, h("summary", {}, `${document.title}, as its benchmark wrote it`), place);
    details.addEventListener("toggle", () => {
      if (details.open && !place.firstChild) place.append(...documentElements(report, file, document));
    });
    return details;
  });
}

// ---- blocks without a document ----

/** A block of an unknown class whose benchmark wrote no document: its sets as they are. */
function blockFigure(report: Report, block: Block): HTMLElement {
  const times = (set: ParameterSet) => slowest(set);
  const params = distinct(block.sets.flatMap((set) => set.params.map(([key]) => key)));
  const keys = distinct(block.sets.flatMap((set) => [...times(set).keys()]));
  const value = (set: ParameterSet, key: string): Cell => {
    const text = set.params.find((pair) => pair[0] === key)?.[1];
    return text !== undefined && text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  };
  return tableFigure(
    joined([`${labelOf(block)} ${block.testname}`, report.files.length > 1 && fileLabel(report, block.file)]),
    caption("Parameters of each set, and times of the slowest rank.", [block]),
    {
      name: `${block.class} ${block.testname}`,
      columns: [
        "set",
        ...params.map((key) => key.replaceAll("_", " ")),
        ...keys.map((key) => key.replaceAll("_", " ")),
      ],
      show: [undefined, ...params.map(() => undefined), ...keys.map(() => (ns: number) => measure(ns, "ns"))],
      rows: block.sets.map((set) => [
        set.set,
        ...params.map((key) => value(set, key)),
        ...keys.map((key) => times(set).get(key)),
      ]),
    },
  );
}

function hasDocument(block: Block): boolean {
  return block.file.documents.some((document) => {
    const own = blockOf(block.file, document.block);
    return own === block || own?.class === block.class;
  });
}

// ---- quantities ----

interface Named {
  file: ResultFile;
  block: Block | undefined;
  quantity: Quantity;
}

const quantitiesOf = (report: Report): Named[] =>
  report.files.flatMap((file) =>
    file.quantities.map((quantity) => ({ file, quantity, block: blockOf(file, quantity.block) })),
  );

const benchmarkOf = ({ block, quantity }: Named): string => (block ? labelOf(block) : quantity.block);

function intervalText({ low, high, unit }: Quantity): string {
  return Number.isFinite(low) && Number.isFinite(high) ? `${measure(low, unit)} to ${measure(high, unit)}` : "";
}

const QUANTITY = ["file", "benchmark", "quantity", "settings"];

function quantityFigure(report: Report, list: Named[]): HTMLElement {
  const head = (item: Named): Cell[] => [
    fileLabel(report, item.file),
    benchmarkOf(item),
    item.quantity.what,
    item.quantity.settings,
  ];
  const better = (item: Named) => (item.quantity.lower_is_better ? "lower" : "higher");
  const units = new Map<Cell[], string>();
  const rows = list.map((item): Cell[] => {
    const { value, unit, made } = item.quantity;
    const row = [...head(item), value, intervalText(item.quantity), better(item), made];
    units.set(row, unit);
    return row;
  });
  const full = (): Table => ({
    name: "quantities",
    columns: [...QUANTITY, "value", "unit", "low", "high", "better is", "made"],
    rows: list.map((item) => {
      const { value, unit, low, high, made } = item.quantity;
      return [...head(item), value, unit, low, high, better(item), made];
    }),
  });
  const columns = [...QUANTITY, "value", "interval", "better is", "made"];
  const show = columns.map((name) =>
    name === "value" ? (value: number, row: Cell[]) => measure(value, units.get(row) ?? "") : undefined,
  );
  const blocks = list.map((item) => item.block).filter((block) => block !== undefined);
  return figure({
    title: "Quantities",
    body: tableOf({ name: "quantities", columns, rows, show }),
    caption: caption("Every number to which a benchmark gives a name.", blocks),
    table: full,
  });
}

// ---- the view ----

const documentsOf = (report: Report) =>
  report.files.flatMap((file) => file.documents.map((document) => ({ file, document })));

const unknownBlocks = (report: Report): Block[] =>
  report.blocks.filter((block) => !classOf(block) && block.sets.length > 0 && !hasDocument(block));

/** Of an unknown benchmark the first quantities; known ones have cards of their own. */
function cards(report: Report): Card[] {
  const unknown = quantitiesOf(report).filter((item) => !isKnown(item.block));
  return distinct(unknown.map(benchmarkOf)).map((label) => {
    const own = unknown.filter((item) => benchmarkOf(item) === label);
    const entries = own.map(({ quantity }, i) => ({
      value: measure(quantity.value, quantity.unit),
      where: joined([quantity.what, quantity.settings]),
      verdict: intervalText(quantity) || undefined,
      size: -i,
    }));
    return { label, entries };
  });
}

export const results: View = {
  title: "Results",
  about: "Quantities, tables and charts as the benchmarks wrote them.",
  applies: (report) => documentsOf(report).length + quantitiesOf(report).length + unknownBlocks(report).length > 0,
  render: (report) => {
    const all = documentsOf(report);
    const isOwn = ({ file, document }: (typeof all)[number]) => isKnown(blockOf(file, document.block));
    const quantities = quantitiesOf(report);
    return [
      ...all.filter((item) => !isOwn(item)).flatMap((item) => documentElements(report, item.file, item.document)),
      ...unknownBlocks(report).map((block) => blockFigure(report, block)),
      ...(quantities.length ? [quantityFigure(report, quantities)] : []),
      ...moreDocuments(report, all.filter(isOwn)),
    ];
  },
  cards,
};
