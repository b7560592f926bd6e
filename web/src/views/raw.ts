// Raw times against the loop counter, a row for each process (IOT-30): zoom, choose a region, read its statistics.
import uPlot from "uplot";
import type { Series } from "../data";
import { button, chooser, h } from "../dom";
import { caption, figure, type Table, tableOf } from "../figure";
import { digits, time } from "../format";
import { type Choice, selection, selectionControls } from "../selection";
import { binned, type Region, samples, statistics } from "../stats";
import { colour, onTheme } from "../theme";
import type { View } from "../views";
import { tickText } from "../axis";

const ROWS = 8; // processes drawn at a time
let zoom: Region = { from: 0, to: 1 };
let logarithmic = true, firstRow = 0;

function range(choices: Choice[]): [number, number] {
  let low = Infinity, high = -Infinity;
  for (const series of choices.flatMap((choice) => choice.series)) {
    const all = binned(series, { from: 0, to: series.count - 1 }, 400);
    for (let i = 0; i < all.x.length; i++) { low = Math.min(low, all.low[i]); high = Math.max(high, all.high[i]); }
  }
  low = Math.max(low, 1);
  return Number.isFinite(high) ? [logarithmic ? low / 1.3 : 0, Math.max(high, low + 1) * (logarithmic ? 1.3 : 1.05)] : [1, 10];
}

/** Powers of ten inside of the limits, or their ends where there are fewer than two. */
function decades([low, high]: [number, number]): number[] {
  const list: number[] = [];
  for (let e = Math.ceil(Math.log10(low)); 10 ** e <= high; e++) list.push(10 ** e);
  return list.length > 1 ? list : [low, high];
}

/** Columns of uPlot: counter, largest, least, mean. A bin for each pixel at most. */
function columns(series: Series, width: number): [Float64Array, Float64Array, Float64Array, Float64Array] {
  const data = binned(series, zoom, Math.max(50, Math.floor(width)));
  return [data.x, data.high, data.low, data.mean];
}

function options(width: number, height: number, limits: [number, number], title: string, last: boolean): uPlot.Options {
  const paint = (name: string) => () => colour(name);
  const axis = { stroke: paint("ink-2"), grid: { stroke: paint("grid"), width: 1 }, ticks: { stroke: paint("grid"), width: 1, size: 4 }, font: "11px system-ui, sans-serif" };
  return {
    width, height, pxAlign: false,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, sync: { key: "raw" } },
    scales: { x: { time: false, range: () => [zoom.from, Math.max(zoom.to, zoom.from + 1)] }, y: { distr: logarithmic ? 3 : 1, log: 10, range: limits } },
    axes: [
      { ...axis, size: last ? 34 : 10, values: last ? undefined : (_, splits) => splits.map(() => "") },
      { ...axis, size: 62, values: (_, splits) => splits.map((v) => (v === null ? "" : tickText("ns", v))), space: 24, ...(logarithmic ? { splits: () => decades(limits), filter: (_: uPlot, splits: number[]) => splits } : {}) },
    ],
    series: [
      {},
      { label: "largest", stroke: paint("c0-soft"), width: 1, points: { show: false } },
      { label: "least", stroke: paint("c0-soft"), width: 1, points: { show: false } },
      { label: "mean", stroke: paint("c0"), width: 1.2, points: { show: (_, __, i0, i1) => i1 - i0 < width / 4, size: 4, fill: paint("c0") } },
    ],
    bands: [{ series: [1, 2], fill: paint("c0-band") }],
    hooks: {
      setSelect: [(plot) => {
        if (plot.select.width < 3) return;
        selection.select(plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x"));
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
      draw: [(plot) => markRegion(plot, title)],
    },
  };
}

/** The chosen region as a tint, and the name of the row inside of its frame. */
function markRegion(plot: uPlot, title: string): void {
  const { ctx } = plot, ratio = devicePixelRatio;
  const left = Math.max(plot.valToPos(selection.region.from, "x", true), plot.bbox.left);
  const right = Math.min(plot.valToPos(selection.region.to, "x", true), plot.bbox.left + plot.bbox.width);
  ctx.save();
  if (selection.region.from > zoom.from || selection.region.to < zoom.to) {
    ctx.fillStyle = colour("select");
    ctx.fillRect(left, plot.bbox.top, Math.max(1, right - left), plot.bbox.height);
  }
  ctx.fillStyle = colour("ink-2");
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.fillText(title, plot.bbox.left + 6 * ratio, plot.bbox.top + 13 * ratio);
  ctx.restore();
}

function plotRow(series: Series, place: HTMLElement, limits: [number, number], last: boolean): uPlot {
  const width = Math.max(240, place.clientWidth || 700);
  const plot = new uPlot(options(width, last ? 140 : 116, limits, `process ${series.rank}`, last), columns(series, width) as unknown as uPlot.AlignedData, place);
  plot.root.setAttribute("role", "img");
  plot.root.setAttribute("aria-label", `times of process ${series.rank} by operation`);
  return plot;
}

const STATISTICS = ["process", "operations", "mean", "± 90 %", "deviation", "least", "5 %", "median", "95 %", "99 %", "largest"];

function statisticsTable(choice: Choice): Table {
  const rows = choice.series.map((series) => {
    const s = statistics(series, selection.region);
    return [series.rank, s.n, s.mean, s.error, s.deviation, s.min, s.p5, s.median, s.p95, s.p99, s.max];
  });
  return { name: `statistics ${choice.label}`, columns: STATISTICS.map((name, i) => (i > 1 ? `${name} (ns)` : name)), rows };
}

/** The same in units that are short. */
function readable(table: Table): Table {
  return { ...table, columns: STATISTICS, rows: table.rows.map((row) => row.map((cell, i) => (i > 1 ? time(cell as number) : cell))) };
}

function statisticsElement(choice: Choice): HTMLElement {
  const { from, to } = selection.region, table = statisticsTable(choice);
  return h("div", { class: "region", "data-from": from, "data-to": to, "data-ns": JSON.stringify(table.rows) },
    h("p", {}, h("b", {}, `Operations ${digits(from, 9)} to ${digits(to, 9)}`), ` of ${choice.label}`, choice.series.some((s) => s.bin > 1) ? " (from means of neighbours: the file holds too many samples for a page)" : ""),
    tableOf(readable(table)));
}

class RawPlots {
  readonly rows = h("div", { class: "raw-rows" });
  readonly numbers = h("div", {});
  private plots: { plot: uPlot; series: Series; place: HTMLElement }[] = [];

  build(): void {
    for (const { plot } of this.plots) plot.destroy();
    this.plots = [];
    const shown = selection.shown, limits = range(shown);
    zoom = { from: 0, to: selection.count - 1 };
    const sides = shown.map((choice) => {
      const visible = choice.series.slice(firstRow, firstRow + ROWS);
      const side = h("div", { class: "raw-side" }, shown.length > 1 ? h("h4", {}, choice.label) : null);
      for (const series of visible) { const place = h("div", { class: "raw-row" }); side.append(place); this.plots.push({ plot: undefined as unknown as uPlot, series, place }); }
      return side;
    });
    this.rows.className = `raw-rows sides-${sides.length}`;
    this.rows.replaceChildren(...sides);
    requestAnimationFrame(() => {
      for (const row of this.plots) row.plot = plotRow(row.series, row.place, limits, row.place === row.place.parentElement?.lastElementChild);
    });
    this.tell();
  }

  zoomTo(region: Region): void {
    zoom = { from: region.from, to: Math.max(region.to, region.from + 1) };
    this.rows.dataset.zoom = `${zoom.from},${zoom.to}`;
    for (const { plot, series, place } of this.plots) plot?.setData(columns(series, place.clientWidth) as unknown as uPlot.AlignedData);
  }

  redraw(): void { for (const { plot } of this.plots) plot?.redraw(false, true); this.tell(); }

  resize(): void {
    for (const { plot, series, place } of this.plots) {
      if (!plot || plot.width === place.clientWidth || !place.clientWidth) continue;
      plot.setSize({ width: place.clientWidth, height: plot.height });
      plot.setData(columns(series, place.clientWidth) as unknown as uPlot.AlignedData);
    }
  }

  tell(): void { this.numbers.replaceChildren(...selection.shown.map(statisticsElement)); }
}

function tools(plots: RawPlots): HTMLElement {
  const width = () => zoom.to - zoom.from;
  const move = (part: number) => plots.zoomTo({ from: Math.max(0, zoom.from + part * width()), to: Math.min(selection.count - 1, zoom.to + part * width()) });
  return h("div", { class: "controls", role: "toolbar", "aria-label": "zoom" },
    button("Zoom to region", () => plots.zoomTo(selection.region)),
    button("Zoom out", () => plots.zoomTo({ from: Math.max(0, zoom.from - width() / 2), to: Math.min(selection.count - 1, zoom.to + width() / 2) })),
    button("←", () => move(-0.5), { "aria-label": "earlier operations" }), button("→", () => move(0.5), { "aria-label": "later operations" }),
    button("Whole series", () => { selection.select(0, selection.count - 1); plots.zoomTo(selection.region); }),
    chooser("time axis", ["logarithmic", "linear"], 0, (i) => { logarithmic = i === 0; plots.build(); }));
}

function pager(plots: RawPlots): HTMLElement {
  const box = h("div", {});
  const draw = () => {
    const most = Math.max(...selection.shown.map((choice) => choice.series.length));
    firstRow = firstRow < most ? firstRow : 0;
    const pages = Math.ceil(most / ROWS);
    box.replaceChildren(...(pages > 1 ? [chooser("processes", Array.from({ length: pages }, (_, i) => `rows ${i * ROWS + 1}–${Math.min(most, (i + 1) * ROWS)} of ${most}`), firstRow / ROWS, (i) => { firstRow = i * ROWS; plots.build(); })] : []));
  };
  selection.listen(draw);
  draw();
  return box;
}

function rawTable(): Table {
  const most = 200_000; // a CSV of everything would take the browser down
  const rows = selection.shown.flatMap((choice) => choice.series.flatMap((series) => {
    const values = samples(series, selection.region);
    return Array.from(values.subarray(0, most), (ns, i) => [choice.label, series.rank, selection.region.from + i * series.bin, ns]);
  }));
  return { name: "raw times of the region", columns: ["series", "process", "operation", "ns"], rows };
}

export const raw: View = {
  id: "raw", title: "Raw times", about: "Every operation of every process. Drag over a row to choose a region; its statistics stand below.",
  applies: (report) => selection.list(report).length > 0,
  render: (report) => {
    const controls = selectionControls(report), plots = new RawPlots();
    let before = [selection.chosen, selection.compared].join();
    plots.build();
    selection.listen(() => {
      const now = [selection.chosen, selection.compared].join();
      if (now === before) plots.redraw(); else plots.build();
      before = now;
    });
    onTheme(plots.rows, () => plots.redraw());
    new ResizeObserver(() => plots.resize()).observe(plots.rows);
    const where = h("span", {});
    const tell = () => where.replaceChildren(...[caption("Time of each operation against its number in the loop. Where a pixel holds several, the band spans the least to the largest and the line is their mean. ± is 90 % confidence from 20 batches.", selection.shown.map((c) => c.set.block), selection.shown.map((c) => c.set))].flat() as Node[]);
    selection.listen(tell);
    tell();
    return [figure({ title: "Time of each operation", body: [controls, tools(plots), pager(plots), plots.rows, plots.numbers], caption: where, table: rawTable })];
  },
};
