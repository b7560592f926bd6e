// The phase model of a program (PHASE-6): process × tick × offset in space, the spatial strip, the timeline, and the
// formula of a phase that is clicked or chosen from the list.
import { colourClass, legend } from "../chart";
import { type Column, distinct, type Model, type ModelPhase, type ModelStep, type Report } from "../data";
import { button, type Child, chooser, h } from "../dom";
import { figure, type Table } from "../figure";
import { bytes, plural, time } from "../format";
import { baseName, fileLabel, joined, libraryName } from "../origin";
import { extent } from "../scale";
import { Scene } from "../scene";
import { Strip } from "../strip";
import type { Entry, View } from "../views";

// ---- words ----

function stepText(step: ModelStep): string {
  if (!step.body) return step.operation ?? "";
  const inner = step.body.map(stepText).join(", ");
  return `${step.turns} × ${step.body.length === 1 ? inner : `(${inner})`}`;
}

const leaves = (steps: ModelStep[]): ModelStep[] => steps.flatMap((step) => (step.body ? leaves(step.body) : [step]));
const accesses = (phase: ModelPhase): ModelStep[] => leaves(phase.steps).filter((step) => step.access);
const processes = (count: number): string => (count === 1 ? "1 process" : `${count} processes`);

function phaseText(phase: ModelPhase): string {
  const sizes = distinct([phase.smallest_bytes, phase.largest_bytes]).map((size) => bytes(size));
  const what = phase.steps.map(stepText).join(", ");
  return `${what} of ${sizes.join(" to ")}, ${phase.order}, by ${processes(phase.processes)}`;
}

function observedText(observed: NonNullable<ModelStep["observed"]>): string {
  const { calls, sum_ns: sum, min_ns: least, max_ns: most, slowest_ns: slowest } = observed;
  const range = `${time(sum / calls)} on average, ${time(least)} to ${time(most)}`;
  return `${plural(calls, "call")}, ${range}; slowest process ${time(slowest)} in all`;
}

function operationDetails(step: ModelStep): HTMLElement {
  const row = (name: string, value: Child) => [h("dt", {}, name), h("dd", {}, value)];
  return h(
    "div",
    { class: "operation" },
    h("h5", {}, step.operation),
    h(
      "dl",
      {},
      row("offset", step.offset ? h("code", {}, step.offset) : "shared pointer"),
      step.size ? row("size", h("code", {}, step.size)) : null,
      step.etype_bytes > 1 ? row("unit of the offset", `etypes of ${step.etype_bytes} bytes`) : null,
      step.holes ? row("view", "leaves bytes out: strided") : null,
      step.observed ? row("as seen", observedText(step.observed)) : null,
    ),
  );
}

/** "; phases 3 to 9 of the program". */
function numbersText({ first, count, step_by: by }: ModelPhase): string {
  if (!first) return "";
  return `; phases ${count > 1 ? `${first} to ${first + (count - 1) * by}` : first} of the program`;
}

function phaseDetails(model: Model, phase: ModelPhase | undefined): HTMLElement {
  if (!phase) {
    const hint = "Click a point, or choose a phase from the list, for its formula.";
    return h("div", { class: "phase-details" }, h("p", { class: "note" }, hint));
  }
  const times = phase.count > 1 && `${phase.count} times`;
  const file = model.files.at(phase.file)?.name ?? "";
  return h(
    "div",
    { class: "phase-details", "data-phase": phase.phase },
    h("h4", {}, joined([`Phase ${phase.phase}`, times, phase.metadata && "metadata"])),
    h("p", {}, `${phaseText(phase)}${numbersText(phase)}; file ${file}.`),
    h(
      "p",
      {},
      h("b", {}, bytes(phase.written_bytes)),
      " written, ",
      h("b", {}, bytes(phase.read_bytes)),
      " read by all processes each time.",
    ),
    accesses(phase).map(operationDetails),
    h("p", { class: "note" }, "idP is the process, n how often it has done this call before."),
  );
}

// ---- pictures ----

const READ = 0;
const WRITE = 1;
const BOTH = 4;

function phaseColour(phase: ModelPhase): number {
  const reads = accesses(phase).map((step) => (step.operation ?? "").includes("read"));
  return reads.every(Boolean) ? READ : reads.some(Boolean) ? BOTH : WRITE;
}

/** What colours mean: of a point by its index. */
const COLOURINGS: { name: string; of: (model: Model, i: number) => number }[] = [
  { name: "operation", of: ({ points }, i) => (points.reads[i] ? READ : WRITE) },
  { name: "phase", of: ({ points }, i) => Math.max(0, points.phase[i] - 1) },
  { name: "process", of: ({ points }, i) => points.rank[i] },
];

const LOOKS: [name: string, yaw: number, pitch: number][] = [
  ["in space", -0.62, 0.42],
  ["tick × offset", 0, 0],
  ["process × offset", -Math.PI / 2, 0],
  ["tick × process", 0, 1.5],
];

class PhaseExplorer {
  private colouring = 0;
  private selected = 0;
  private readonly index: number[]; // points of the file that is shown
  private readonly ranks: number[]; // that have some of them
  private readonly details = h("div", { "aria-live": "polite" });
  private readonly list = h("ol", { class: "phase-list" });
  private readonly scene: Scene;
  private readonly strip: Strip;
  private readonly timeline: Strip;

  constructor(
    private readonly model: Model,
    file: number,
  ) {
    const { points } = model;
    this.index = Array.from(points.rank, (_, i) => i).filter((i) => points.file[i] === file);
    this.ranks = distinct(this.index.map((i) => points.rank[i])).sort((a, b) => a - b);
    const pick = (i: number) => this.choose(points.phase[this.index[i]]);
    const ends: [string, string, string] = [
      String(this.most(points.tick)),
      bytes(this.most(points.offset)),
      String(this.most(points.rank)),
    ];
    const name = `accesses of ${model.program} in space: process, tick and offset`;
    this.scene = new Scene(name, { x: "tick →", y: "offset ↑", z: "process", ends }, pick);
    const place = { label: "place in the file", unit: "bytes" } as const;
    this.strip = new Strip("spatial strip: which process is where in the file", place, "process", pick);
    const tick = { label: "tick: accesses and communication before", unit: "count" } as const;
    this.timeline = new Strip("timeline: which process accesses the file when", tick, "process", pick);
    this.choose(0);
  }

  private most(column: Column): number {
    return extent(this.index.map((i) => column[i]))?.max ?? 0;
  }

  /** Shows a phase, or none where it is shown already. */
  private choose(phase: number): void {
    this.selected = this.selected === phase ? 0 : phase;
    const { phases } = this.model;
    this.details.replaceChildren(
      phaseDetails(
        this.model,
        phases.find((p) => p.phase === this.selected),
      ),
    );
    const items = phases.map((p) => {
      const text = `${p.phase}: ${phaseText(p)}${p.count > 1 ? ` (${p.count} times)` : ""}`;
      const pressed = String(this.selected === p.phase);
      const attributes = { class: `phase-button ${colourClass(phaseColour(p))}`, "aria-pressed": pressed };
      return h(
        "li",
        {},
        button(text, () => this.choose(p.phase), attributes),
      );
    });
    this.list.replaceChildren(...items);
    this.paint();
  }

  private paint(): void {
    const { points } = this.model;
    const { index, ranks } = this;
    const of = (column: Column) => index.map((i) => column[i]);
    const colour = Uint8Array.from(index, (i) => COLOURINGS[this.colouring].of(this.model, i) % 8);
    const faint = Uint8Array.from(index, (i) => Number(this.selected > 0 && points.phase[i] !== this.selected));
    const unit = (column: Column) => {
      const most = this.most(column);
      return Float32Array.from(index, (i) => (most ? column[i] / most : 0.5));
    };
    this.scene.show({ x: unit(points.tick), y: unit(points.offset), z: unit(points.rank), colour, faint });
    const rowOf = new Map(ranks.map((rank, row) => [rank, row]));
    const row = of(points.rank).map((rank) => rowOf.get(rank) ?? 0);
    const common = { row, rows: ranks.map(String), colour, faint };
    const place = of(points.place);
    const size = of(points.size);
    const lane = Uint8Array.from(of(points.reads));
    this.strip.show({ ...common, lane, from: place, to: place.map((from, i) => from + size[i]) });
    const tick = of(points.tick);
    this.timeline.show({ ...common, from: tick, to: tick.map((from) => from + 1) });
  }

  element(): HTMLElement {
    const chooseColours = (index: number) => {
      this.colouring = index;
      this.paint();
    };
    const controls = h(
      "div",
      { class: "controls", role: "toolbar", "aria-label": "view" },
      chooser(
        "colour",
        COLOURINGS.map((item) => item.name),
        0,
        chooseColours,
      ),
      LOOKS.map(([name, yaw, pitch]) => button(name, () => this.scene.look(yaw, pitch))),
    );
    const keys = legend([
      { name: "write", colour: WRITE },
      { name: "read", colour: READ },
    ]);
    const side = h("div", { class: "explorer-side" }, h("h4", {}, "Phases"), this.list, this.details);
    return h(
      "div",
      {},
      controls,
      h("div", { class: "explorer" }, h("div", {}, this.scene.element, keys), side),
      h("h4", {}, "Spatial strip"),
      this.strip.element,
      h("h4", {}, "Timeline"),
      this.timeline.element,
    );
  }
}

// ---- figures ----

const COLUMNS = [
  "phase",
  "count",
  "processes",
  "operations",
  "order",
  "smallest bytes",
  "largest bytes",
  "written bytes",
  "read bytes",
  "offset",
  "size",
  "slowest process ns",
];

function phaseTable(model: Model): Table {
  const rows = model.phases.map((p) => {
    const steps = accesses(p);
    return [
      p.phase,
      p.count,
      p.processes,
      p.steps.map(stepText).join(", "),
      p.order,
      p.smallest_bytes,
      p.largest_bytes,
      p.written_bytes,
      p.read_bytes,
      steps.map((s) => s.offset ?? "shared").join(" ; "),
      steps.map((s) => s.size ?? "").join(" ; "),
      steps.reduce((sum, s) => sum + (s.observed?.slowest_ns ?? 0), 0),
    ];
  });
  return { name: `phases ${model.program}`, columns: COLUMNS, rows };
}

function captionOf(report: Report, model: Model): string {
  const hasViews = leaves(model.phases.flatMap((p) => p.steps)).some((step) => step.holes);
  const parts = [
    "A point is an access. A tick is an access or an event of communication.",
    hasViews && "Offsets are those in the views of the processes; the strip shows the equivalent layout without views.",
    model.points_left_out && "Not all accesses are drawn: some of the processes, every so many.",
    `Traced under ${joined([libraryName(model.mpi), model.mpiio]) || "an unknown MPI"};`,
    `${plural(model.ranks, "rank")}; model of ${report.files[model.file].path}.`,
  ];
  return joined(parts, " ");
}

function modelFigure(report: Report, model: Model): HTMLElement {
  const place = h("div", {});
  const moved = model.files.map((file, number) => ({ file, number, bytes: file.read_bytes + file.written_bytes }));
  const busy = moved.filter((item) => item.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  const show = (i: number) => place.replaceChildren(new PhaseExplorer(model, busy[i].number).element());
  if (busy.length) show(0);
  else place.append(h("p", {}, "The program moved no data."));
  const names = busy.map((item) => `${item.file.name} (${bytes(item.bytes)})`);
  const choice = busy.length > 1 ? h("div", { class: "controls" }, chooser("file", names, 0, show)) : null;
  return figure({
    title: `${baseName(report.files[model.file].path)}: ${model.program} on ${processes(model.ranks)}`,
    body: [h("p", { class: "lead" }, model.words, "."), choice, place],
    caption: captionOf(report, model),
    table: () => phaseTable(model),
  });
}

function entryOf(report: Report, model: Model): Entry {
  const sum = (key: "written_bytes" | "read_bytes") => bytes(model.files.reduce((all, file) => all + file[key], 0));
  const name = fileLabel(report, report.files[model.file]);
  return {
    value: String(model.phases.reduce((all, phase) => all + phase.count, 0)),
    size: model.phases.length,
    where: joined([name, model.program, processes(model.ranks)], " · "),
    verdict: `${sum("written_bytes")} written, ${sum("read_bytes")} read`,
  };
}

function warningsOf({ failed_calls: failed, incomplete_ranks: incomplete }: Model): string[] {
  const failedText = `${plural(failed, "call")} failed and ${failed === 1 ? "is" : "are"} not in the model`;
  return [failed ? failedText : "", incomplete ? `${plural(incomplete, "trace")} of the model end early` : ""].filter(
    Boolean,
  );
}

export const phases: View = {
  title: "I/O phases",
  about: "What a program asks of MPI-IO: who, when, where in the file.",
  applies: (report) => report.models.length > 0,
  render: (report) => report.models.map((model) => modelFigure(report, model)),
  cards: (report) => [{ label: "I/O phases", entries: report.models.map((model) => entryOf(report, model)) }],
  remarks: (report) =>
    report.models.flatMap((model) =>
      warningsOf(model).map((text) => ({ level: "warning", text, where: model.program })),
    ),
};
