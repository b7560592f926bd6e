// Distribution and cumulative distribution of the times of the chosen region, a curve for each process (IOT-31).
import { type ChartSpec, type Line, panels } from "../chart";
import { chooser, h } from "../dom";
import { caption, figure, type Table } from "../figure";
import { type Choice, selection, selectionControls } from "../selection";
import { samples } from "../stats";
import type { View } from "../views";

const BINS = 80, CURVES = 8;

interface Curve { name: string; sorted: Float64Array }

/** A curve for each process; of many processes, all together and those with the least and largest median. */
function curvesOf(choice: Choice): Curve[] {
  const list = choice.series.map((series) => ({ name: `process ${series.rank}`, sorted: samples(series, selection.region).sort() })).filter((c) => c.sorted.length);
  if (list.length <= CURVES) return list;
  const total = list.reduce((sum, c) => sum + c.sorted.length, 0), all = new Float64Array(total);
  let at = 0;
  for (const curve of list) { all.set(curve.sorted, at); at += curve.sorted.length; }
  const middle = (c: Curve) => c.sorted[c.sorted.length >> 1];
  const order = [...list].sort((a, b) => middle(a) - middle(b));
  return [{ name: `all ${list.length} processes`, sorted: all.sort() }, { ...order[0], name: `${order[0].name}, fastest` }, { ...order[order.length - 1], name: `${order[order.length - 1].name}, slowest` }];
}

function below(sorted: Float64Array, value: number): number {
  let low = 0, high = sorted.length;
  while (low < high) { const middle = (low + high) >> 1; if (sorted[middle] <= value) low = middle + 1; else high = middle; }
  return low;
}

function limits(curves: Curve[]): [number, number] {
  const low = Math.max(1, Math.min(...curves.map((c) => c.sorted[0]))), high = Math.max(...curves.map((c) => c.sorted[c.sorted.length - 1]));
  return [low, Math.max(high, low * 1.01)];
}

function histogram(curves: Curve[], [low, high]: [number, number]): Line[] {
  return curves.map((curve, i) => ({
    name: curve.name, colour: i, marker: "none" as const, steps: true, area: curves.length === 1,
    points: Array.from({ length: BINS + 1 }, (_, b) => {
      const from = low * (high / low) ** (b / BINS), to = low * (high / low) ** ((b + 1) / BINS);
      const count = b === BINS ? 0 : below(curve.sorted, b === BINS - 1 ? high : to) - (b ? below(curve.sorted, from) : 0);
      return { x: from, y: (100 * count) / curve.sorted.length };
    }),
  }));
}

function cumulative(curves: Curve[]): Line[] {
  return curves.map((curve, i) => {
    const n = curve.sorted.length, steps = Math.min(n, 240);
    return { name: curve.name, colour: i, marker: "none" as const, points: Array.from({ length: steps }, (_, k) => { const at = Math.min(n - 1, Math.round(((k + 1) * n) / steps) - 1); return { x: curve.sorted[at], y: (100 * (at + 1)) / n }; }) };
  });
}

function specs(kind: number): ChartSpec[] {
  const sides = selection.shown.map((choice) => ({ choice, curves: curvesOf(choice) })).filter((side) => side.curves.length);
  return sides.map(({ choice, curves }) => ({
    title: sides.length > 1 ? choice.label : undefined, label: `distribution of ${choice.label}`, height: 270,
    x: { label: "time of an operation", unit: "ns", log: true },
    y: kind ? { label: "operations up to this time (%)", unit: "percent", min: 0, max: 100 } : { label: "operations (%)", unit: "percent", min: 0 },
    lines: kind ? cumulative(curves) : histogram(curves, limits(sides.flatMap((side) => side.curves))),
  }));
}

function table(): Table {
  const parts = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1];
  const rows = selection.shown.flatMap((choice) => curvesOf(choice).map((curve) => [choice.label, curve.name, curve.sorted.length, ...parts.map((q) => curve.sorted[Math.max(0, Math.ceil(q * curve.sorted.length) - 1)])]));
  return { name: "distribution", columns: ["series", "process", "operations", ...parts.map((q) => `${100 * q} % (ns)`)], rows };
}

export const distribution: View = {
  id: "distribution", title: "Distributions", about: "How the times of the chosen region are spread, for each process.",
  applies: (report) => selection.list(report).length > 0,
  render: (report) => {
    const place = h("div", { class: "columns" }), where = h("span", {});
    let kind = 2;
    const draw = () => {
      place.replaceChildren(...(kind === 2 ? [0, 1] : [kind]).map((k) => panels(specs(k))));
      where.replaceChildren(...[caption(`Operations ${selection.region.from} to ${selection.region.to}; 80 bins of equal ratio; nothing is fitted or smoothed.`, selection.shown.map((c) => c.set.block), selection.shown.map((c) => c.set))].flat() as Node[]);
    };
    selection.listen(draw);
    draw();
    const controls = h("div", { class: "controls" }, chooser("show", ["histogram", "cumulative", "both"], kind, (i) => { kind = i; draw(); }));
    return [figure({ title: "Distribution of times", body: [selectionControls(report), controls, place], caption: where, table })];
  },
};
