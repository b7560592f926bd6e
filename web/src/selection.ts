// Which series is looked at, and which region of it: shared by the views of raw times and of distributions.
import { classOf } from "./classes";
import { type Block, distinct, number, param, type ParameterSet, type Report, type Series } from "./data";
import { add, chooser, h } from "./dom";
import { bytes } from "./format";
import { caption, fileLabel, joined, operationName } from "./origin";
import type { Region } from "./stats";

export interface Choice {
  label: string;
  set: ParameterSet;
  key: string;
  series: Series[];
  count: number;
}

/** Each operation of each set that has times of single operations. */
function choices(report: Report): Choice[] {
  const sets = report.blocks.filter((block) => !classOf(block)?.noRawTimes).flatMap((block) => block.sets);
  return sets.filter((set) => param(set, "kind") !== "device").flatMap((set) => choicesOf(report, set));
}

function choicesOf(report: Report, set: ParameterSet): Choice[] {
  const timed = set.series.filter((series) => series.unit === "ns" && series.count > 0);
  return distinct(timed.map((series) => series.key)).map((key) => {
    const series = timed.filter((s) => s.key === key).sort((a, b) => a.rank - b.rank);
    const count = Math.max(...series.map((s) => s.count));
    return { set, key, series, count, label: labelOf(report, set.block, set, key) };
  });
}

function labelOf(report: Report, block: Block, set: ParameterSet, key: string): string {
  const size = (name: string) => (number(set, name) > 0 ? bytes(number(set, name)) : "");
  const access = param(set, "access");
  const parts = [
    block.testname,
    operationName(key),
    size("filesize_bytes") && `file ${size("filesize_bytes")}`,
    size("blocksize_bytes") && `block ${size("blocksize_bytes")}`,
    access && size("request_bytes") && `${access} ${size("request_bytes")}`,
    param(set, "phase") && `phase ${param(set, "phase")}`,
    param(set, "method") && param(set, "pattern") && `${param(set, "method")}, pattern ${param(set, "pattern")}`,
    `set ${set.set}`,
  ];
  return `${fileLabel(report, block.file)}: ${joined(parts)}`;
}

class Selection {
  chosen = 0;
  compared = -1; // index of a second choice beside the first; -1: none
  region: Region = { from: 0, to: 0 };
  private listeners: (() => void)[] = [];
  private all: Choice[] | null = null;

  list(report: Report): Choice[] {
    if (!this.all) {
      this.all = choices(report);
      // The longest series says most.
      this.chosen = this.all.reduce((best, choice, i) => (choice.count > this.all![best].count ? i : best), 0);
      this.reset();
    }
    return this.all;
  }

  get shown(): Choice[] {
    return [this.chosen, this.compared].filter((i) => i >= 0).map((i) => this.all![i]);
  }

  get count(): number {
    return Math.max(1, ...this.shown.map((choice) => choice.count));
  }

  choose(index: number): void {
    this.chosen = index;
    this.reset();
    this.tell();
  }
  compare(index: number): void {
    this.compared = index;
    this.reset();
    this.tell();
  }

  select(from: number, to: number): void {
    const last = this.count - 1;
    const low = Math.max(0, Math.min(last, Math.round(Math.min(from, to))));
    this.region = { from: low, to: Math.max(low, Math.min(last, Math.round(Math.max(from, to)))) };
    this.tell();
  }

  reset(): void {
    this.region = { from: 0, to: this.all?.length ? this.count - 1 : 0 };
  }
  listen(listener: () => void): void {
    this.listeners.push(listener);
  }
  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}

export const selection = new Selection();

/** The choosers of both views; they stay the same as each other. */
export function selectionControls(report: Report): HTMLElement {
  const box = h("div", { class: "controls" });
  const draw = () => {
    const list = selection.list(report);
    const labels = list.map((choice) => choice.label);
    box.replaceChildren(
      chooser("series", labels, selection.chosen, (i) => selection.choose(i)),
      chooser("beside", ["nothing", ...labels], selection.compared + 1, (i) => selection.compare(i - 1)),
      regionInput(
        "from operation",
        () => selection.region.from,
        (value) => selection.select(value, selection.region.to),
      ),
      regionInput(
        "to",
        () => selection.region.to,
        (value) => selection.select(selection.region.from, value),
      ),
    );
  };
  selection.listen(draw);
  draw();
  return box;
}

function regionInput(label: string, get: () => number, set: (value: number) => void): HTMLElement {
  const input = h("input", { type: "number", min: 0, max: selection.count - 1, value: get(), inputmode: "numeric" });
  input.addEventListener("change", () => set(Number(input.value)));
  return h("label", { class: "control" }, h("span", {}, label), input);
}

/** A caption that follows the choice. */
export function regionCaption(text: () => string): HTMLElement {
  const place = h("span", {});
  const tell = () => {
    const sets = selection.shown.map((choice) => choice.set);
    place.replaceChildren();
    add(
      place,
      caption(
        text(),
        sets.map((set) => set.block),
        sets,
      ),
    );
  };
  selection.listen(tell);
  tell();
  return place;
}
