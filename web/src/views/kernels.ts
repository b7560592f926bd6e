// Kernels by size, process grid, distribution, access and hints (IOT-33), and the application kernels.
import { type Bar, bars } from "../bars";
import { type DotRow, dots } from "../dots";
import { type Block, blocksOf, derived, fileLabel, type ParameterSet, type Report, type ResultFile } from "../data";
import { h } from "../dom";
import { caption, figure, type Table } from "../figure";
import { bytes, digits, rate, time } from "../format";
import { placeLabel, systemLabel } from "../systems";
import type { View } from "../views";

interface Case { file: ResultFile; blocks: Block[]; facets: string[]; name: string; mpiio: string; result: any }

const FACETS = ["size", "grid", "distribution", "collective", "block", "update_frac", "other"];

function facetText(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "";
  if (name === "collective") return value === "true" ? "collective" : "independent";
  if (name === "grid") return `grid ${value}`;
  if (name === "update_frac") return `update ${value}`;
  if (name === "block") return `block ${/^\d+$/.test(String(value)) ? bytes(Number(value)) : value}`;
  return typeof value === "string" && /^\d+$/.test(value) ? bytes(Number(value)) : String(value);
}

const MEASURES: Record<string, string> = { r: "read", u: "update", w: "write" };

function casesOf(report: Report): Map<string, Case[]> {
  const tests = new Map<string, Case[]>(), tools = derived(report, "kernel");
  for (const { file, result } of tools)
    for (const found of result.cases) {
      const blocks = file.blocks.filter((block) => block.class === "Kernel" && block.testname === found.testname);
      const hints = Object.entries(found.hints ?? {}).map(([key, value]) => `${key}=${value}`);
      const item = { file, blocks, mpiio: found.mpiio ?? "", name: [found.mpiio, systemLabel(report, blocks[0])].filter(Boolean).join(", "), result: found, facets: [...FACETS.map((name) => facetText(name, found[name])), ...hints].filter(Boolean) };
      tests.set(found.testname, [...(tests.get(found.testname) ?? []), item]);
    }
  for (const cases of tests.values()) {
    // The same case in two files of one system: the files tell them apart.
    const taken = new Map<string, ResultFile>();
    const clash = cases.some((item) => { const key = `${item.name} ${item.facets.join()}`, other = taken.get(key); taken.set(key, item.file); return other && other !== item.file; });
    if (clash) for (const item of cases) item.name += `, ${fileLabel(report, item.file)}`;
  }
  return tests;
}

/** Facets that all cases share are told once, in the caption. */
function common(cases: Case[]): Set<string> {
  return new Set(cases[0].facets.filter((facet) => cases.every((item) => item.facets.includes(facet))));
}

/** A row for each case, a dot for each MPI-IO and place. */
function dotsOf(cases: Case[], key: string, shared: Set<string>, names: string[]): HTMLElement | null {
  const rows = new Map<string, DotRow>();
  for (const item of cases) {
    const measure = item.result.measures.find((m: any) => m.key === key);
    if (!measure || measure.rate_mb_per_s === null) continue;
    const label = item.facets.filter((facet) => !shared.has(facet)).join(" · ") || item.result.testname, row: DotRow = rows.get(label) ?? { label, dots: [] };
    const error = measure.rate_error_mb_per_s, value = measure.rate_mb_per_s;
    row.dots.push({ name: item.name, colour: names.indexOf(item.name), value, low: error ? value - error : undefined, high: error ? value + error : undefined, text: `${rate(value)}${measure.imbalance ? `; slowest rank / mean: ${measure.imbalance.toFixed(2)}` : ""}` });
    rows.set(label, row);
  }
  for (const row of rows.values()) row.text = row.dots.map((dot) => digits(dot.value)).join("   ");
  return rows.size ? h("div", {}, h("h4", {}, MEASURES[key] ?? key), dots([...rows.values()], "rate", "MB/s")) : null;
}

function tableOf(test: string, cases: Case[]): Table {
  return {
    name: `kernel ${test}`,
    columns: ["file", "case", "MPI-IO", "file system", "ranks", "measure", "sets", "MB/s", "± 90 %", "slowest rank ns", "slowest / mean"],
    rows: cases.flatMap((item) => item.result.measures.map((m: any) => [item.file.path, item.facets.join(" "), item.mpiio, item.result.filesystem, item.result.nprocs, m.key, m.sets, m.rate_mb_per_s, m.rate_error_mb_per_s, m.longest_ns, m.imbalance])),
  };
}

function kernelFigure(test: string, cases: Case[]): HTMLElement {
  const shared = common(cases), names = [...new Set(cases.map((item) => item.name))];
  const sorted = [...cases].sort((a, b) => (a.result.file_bytes ?? 0) - (b.result.file_bytes ?? 0) || a.facets.join().localeCompare(b.facets.join()));
  const rated = (m: any) => m.rate_mb_per_s !== null && m.rate_mb_per_s !== undefined;
  const keys = [...new Set(cases.flatMap((item) => item.result.measures.filter(rated).map((m: any) => m.key as string)))];
  const said = shared.size ? `; all with ${[...shared].join(", ")}` : "";
  return figure({
    title: test, body: h("div", { class: "columns" }, keys.map((key) => dotsOf(sorted, key, shared, names))),
    caption: caption(`Bytes of the file over the time of the slowest rank, MB = 10⁶ bytes${said}. Faint lines are 90 % confidence, where there are repeats.`, cases.flatMap((item) => item.blocks)),
    table: () => tableOf(test, cases),
  });
}

// ---- applications: times of phases ----

function slowest(set: ParameterSet): { key: string; ns: number }[] {
  const most = new Map<string, number>();
  for (const [, key, ns] of set.times) most.set(key, Math.max(most.get(key) ?? 0, ns));
  return [...most].filter(([, ns]) => ns > 0).map(([key, ns]) => ({ key, ns }));
}

function applicationFigure(report: Report, block: Block): HTMLElement {
  const list: Bar[] = block.sets.flatMap((set) => slowest(set).map(({ key, ns }, i) => ({ label: key.replace(/_/g, " "), group: block.sets.length > 1 ? `set ${set.set}` : undefined, value: ns, colour: i, text: time(ns) })));
  return figure({
    title: [block.testname, placeLabel(report, block, blocksOf(report, "Apps").length > 1)].filter(Boolean).join(", "), body: bars(list, `times of ${block.testname}`),
    caption: caption("Time of the slowest rank in each part of the run.", [block]),
    table: () => ({ name: `times ${block.testname}`, columns: ["set", "rank", "time", "ns"], rows: block.sets.flatMap((set) => set.times.map(([rank, key, ns]) => [set.set, rank, key, ns])) }),
  });
}

export const kernels: View = {
  id: "kernels", title: "Kernels", about: "Matrices, out-of-core and irregular access, applications: by size, grid, distribution and hints.",
  applies: (report) => derived(report, "kernel").some(({ result }) => result.cases.length > 0) || blocksOf(report, "Apps").some((block) => block.sets.length > 0),
  render: (report) => [...[...casesOf(report)].map(([test, cases]) => kernelFigure(test, cases)), ...blocksOf(report, "Apps").filter((block) => block.sets.length).map((block) => applicationFigure(report, block))],
};
