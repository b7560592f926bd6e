// The MPI-IO/GPFS benchmarks (GPFS-8): contestants in each cell, as dots with their spread.
import { derived } from "../classes";
import { GPFS_COLUMNS, type GpfsPoint } from "../analysis";
import { type Block, distinct, groupBy, type Report } from "../data";
import { figure, type Table } from "../figure";
import { bytes, digits, rate } from "../format";
import { caption, joined, placeLabel } from "../origin";
import { type DotRow, dots } from "../rows";
import type { View } from "../views";

/** "region 2 GiB, cache cold": these parameters of a point. */
function cellText({ cell }: GpfsPoint, keys: string[]): string {
  const parts = keys.map((key) => {
    const value = cell.get(key);
    if (value === undefined || value === null) return "";
    if (key === "op") return String(value);
    const isSize = key.endsWith("_bytes") && typeof value === "number";
    return `${key.replace(/_bytes$/, "").replaceAll("_", " ")} ${isSize ? (value ? bytes(value) : "auto") : value}`;
  });
  return joined(parts);
}

function dotOf(point: GpfsPoint, names: string[]) {
  const { contestant: name, mean_mb_per_s: value, sd_mb_per_s: spread } = point;
  return {
    name,
    value,
    colour: names.indexOf(name),
    low: Math.max(0, value - spread),
    high: value + spread,
    text: joined([
      rate(value),
      `largest ${rate(point.max_mb_per_s)}`,
      `${digits(point.ratio_to_reference)} × ${point.reference}`,
    ]),
  };
}

function tableOf(name: string, points: GpfsPoint[], keys: string[]): Table {
  return {
    name: `gpfs ${name}`,
    columns: [...keys, ...GPFS_COLUMNS].map((key) => key.replaceAll("_", " ")),
    rows: points.map((p) => [...keys.map((key) => p.cell.get(key)), ...GPFS_COLUMNS.map((key) => p[key])]),
  };
}

/** What all cells share is told once, in the caption. */
function benchmarkFigure(name: string, points: GpfsPoint[], blocks: Block[], place: string): HTMLElement {
  const keys = distinct(points.flatMap((p) => [...p.cell.keys()]));
  const varying = keys.filter((key) => distinct(points.map((p) => p.cell.get(key))).length > 1);
  const fixed = keys.filter((key) => !varying.includes(key));
  const names = distinct(points.map((p) => p.contestant));
  const measured = points.filter((p) => Number.isFinite(p.mean_mb_per_s));
  const rows = [...groupBy(measured, (p) => cellText(p, varying))].map(([cell, own]): DotRow => {
    return { label: cell || name, dots: own.map((p) => dotOf(p, names)) };
  });
  const shared = cellText(points[0], fixed);
  return figure({
    title: joined([name, place]),
    body: dots(rows, "rate", "MB/s"),
    caption: caption(`Mean over repetitions with one standard deviation, MB = 10⁶ bytes. All with ${shared}.`, blocks),
    table: () => tableOf(name, points, keys),
  });
}

function figuresOf(report: Report): HTMLElement[] {
  const found = derived(report, "gpfs");
  return found.flatMap(({ result, blocks }) =>
    [...groupBy(result.points, (p) => p.benchmark)].map(([name, points]) => {
      const own = blocks.filter((block) => block.testname === name);
      return benchmarkFigure(name, points, own, placeLabel(report, own[0], found.length > 1));
    }),
  );
}

export const gpfs: View = {
  title: "MPI-IO/GPFS",
  about: "Data shipping, file partitioning and guided prefetching, beside the system's MPI-IO and POSIX.",
  applies: (report) => derived(report, "gpfs").some(({ result }) => result.points.length > 0),
  render: figuresOf,
};
