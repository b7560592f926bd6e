// Raw times against the loop counter, a row for each process (IOT-30): zoom, choose a region, read its statistics.
import uPlot from "uplot";
import type { Series } from "../data";
import { button, chooser, h } from "../dom";
import { figure, type Table, tableOf } from "../figure";
import { digits, time } from "../format";
import { makeScale, tickText } from "../scale";
import { type Choice, regionCaption, selection, selectionControls } from "../selection";
import { binned, type Region, samples, statistics, wholeRegion } from "../stats";
import { colour, onTheme } from "../theme";
import type { View } from "../views";

const ROWS = 8; // processes drawn at a time
let zoom: Region = { from: 0, to: 1 };
let logarithmic = true;
let firstRow = 0;

type Limits = [low: number, high: number];

function limitsOf(choices: Choice[]): Limits {
  let low = Infinity;
  let high = -Infinity;
  for (const series of choices.flatMap((choice) => choice.series)) {
    const all = binned(series, wholeRegion(series), 400);
    for (let i = 0; i < all.x.length; i++) {
      low = Math.min(low, all.low[i]);
      high = Math.max(high, all.high[i]);
    }
  }
  if (!Number.isFinite(high)) return [1, 10];
  low = Math.max(low, 1);
  return [logarithmic ? low / 1.3 : 0, Math.max(high, low + 1) * (logarithmic ? 1.3 : 1.05)];
}

/** Columns of uPlot: counter, largest, least, mean. A bin for each pixel at most. */
function columns(series: Series, width: number): uPlot.AlignedData {
  const data = binned(series, zoom, Math.max(50, Math.floor(width)));
  return [data.x, data.high, data.low, data.mean];
}

// ---- one row ----

function axesOf(limits: Limits, last: boolean): uPlot.Axis[] {
  const ink = () => colour("ink-2");
  const line = () => colour("grid");
  const common = {
    stroke: ink,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 4 },
    font: "11px system-ui, sans-serif",
  };
  const [min, max] = limits;
  const scale = makeScale({ label: "", unit: "ns", log: logarithmic, min, max }, [], 3);
  return [
    { ...common, size: last ? 34 : 10, values: last ? undefined : (_, splits) => splits.map(() => "") },
    {
      ...common,
      size: 62,
      splits: () => scale.ticks.map((tick) => tick.at),
      filter: (_, splits) => splits,
      values: (_, splits) => splits.map((value) => tickText("ns", value)),
    },
  ];
}

function seriesOf(width: number): uPlot.Series[] {
  const paint = (name: string) => () => colour(name);
  const edge = { stroke: paint("c0-soft"), width: 1, points: { show: false } };
  const points: uPlot.Series.Points = {
    show: (_plot, _series, first, last) => last - first < width / 4,
    size: 4,
    fill: paint("c0"),
  };
  return [
    {},
    { ...edge, label: "largest" },
    { ...edge, label: "least" },
    { label: "mean", stroke: paint("c0"), width: 1.2, points },
  ];
}

/** A drag over a row chooses a region. */
function takeSelection(plot: uPlot): void {
  const { left, width } = plot.select;
  if (width < 3) return;
  selection.select(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

/** The chosen region as a tint, and the name of the row inside of its frame. */
function markRegion(plot: uPlot, title: string): void {
  const { ctx, bbox } = plot;
  const { from, to } = selection.region;
  ctx.save();
  if (from > zoom.from || to < zoom.to) {
    const left = Math.max(plot.valToPos(from, "x", true), bbox.left);
    const right = Math.min(plot.valToPos(to, "x", true), bbox.left + bbox.width);
    ctx.fillStyle = colour("select");
    ctx.fillRect(left, bbox.top, Math.max(1, right - left), bbox.height);
  }
  ctx.fillStyle = colour("ink-2");
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.fillText(title, bbox.left + 6 * devicePixelRatio, bbox.top + 13 * devicePixelRatio);
  ctx.restore();
}

function plotRow(series: Series, place: HTMLElement, limits: Limits, last: boolean): uPlot {
  const width = Math.max(240, place.clientWidth || 700);
  const title = `process ${series.rank}`;
  const options: uPlot.Options = {
    width,
    height: last ? 140 : 116,
    pxAlign: false,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, sync: { key: "raw" } },
    scales: {
      x: { time: false, range: () => [zoom.from, Math.max(zoom.to, zoom.from + 1)] },
      y: { distr: logarithmic ? 3 : 1, log: 10, range: limits },
    },
    axes: axesOf(limits, last),
    series: seriesOf(width),
    bands: [{ series: [1, 2], fill: () => colour("c0-band") }],
    hooks: { setSelect: [takeSelection], draw: [(plot) => markRegion(plot, title)] },
  };
  const plot = new uPlot(options, columns(series, width), place);
  plot.root.setAttribute("role", "img");
  plot.root.setAttribute("aria-label", `times of ${title} by operation`);
  return plot;
}

// ---- statistics of the region ----

const STATISTICS = [
  "process",
  "operations",
  "mean",
  "± 90 %",
  "deviation",
  "least",
  "5 %",
  "median",
  "95 %",
  "99 %",
  "largest",
];

function statisticsTable(choice: Choice): Table {
  const rows = choice.series.map((series) => {
    const s = statistics(series, selection.region);
    return [series.rank, s.n, s.mean, s.error, s.deviation, s.min, s.p5, s.median, s.p95, s.p99, s.max];
  });
  const show = STATISTICS.map((_, column) => (column > 1 ? (ns: number) => time(ns) : undefined));
  return { name: `statistics ${choice.label}`, columns: STATISTICS, show, rows };
}

function statisticsElement(choice: Choice): HTMLElement {
  const { from, to } = selection.region;
  const table = statisticsTable(choice);
  const isBinned = choice.series.some((series) => series.bin > 1);
  const remark = isBinned ? " (from means of neighbours: the file holds too many samples for a page)" : "";
  return h(
    "div",
    { class: "region", "data-from": from, "data-to": to, "data-ns": JSON.stringify(table.rows) },
    h("p", {}, h("b", {}, `Operations ${digits(from, 9)} to ${digits(to, 9)}`), ` of ${choice.label}`, remark),
    tableOf(table),
  );
}

// ---- all rows ----

interface Row {
  series: Series;
  place: HTMLElement;
  plot?: uPlot; // when the row has got a width
}

class RawPlots {
  readonly rows = h("div", { class: "raw-rows" });
  readonly numbers = h("div", {});
  private list: Row[] = [];

  build(): void {
    for (const row of this.list) row.plot?.destroy();
    this.list = [];
    const { shown } = selection;
    const limits = limitsOf(shown);
    zoom = { from: 0, to: selection.count - 1 };
    const sides = shown.map((choice) => {
      const visible = choice.series.slice(firstRow, firstRow + ROWS);
      const own = visible.map((series) => ({ series, place: h("div", { class: "raw-row" }) }));
      this.list.push(...own);
      const title = shown.length > 1 ? h("h4", {}, choice.label) : null;
      return h(
        "div",
        { class: "raw-side" },
        title,
        own.map((row) => row.place),
      );
    });
    this.rows.className = `raw-rows sides-${sides.length}`;
    this.rows.replaceChildren(...sides);
    requestAnimationFrame(() => {
      for (const row of this.list)
        row.plot ??= plotRow(row.series, row.place, limits, row.place === row.place.parentElement?.lastElementChild);
    });
    this.tell();
  }

  zoomTo(region: Region): void {
    const last = selection.count - 1;
    const from = Math.max(0, region.from);
    zoom = { from, to: Math.max(Math.min(last, region.to), from + 1) };
    this.rows.dataset.zoom = `${zoom.from},${zoom.to}`;
    for (const { plot, series, place } of this.list) plot?.setData(columns(series, place.clientWidth));
  }

  redraw(): void {
    for (const { plot } of this.list) plot?.redraw(false, true);
    this.tell();
  }

  resize(): void {
    for (const { plot, series, place } of this.list) {
      const width = place.clientWidth;
      if (!plot || plot.width === width || !width) continue;
      plot.setSize({ width, height: plot.height });
      plot.setData(columns(series, width));
    }
  }

  private tell(): void {
    this.numbers.replaceChildren(...selection.shown.map(statisticsElement));
  }
}

function tools(plots: RawPlots): HTMLElement {
  const grow = (left: number, right: number) => {
    const width = zoom.to - zoom.from;
    plots.zoomTo({ from: zoom.from + left * width, to: zoom.to + right * width });
  };
  const showAll = () => {
    selection.select(0, selection.count - 1);
    plots.zoomTo(selection.region);
  };
  const chooseAxis = (index: number) => {
    logarithmic = index === 0;
    plots.build();
  };
  return h(
    "div",
    { class: "controls", role: "toolbar", "aria-label": "zoom" },
    button("Zoom to region", () => plots.zoomTo(selection.region)),
    button("Zoom out", () => grow(-0.5, 0.5)),
    button("←", () => grow(-0.5, -0.5), { "aria-label": "earlier operations" }),
    button("→", () => grow(0.5, 0.5), { "aria-label": "later operations" }),
    button("Whole series", showAll),
    chooser("time axis", ["logarithmic", "linear"], 0, chooseAxis),
  );
}

/** Of many processes some rows at a time. */
function pager(plots: RawPlots): HTMLElement {
  const box = h("div", {});
  const choose = (page: number) => {
    firstRow = page * ROWS;
    plots.build();
  };
  const draw = () => {
    const most = Math.max(...selection.shown.map((choice) => choice.series.length));
    firstRow = firstRow < most ? firstRow : 0;
    const pages = Array.from({ length: Math.ceil(most / ROWS) }, (_, i) => {
      return `rows ${i * ROWS + 1}–${Math.min(most, (i + 1) * ROWS)} of ${most}`;
    });
    box.replaceChildren(...(pages.length > 1 ? [chooser("processes", pages, firstRow / ROWS, choose)] : []));
  };
  selection.listen(draw);
  draw();
  return box;
}

const CSV_MOST = 200_000; // of a process: a CSV of everything would take the browser down

function rawTable(): Table {
  const rowsOf = (choice: Choice, series: Series) =>
    Array.from(samples(series, selection.region).subarray(0, CSV_MOST), (ns, i) => [
      choice.label,
      series.rank,
      selection.region.from + i * series.bin,
      ns,
    ]);
  const rows = selection.shown.flatMap((choice) => choice.series.flatMap((series) => rowsOf(choice, series)));
  return { name: "raw times of the region", columns: ["series", "process", "operation", "ns"], rows };
}

const CAPTION =
  "Time of each operation against its number in the loop. Where a pixel holds several, the band spans the least " +
  "to the largest and the line is their mean. ± is 90 % confidence from 20 batches.";

export const raw: View = {
  title: "Raw times",
  about: "Every operation of every process. Drag over a row to choose a region; its statistics stand below.",
  applies: (report) => selection.list(report).length > 0,
  render: (report) => {
    const controls = selectionControls(report);
    const plots = new RawPlots();
    const chosen = () => [selection.chosen, selection.compared].join();
    let before = chosen();
    plots.build();
    selection.listen(() => {
      if (chosen() === before) plots.redraw();
      else plots.build();
      before = chosen();
    });
    onTheme(plots.rows, () => plots.redraw());
    new ResizeObserver(() => plots.resize()).observe(plots.rows);
    return [
      figure({
        title: "Time of each operation",
        body: [controls, tools(plots), pager(plots), plots.rows, plots.numbers],
        caption: regionCaption(() => CAPTION),
        table: rawTable,
      }),
    ];
  },
};
