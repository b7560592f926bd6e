// The MPI-IO/GPFS benchmarks (GPFS-8): contestants in each cell, in bars with their spread.
import { type DotRow, dots } from "../dots";
import { derived, type Report, type ResultFile } from "../data";
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
  const cells = [...new Set(points.map((p) => cellText(p, varying)))];
  const rows: DotRow[] = cells.map((cell) => ({
    label: cell || name,
    dots: points.filter((p) => cellText(p, varying) === cell && p.mean_mb_per_s !== null).map((p) => ({
      name: p.contestant, colour: names.indexOf(p.contestant), value: p.mean_mb_per_s, low: Math.max(0, p.mean_mb_per_s - (p.sd_mb_per_s ?? 0)), high: p.mean_mb_per_s + (p.sd_mb_per_s ?? 0),
      text: `${rate(p.mean_mb_per_s)}, largest ${rate(p.max_mb_per_s)}; ${digits(p.ratio_to_reference ?? NaN)} × ${p.reference}`,
    })),
  }));
  return figure({
    title: [name, place].filter(Boolean).join(", "),
    body: dots(rows, "rate", "MB/s"),
    caption: caption(`Mean over repetitions with one standard deviation, MB = 10⁶ bytes. All with ${cellText(points[0], fixed)}.`, blocks),
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
