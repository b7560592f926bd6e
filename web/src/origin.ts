// Where numbers come from: names of files and systems, made of what tells them apart, and the captions of figures.
import { type Block, distinct, fact, facts, type ParameterSet, type Report, type ResultFile } from "./data";
import { type Child, h } from "./dom";
import { instant } from "./format";

/** The last part of a path. */
export const baseName = (path: string): string => path.replace(/.*\//, "");

/** "a, b" without what is empty. */
export const joined = (parts: (string | undefined | false)[], between = ", "): string =>
  parts.filter(Boolean).join(between);

/** What tells a file from the others on this page: its base name, or its path where two have the same. */
export function fileLabel(report: Report, file: ResultFile): string {
  const name = baseName(file.path);
  return report.files.filter((other) => baseName(other.path) === name).length > 1 ? file.path : name;
}

const OPERATIONS: Record<string, string | undefined> = { w: "write", r: "read", u: "update", t: "task" };

/** The name for people of a series or a measure. */
export const operationName = (key: string): string => OPERATIONS[key] ?? key;

// ---- systems ----

const SYSTEM_KEYS = ["hostname", "filesystem", "filesystem_source", "mpi_library"];

/** "MPICH 4.0.2" of what MPI_Get_library_version says. */
export const libraryName = (text: string | undefined): string =>
  (text ?? "").replace(/ Version: ?/, " ").replace(/,.*/, "");

/** "ext4 on /dev/vda". */
export const filesystemOf = (block: Block): string =>
  joined([fact(block, "filesystem"), fact(block, "filesystem_source")], " on ");

export const libraryOf = (block: Block): string => libraryName(fact(block, "mpi_library"));

/** Of host, file system and MPI what varies between blocks of the same class. */
export function systemLabel(report: Report, block: Block | undefined): string {
  if (!block) return "";
  const alike = report.blocks.filter((other) => other.class === block.class);
  const varies = (key: string) => distinct(alike.map((other) => fact(other, key) ?? "")).length > 1;
  return joined(SYSTEM_KEYS.filter(varies).map((key) => libraryName(fact(block, key))));
}

/** The system, or the file's name where the systems are alike but the files are not. */
export function placeLabel(report: Report, block: Block | undefined, many: boolean): string {
  return systemLabel(report, block) || (many && block ? fileLabel(report, block.file) : "");
}

// ---- captions ----

const HINTS_SHOWN = 6;
const VALUES_SHOWN = 4;

/** Hints that were asked for, with their values. */
function hintsOf(sets: ParameterSet[]): string {
  const asked = new Map<string, Set<string>>();
  for (const [kind, key, value] of sets.flatMap((set) => set.hints))
    if (kind === "asked") asked.set(key, (asked.get(key) ?? new Set()).add(value));
  if (!asked.size) return sets.some((set) => set.hints.length) ? "default hints" : "";
  const names = [...asked].map(([key, values]) => `${key}=${[...values].slice(0, VALUES_SHOWN).join("|")}`);
  return `hints asked: ${joined(names.slice(0, HINTS_SHOWN))}`;
}

/** "4 ranks · ext4 on /dev/vda · ROMIO, MPICH 4.0.2 · hints …": where the numbers of these blocks come from. */
export function provenance(blocks: Block[], sets = blocks.flatMap((block) => block.sets)): HTMLElement {
  const each = (key: string) => joined(distinct(blocks.map((block) => fact(block, key))));
  const ranks = each("nprocs");
  const earliest = blocks
    .map((block) => fact(block, "timestamp") ?? "")
    .filter(Boolean)
    .sort()[0];
  const parts = [
    ranks && `${ranks} rank${ranks === "1" ? "" : "s"}`,
    joined(distinct(blocks.map(filesystemOf))),
    joined([each("mpiio"), ...distinct(blocks.map(libraryOf))]),
    hintsOf(sets),
    each("hostname") && `host ${each("hostname")}`,
    instant(earliest),
    blocks.some((block) => facts(block, "tracer").length > 0) ? "traced" : "",
  ].filter(Boolean);
  return h(
    "span",
    { class: "provenance" },
    parts.map((text) => h("span", {}, text)),
  );
}

/** The caption of a figure: what was measured, then where. */
export function caption(text: Child, blocks: Block[], sets?: ParameterSet[]): Child {
  return [h("span", {}, text), " ", provenance(distinct(blocks), sets)];
}
