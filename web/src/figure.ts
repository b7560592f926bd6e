// What every chart stands in: a title, the picture, a caption that says what was measured, and its data as table and
// CSV.
import { add, button, type Child, download, h } from "./dom";
import { digits } from "./format";

export type Cell = string | number | boolean | null | undefined;

export interface Table {
  name: string;
  columns: string[];
  rows: Cell[][];
  show?: (((value: number, row: Cell[]) => string) | undefined)[]; // how numbers of a column look
  classOf?: (row: Cell[], column: number) => string | undefined; // of a cell that is unlike others
}

const isNumber = (cell: Cell): cell is number => typeof cell === "number";
const isEmpty = (cell: Cell): boolean =>
  cell === null || cell === undefined || cell === "" || (isNumber(cell) && !Number.isFinite(cell));

function csvCell(cell: Cell): string {
  const text = isEmpty(cell) ? "" : String(cell);
  if (isNumber(cell) || !/[",\n\r]|^[=+@\t-]/.test(text)) return text;
  // A spreadsheet would take a hostile text for a formula.
  const harmless = /^[=+@\t-]/.test(text) ? `'${text}` : text;
  return `"${harmless.replaceAll('"', '""')}"`;
}

export function csvOf(table: Table): string {
  return [table.columns, ...table.rows].map((row) => row.map(csvCell).join(",")).join("\n") + "\n";
}

// ---- tables ----

const ROWS_SHOWN = 500;
const DENSE = 9; // columns from which they stand closer

/** The name of a column, which may break behind an underscore: names of keys are wider than their numbers. */
const headOf = (name: string): Child => name.split(/(?<=_)/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));

/** What has no value comes last, whichever the order. */
function compareCells(a: Cell, b: Cell, falling: boolean): number {
  if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b));
  const order = isNumber(a) && isNumber(b) ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
  return falling ? -order : order;
}

function isNumeric(table: Table, column: number): boolean {
  const looksNumeric = (cell: Cell) =>
    isNumber(cell) || isEmpty(cell) || /^[\d–-][\d.\u202f]*( [a-zµA-Z/%]{1,4})?$/.test(String(cell));
  return table.rows.length > 0 && table.rows.every((row) => looksNumeric(row[column]));
}

function cellText(table: Table, row: Cell[], column: number): string {
  const cell = row[column];
  if (isEmpty(cell)) return "";
  return isNumber(cell) ? (table.show?.[column] ?? ((value) => digits(value, 5)))(cell, row) : String(cell);
}

function bodyOf(table: Table, rows: Cell[][], numeric: boolean[]): HTMLElement[] {
  return rows.slice(0, ROWS_SHOWN).map((row) =>
    h(
      "tr",
      {},
      table.columns.map((_, c) => {
        const kind = [numeric[c] ? "num" : "", table.classOf?.(row, c) ?? ""].filter(Boolean).join(" ");
        return h("td", { class: kind || undefined }, cellText(table, row, c));
      }),
    ),
  );
}

/**
 * A click on the head of a column sorts by it, another one turns the order round, a third brings the first order
 * back.
 */
export function tableOf(table: Table): HTMLElement {
  const numeric = table.columns.map((_, c) => isNumeric(table, c));
  const body = h("tbody", {}, bodyOf(table, table.rows, numeric));
  let sorted = { column: -1, falling: false };
  const heads = table.columns.map((name, c) =>
    h(
      "th",
      { scope: "col", class: numeric[c] ? "num" : undefined },
      h("button", { type: "button", class: "sort", onclick: () => sortBy(c) }, headOf(name)),
    ),
  );
  const sortBy = (column: number) => {
    const again = sorted.column === column;
    sorted = again && sorted.falling ? { column: -1, falling: false } : { column, falling: again };
    heads.forEach((head, c) => {
      if (c === sorted.column) head.setAttribute("aria-sort", sorted.falling ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const rows = [...table.rows];
    if (sorted.column >= 0) rows.sort((a, b) => compareCells(a[column], b[column], sorted.falling));
    body.replaceChildren(...bodyOf(table, rows, numeric));
  };
  const left = table.rows.length - ROWS_SHOWN;
  return h(
    "div",
    { class: "table-box", tabindex: 0, role: "region", "aria-label": `table: ${table.name}` },
    h(
      "table",
      { class: table.columns.length >= DENSE ? "dense" : undefined },
      h("thead", {}, h("tr", {}, heads)),
      body,
    ),
    left > 0 ? h("p", { class: "note" }, `${ROWS_SHOWN} of ${table.rows.length} rows; the CSV has all.`) : null,
  );
}

// ---- figures ----

export interface FigureSpec {
  title: string;
  body: Child;
  caption: Child; // what was measured, with units
  table: () => Table; // made when asked for
  isTable?: boolean; // the body shows all of it
}

export function figure(spec: FigureSpec): HTMLElement {
  const place = h("div", {});
  const details = h("details", {}, h("summary", {}, "Data as a table"), place);
  details.addEventListener("toggle", () => {
    if (details.open && !place.firstChild) place.append(tableOf(spec.table()));
  });
  const save = () => {
    const table = spec.table();
    download(`${table.name.replace(/[^\w.-]+/g, "-")}.csv`, csvOf(table));
  };
  const csv = button("CSV", save, { class: "quiet", "aria-label": `download the data of ${spec.title} as CSV` });
  const element = h("figure", {}, h("h3", {}, spec.title));
  add(element, [
    h("div", { class: "figure-body" }, spec.body),
    h("figcaption", {}, spec.caption),
    h("div", { class: "figure-tools" }, spec.isTable ? null : details, csv),
  ]);
  return element;
}

/** A figure that is a table: the rows stand in it at once. */
export function tableFigure(title: string, caption: Child, table: Table): HTMLElement {
  return figure({ title, body: tableOf(table), caption, table: () => table, isTable: true });
}
