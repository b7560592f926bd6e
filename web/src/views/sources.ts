// What the page was made of: every file, block and fact.
import { labelOf } from "../classes";
import { type Block, fact, type Model, type Report, type ResultFile } from "../data";
import { h } from "../dom";
import { type Cell, tableFigure, tableOf } from "../figure";
import { instant, plural } from "../format";
import { fileLabel, filesystemOf } from "../origin";
import type { View } from "../views";

const COLUMNS = ["file", "class", "test", "ranks", "MPI", "MPI-IO", "file system", "host", "when", "holds", "remark"];

function blockRow(name: string, block: Block): Cell[] {
  return [
    name,
    block.class,
    block.testname,
    Number(fact(block, "nprocs") ?? NaN),
    fact(block, "mpi_library")?.replace(" Version:", ""),
    fact(block, "mpiio"),
    filesystemOf(block),
    fact(block, "hostname"),
    instant(fact(block, "timestamp")),
    plural(block.sets.length, "set"),
    block.complete ? "" : "not complete",
  ];
}

function fileRows(report: Report, file: ResultFile, model: Model | undefined): Cell[][] {
  const name = fileLabel(report, file);
  if (model) {
    const holds = plural(model.phases.length, "phase");
    return [[name, "model", model.program, model.ranks, model.mpi, model.mpiio, "", "", "", holds, file.trouble]];
  }
  if (file.blocks.length) return file.blocks.map((block) => blockRow(name, block));
  return [[name, "", "", null, "", "", "", "", "", "", file.trouble || "no block"]];
}

const HINT_VALUES_SHOWN = 8;

function detailRows(block: Block): Cell[][] {
  const hints = new Map<string, Set<string>>();
  for (const [kind, key, value] of block.sets.flatMap((set) => set.hints)) {
    const name = `hint ${kind} ${key}`;
    hints.set(name, (hints.get(name) ?? new Set()).add(value));
  }
  return [
    ...block.inputs.map(([key, value]) => [`input ${key}`, value]),
    ...block.facts.map(([key, value]) => [`fact ${key}`, value]),
    ...[...hints].map(([key, values]) => [key, [...values].slice(0, HINT_VALUES_SHOWN).join(" | ")]),
  ];
}

function blockDetails(report: Report, block: Block): HTMLElement {
  const place = h("div", {});
  const title = `${fileLabel(report, block.file)}: ${labelOf(block)} ${block.testname}, block ${block.id}`;
  const details = h("details", {}, h("summary", {}, title), place);
  details.addEventListener("toggle", () => {
    if (!details.open || place.firstChild) return;
    place.append(tableOf({ name: block.id, columns: ["key", "value"], rows: detailRows(block) }));
  });
  return details;
}

export const sources: View = {
  title: "Sources",
  about: "The files of this page, and everything that they say about how they were measured.",
  applies: () => true,
  render: (report) => {
    const modelOf = (file: ResultFile) => report.models.find((model) => report.files[model.file] === file);
    const rows = report.files.flatMap((file) => fileRows(report, file, modelOf(file)));
    const counts = [
      plural(report.files.length, "file"),
      plural(report.blocks.length, "block"),
      plural(report.samples, "sample"),
    ];
    const text = `${counts.join(", ")}. Everything on this page comes from them and from nothing else.`;
    return [
      tableFigure("Files and blocks", text, { name: "contents", columns: COLUMNS, rows }),
      h(
        "div",
        { class: "details-list" },
        h("h3", {}, "Inputs, facts and hints of each block"),
        report.blocks.map((block) => blockDetails(report, block)),
      ),
    ];
  },
};
