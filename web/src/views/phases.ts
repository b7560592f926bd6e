// The phase model of a program (PHASE-6): process × tick × offset in space, the spatial strip, the timeline, and the formula
// of a phase that is clicked or chosen from the list.
import { baseName, type Column, type Model, type ModelPhase, type ModelStep, type Report } from "../data";
import { button, type Child, chooser, h } from "../dom";
import { figure, type Table } from "../figure";
import { bytes, digits, plural, time } from "../format";
import { type Cloud, Scene } from "../scene";
import { Strip } from "../strip";
import type { View } from "../views";

type Colouring = "operation" | "phase" | "process";

function stepText(step: ModelStep): string {
  if (step.body) return step.body.length === 1 ? `${step.turns} × ${stepText(step.body[0])}` : `${step.turns} × (${step.body.map(stepText).join(", ")})`;
  return step.operation ?? "";
}

function leaves(steps: ModelStep[]): ModelStep[] {
  return steps.flatMap((step) => (step.body ? leaves(step.body) : [step]));
}

const processes = (count: number): string => (count === 1 ? "1 process" : `${count} processes`);

export function phaseWords(phase: ModelPhase): string {
  const size = phase.smallest_bytes === phase.largest_bytes ? bytes(phase.largest_bytes) : `${bytes(phase.smallest_bytes)} to ${bytes(phase.largest_bytes)}`;
  return `${phase.steps.map(stepText).join(", ")} of ${size}, ${phase.order}, by ${processes(phase.processes)}`;
}

function operationDetails(step: ModelStep): HTMLElement {
  const row = (name: string, value: Child) => [h("dt", {}, name), h("dd", {}, value)];
  return h("div", { class: "operation" }, h("h5", {}, step.operation ?? ""), h("dl", {},
    step.offset ? row("offset", h("code", {}, step.offset)) : row("offset", "shared pointer"),
    step.size ? row("size", h("code", {}, step.size)) : null,
    (step.etype_bytes ?? 0) > 1 ? row("unit of the offset", `etypes of ${step.etype_bytes} bytes`) : null,
    step.holes ? row("view", "leaves bytes out: strided") : null,
    step.observed ? row("as seen", `${plural(step.observed.calls, "call")}, ${time(step.observed.sum_ns / step.observed.calls)} on average, ${time(step.observed.min_ns)} to ${time(step.observed.max_ns)}; slowest process ${time(step.observed.slowest_ns)} in all`) : null));
}

function phaseDetails(model: Model, phase: ModelPhase | undefined): HTMLElement {
  if (!phase) return h("div", { class: "phase-details" }, h("p", { class: "note" }, "Click a point, or choose a phase from the list, for its formula."));
  const numbers = phase.first ? (phase.count > 1 ? `${phase.first} to ${phase.first + (phase.count - 1) * phase.step_by}` : String(phase.first)) : "";
  return h("div", { class: "phase-details", "data-phase": phase.phase },
    h("h4", {}, `Phase ${phase.phase}${phase.count > 1 ? `, ${phase.count} times` : ""}${phase.metadata ? ", metadata" : ""}`),
    h("p", {}, phaseWords(phase), numbers ? `; phases ${numbers} of the program` : "", `; file ${model.files[phase.file]?.name ?? ""}.`),
    h("p", {}, h("b", {}, bytes(phase.written_bytes)), " written, ", h("b", {}, bytes(phase.read_bytes)), " read by all processes each time."),
    leaves(phase.steps).filter((step) => step.access).map(operationDetails),
    h("p", { class: "note" }, "idP is the process, n how often it has done this call before."));
}

function largest(values: Column): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}

class PhaseExplorer {
  private colouring: Colouring = "operation";
  private selected = 0;
  private readonly index: number[]; // points of the file that is shown
  private readonly details = h("div", { "aria-live": "polite" });
  private readonly list = h("ol", { class: "phase-list" });
  private readonly scene: Scene;
  private readonly strip: Strip;
  private readonly timeline: Strip;
  private readonly rows: Map<number, number>;

  constructor(private readonly model: Model, file: number) {
    const p = model.points;
    this.index = Array.from(p.rank, (_, i) => i).filter((i) => p.file[i] === file);
    const ranks = [...new Set(this.index.map((i) => p.rank[i]))].sort((a, b) => a - b);
    this.rows = new Map(ranks.map((rank, i) => [rank, i]));
    const pick = (i: number) => this.choose(p.phase[this.index[i]]);
    this.scene = new Scene(`accesses of ${model.program} in space: process, tick and offset`, { x: "tick →", y: "offset ↑", z: "process", ends: [String(largest(p.tick)), bytes(this.most(p.offset)), String(largest(p.rank))] }, pick);
    this.strip = new Strip("spatial strip: which process is where in the file", { label: "place in the file", unit: "bytes" }, "process", pick);
    this.timeline = new Strip("timeline: which process accesses the file when", { label: "tick: accesses and communication before", unit: "count" }, "process", pick);
    this.choose(0);
  }

  private most(column: Column): number { return this.index.reduce((most, i) => Math.max(most, column[i]), 0); }

  choose(phase: number): void {
    this.selected = this.selected === phase ? 0 : phase;
    this.details.replaceChildren(phaseDetails(this.model, this.model.phases.find((p) => p.phase === this.selected)));
    this.list.replaceChildren(...this.model.phases.map((p) => h("li", {}, button(`${p.phase}: ${phaseWords(p)}${p.count > 1 ? ` (${p.count} times)` : ""}`, () => this.choose(p.phase), { class: `phase-button c${leaves(p.steps).every((s) => !s.access || /read/.test(s.operation ?? "")) ? 0 : leaves(p.steps).some((s) => /read/.test(s.operation ?? "")) ? 4 : 1}`, "aria-pressed": String(this.selected === p.phase) }))));
    this.paint();
  }

  private colours(): { colour: Uint8Array; faint: Uint8Array } {
    const p = this.model.points, colour = new Uint8Array(this.index.length), faint = new Uint8Array(this.index.length);
    this.index.forEach((i, k) => {
      colour[k] = this.colouring === "operation" ? (p.reads[i] ? 0 : 1) : this.colouring === "phase" ? Math.max(0, p.phase[i] - 1) % 8 : p.rank[i] % 8;
      faint[k] = this.selected && p.phase[i] !== this.selected ? 1 : 0;
    });
    return { colour, faint };
  }

  private paint(): void {
    const p = this.model.points, of = (column: Column) => this.index.map((i) => column[i]), { colour, faint } = this.colours();
    const unit = (column: Column, most: number) => Float32Array.from(this.index, (i) => (most ? column[i] / most : 0.5));
    const cloud: Cloud = { x: unit(p.tick, largest(p.tick)), y: unit(p.offset, this.most(p.offset)), z: unit(p.rank, largest(p.rank)), colour, faint };
    this.scene.show(cloud);
    const row = this.index.map((i) => this.rows.get(p.rank[i])!), place = of(p.place), tick = of(p.tick);
    const lane = Uint8Array.from(this.index, (i) => p.reads[i]);
    this.strip.show({ lane, from: place, to: place.map((v, k) => v + p.size[this.index[k]]), row, colour, faint, rows: this.rows.size });
    this.timeline.show({ from: tick, to: tick.map((v) => v + 1), row, colour, faint, rows: this.rows.size });
  }

  elements(): HTMLElement {
    const views = h("div", { class: "controls", role: "toolbar", "aria-label": "view" },
      chooser("colour", ["operation", "phase", "process"], 0, (i) => { this.colouring = (["operation", "phase", "process"] as const)[i]; this.paint(); }),
      button("in space", () => this.scene.look(-0.62, 0.42)), button("tick × offset", () => this.scene.look(0, 0)), button("process × offset", () => this.scene.look(-Math.PI / 2, 0)), button("tick × process", () => this.scene.look(0, 1.5)));
    const keys = h("div", { class: "legend" }, h("span", { class: "key c1" }, h("i", {}), "write"), h("span", { class: "key c0" }, h("i", {}), "read"));
    return h("div", {}, views, h("div", { class: "explorer" }, h("div", {}, this.scene.element, keys), h("div", { class: "explorer-side" }, h("h4", {}, "Phases"), this.list, this.details)),
      h("h4", {}, "Spatial strip"), this.strip.element, h("h4", {}, "Timeline"), this.timeline.element);
  }
}

function table(model: Model): Table {
  return {
    name: `phases ${model.program}`,
    columns: ["phase", "count", "processes", "operations", "order", "smallest bytes", "largest bytes", "written bytes", "read bytes", "offset", "size", "slowest process ns"],
    rows: model.phases.map((p) => { const steps = leaves(p.steps).filter((s) => s.access); return [p.phase, p.count, p.processes, p.steps.map(stepText).join(", "), p.order, p.smallest_bytes, p.largest_bytes, p.written_bytes, p.read_bytes, steps.map((s) => s.offset ?? "shared").join(" ; "), steps.map((s) => s.size ?? "").join(" ; "), steps.reduce((sum, s) => sum + (s.observed?.slowest_ns ?? 0), 0)]; }),
  };
}

function modelFigure(report: Report, model: Model): HTMLElement {
  const place = h("div", {}), busy = model.files.map((file, i) => ({ file, i, moved: file.read_bytes + file.written_bytes })).filter((f) => f.moved > 0).sort((a, b) => b.moved - a.moved);
  const show = (i: number) => place.replaceChildren(busy.length ? new PhaseExplorer(model, busy[i].i).elements() : h("p", {}, "The program moved no data."));
  show(0);
  const views = leaves(model.phases.flatMap((p) => p.steps)).some((s) => s.holes);
  return figure({
    title: `${baseName(report.files[model.file].path)}: ${model.program} on ${processes(model.ranks)}`,
    body: [h("p", { class: "lead" }, model.words, "."), busy.length > 1 ? h("div", { class: "controls" }, chooser("file", busy.map((f) => `${f.file.name} (${bytes(f.moved)})`), 0, show)) : null, place],
    caption: [`A point is an access. A tick is an access or an event of communication.${views ? " Offsets are those in the views of the processes; the strip shows the equivalent layout without views." : ""}${model.points_left_out ? " Not all accesses are drawn: some of the processes, every so many." : ""} Traced under ${[model.mpi, model.mpiio].filter(Boolean).join(", ") || "an unknown MPI"}; ${digits(model.ranks, 6)} ranks; model of ${report.files[model.file].path}.`],
    table: () => table(model),
  });
}

export const phases: View = {
  id: "phases", title: "I/O phases", about: "What a program asks of MPI-IO: who, when, where in the file.",
  applies: (report) => report.models.length > 0,
  render: (report) => report.models.map((model) => modelFigure(report, model)),
};
