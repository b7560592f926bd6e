// The MPI-IO/GPFS benchmarks (GPFS-8): contestants in each cell, in bars with their spread.
import { type Bar, bars } from "../bars";
import { derived, type Report, type ResultFile } from "../data";
import { h } from "../dom";
import { caption, figure, type Table } from "../figure";
import { bytes, digits, rate } from "../format";
import { placeLabel } from "../systems";
import type { View } from "../views";

const NOT_CELL = new Set(["benchmark", "mpi", "contestant", "conditions", "moved_bytes", "repetitions", "failures", "max_mb_per_s", "mean_mb_per_s", "sd_mb_per_s", "reference", "ratio_to_reference", "ratio_to_best", "overlap"]);

const keysOf = (points: any[]): string[] => [...new Set(points.flatMap((p) => Object.keys(p)))].filter((key) => !NOT_CELL.has(key));
const valueText = (key: string, value: any): string => (key.endsWith("_bytes") && typeof value === "number" ? (value ? bytes(value) : "auto") : String(value));

function cellText(point: any, keys: string[]): string {
  return keys.filter((key) => point[key] !== undefined && point[key] !== null).map((key) => (key === "op" ? point[key] : `${key.replace(/_bytes$/, "").replaceAll("_", " ")} ${valueText(key, point[key])}`)).join(", ");
}

function benchmarkFigure(report: Report, file: ResultFile, name: string, points: any[], many: boolean): HTMLElement {
  const keys = keysOf(points), varying = keys.filter((key) => new Set(points.map((p) => p[key])).size > 1), fixed = keys.filter((key) => !varying.includes(key));
  const blocks = file.blocks.filter((b) => b.class === "Gpfs" && b.testname === name), place = placeLabel(report, blocks[0], many);
  const names = [...new Set(points.map((p) => p.contestant as string))];
  const most = Math.max(...points.map((p) => p.max_mb_per_s ?? 0));
  const cells = [...new Set(points.map((p) => cellText(p, varying)))];
  const list = (cell: string): Bar[] => points.filter((p) => cellText(p, varying) === cell).map((p) => ({
    label: p.contestant, value: p.mean_mb_per_s ?? NaN, colour: names.indexOf(p.contestant), low: Math.max(0, (p.mean_mb_per_s ?? 0) - (p.sd_mb_per_s ?? 0)), high: Math.min(p.max_mb_per_s ?? Infinity, (p.mean_mb_per_s ?? 0) + (p.sd_mb_per_s ?? 0)),
    text: rate(p.mean_mb_per_s ?? NaN), note: `largest ${rate(p.max_mb_per_s ?? NaN)}, deviation ${rate(p.sd_mb_per_s ?? NaN)}; ${digits(p.ratio_to_reference ?? NaN)} × ${p.reference}`,
  }));
  return figure({
    title: [name, place].filter(Boolean).join(", "),
    body: h("div", { class: "columns" }, cells.map((cell) => h("div", {}, h("h4", {}, cell), bars(list(cell), cell, most)))),
    caption: caption(`Mean over repetitions with one standard deviation, same scale everywhere, MB = 10⁶ bytes. All with ${cellText(points[0], fixed)}.`, blocks),
    table: (): Table => ({ name: `gpfs ${name}`, columns: Object.keys(points[0]).map((key) => key.replaceAll("_", " ")), rows: points.map((p) => Object.keys(points[0]).map((key) => p[key])) }),
  });
}

export const gpfs: View = {
  id: "gpfs", title: "MPI-IO/GPFS", about: "Data shipping, file partitioning and guided prefetching, beside the system's MPI-IO and POSIX.",
  applies: (report) => derived(report, "gpfs").some(({ result }) => result.points.length > 0),
  render: (report) => {
    const tools = derived(report, "gpfs");
    return tools.flatMap(({ file, result }) => [...new Set(result.points.map((p: any) => p.benchmark as string))].map((name) => benchmarkFigure(report, file, name as string, result.points.filter((p: any) => p.benchmark === name), tools.length > 1)));
  },
};
