// The classes of blocks that the page knows, each named here and nowhere else in web/. A class that is not here is
// shown by the view of results, from the tables, charts and quantities that its benchmark wrote.
import type { Derived, Tool } from "./analysis";
import type { Block, Report, ResultFile } from "./data";
import type { ViewId } from "./views";

export interface BlockClass {
  view: ViewId;
  label: string;
  noun: string; // of one block, for counting
  tool?: Tool; // of `piolet analyze`, whose result the view shows
  noRawTimes?: true; // its series are no times of operations of a file
}

const CLASSES: Record<string, BlockClass | undefined> = {
  Lowlevel: { view: "rates", label: "Low-level tests", noun: "low-level test", tool: "allav" },
  Kernel: { view: "kernels", label: "Kernels", noun: "kernel", tool: "kernel" },
  Apps: { view: "apps", label: "Applications", noun: "application run" },
  Piobench: { view: "piobench", label: "Collective algorithms", noun: "run of PIOBENCH", tool: "piobench" },
  Gpfs: { view: "gpfs", label: "MPI-IO/GPFS", noun: "MPI-IO/GPFS benchmark", tool: "gpfs" },
  beffio: { view: "beffio", label: "b_eff_io", noun: "b_eff_io block", tool: "beffio" },
  Beff: { view: "beff", label: "b_eff", noun: "b_eff run", tool: "beff", noRawTimes: true },
  Peak: { view: "peak", label: "Peak of the devices", noun: "measured place" },
  Prediction: { view: "prediction", label: "Prediction", noun: "prediction", noRawTimes: true },
  Replay: { view: "devices", label: "Replay", noun: "replay" },
};

/** undefined: the page has never heard of it. */
export const classOf = (block: Block): BlockClass | undefined =>
  Object.hasOwn(CLASSES, block.class) ? CLASSES[block.class] : undefined;

/** The name for people; of an unknown class its own. */
export const labelOf = (block: Block): string => classOf(block)?.label ?? block.class;

/** All blocks of the class that a view is for. */
export const blocksOf = (report: Report, view: ViewId): Block[] =>
  report.blocks.filter((block) => classOf(block)?.view === view);

export interface Found<T> {
  file: ResultFile;
  result: T;
  blocks: Block[]; // of the file, of the tool's class
}

/** The result of a tool, for each file that has it. */
export function derived<K extends Tool>(report: Report, tool: K): Found<NonNullable<Derived[K]>>[] {
  return report.files.flatMap((file) => {
    const result = file.derived[tool];
    return result ? [{ file, result, blocks: file.blocks.filter((block) => classOf(block)?.tool === tool) }] : [];
  });
}
