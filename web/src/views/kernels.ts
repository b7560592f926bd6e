// Kernels by size, process grid, distribution, access and hints (IOT-33), and the application kernels.
import { type Bar, bars } from "../bars";
import { type Block, blocksOf, derived, type ParameterSet, type Report, type ResultFile } from "../data";
import { h } from "../dom";
import { caption, figure, type Table } from "../figure";
import { rate, time } from "../format";
import { placeLabel } from "../systems";
import type { View } from "../views";

interface Case { file: ResultFile; blocks: Block[]; facets: string[]; size: string; mpiio: string; place: string; result: any }

const FACETS = ["size", "grid", "distribution", "collective", "block", "update_frac", "other"];

function facetText(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "";
  if (name === "collective") return value === "true" ? "collective" : "independent";
  if (name === "grid") return `grid ${value}`;
  if (name === "update_frac") return `update ${value}`;
  if (name === "block") return `block ${value}`;
  return String(value);
}

function casesOf(report: Report): Map<string, Case[]> {
  const tests = new Map<string, Case[]>(), tools = derived(report, "kernel");
  for (const { file, result } of tools)
    for (const found of result.cases) {
      const blocks = file.blocks.filter((block) => block.class === "Kernel" && block.testname === found.testname);
      const hints = Object.entries(found.hints ?? {}).map(([key, value]) => `${key}=${value}`);
      const item = { file, blocks, mpiio: found.mpiio ?? "", place: placeLabel(report, blocks[0], tools.length > 1), size: found.size ?? "", result: found, facets: [...FACETS.map((name) => facetText(name, found[name])), ...hints].filter(Boolean) };
      tests.set(found.testname, [...(tests.get(found.testname) ?? []), item]);
    }
  return tests;
}

/** Facets that all cases share are told once, in the caption. */
function common(cases: Case[]): Set<string> {
  return new Set(cases[0].facets.filter((facet) => cases.every((item) => item.facets.includes(facet))));
}

function barsOf(cases: Case[], key: string, shared: Set<string>, colours: string[], most: number): HTMLElement | null {
  const list: Bar[] = [];
  for (const item of cases) {
    const measure = item.result.measures.find((m: any) => m.key === key);
    if (!measure || measure.rate_mb_per_s === null) continue;
    const error = measure.rate_error_mb_per_s, value = measure.rate_mb_per_s;
    list.push({
      label: [...item.facets.filter((facet) => !shared.has(facet)), item.mpiio, item.place].filter(Boolean).join(" · ") || item.result.testname,
      value, text: rate(value), colour: colours.indexOf(`${item.mpiio}${item.place}`), low: error ? value - error : undefined, high: error ? value + error : undefined,
      note: measure.imbalance ? `slowest rank: ${time(measure.longest_ns)}; slowest / mean of the ranks: ${measure.imbalance.toFixed(2)}` : undefined,
    });
  }
  return list.length ? h("div", {}, h("h4", {}, `${key}, MB/s`), bars(list, `rates of ${key}`, most)) : null;
}

function tableOf(test: string, cases: Case[]): Table {
  return {
    name: `kernel ${test}`,
    columns: ["file", "case", "MPI-IO", "file system", "ranks", "measure", "sets", "MB/s", "± 90 %", "slowest rank ns", "slowest / mean"],
    rows: cases.flatMap((item) => item.result.measures.map((m: any) => [item.file.path, item.facets.join(" "), item.mpiio, item.result.filesystem, item.result.nprocs, m.key, m.sets, m.rate_mb_per_s, m.rate_error_mb_per_s, m.longest_ns, m.imbalance])),
  };
}

function kernelFigure(test: string, cases: Case[]): HTMLElement {
  const shared = common(cases), colours = [...new Set(cases.map((item) => `${item.mpiio}${item.place}`))];
  const sorted = [...cases].sort((a, b) => (a.result.file_bytes ?? 0) - (b.result.file_bytes ?? 0) || a.facets.join().localeCompare(b.facets.join()));
  const rated = (m: any) => m.rate_mb_per_s !== null && m.rate_mb_per_s !== undefined;
  const keys = [...new Set(cases.flatMap((item) => item.result.measures.filter(rated).map((m: any) => m.key as string)))];
  const most = Math.max(...cases.flatMap((item) => item.result.measures.filter(rated).map((m: any) => m.rate_mb_per_s + (m.rate_error_mb_per_s ?? 0))));
  const said = shared.size ? `; all with ${[...shared].join(", ")}` : "";
  return figure({
    title: test, body: h("div", { class: "columns" }, keys.map((key) => barsOf(sorted, key, shared, colours, most))),
    caption: caption(`Bytes of the file over the time of the slowest rank, MB = 10⁶ bytes, same scale in all columns${said}. Thin bars are 90 % confidence, where there are repeats.`, cases.flatMap((item) => item.blocks)),
    table: () => tableOf(test, cases),
  });
}

// ---- applications: times of phases ----

function slowest(set: ParameterSet): { key: string; ns: number }[] {
  const most = new Map<string, number>();
  for (const [, key, ns] of set.times) most.set(key, Math.max(most.get(key) ?? 0, ns));
  return [...most].filter(([, ns]) => ns > 0).map(([key, ns]) => ({ key, ns }));
}

function applicationFigure(block: Block): HTMLElement {
  const list: Bar[] = block.sets.flatMap((set) => slowest(set).map(({ key, ns }, i) => ({ label: key.replace(/_/g, " "), group: block.sets.length > 1 ? `set ${set.set}` : undefined, value: ns, colour: i, text: time(ns) })));
  return figure({
    title: block.testname, body: bars(list, `times of ${block.testname}`),
    caption: caption("Time of the slowest rank in each part of the run.", [block]),
    table: () => ({ name: `times ${block.testname}`, columns: ["set", "rank", "time", "ns"], rows: block.sets.flatMap((set) => set.times.map(([rank, key, ns]) => [set.set, rank, key, ns])) }),
  });
}

export const kernels: View = {
  id: "kernels", title: "Kernels", about: "Matrices, out-of-core and irregular access, applications: by size, grid, distribution and hints.",
  applies: (report) => derived(report, "kernel").some(({ result }) => result.cases.length > 0) || blocksOf(report, "Apps").some((block) => block.sets.length > 0),
  render: (report) => [...[...casesOf(report)].map(([test, cases]) => kernelFigure(test, cases)), ...blocksOf(report, "Apps").filter((block) => block.sets.length).map(applicationFigure)],
};
