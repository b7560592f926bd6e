// What src/report/report_payload.c wrote: deflated JSON, and deflated columns of numbers behind it.

export type Pair = [string, string];
export type Column = Float64Array | Uint32Array;
type ColumnPlace = [at: number, count: number, width: number];

export interface Series {
  rank: number; key: string; unit: string;
  count: number;
  bin: number; // samples put together in each value; 1: every sample is here
  sums: Column; least?: Column; most?: Column;
}

export interface ParameterSet {
  set: number;
  params: Pair[];
  hints: [kind: "used" | "asked", key: string, value: string][];
  times: [rank: number, key: string, ns: number][];
  errors: [status: string, rank: number, text: string][];
  warnings: string[];
  series: Series[];
  block: Block;
}

export interface Block {
  id: string; class: string; testname: string; complete: boolean;
  inputs: Pair[]; facts: Pair[]; sets: ParameterSet[];
  file: ResultFile;
}

export interface ResultFile {
  path: string; kind: "blocks" | "model" | "none"; trouble: string; warnings: string[];
  blocks: Block[];
  derived: Record<string, any>; // the JSON of `piolet analyze`, by tool
}

export interface ModelStep {
  turns?: number; body?: ModelStep[];
  operation?: string; leaf?: number; file?: number; access?: boolean; size?: string; offset?: string;
  etype_bytes?: number; holes?: boolean;
  observed?: { calls: number; sum_ns: number; slowest_ns: number; min_ns: number; max_ns: number; first_ns: number };
}

export interface ModelPhase {
  phase: number; count: number; first: number; step_by: number; processes: number;
  read_bytes: number; written_bytes: number; smallest_bytes: number; largest_bytes: number;
  order: string; metadata: boolean; file: number; steps: ModelStep[];
}

export interface Model {
  file: number; hash: string; program: string; ranks: number; words: string;
  mpi: string | null; mpiio: string | null; failed_calls: number; incomplete_ranks: number;
  files: { name: string; attributes: string; processes: number; read_bytes: number; written_bytes: number }[];
  phases: ModelPhase[];
  points_left_out: boolean;
  points: Record<"file" | "leaf" | "phase" | "reads" | "rank" | "tick" | "offset" | "size" | "place", Column>;
}

export interface Report {
  product_version: string; title: string; made: string; samples: number;
  files: ResultFile[]; models: Model[];
  blocks: Block[]; // of all files
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

/** What a report must look like for the views to trust it. Texts and numbers that are shown only are not looked at. */
function damaged(what: string): never {
  throw new Error(`The data of this page are damaged: ${what}. Make it again with 'piolet report'.`);
}

const isObject = (value: unknown): value is Record<string, any> => typeof value === "object" && value !== null && !Array.isArray(value);

function objects(value: unknown, what: string): Record<string, any>[] {
  if (!Array.isArray(value) || !value.every(isObject)) damaged(what);
  return value;
}

/** Rows of texts and numbers, each of at least `width` of them. */
function rows(value: unknown, width: number, what: string): void {
  if (!Array.isArray(value) || !value.every((row) => Array.isArray(row) && row.length >= width && row.every((cell) => cell === null || typeof cell !== "object"))) damaged(what);
}

function column(buffer: ArrayBuffer, place: unknown): Column {
  if (!Array.isArray(place) || place.length < 3 || !place.every(Number.isSafeInteger)) damaged("the place of a column");
  const [at, count, width] = place as ColumnPlace;
  if ((width !== 4 && width !== 8) || at < 0 || count < 0 || at % width !== 0 || at + count * width > buffer.byteLength) damaged("a column ends behind the data");
  return width === 4 ? new Uint32Array(buffer, at, count) : new Float64Array(buffer, at, count);
}

function checkSet(set: Record<string, any>, columns: ArrayBuffer): void {
  rows(set.params, 2, "the parameters of a set");
  rows(set.hints, 3, "the hints of a set");
  rows(set.times, 3, "the times of a set");
  rows(set.errors, 3, "the errors of a set");
  if (!Array.isArray(set.warnings)) damaged("the warnings of a set");
  for (const series of objects(set.series, "the series of a set")) {
    if (!series.sums) damaged("a series without numbers");
    for (const name of ["sums", "least", "most"]) if (series[name]) series[name] = column(columns, series[name]);
  }
}

/** The report of a page, out of its JSON and its columns. Whatever these are, it is whole, or an Error says what is not. */
export function decode(text: string, columns: ArrayBuffer): Report {
  let report: any;
  try {
    report = JSON.parse(text);
  } catch {
    damaged("they are no JSON");
  }
  if (!isObject(report)) damaged("they are no report");
  report.blocks = [];
  for (const file of objects(report.files, "the list of files")) {
    if (typeof file.path !== "string" || !Array.isArray(file.warnings) || !isObject(file.derived) || !Object.values(file.derived).every(isObject)) damaged("a file");
    for (const block of objects(file.blocks, "the blocks of a file")) {
      block.file = file;
      report.blocks.push(block);
      rows(block.inputs, 2, "the input of a block");
      rows(block.facts, 2, "the facts of a block");
      for (const set of objects(block.sets, "the sets of a block")) {
        set.block = block;
        checkSet(set, columns);
      }
    }
  }
  for (const model of objects(report.models, "the list of models")) {
    objects(model.files, "the files of a model");
    objects(model.phases, "the phases of a model");
    if (!isObject(model.points)) damaged("the accesses of a model");
    for (const name of Object.keys(model.points)) model.points[name] = column(columns, model.points[name]);
  }
  return report as Report;
}

export async function load(): Promise<Report> {
  const [text, columns] = await Promise.all([inflate(bytesOf("piolet-json")), inflate(bytesOf("piolet-columns"))]);
  return decode(new TextDecoder().decode(text), columns);
}

function valueOf(pairs: Pair[], key: string): string | undefined {
  return pairs.find((pair) => pair[0] === key)?.[1];
}

export const fact = (block: Block, key: string): string | undefined => valueOf(block.facts, key);
export const input = (block: Block, key: string): string | undefined => valueOf(block.inputs, key);
export const param = (set: ParameterSet, key: string): string | undefined => valueOf(set.params, key);
export const facts = (block: Block, key: string): string[] => block.facts.filter((pair) => pair[0] === key).map((pair) => pair[1]);

/** A parameter as a number; NaN: there is none. */
export function number(set: ParameterSet, key: string): number {
  const text = param(set, key);
  return text === undefined || text === "" ? NaN : Number(text);
}

export const blocksOf = (report: Report, name: string): Block[] => report.blocks.filter((block) => block.class === name);

/** The last part of a path. */
export const baseName = (path: string): string => path.replace(/.*\//, "");

/** What tells a file from the others on this page: its base name, or its path where two have the same. */
export function fileLabel(report: Report, file: ResultFile): string {
  const name = baseName(file.path);
  return report.files.filter((other) => baseName(other.path) === name).length > 1 ? file.path : name;
}

/** JSON of a tool, for each file that has it. */
export function derived(report: Report, tool: string): { file: ResultFile; result: any }[] {
  return report.files.filter((file) => file.derived[tool] && !file.derived[tool].trouble).map((file) => ({ file, result: file.derived[tool] }));
}
