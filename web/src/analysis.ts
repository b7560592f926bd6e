// What the tools of `piolet analyze` write, as far as views show it; the C side is their analysis of src/lab and
// src/bench.
import { count, either, flag, list, members, type Of, real, record, scalar, text, words } from "./check";

const allavPoint = record({
  file_bytes: real,
  block_bytes: real,
  sets: count,
  rate_mb_per_s: real,
  error_mb_per_s: real,
  asymptotic_mb_per_s: real,
  asymptotic_error_mb_per_s: real,
});
const allavGrowth = record({
  block_bytes: real,
  file_bytes: real,
  points: list(record({ bytes: real, rate_mb_per_s: real })),
});
const allavCurve = record({
  testname: text,
  op: text,
  nprocs: words,
  collective: words,
  layout: words,
  mpiio: words,
  filesystem: words,
  points: list(allavPoint),
  approximate: list(allavGrowth),
});

const kernelMeasure = record({
  key: text,
  sets: count,
  rate_mb_per_s: real,
  rate_error_mb_per_s: real,
  longest_ns: real,
  imbalance: real,
});
const kernelCase = record({
  testname: text,
  nprocs: words,
  mpiio: words,
  filesystem: words,
  size: words,
  grid: words,
  distribution: words,
  collective: words,
  block: words,
  update_frac: words,
  other: words,
  hints: members(words),
  file_bytes: real,
  measures: list(kernelMeasure),
});

const beffRun = record({
  block: count,
  nprocs: count,
  b_eff: real,
  b_eff_as_3_6: real,
  b_eff_per_process: real,
  length_max_bytes: real,
  pingpong_at_length_max: real,
  latency_s: real,
  b_eff_at_length_max: real,
  b_eff_at_length_max_per_process: real,
  rings_at_length_max_per_process: real,
  not_standard: list(text),
  by_method: list(record({ method: text, b_eff: real, rings: real, random: real })),
  by_length: list(record({ length_bytes: real, rings: real, random: real })),
  by_pattern: list(record({ pattern: text, messages: count, mean: real, by_length: list(real) })),
});

const beffioPattern = record({
  method: text,
  type: count,
  pattern: count,
  units: count,
  chunk_bytes: real,
  call_bytes: real,
  calls: real,
  bytes: real,
  time_ns: real,
  sync_ns: real,
  decide_ns: real,
  decisions: real,
  failed: flag,
  rate_mb_per_s: real,
});
const beffioPartition = record({
  folder: words,
  mpiio: words,
  processes: count,
  b_eff_io_mb_per_s: real,
  release_2_1_mb_per_s: real,
  release_2_1_kept_mb_per_s: real,
  release: text,
  coffee_cup_minutes: real,
  verdict: text,
  reasons: list(text),
  caches: list(text),
  warnings: list(text),
  methods: list(record({ method: text, bytes: real, value_mb_per_s: real, cache_share: real })),
  patterns: list(beffioPattern),
  diagrams: list(record({ method: text, type: count, chunk: count, rate_mb_per_s: real })),
});

const piobenchPoint = record({
  op: text,
  distribution: text,
  file_bytes: real,
  block_bytes: real,
  ranks: count,
  mpi: words,
  algorithm: text,
  family: text,
  conditions: words,
  trials: count,
  failures: count,
  warning: words,
  rate_mb_per_s: real,
  error_mb_per_s: real,
  ratio_to_naive: real,
  ratio_to_best: real,
});

const gpfsNumbers = record({
  benchmark: text,
  mpi: words,
  contestant: text,
  conditions: words,
  op: words,
  ranks: real,
  record_bytes: real,
  block_bytes: real,
  moved_bytes: real,
  repetitions: count,
  failures: count,
  max_mb_per_s: real,
  mean_mb_per_s: real,
  sd_mb_per_s: real,
  reference: words,
  ratio_to_reference: real,
  ratio_to_best: real,
  overlap: real,
});
/** What every benchmark has, in the order of a table. */
export const GPFS_COLUMNS = [
  "mpi",
  "contestant",
  "conditions",
  "moved_bytes",
  "repetitions",
  "failures",
  "max_mb_per_s",
  "mean_mb_per_s",
  "sd_mb_per_s",
  "reference",
  "ratio_to_reference",
  "ratio_to_best",
  "overlap",
] as const;
const GPFS_NUMBERS = new Set<string>([
  ...GPFS_COLUMNS,
  "benchmark",
  "ratio_to_reference_error",
  "ratio_to_best_error",
  "warning",
]);
/** Each benchmark has parameters of its own: `cell` holds them. */
const gpfsPoint = (value: unknown, place: string) => {
  const cell = [...members(scalar)(value, place)].filter(([key]) => !GPFS_NUMBERS.has(key));
  return { ...gpfsNumbers(value, place), cell: new Map(cell) };
};

export const TOOLS = {
  allav: record({ curves: list(allavCurve) }),
  kernel: record({ cases: list(kernelCase) }),
  beff: record({ runs: list(beffRun) }),
  beffio: record({ partitions: list(beffioPartition) }),
  piobench: record({ points: list(piobenchPoint), findings: either(list(text), () => []) }),
  gpfs: record({ points: list(gpfsPoint) }),
};

export type Tool = keyof typeof TOOLS;
export type Derived = { [K in Tool]?: Of<(typeof TOOLS)[K]> };
export type AllavCurve = Of<typeof allavCurve>;
export type AllavPoint = Of<typeof allavPoint>;
export type KernelCase = Of<typeof kernelCase>;
export type BeffRun = Of<typeof beffRun>;
export type BeffioPartition = Of<typeof beffioPartition>;
export type PiobenchPoint = Of<typeof piobenchPoint>;
export type GpfsPoint = ReturnType<typeof gpfsPoint>;
