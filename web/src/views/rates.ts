// Rate against file size and block size, with error bars (IOT-32). Plateaus are caches and disks.
import { type Block, derived, type Report, type ResultFile } from "../data";
import { type ChartSpec, type Line, panels } from "../chart";
import { chooser, h } from "../dom";
import { bytes } from "../format";
import { caption, figure, type Table } from "../figure";
import { placeLabel } from "../systems";
import type { View } from "../views";

interface Curve { file: ResultFile; blocks: Block[]; title: string; op: string; points: any[]; approximate: any[]; where: any }

const OPS: Record<string, string> = { w: "write", r: "read", u: "update" };

function curves(report: Report): Curve[] {
  const tools = derived(report, "allav");
  return tools.flatMap(({ file, result }) => result.curves.map((curve: any) => {
    const blocks = file.blocks.filter((b) => b.class === "Lowlevel" && b.testname === curve.testname);
    const place = placeLabel(report, blocks[0], tools.length > 1);
    return {
      file, blocks, op: curve.op, points: curve.points, approximate: curve.approximate, where: curve,
      title: [curve.testname, curve.collective === "true" ? "collective" : "", curve.layout && curve.layout !== "strided" ? curve.layout : "", place].filter(Boolean).join(", "),
    };
  }));
}

type Against = "file_bytes" | "block_bytes";

/** Sizes that were asked for: a file is shorter by the part of a block that is left out at its end. */
function clusters(values: number[]): number[] {
  const sorted = [...new Set(values)].sort((a, b) => b - a), kept: number[] = [];
  for (const value of sorted) if (!kept.length || value <= kept[kept.length - 1] * 0.85) kept.push(value);
  return kept.reverse();
}

/** A line for each value of the other size. */
function linesOf(curve: Curve, against: Against): Line[] {
  const other = against === "file_bytes" ? "block_bytes" : "file_bytes";
  const sizes = clusters(curve.points.map((p) => p[other]));
  return sizes.map((size, i) => ({
    name: `${other === "block_bytes" ? "blocks of" : "file of"} ${bytes(size)}`, colour: i,
    points: curve.points.filter((p) => p[other] <= size && p[other] > size * 0.85).sort((a, b) => a[against] - b[against]).map((p) => {
      const error = Number.isFinite(p.error_mb_per_s) && p.error_mb_per_s !== null ? p.error_mb_per_s : undefined;
      return { x: p[against], y: p.rate_mb_per_s, low: error && Math.max(0, p.rate_mb_per_s - error), high: error && p.rate_mb_per_s + error, note: p.asymptotic_mb_per_s ? `second half: ${p.asymptotic_mb_per_s.toFixed(0)} MB/s` : undefined };
    }),
  }));
}

/** The file grows while it is written: the rate of its first bytes, from one large run of each block size. */
function growthOf(curve: Curve): Line[] {
  const sizes = [...new Set(curve.approximate.map((a) => a.block_bytes))].sort((a, b) => a - b);
  return curve.approximate.map((run) => ({
    name: `blocks of ${bytes(run.block_bytes)}`, colour: sizes.indexOf(run.block_bytes), marker: "none" as const,
    points: run.points.map((p: any) => ({ x: p.bytes, y: p.rate_mb_per_s })),
  }));
}

function specs(list: Curve[], against: Against | "growth", log: boolean): ChartSpec[] {
  return list.map((curve) => ({
    title: curve.title, label: `rate of ${curve.title}, ${OPS[curve.op] ?? curve.op}`, height: 230,
    x: { label: against === "block_bytes" ? "block size" : against === "file_bytes" ? "file size" : "bytes moved so far", unit: "bytes", log: true },
    y: { label: "MB/s", unit: "rate", log },
    lines: against === "growth" ? growthOf(curve) : linesOf(curve, against),
  }));
}

function tableOf(list: Curve[], op: string): Table {
  return {
    name: `rates ${OPS[op] ?? op}`,
    columns: ["file", "test", "ranks", "MPI-IO", "file system", "file bytes", "block bytes", "sets", "MB/s", "± 90 %", "second half MB/s", "±"],
    rows: list.flatMap((curve) => curve.points.map((p) => [curve.file.path, curve.title, curve.where.nprocs, curve.where.mpiio, curve.where.filesystem, p.file_bytes, p.block_bytes, p.sets, p.rate_mb_per_s, p.error_mb_per_s, p.asymptotic_mb_per_s, p.asymptotic_error_mb_per_s])),
  };
}

function rateFigure(all: Curve[], op: string): HTMLElement {
  const list = all.filter((curve) => curve.op === op), place = h("div", {});
  const sizes = (key: Against) => new Set(list.flatMap((curve) => curve.points.map((p) => p[key]))).size;
  let against = sizes("block_bytes") > 1 ? 0 : sizes("file_bytes") > 1 ? 1 : 2, log = 1;
  const draw = () => place.replaceChildren(panels(specs(list, (["block_bytes", "file_bytes", "growth"] as const)[against], log === 1)));
  draw();
  const controls = h("div", { class: "controls" },
    chooser("against", ["block size", "file size", "file size, from one large run"], against, (i) => { against = i; draw(); }),
    chooser("rate axis", ["linear", "logarithmic"], log, (i) => { log = i; draw(); }));
  return figure({
    title: `Rate, ${OPS[op] ?? op}`, body: [controls, place],
    caption: caption("Bytes of all ranks over the largest total time of a rank, MB = 10⁶ bytes; bars are 90 % confidence. Level stretches are caches and devices.", list.flatMap((c) => c.blocks)),
    table: () => tableOf(list, op),
  });
}

export const rates: View = {
  id: "rates", title: "Rates", about: "Low-level tests: rate against block size and file size.",
  applies: (report) => derived(report, "allav").some(({ result }) => result.curves.length > 0),
  render: (report) => {
    const all = curves(report);
    return [...new Set(all.map((curve) => curve.op))].map((op) => rateFigure(all, op));
  },
};
