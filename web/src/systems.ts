// What tells systems apart that were measured by the same class of test: of host, file system and MPI those that vary.
import { type Block, fact, fileLabel, type Report } from "./data";

const KEYS = ["hostname", "filesystem", "filesystem_source", "mpi_library"];

export function systemLabel(report: Report, block: Block | undefined): string {
  if (!block) return "";
  const varying = KEYS.filter((key) => new Set(report.blocks.filter((other) => other.class === block.class).map((other) => fact(other, key) ?? "")).size > 1);
  return varying.map((key) => (fact(block, key) ?? "").replace(/ Version: ?/, " ").replace(/,.*/, "")).filter(Boolean).join(", ");
}

/** "host, ext4", or the file's name where the systems are alike but the files are not. */
export function placeLabel(report: Report, block: Block | undefined, many: boolean): string {
  const system = systemLabel(report, block);
  return system || (many && block ? fileLabel(report, block.file) : "");
}
