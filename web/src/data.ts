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

function column(buffer: ArrayBuffer, [at, count, width]: ColumnPlace): Column {
  return width === 4 ? new Uint32Array(buffer, at, count) : new Float64Array(buffer, at, count);
}

export async function load(): Promise<Report> {
  const [text, columns] = await Promise.all([inflate(bytesOf("piolet-json")), inflate(bytesOf("piolet-columns"))]);
  const report = JSON.parse(new TextDecoder().decode(text));
  report.blocks = [];
  for (const file of report.files)
    for (const block of file.blocks) {
      block.file = file;
      report.blocks.push(block);
      for (const set of block.sets) {
        set.block = block;
        for (const series of set.series)
          for (const name of ["sums", "least", "most"]) if (series[name]) series[name] = column(columns, series[name]);
      }
    }
  for (const model of report.models)
    for (const name of Object.keys(model.points)) model.points[name] = column(columns, model.points[name]);
  return report;
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
