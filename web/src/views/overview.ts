// The few numbers that matter, what to think of them, and every warning. What they are, each view says itself.
import { classOf } from "../classes";
import { fact, facts, groupBy, type Report } from "../data";
import { type Child, h } from "../dom";
import { bytes, plural } from "../format";
import { fileLabel, filesystemOf, joined, libraryOf } from "../origin";
import { type Card, type Level, type View, type ViewId, VIEWS } from "../views";

// ---- cards ----

const MORE = 3; // entries under the first

function cardElement(view: ViewId, card: Card): HTMLElement {
  const [first, ...more] = [...card.entries].sort((a, b) => b.size - a.size);
  const trust = first.good === undefined ? "" : first.good ? " good" : " doubtful";
  const others = more
    .slice(0, MORE)
    .map((entry) => h("span", { class: "card-more" }, h("b", {}, entry.value), ` ${entry.where}`));
  return h(
    "a",
    { class: "card", href: `#${view}` },
    h("span", { class: "card-label" }, card.label),
    h("strong", {}, first.value),
    h("span", { class: "card-where" }, first.where),
    first.verdict ? h("span", { class: `verdict${trust}` }, first.verdict) : null,
    others,
    more.length > MORE ? h("span", { class: "card-more" }, `and ${more.length - MORE} more`) : null,
  );
}

function cardElements(report: Report): HTMLElement[] {
  return [...VIEWS].flatMap(([id, view]) => {
    const cards = (view.cards?.(report) ?? []).filter((card) => card.entries.length);
    return cards.map((card) => cardElement(id, card));
  });
}

// ---- warnings ----

interface Remark {
  level: Level;
  text: string;
  where: Set<string>;
  count: number;
}

const ORDER: Level[] = ["error", "warning", "note"];

/** Everything that went wrong, each text once, with the places. */
function remarksOf(report: Report): Remark[] {
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
    for (const text of [...file.warnings, ...file.toolTroubles]) add("warning", text, name);
    for (const block of file.blocks) {
      const here = `${name}, ${block.testname}`;
      if (!block.complete) add("warning", "The run did not end: what was measured before is shown.", here);
      for (const text of facts(block, "warning")) add("warning", text, here);
      for (const set of block.sets) {
        const place = `${here}, set ${set.set}`;
        for (const text of set.warnings) add("warning", text, place);
        for (const [status, rank, text] of set.errors) add("error", `rank ${rank}: ${status}: ${text}`, place);
      }
    }
  }
  for (const view of VIEWS.values())
    for (const { level, text, where } of view.remarks?.(report) ?? []) add(level, text, where);
  return [...all.values()].sort((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level) || b.count - a.count);
}

const PLACES = 3;

function placesOf(remark: Remark): HTMLElement {
  const where = [...remark.where];
  const more = where.length > PLACES ? ` and ${where.length - PLACES} more` : "";
  return h("small", {}, where.slice(0, PLACES).join("; ") + more);
}

/** Remarks that differ in numbers only stand under the first of them. */
function groupElement([first, ...more]: Remark[]): HTMLElement {
  const others = more.map((remark) => h("li", {}, remark.text, " ", placesOf(remark)));
  const details = h("details", {}, h("summary", {}, `${more.length} more like it`), h("ul", {}, others));
  const body = h("div", {}, first.text, " ", placesOf(first), more.length ? details : null);
  return h("li", { class: first.level }, h("b", {}, first.level), body);
}

const SHOWN = 12;

function remarksElement(report: Report): Child {
  const alike = (remark: Remark) => remark.level + remark.text.replace(/\d+(\.\d+)?/g, "#");
  const list = [...groupBy(remarksOf(report), alike).values()].map(groupElement);
  if (!list.length) return h("p", { class: "all-well" }, "No warnings, no errors.");
  const more = list.slice(SHOWN);
  return [
    h("ul", { class: "remarks" }, list.slice(0, SHOWN)),
    more.length ? h("details", {}, h("summary", {}, `${more.length} more`), h("ul", { class: "remarks" }, more)) : null,
  ];
}

// ---- what it is about ----

/** The machines of the page, a line each. */
function systems(report: Report): HTMLElement {
  const lines = report.blocks.map((block) => {
    const memory = Number(fact(block, "memory_bytes"));
    const cores = fact(block, "cores");
    const parts = [
      fact(block, "hostname"),
      cores && `${cores} cores`,
      memory > 0 && `${bytes(memory)} memory`,
      filesystemOf(block),
      libraryOf(block),
    ];
    return joined(parts, " · ");
  });
  return h(
    "ul",
    { class: "systems" },
    [...new Set(lines)].filter(Boolean).map((line) => h("li", {}, line)),
  );
}

/** How many blocks of which class, each with the way to its view. */
function holdings(report: Report): HTMLElement {
  const unknown = { view: "results" as ViewId, noun: "" };
  const groups = [...groupBy(report.blocks, (block) => block.class).values()].map((blocks) => {
    const { view, noun } = classOf(blocks[0]) ?? { ...unknown, noun: `block of class ${blocks[0].class}` };
    const text = noun.includes(" of ")
      ? `${blocks.length} ${blocks.length === 1 ? noun : noun.replace(" of ", "s of ")}`
      : plural(blocks.length, noun);
    return h("a", { href: `#${view}` }, text);
  });
  return h(
    "p",
    { class: "holdings" },
    groups.flatMap((link, i) => (i ? [", ", link] : [link])),
  );
}

export const overview: View = {
  title: "Overview",
  about: "What was found, and how far to trust it.",
  applies: () => true,
  render: (report) => [
    systems(report),
    ...(report.blocks.length ? [holdings(report)] : []),
    h("div", { class: "cards" }, cardElements(report)),
    h("div", { class: "remark-box" }, h("h3", {}, "Warnings"), remarksElement(report)),
  ],
};
