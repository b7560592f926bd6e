// Kernels by size, process grid, distribution, access and hints (IOT-33).
import { derived } from "../classes";
import type { KernelCase } from "../analysis";
import { type Block, distinct, type Report, type ResultFile } from "../data";
import { h } from "../dom";
import { figure, type Table } from "../figure";
import { bytes, digits, rate } from "../format";
import { caption, fileLabel, joined, operationName, systemLabel } from "../origin";
import { type DotRow, dots } from "../rows";
import type { View } from "../views";

interface Case {
  file: ResultFile;
  blocks: Block[];
  facets: string[]; // what makes the case, for people
  name: string; // whose it is: MPI-IO and system
  result: KernelCase;
}

const sizeText = (value: string): string => (/^\d+$/.test(value) ? bytes(Number(value)) : value);

/** The parts of a case that say something, as "64x64", "grid 2x1". */
export function facetsOf(item: KernelCase): string[] {
  return [
    sizeText(item.size),
    item.grid && `grid ${item.grid}`,
    item.distribution,
    item.collective && (item.collective === "true" ? "collective" : "independent"),
    item.block && `block ${sizeText(item.block)}`,
    item.update_frac && `update ${item.update_frac}`,
    sizeText(item.other),
    ...[...item.hints].map(([key, value]) => `${key}=${value}`),
  ].filter(Boolean);
}

/** By test. The same case in two files of one system: the files tell them apart. */
function casesOf(report: Report): Map<string, Case[]> {
  const tests = new Map<string, Case[]>();
  for (const { file, result, blocks: all } of derived(report, "kernel"))
    for (const found of result.cases) {
      const blocks = all.filter((block) => block.testname === found.testname);
      const name = joined([found.mpiio, systemLabel(report, blocks[0])]);
      const item = { file, blocks, name, result: found, facets: facetsOf(found) };
      tests.set(found.testname, [...(tests.get(found.testname) ?? []), item]);
    }
  for (const cases of tests.values()) {
    const taken = new Map<string, ResultFile>();
    const clash = cases.some((item) => {
      const key = joined([item.name, ...item.facets]);
      const other = taken.get(key);
      taken.set(key, item.file);
      return other && other !== item.file;
    });
    if (clash) for (const item of cases) item.name = joined([item.name, fileLabel(report, item.file)]);
  }
  return tests;
}

/** A row for each case, a dot for each MPI-IO and place. */
function measureDots(cases: Case[], key: string, shared: Set<string>, names: string[]): HTMLElement | null {
  const rows = new Map<string, DotRow>();
  for (const { result, facets, name } of cases) {
    const measure = result.measures.find((m) => m.key === key);
    if (!measure || !Number.isFinite(measure.rate_mb_per_s)) continue;
    const label = facets.filter((facet) => !shared.has(facet)).join(" · ") || result.testname;
    const row: DotRow = rows.get(label) ?? { label, dots: [] };
    const { rate_mb_per_s: value, rate_error_mb_per_s: error, imbalance } = measure;
    const balance = Number.isFinite(imbalance) && `slowest rank / mean: ${imbalance.toFixed(2)}`;
    const text = joined([rate(value), balance], "; ");
    row.dots.push({ name, colour: names.indexOf(name), value, low: value - error, high: value + error, text });
    rows.set(label, row);
  }
  for (const row of rows.values()) row.text = row.dots.map((dot) => digits(dot.value)).join("   ");
  if (!rows.size) return null;
  return h("div", {}, h("h4", {}, operationName(key)), dots([...rows.values()], "rate", "MB/s"));
}

const COLUMNS = [
  "file",
  "case",
  "MPI-IO",
  "file system",
  "ranks",
  "measure",
  "sets",
  "MB/s",
  "± 90 %",
  "slowest rank ns",
  "slowest / mean",
];

function tableOf(test: string, cases: Case[]): Table {
  const rows = cases.flatMap(({ file, facets, result }) =>
    result.measures.map((m) => [
      file.path,
      facets.join(" "),
      result.mpiio,
      result.filesystem,
      result.nprocs,
      m.key,
      m.sets,
      m.rate_mb_per_s,
      m.rate_error_mb_per_s,
      m.longest_ns,
      m.imbalance,
    ]),
  );
  return { name: `kernel ${test}`, columns: COLUMNS, rows };
}

function kernelFigure(test: string, cases: Case[]): HTMLElement {
  const shared = new Set(cases[0].facets.filter((facet) => cases.every((item) => item.facets.includes(facet))));
  const names = distinct(cases.map((item) => item.name));
  const size = (item: Case) => (Number.isFinite(item.result.file_bytes) ? item.result.file_bytes : 0);
  const sorted = [...cases].sort((a, b) => size(a) - size(b) || a.facets.join().localeCompare(b.facets.join()));
  const measures = cases.flatMap((item) => item.result.measures).filter((m) => Number.isFinite(m.rate_mb_per_s));
  const said = shared.size ? `; all with ${[...shared].join(", ")}` : "";
  const text =
    `Bytes of the file over the time of the slowest rank, MB = 10⁶ bytes${said}. ` +
    "Faint lines are 90 % confidence, where there are repeats.";
  return figure({
    title: test,
    body: h(
      "div",
      { class: "columns" },
      distinct(measures.map((m) => m.key)).map((key) => measureDots(sorted, key, shared, names)),
    ),
    caption: caption(
      text,
      cases.flatMap((item) => item.blocks),
    ),
    table: () => tableOf(test, cases),
  });
}

export const kernels: View = {
  title: "Kernels",
  about: "Matrices, out-of-core and irregular access: by size, grid, distribution and hints.",
  applies: (report) => derived(report, "kernel").some(({ result }) => result.cases.length > 0),
  render: (report) => [...casesOf(report)].map(([test, cases]) => kernelFigure(test, cases)),
};
