// The few numbers that matter, what to think of them, and every warning.
import { blocksOf, derived, fact, facts, fileLabel, number, param, type Report, type ResultFile } from "../data";
import { type Child, h } from "../dom";
import { bytes, digits, plural, rate, time } from "../format";
import { systemLabel } from "../systems";
import type { View } from "../views";

interface Entry { value: string; where: string; verdict?: string; good?: boolean; size: number }
interface Card { label: string; link: string; entries: Entry[] }

const joined = (...parts: (string | undefined | false)[]): string => parts.filter(Boolean).join(" · ");

/** How far a rate of a test can be trusted: a small file is in the page cache, and few samples say little. */
function trust(file: ResultFile, point: any): { verdict: string; good?: boolean } {
  const memory = Math.max(0, ...file.blocks.map((block) => Number(fact(block, "memory_bytes")) || 0)), error = point.error_mb_per_s / point.rate_mb_per_s;
  const spread = point.error_mb_per_s !== null ? `± ${digits(100 * error, 2)} %` : "";
  if (point.file_bytes < memory) return { verdict: joined(spread, `fits in memory (${bytes(memory)}): the page cache is measured`), good: false };
  return { verdict: spread, good: error < 0.25 };
}

/** Of each file the best rate among the largest files of low-level tests, where caches help least. */
function rateCards(report: Report): Card[] {
  return [["w", "Writing"], ["r", "Reading"]].map(([op, label]) => ({
    label, link: "rates",
    entries: derived(report, "allav").flatMap(({ file, result }) => {
      const points = result.curves.filter((c: any) => c.op === op).flatMap((c: any) => c.points.map((p: any) => ({ ...p, curve: c })));
      const largest = points.reduce((most: number, p: any) => Math.max(most, p.file_bytes), 0), big = points.filter((p: any) => p.file_bytes > 0.9 * largest);
      const sure = big.filter((p: any) => p.error_mb_per_s < 0.5 * p.rate_mb_per_s);
      const best = (sure.length ? sure : big).sort((a: any, b: any) => b.rate_mb_per_s - a.rate_mb_per_s)[0];
      if (!best) return [];
      return [{ value: rate(best.rate_mb_per_s), size: best.rate_mb_per_s, ...trust(file, best), where: joined(systemLabel(report, file.blocks[0]), `${best.curve.testname}${best.curve.collective === "true" ? ", collective" : ""}, blocks of ${bytes(best.block_bytes)}, file of ${bytes(best.file_bytes)}`) }];
    }),
  }));
}

function beffioCard(report: Report): Card {
  return {
    label: "b_eff_io", link: "beffio",
    entries: derived(report, "beffio").flatMap(({ file, result }) => result.partitions.map((p: any) => ({
      value: rate(p.b_eff_io_mb_per_s), size: p.b_eff_io_mb_per_s,
      where: joined(systemLabel(report, file.blocks[0]), p.folder, `${p.processes} processes`, p.mpiio),
      verdict: p.verdict === "VALID" ? "official" : `not official: ${p.reasons[0] ?? "see below"}`, good: p.verdict === "VALID",
    }))),
  };
}

function beffCard(report: Report): Card {
  return {
    label: "b_eff", link: "beff",
    entries: derived(report, "beff").flatMap(({ file, result }) => result.runs.map((run: any) => ({
      value: rate(run.b_eff / 1e6), size: run.b_eff,
      where: joined(systemLabel(report, file.blocks[0]), `${run.nprocs} processes`, `latency ${time(run.latency_s * 1e9)}`),
      verdict: run.not_standard.length ? `not standard: ${run.not_standard[0]}` : "standard", good: !run.not_standard.length,
    }))),
  };
}

/** The engine's best against the system's MPI-IO, in the cell where it gains most. */
function engineCard(report: Report): Card {
  const entries = derived(report, "piobench").flatMap(({ file, result }) => {
    let best: Entry | undefined;
    for (const system of result.points.filter((p: any) => p.family === "system" && p.rate_mb_per_s > 0))
      for (const p of result.points) {
        const same = ["op", "distribution", "file_bytes", "block_bytes", "ranks", "mpi", "conditions"].every((key) => p[key] === system[key]);
        if (!same || p.family === "system" || p.family === "naive" || !(p.rate_mb_per_s > 0)) continue;
        const ratio = p.rate_mb_per_s / system.rate_mb_per_s;
        if (!best || ratio > best.size)
          best = { size: ratio, value: `${digits(ratio, 2)} ×`, where: joined(systemLabel(report, file.blocks[0]), `${p.algorithm}, ${p.op} ${p.distribution}, blocks of ${bytes(p.block_bytes)}, ${p.ranks} ranks`), verdict: `${rate(p.rate_mb_per_s)} against ${rate(system.rate_mb_per_s)} of the system's MPI-IO` };
      }
    return best ? [best] : [];
  });
  return { label: "Engine over system, at best", link: "compare", entries };
}

function predictionCard(report: Report): Card {
  const blocks = blocksOf(report, "Prediction");
  const entries = blocks.flatMap((block) => {
    const totals = block.sets.filter((set) => param(set, "kind") === "total"), ranked = totals.length > 1; // one alone is not the best of any
    return totals.map((set) => ({
      value: time(number(set, "time_ns")), size: -number(set, "time_ns"),
      where: joined(blocks.length > 1 && fileLabel(report, block.file), fact(block, "program"), param(set, "configuration")),
      verdict: ranked ? (param(set, "place") === "1" ? "best" : `place ${param(set, "place") ?? "–"}`) : undefined, good: ranked && param(set, "place") === "1" ? true : undefined,
    }));
  });
  return { label: "Predicted I/O time", link: "prediction", entries };
}

function modelCard(report: Report): Card {
  return {
    label: "I/O phases", link: "phases",
    entries: report.models.map((model) => ({
      value: String(model.phases.reduce((sum, phase) => sum + phase.count, 0)), size: model.phases.length,
      where: joined(fileLabel(report, report.files[model.file]), model.program, `${model.ranks} processes`),
      verdict: `${bytes(model.files.reduce((s, f) => s + f.written_bytes, 0))} written, ${bytes(model.files.reduce((s, f) => s + f.read_bytes, 0))} read`,
    })),
  };
}

function cardElement(card: Card): HTMLElement {
  const [first, ...more] = [...card.entries].sort((a, b) => b.size - a.size);
  return h("a", { class: "card", href: `#${card.link}` },
    h("span", { class: "card-label" }, card.label),
    h("strong", {}, first.value),
    h("span", { class: "card-where" }, first.where),
    first.verdict ? h("span", { class: `verdict${first.good === false ? " doubtful" : first.good ? " good" : ""}` }, first.verdict) : null,
    more.slice(0, 3).map((entry) => h("span", { class: "card-more" }, h("b", {}, entry.value), ` ${entry.where}`)),
    more.length > 3 ? h("span", { class: "card-more" }, `and ${more.length - 3} more`) : null);
}

// ---- warnings ----

type Level = "error" | "warning" | "note";
interface Remark { level: Level; text: string; where: Set<string>; count: number }
interface Group { first: Remark; more: Remark[] } // that differ in numbers only

export function remarks(report: Report): Remark[] {
  const all = new Map<string, Remark>();
  const add = (level: Level, text: string, where: string) => {
    const remark = all.get(level + text) ?? { level, text, where: new Set<string>(), count: 0 };
    remark.where.add(where);
    remark.count++;
    all.set(level + text, remark);
  };
  for (const file of report.files) {
    const name = fileLabel(report, file);
    if (file.trouble) add(file.kind === "none" ? "error" : "warning", file.trouble, name);
    for (const text of file.warnings) add("warning", text, name);
    for (const [tool, result] of Object.entries(file.derived)) if (result.trouble) add("warning", `${tool}: ${result.trouble}`, name);
    for (const block of file.blocks) {
      const here = `${name}, ${block.testname}`;
      if (!block.complete) add("warning", "The run did not end: what was measured before is shown.", here);
      for (const text of facts(block, "warning")) add("warning", text, here);
      for (const set of block.sets) {
        for (const text of set.warnings) add("warning", text, `${here}, set ${set.set}`);
        for (const [status, rank, text] of set.errors) add("error", `rank ${rank}: ${status}: ${text}`, `${here}, set ${set.set}`);
      }
    }
  }
  for (const { file, result } of derived(report, "beffio")) for (const p of result.partitions) for (const text of p.reasons) add("note", `b_eff_io is not official: ${text}`, fileLabel(report, file));
  for (const { file, result } of derived(report, "beff")) for (const run of result.runs) for (const text of run.not_standard) add("note", `b_eff is not standard: ${text}`, fileLabel(report, file));
  for (const model of report.models) {
    if (model.failed_calls) add("warning", `${plural(model.failed_calls, "call")} failed and ${model.failed_calls === 1 ? "is" : "are"} not in the model`, model.program);
    if (model.incomplete_ranks) add("warning", `${plural(model.incomplete_ranks, "trace")} of the model end early`, model.program);
  }
  const order: Level[] = ["error", "warning", "note"];
  return [...all.values()].sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level) || b.count - a.count);
}

const SHOWN = 12;

function groups(list: Remark[]): Group[] {
  const found = new Map<string, Group>();
  for (const remark of list) {
    const key = remark.level + remark.text.replace(/\d+(\.\d+)?/g, "#"), group = found.get(key);
    if (group) group.more.push(remark); else found.set(key, { first: remark, more: [] });
  }
  return [...found.values()];
}

function placesOf(remark: Remark): string {
  const where = [...remark.where];
  return where.slice(0, 3).join("; ") + (where.length > 3 ? ` and ${where.length - 3} more` : "");
}

function remarkElement({ first, more }: Group): HTMLElement {
  return h("li", { class: first.level }, h("b", {}, first.level), h("div", {}, first.text, " ", h("small", {}, placesOf(first)),
    more.length ? h("details", {}, h("summary", {}, `${more.length} more like it`), h("ul", {}, more.map((remark) => h("li", {}, remark.text, " ", h("small", {}, placesOf(remark)))))) : null));
}

function remarksElement(report: Report): Child {
  const list = groups(remarks(report));
  if (!list.length) return h("p", { class: "all-well" }, "No warnings, no errors.");
  return [h("ul", { class: "remarks" }, list.slice(0, SHOWN).map(remarkElement)),
    list.length > SHOWN ? h("details", {}, h("summary", {}, `${list.length - SHOWN} more`), h("ul", { class: "remarks" }, list.slice(SHOWN).map(remarkElement))) : null];
}

/** The machines of the page, a line each. */
function systems(report: Report): HTMLElement {
  const lines = new Map<string, number>();
  for (const block of report.blocks) {
    const memory = Number(fact(block, "memory_bytes"));
    const line = joined(fact(block, "hostname"), fact(block, "cores") && `${fact(block, "cores")} cores`, memory > 0 && `${bytes(memory)} memory`,
      [fact(block, "filesystem"), fact(block, "filesystem_source")].filter(Boolean).join(" on "), fact(block, "mpi_library")?.replace(" Version:", "").replace(/,.*/, ""));
    if (line) lines.set(line, (lines.get(line) ?? 0) + 1);
  }
  return h("ul", { class: "systems" }, [...lines.keys()].map((line) => h("li", {}, line)));
}

export const overview: View = {
  id: "overview", title: "Overview", about: "What was found, and how far to trust it.",
  applies: () => true,
  render: (report) => {
    const cards = [...rateCards(report), beffioCard(report), beffCard(report), engineCard(report), predictionCard(report), modelCard(report)].filter((card) => card.entries.length);
    return [systems(report), h("div", { class: "cards" }, cards.map(cardElement)), h("div", { class: "remark-box" }, h("h3", {}, "Warnings"), remarksElement(report))];
  },
};
