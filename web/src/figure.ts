// What every chart stands in: a title, the picture, a caption that says what was measured, and its data as table and CSV.
import { type Block, fact, facts, type ParameterSet } from "./data";
import { add, button, type Child, download, h } from "./dom";
import { digits, instant } from "./format";

export type Cell = string | number | null | undefined;
export interface Table { columns: string[]; rows: Cell[][]; name: string }

const isNumber = (cell: Cell): cell is number => typeof cell === "number";

function csvCell(cell: Cell): string {
  const text = cell === null || cell === undefined || (isNumber(cell) && !Number.isFinite(cell)) ? "" : String(cell);
  // Quotes also keep a spreadsheet from taking a hostile text for a formula.
  return /[",\n\r]|^[=+@\t-]/.test(text) && !isNumber(cell) ? `"${(/^[=+@\t-]/.test(text) ? "'" : "") + text.replaceAll('"', '""')}"` : text;
}

export function csvOf(table: Table): string {
  return [table.columns, ...table.rows].map((row) => row.map(csvCell).join(",")).join("\n") + "\n";
}

const ROWS_SHOWN = 500, DENSE = 9; // rows; columns from which they stand closer

/** The name of a column, which may break behind an underscore: names of keys are wider than their numbers. */
const headOf = (name: string): Child => name.split(/(?<=_)/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));

export function tableOf(table: Table): HTMLElement {
  const numeric = table.columns.map((_, c) => table.rows.length > 0 && table.rows.every((row) => isNumber(row[c]) || row[c] === null || row[c] === undefined || /^[\d–-][\d.\u202f]*( [a-zµA-Z/%]{1,4})?$/.test(row[c]!)));
  const shown = table.rows.slice(0, ROWS_SHOWN);
  const body = shown.map((row) => h("tr", {}, row.map((cell, c) => h("td", { class: numeric[c] ? "num" : undefined }, isNumber(cell) ? digits(cell, 5) : cell ?? ""))));
  return h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": `table: ${table.name}` },
    h("table", { class: table.columns.length >= DENSE ? "dense" : undefined }, h("thead", {}, h("tr", {}, table.columns.map((name, c) => h("th", { scope: "col", class: numeric[c] ? "num" : undefined }, headOf(name))))), h("tbody", {}, body)),
    table.rows.length > ROWS_SHOWN ? h("p", { class: "note" }, `The first ${ROWS_SHOWN} of ${table.rows.length} rows; the CSV has all.`) : null);
}

export interface FigureSpec {
  title: string;
  body: Child;
  caption: Child; // what was measured, with units
  table?: () => Table; // made when asked for
}

export function figure(spec: FigureSpec): HTMLElement {
  const caption = h("figcaption", {}, spec.caption);
  const element = h("figure", {}, h("h3", {}, spec.title), h("div", { class: "figure-body" }, spec.body), caption);
  if (!spec.table) return element;
  const make = spec.table, place = h("div", {});
  const details = h("details", {}, h("summary", {}, "Data as a table"), place);
  details.addEventListener("toggle", () => { if (details.open && !place.firstChild) place.append(tableOf(make())); });
  add(element, h("div", { class: "figure-tools" }, details, button("CSV", () => {
    const table = make();
    download(`${table.name.replace(/[^\w.-]+/g, "-")}.csv`, csvOf(table));
  }, { class: "quiet", "aria-label": `download the data of ${spec.title} as CSV` })));
  return element;
}

const list = (values: (string | undefined)[]): string => [...new Set(values.filter((v): v is string => !!v))].join(", ");

/** Hints in force: what was asked for, and what our engine or the MPI says it does about it. */
function hintsOf(sets: ParameterSet[]): string {
  const asked = new Map<string, Set<string>>();
  for (const set of sets) for (const [kind, key, value] of set.hints) if (kind === "asked") asked.set(key, (asked.get(key) ?? new Set()).add(value));
  const names = [...asked].map(([key, values]) => `${key}=${[...values].slice(0, 4).join("|")}`);
  return names.length ? `hints asked: ${names.slice(0, 6).join(", ")}` : sets.some((set) => set.hints.length) ? "default hints" : "";
}

/** "4 ranks · ext4 on /dev/vda · ROMIO, MPICH 4.0.2 · hints …": where the numbers of these blocks come from. */
export function provenance(blocks: Block[], sets: ParameterSet[] = blocks.flatMap((block) => block.sets)): HTMLElement {
  const each = (key: string) => blocks.map((block) => fact(block, key));
  const ranks = list(each("nprocs")), system = list(blocks.map((b) => [fact(b, "filesystem"), fact(b, "filesystem_source")].filter(Boolean).join(" on ")));
  const library = list(each("mpi_library").map((text) => text?.replace(" Version:", "").replace(/,.*/, "")));
  const parts = [
    ranks && `${ranks} rank${ranks === "1" ? "" : "s"}`, system, [list(each("mpiio")), library].filter(Boolean).join(", "), hintsOf(sets),
    list(each("hostname")) && `host ${list(each("hostname"))}`, instant(each("timestamp").filter(Boolean).sort()[0]),
    blocks.some((block) => facts(block, "tracer").length > 0) ? "traced" : "",
  ].filter((text): text is string => !!text);
  return h("span", { class: "provenance" }, parts.map((text) => h("span", {}, text)));
}

/** The caption: what was measured, then where. */
export function caption(text: Child, blocks: Block[], sets?: ParameterSet[]): Child {
  return [h("span", {}, text), " ", provenance(blocks, sets)];
}
