// What is in a page, and the one place where it is read and checked. src/page wrote it: deflated JSON, and deflated
// columns of numbers behind it. Everything here is as the C side writes it; what was not written yet by older versions
// is optional.
import { type Derived, type Tool, TOOLS } from "./analysis";
import {
  type Check,
  count,
  Damaged,
  either,
  flag,
  isObject,
  list,
  members,
  type Of,
  optional,
  real,
  record,
  refuse,
  row,
  scalar,
  text,
  words,
} from "./check";

// ---- what every benchmark says in the same way ----

/** A number with a name. `block` is the id or the class of the block that it comes from. */
const plainQuantity = record({
  block: words,
  what: text,
  settings: words,
  value: real,
  unit: words,
  low: real,
  high: real,
  lower_is_better: either(flag, () => false),
  made: words,
});
/** `id` is that of its block. */
const quantity: Check<Of<typeof plainQuantity>> = (value, place) =>
  plainQuantity(isObject(value) && !("block" in value) ? { ...value, block: value.id } : value, place);

/** `names` stand at 0, 1, ... of the axis. */
const documentAxis = record({
  label: words,
  unit: words,
  log: either(flag, () => false),
  names: either(list(words), () => []),
});
/** [x, y], or [x, y, low, high]; x is a text where it names a case. */
const documentPoint: Check<[x: string | number, y: number, low: number, high: number]> = (value, place) => {
  const [x, y] = row<[Of<typeof scalar>, number]>(scalar, real)(value, place);
  const [, , low, high] = value as unknown[];
  return [typeof x === "string" ? x : real(x, place), y, real(low, place), real(high, place)];
};
const plainChart = record({
  title: words,
  x: documentAxis,
  y: documentAxis,
  series: list(record({ name: words, points: list(documentPoint) })),
});
const documentChart: Check<Of<typeof plainChart>> = (value, place) => {
  const chart = plainChart(value, place);
  const { names } = chart.x;
  if (!names.length || names.includes("")) return chart; // words at some places only: x stays a number
  const named = ([x, y, low, high]: Of<typeof documentPoint>): Of<typeof documentPoint> => [
    names[Number(x)] ?? x,
    y,
    low,
    high,
  ];
  return { ...chart, series: chart.series.map((series) => ({ ...series, points: series.points.map(named) })) };
};
/** A value, or [value, error]. */
const documentCell: Check<Of<typeof scalar>> = (value, place) =>
  scalar(Array.isArray(value) ? (value as unknown[])[0] : value, place);
/** A text, or {level, text}. */
const documentNote: Check<string> = (value, place) => words(isObject(value) ? value.text : value, place);
const documentTable = record({
  key: words,
  title: words,
  columns: list(record({ key: words, label: words, unit: words })),
  rows: list(list(documentCell)),
});
/** The result of a benchmark that the page may never have heard of. `block` as in a quantity. */
const resultDocument = record({
  block: words,
  title: words,
  tables: either(list(documentTable), () => []),
  charts: either(list(documentChart), () => []),
  notes: either(list(documentNote), () => []),
});

export type Quantity = Of<typeof quantity>;
export type ResultDocument = Of<typeof resultDocument>;
export type DocumentTable = Of<typeof documentTable>;
export type DocumentChart = Of<typeof documentChart>;

// ---- blocks ----

export type Column = Float64Array | Uint32Array;

function columnOf(buffer: ArrayBuffer): Check<Column> {
  return (value, place) => {
    const [at, length, width] = row<[number, number, number]>(count, count, count)(value, place);
    if ((width !== 4 && width !== 8) || at < 0 || length < 0 || at % width !== 0)
      refuse(place, "the place of a column");
    if (at + length * width > buffer.byteLength) refuse(place, "a column inside of the data");
    return width === 4 ? new Uint32Array(buffer, at, length) : new Float64Array(buffer, at, length);
  };
}

const pair = row<[key: string, value: string]>(words, words);

/** `bin` samples are put together in each value of a column; 1: every sample is there. */
const seriesOf = (columns: ArrayBuffer) =>
  record({
    rank: count,
    key: text,
    unit: words,
    count,
    bin: (value, place) => Math.max(1, count(value, place)),
    sums: columnOf(columns),
    least: optional(columnOf(columns)),
    most: optional(columnOf(columns)),
  });

const setOf = (columns: ArrayBuffer) =>
  record({
    set: count,
    params: list(pair),
    hints: list(row<[kind: string, key: string, value: string]>(text, words, words)),
    times: list(row<[rank: number, key: string, ns: number]>(count, text, real)),
    errors: list(row<[status: string, rank: number, text: string]>(words, count, words)),
    warnings: list(words),
    series: list(seriesOf(columns)),
  });

const blockOf = (columns: ArrayBuffer) =>
  record({
    id: words,
    class: text,
    testname: words,
    complete: flag,
    inputs: list(pair),
    facts: list(pair),
    sets: list(setOf(columns)),
  });

export type Series = Of<ReturnType<typeof seriesOf>>;
export interface ParameterSet extends Of<ReturnType<typeof setOf>> {
  block: Block;
}
export interface Block extends Of<ReturnType<typeof blockOf>> {
  sets: ParameterSet[];
  file: ResultFile;
}

const fileOf = (columns: ArrayBuffer) =>
  record({
    path: text,
    kind: words,
    trouble: words,
    warnings: list(words),
    blocks: list(blockOf(columns)),
    quantities: either(list(quantity), () => []),
    documents: either(list(resultDocument), () => []),
  });

export interface ResultFile extends Of<ReturnType<typeof fileOf>> {
  blocks: Block[];
  derived: Derived;
  toolTroubles: string[]; // tools that failed, or whose result is not what this page knows
}

/** A tool's result that is not as expected costs its view, not the page. */
function derivedOf(value: unknown, place: string): { derived: Derived; toolTroubles: string[] } {
  const derived: Record<string, unknown> = {};
  const toolTroubles: string[] = [];
  for (const [name, result] of members((item) => item)(value, place)) {
    if (!isObject(result)) refuse(`${place}.${name}`, "an object");
    try {
      if (typeof result.trouble === "string") toolTroubles.push(`${name}: ${result.trouble}`);
      else if (name in TOOLS) derived[name] = TOOLS[name as Tool](result, name);
    } catch (error) {
      if (!(error instanceof Damaged)) throw error;
      toolTroubles.push(`${name}: its result cannot be shown: ${error.message}`);
    }
  }
  return { derived, toolTroubles };
}

// ---- models ----

export interface ModelStep extends Of<typeof stepMembers> {
  body?: ModelStep[]; // of a loop
}

const stepMembers = record({
  turns: optional(count),
  operation: optional(text),
  access: either(flag, () => false),
  size: optional(text),
  offset: optional(text),
  etype_bytes: real,
  holes: either(flag, () => false),
  observed: optional(record({ calls: count, sum_ns: real, slowest_ns: real, min_ns: real, max_ns: real })),
});

const DEPTH_MAX = 64; // of loops in loops

function step(value: unknown, place: string, depth = 0): ModelStep {
  if (depth > DEPTH_MAX) refuse(place, "a loop that anybody wrote");
  const { body } = record({ body: optional(list((item, at) => step(item, at, depth + 1))) })(value, place);
  return { ...stepMembers(value, place), body };
}

const phase = record({
  phase: count,
  count,
  first: count,
  step_by: count,
  processes: count,
  read_bytes: real,
  written_bytes: real,
  smallest_bytes: real,
  largest_bytes: real,
  order: words,
  metadata: flag,
  file: count,
  steps: list<ModelStep>((value, place) => step(value, place)),
});

const modelFile = record({ name: words, processes: count, read_bytes: real, written_bytes: real });

const POINT_COLUMNS = ["file", "phase", "reads", "rank", "tick", "offset", "size", "place"] as const;
type Points = Record<(typeof POINT_COLUMNS)[number], Column>;

function pointsOf(columns: ArrayBuffer): Check<Points> {
  const check = columnOf(columns);
  return (value, place) => {
    const points = record(
      Object.fromEntries(POINT_COLUMNS.map((name) => [name, check])) as Record<keyof Points, Check<Column>>,
    )(value, place);
    if (POINT_COLUMNS.some((name) => points[name].length !== points.file.length))
      refuse(place, "of columns of one length");
    return points;
  };
}

const modelOf = (columns: ArrayBuffer) =>
  record({
    file: count,
    program: words,
    ranks: count,
    words,
    mpi: words,
    mpiio: words,
    failed_calls: count,
    incomplete_ranks: count,
    files: list(modelFile),
    phases: list(phase),
    points_left_out: flag,
    points: pointsOf(columns),
  });

export type Model = Of<ReturnType<typeof modelOf>>;
export type ModelPhase = Of<typeof phase>;

// ---- the report ----

const head = record({ product_version: words, title: words, made: words, samples: real, files: list((item) => item) });

export interface Report extends Of<typeof head> {
  files: ResultFile[];
  models: Model[];
  blocks: Block[]; // of all files
}

function readFile(value: unknown, place: string, columns: ArrayBuffer): ResultFile {
  const plain = fileOf(columns)(value, place);
  const { derived } = record({ derived: (item, at) => derivedOf(item, at) })(value, place);
  const file: ResultFile = { ...plain, ...derived, blocks: [] };
  file.blocks = plain.blocks.map((found) => {
    const block: Block = { ...found, file, sets: [] };
    block.sets = found.sets.map((set) => ({ ...set, block }));
    return block;
  });
  return file;
}

function read(text: string, columns: ArrayBuffer): Report {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Damaged("they are no JSON");
  }
  const plain = head(value, "report");
  const { models } = record({ models: list(modelOf(columns)) })(value, "report");
  const files = plain.files.map((file, i) => readFile(file, `report.files[${i}]`, columns));
  for (const model of models) if (!files[model.file]) throw new Damaged("a model without its file");
  return { ...plain, files, models, blocks: files.flatMap((file) => file.blocks) };
}

/**
 * The report of a page, out of its JSON and its columns. Whatever these are, it is whole, or an Error says what is
 * not.
 */
export function decode(text: string, columns: ArrayBuffer): Report {
  try {
    return read(text, columns);
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
    throw new Error(`The data of this page are damaged: ${error.message}. Make it again with 'piolet report'.`);
  }
}

function bytesOf(id: string): Uint8Array {
  const element = document.getElementById(id);
  const text = atob(element?.textContent ?? "");
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  element?.remove();
  return bytes;
}

function inflate(bytes: Uint8Array): Promise<ArrayBuffer> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

export async function load(): Promise<Report> {
  const [text, columns] = await Promise.all([inflate(bytesOf("piolet-json")), inflate(bytesOf("piolet-columns"))]);
  return decode(new TextDecoder().decode(text), columns);
}

// ---- looking things up ----

const valueOf = (pairs: [string, string][], key: string): string | undefined =>
  pairs.find((item) => item[0] === key)?.[1];

export const fact = (block: Block, key: string): string | undefined => valueOf(block.facts, key);

/** The level of the intervals of a block; 0.1.0 did not name it, and meant 95. */
export const intervalPercent = (block: Block): string => fact(block, "interval_percent") ?? "95";
export const input = (block: Block, key: string): string | undefined => valueOf(block.inputs, key);
export const param = (set: ParameterSet, key: string): string | undefined => valueOf(set.params, key);
export const facts = (block: Block, key: string): string[] =>
  block.facts.filter((item) => item[0] === key).map((item) => item[1]);

/** A parameter as a number; NaN: there is none. */
export function number(set: ParameterSet, key: string): number {
  const text = param(set, key);
  return text === undefined || text === "" ? NaN : Number(text);
}

/** A parameter as a number where it is one. */
export function cellOf(set: ParameterSet, key: string): string | number | undefined {
  return Number.isFinite(number(set, key)) ? number(set, key) : param(set, key);
}

/** Times of the slowest rank, by name. */
export function slowest(set: ParameterSet): Map<string, number> {
  const most = new Map<string, number>();
  for (const [, key, ns] of set.times) most.set(key, Math.max(most.get(key) ?? 0, ns));
  return most;
}

/** The values in the order in which they come first. */
export const distinct = <T>(values: Iterable<T>): T[] => [...new Set(values)];

export function groupBy<T>(values: Iterable<T>, key: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const name = key(value);
    const group = groups.get(name);
    if (group) group.push(value);
    else groups.set(name, [value]);
  }
  return groups;
}
