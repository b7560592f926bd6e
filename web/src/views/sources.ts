// What the page was made of: every file, block and fact.
import { type Block, fact, fileLabel, type Report } from "../data";
import { h } from "../dom";
import { type Cell, figure, type Table, tableOf } from "../figure";
import { instant, plural } from "../format";
import type { View } from "../views";

function contents(report: Report): Table {
  const rows = report.files.flatMap((file): Cell[][] => {
    const name = fileLabel(report, file);
    if (file.kind === "model") { const model = report.models.find((m) => report.files[m.file] === file)!; return [[name, "model", model?.program, model?.ranks, model?.mpi, model?.mpiio, "", "", "", model ? plural(model.phases.length, "phase") : "", file.trouble]]; }
    if (!file.blocks.length) return [[name, "", "", null, "", "", "", "", "", "", file.trouble || "no block"]];
    return file.blocks.map((block) => [name, block.class, block.testname, Number(fact(block, "nprocs") ?? NaN), fact(block, "mpi_library")?.replace(" Version:", ""), fact(block, "mpiio"), [fact(block, "filesystem"), fact(block, "filesystem_source")].filter(Boolean).join(" on "), fact(block, "hostname"), instant(fact(block, "timestamp")), plural(block.sets.length, "set"), block.complete ? "" : "not complete"]);
  });
  return { name: "contents", columns: ["file", "class", "test", "ranks", "MPI", "MPI-IO", "file system", "host", "when", "holds", "remark"], rows };
}

function blockDetails(report: Report, block: Block): HTMLElement {
  const place = h("div", {});
  const details = h("details", {}, h("summary", {}, `${fileLabel(report, block.file)}: ${block.class} ${block.testname}, block ${block.id}`), place);
  details.addEventListener("toggle", () => {
    if (!details.open || place.firstChild) return;
    const hints = new Map<string, Set<string>>();
    for (const set of block.sets) for (const [kind, key, value] of set.hints) hints.set(`hint ${kind} ${key}`, (hints.get(`hint ${kind} ${key}`) ?? new Set()).add(value));
    place.append(tableOf({ name: block.id, columns: ["key", "value"], rows: [...block.inputs.map(([k, v]) => [`input ${k}`, v]), ...block.facts.map(([k, v]) => [`fact ${k}`, v]), ...[...hints].map(([k, v]) => [k, [...v].slice(0, 8).join(" | ")])] }));
  });
  return details;
}

export const sources: View = {
  id: "sources", title: "Sources", about: "The files of this page, and everything that they say about how they were measured.",
  applies: () => true,
  render: (report) => [
    figure({ title: "Files and blocks", body: tableOf(contents(report)), caption: `${plural(report.files.length, "file")}, ${plural(report.blocks.length, "block")}, ${plural(report.samples, "sample")}. Everything on this page comes from them and from nothing else.`, table: () => contents(report) }),
    h("div", { class: "details-list" }, h("h3", {}, "Inputs, facts and hints of each block"), report.blocks.map((block) => blockDetails(report, block))),
  ],
};
