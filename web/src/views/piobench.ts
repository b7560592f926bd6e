// PIOBENCH (COLL-6, COLL-7): the matrix of algorithms and block sizes, rate by block size, and findings in words.
import { type ChartSpec, panels } from "../chart";
import { derived, type Report, type ResultFile } from "../data";
import { chooser, h } from "../dom";
import { caption, figure, type Table } from "../figure";
import { bytes, digits, rate } from "../format";
import { placeLabel } from "../systems";
import type { View } from "../views";

interface Run { file: ResultFile; points: any[]; findings: string[]; place: string }

function runs(report: Report): Run[] {
  const tools = derived(report, "piobench");
  return tools.map(({ file, result }) => ({ file, points: result.points, findings: result.findings ?? [], place: placeLabel(report, file.blocks.find((b) => b.class === "Piobench"), tools.length > 1) }));
}

const labelOf = (run: Run, point: any): string => (new Set(run.points.map((p) => p.mpi)).size > 1 ? `${point.mpi} ${point.algorithm}` : point.algorithm);
const rowOf = (run: Run, point: any): string => [`${point.op} ${point.distribution}`, `${point.ranks} ranks`, `file ${bytes(point.file_bytes)}`, run.place, new Set(run.points.map((p) => p.conditions)).size > 1 ? point.conditions : ""].filter(Boolean).join(", ");

function shade(part: number): string {
  return `background:color-mix(in oklab, var(--c0) ${Math.round(Math.max(0, Math.min(1, part)) * 62)}%, var(--surface))`;
}

/** A table with a tint by the ratio to the fastest of the cell. */
function matrix(run: Run, row: string): HTMLElement {
  const points = run.points.filter((p) => rowOf(run, p) === row);
  const blocks = [...new Set(points.map((p) => p.block_bytes))].sort((a, b) => a - b), names = [...new Set(points.map((p) => labelOf(run, p)))];
  const cell = (name: string, block: number) => {
    const p = points.find((q) => labelOf(run, q) === name && q.block_bytes === block);
    if (!p) return h("td", { class: "num" }, "");
    if (p.rate_mb_per_s === null) return h("td", { class: "num failed" }, "failed");
    const best = p.ratio_to_best >= 0.9999;
    return h("td", { class: `num heat${best ? " best" : ""}`, style: shade(p.ratio_to_best), title: `${rate(p.rate_mb_per_s)} ± ${digits(p.error_mb_per_s ?? NaN)}; ${digits(p.ratio_to_naive ?? NaN, 3)} × naive; ${p.trials} trials${p.warning ? `; ${p.warning}` : ""}` }, digits(p.rate_mb_per_s), p.warning ? "*" : "");
  };
  return h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": row }, h("table", { class: "matrix" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "MB/s by data block"), blocks.map((block) => h("th", { scope: "col", class: "num" }, bytes(block))))),
    h("tbody", {}, names.map((name) => h("tr", {}, h("th", { scope: "row" }, name), blocks.map((block) => cell(name, block)))))));
}

function lines(run: Run, rows: string[], names: string[]): ChartSpec[] {
  return rows.map((row) => ({
    title: row, label: `rate by block size: ${row}`, height: 240,
    x: { label: "data block size", unit: "bytes", log: true }, y: { label: "MB/s", unit: "rate", log: true },
    lines: names.map((name, i) => ({
      name, colour: i, dashed: i >= 8,
      points: run.points.filter((p) => rowOf(run, p) === row && labelOf(run, p) === name && p.rate_mb_per_s !== null).sort((a, b) => a.block_bytes - b.block_bytes)
        .map((p) => ({ x: p.block_bytes, y: p.rate_mb_per_s, low: p.error_mb_per_s ? Math.max(0, p.rate_mb_per_s - p.error_mb_per_s) : undefined, high: p.error_mb_per_s ? p.rate_mb_per_s + p.error_mb_per_s : undefined })),
    })).filter((line) => line.points.length),
  }));
}

function tableOf(run: Run): Table {
  const keys = ["op", "distribution", "ranks", "file_bytes", "block_bytes", "mpi", "algorithm", "family", "conditions", "trials", "failures", "rate_mb_per_s", "error_mb_per_s", "ratio_to_naive", "ratio_to_best", "warning"];
  return { name: `piobench ${run.file.path}`, columns: keys.map((key) => key.replaceAll("_", " ")), rows: run.points.map((p) => keys.map((key) => p[key])) };
}

function runFigures(run: Run): HTMLElement[] {
  const blocks = run.file.blocks.filter((b) => b.class === "Piobench"), rows = [...new Set(run.points.map((p) => rowOf(run, p)))];
  const place = h("div", {}), show = (i: number) => place.replaceChildren(matrix(run, rows[i]));
  show(0);
  const suffix = run.place ? `, ${run.place}` : "";
  return [
    figure({ title: `Matrix${suffix}`, body: [h("div", { class: "controls" }, chooser("case", rows, 0, show)), place], caption: caption("Bytes moved over the mean time from the first start to the last end. The darker, the nearer to the fastest of the column; the fastest is bold. * was warned of.", blocks), table: () => tableOf(run) }),
    run.findings.length ? h("div", { class: "findings" }, h("h3", {}, `Findings${suffix}`), h("ul", {}, run.findings.map((text) => h("li", {}, text)))) : h("div", {}),
  ];
}

/** All runs in one figure, as panels of a figure have the same axes. */
function lineFigure(all: Run[], op: string): HTMLElement {
  const names = [...new Set(all.flatMap((run) => run.points.map((p) => labelOf(run, p))))], tables = () => all.map(tableOf);
  const specs = all.flatMap((run) => lines(run, [...new Set(run.points.filter((p) => p.op === op).map((p) => rowOf(run, p)))], names));
  return figure({ title: `Rate by block size, ${op}`, body: panels(specs), caption: caption("All panels have the same axes; bars are 90 % confidence of the mean.", all.flatMap((run) => run.file.blocks.filter((b) => b.class === "Piobench"))), table: () => ({ ...tables()[0], name: `piobench ${op}`, columns: ["file", ...tables()[0].columns], rows: tables().flatMap((table, i) => table.rows.map((row) => [all[i].file.path, ...row])) }) });
}

export const piobench: View = {
  id: "piobench", title: "Collective algorithms", about: "PIOBENCH: algorithms of collective I/O over distributions and data block sizes.",
  applies: (report) => derived(report, "piobench").some(({ result }) => result.points.length > 0),
  render: (report) => {
    const all = runs(report).filter((run) => run.points.length > 0), ops = [...new Set(all.flatMap((run) => run.points.map((p) => p.op as string)))];
    return [...all.flatMap(runFigures), ...ops.map((op) => lineFigure(all, op))];
  },
};
