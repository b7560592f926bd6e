// Distribution and cumulative distribution of the times of the chosen region, a curve for each process (IOT-31).
import { type ChartSpec, type Line, panels } from "../chart";
import { chooser, h } from "../dom";
import { figure, type Table } from "../figure";
import { type Choice, regionCaption, selection, selectionControls } from "../selection";
import { below, quantile, samples } from "../stats";
import type { View } from "../views";

const BINS = 80;
const CURVES = 8;
const STEPS = 240; // of a cumulative curve

interface Curve {
  name: string;
  sorted: Float64Array;
}

/** A curve for each process; of many processes, all together and those with the least and largest median. */
function curvesOf(choice: Choice): Curve[] {
  const all = choice.series.map((series) => ({
    name: `process ${series.rank}`,
    sorted: samples(series, selection.region).sort(),
  }));
  const list = all.filter((curve) => curve.sorted.length);
  if (list.length <= CURVES) return list;
  const together = Float64Array.from(list.flatMap((curve) => Array.from(curve.sorted))).sort();
  const order = [...list].sort((a, b) => quantile(a.sorted, 0.5) - quantile(b.sorted, 0.5));
  const [fastest, slowest] = [order[0], order[order.length - 1]];
  return [
    { name: `all ${list.length} processes`, sorted: together },
    { ...fastest, name: `${fastest.name}, fastest` },
    { ...slowest, name: `${slowest.name}, slowest` },
  ];
}

function limits(curves: Curve[]): [number, number] {
  const low = Math.max(1, Math.min(...curves.map((c) => c.sorted[0])));
  const high = Math.max(...curves.map((c) => c.sorted[c.sorted.length - 1]));
  return [low, Math.max(high, low * 1.01)];
}

/** Shares of bins of equal ratio; the first and the last take what is beyond them. */
function histogram(curves: Curve[], [low, high]: [number, number]): Line[] {
  const edge = (bin: number) => low * (high / low) ** (bin / BINS);
  return curves.map(({ name, sorted }, colour) => {
    const upTo = (bin: number) => (bin <= 0 ? 0 : bin >= BINS ? sorted.length : below(sorted, edge(bin)));
    const points = Array.from({ length: BINS + 1 }, (_, bin) => ({
      x: edge(bin),
      y: (100 * (upTo(bin + 1) - upTo(bin))) / sorted.length,
    }));
    return { name, colour, marker: "none", steps: true, area: curves.length === 1, points };
  });
}

function cumulative(curves: Curve[]): Line[] {
  return curves.map(({ name, sorted }, colour) => {
    const count = sorted.length;
    const steps = Math.min(count, STEPS);
    const points = Array.from({ length: steps }, (_, k) => {
      const at = Math.min(count - 1, Math.round(((k + 1) * count) / steps) - 1);
      return { x: sorted[at], y: (100 * (at + 1)) / count };
    });
    return { name, colour, marker: "none", points };
  });
}

type Kind = "histogram" | "cumulative";

function specs(kind: Kind): ChartSpec[] {
  const all = selection.shown.map((choice) => ({ choice, curves: curvesOf(choice) }));
  const sides = all.filter((side) => side.curves.length);
  const ends = () => limits(sides.flatMap((side) => side.curves));
  return sides.map(({ choice, curves }) => ({
    title: sides.length > 1 ? choice.label : undefined,
    label: `${kind} of ${choice.label}`,
    height: 270,
    x: { label: "time of an operation", unit: "ns", log: true },
    y:
      kind === "cumulative"
        ? { label: "operations up to this time (%)", unit: "percent", min: 0, max: 100 }
        : { label: "operations (%)", unit: "percent", min: 0 },
    lines: kind === "cumulative" ? cumulative(curves) : histogram(curves, ends()),
  }));
}

const PARTS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1];

function table(): Table {
  const rows = selection.shown.flatMap((choice) =>
    curvesOf(choice).map(({ name, sorted }) => [
      choice.label,
      name,
      sorted.length,
      ...PARTS.map((part) => quantile(sorted, part)),
    ]),
  );
  const columns = ["series", "process", "operations", ...PARTS.map((part) => `${100 * part} % (ns)`)];
  return { name: "distribution", columns, rows };
}

const KINDS: { name: string; kinds: Kind[] }[] = [
  { name: "histogram", kinds: ["histogram"] },
  { name: "cumulative", kinds: ["cumulative"] },
  { name: "both", kinds: ["histogram", "cumulative"] },
];

export const distribution: View = {
  title: "Distributions",
  about: "How the times of the chosen region are spread, for each process.",
  applies: (report) => selection.list(report).length > 0,
  render: (report) => {
    const place = h("div", { class: "columns" });
    let chosen = KINDS.length - 1;
    const draw = () => place.replaceChildren(...KINDS[chosen].kinds.map((kind) => panels(specs(kind))));
    const choose = (index: number) => {
      chosen = index;
      draw();
    };
    selection.listen(draw);
    draw();
    const names = KINDS.map((item) => item.name);
    const controls = h("div", { class: "controls" }, chooser("show", names, chosen, choose));
    const text = () => {
      const { from, to } = selection.region;
      return `Operations ${from} to ${to}; ${BINS} bins of equal ratio; nothing is fitted or smoothed.`;
    };
    return [
      figure({
        title: "Distribution of times",
        body: [selectionControls(report), controls, place],
        caption: regionCaption(text),
        table,
      }),
    ];
  },
};
