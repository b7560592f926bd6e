// Charts as SVG: lines with points and error bars, colours from the style sheet, a text for the point under the pointer.
// Crisp on paper, and a change of theme needs no drawing. For up to some thousand points; raw samples go to canvas.
import { type Axis, makeScale, type Scale, tickText } from "./axis";
import { h, svg } from "./dom";

export interface Point { x: number; y: number; low?: number; high?: number; note?: string }
export interface Line {
  name: string; colour: number; points: Point[];
  dashed?: boolean; marker?: "circle" | "square" | "triangle" | "diamond" | "none"; hidden?: boolean; steps?: boolean; area?: boolean; bare?: boolean;
}
export interface Rule { at: number; text: string; colour?: number } // a horizontal line, such as a limit
export interface Span { from: number; to: number; text: string; colour: number } // a stretch of the x axis, such as a phase
export interface ChartSpec { spans?: Span[]; x: Axis; y: Axis; lines: Line[]; rules?: Rule[]; height?: number; title?: string; label: string }

const MARGIN = { left: 62, right: 14, top: 10, bottom: 40 };
let clips = 0;

interface Frame { width: number; height: number; x: Scale; y: Scale; left: number; top: number; inner: number; tall: number }

function frameOf(spec: ChartSpec, width: number): Frame {
  const height = spec.height ?? 250, lines = spec.lines.filter((line) => !line.hidden);
  const inner = Math.max(60, width - MARGIN.left - MARGIN.right), tall = height - MARGIN.top - MARGIN.bottom;
  const xs = lines.flatMap((line) => line.points.map((p) => p.x));
  const ys = lines.flatMap((line) => line.points.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y])).concat(spec.rules?.map((rule) => rule.at) ?? []);
  return { width, height, left: MARGIN.left, top: MARGIN.top, inner, tall, x: makeScale(spec.x, xs, inner / 90), y: makeScale(spec.y, ys, tall / 45) };
}

const px = (frame: Frame, x: number): number => frame.left + frame.x.place(x) * frame.inner;
const py = (frame: Frame, y: number): number => frame.top + (1 - frame.y.place(y)) * frame.tall;

function drawAxes(frame: Frame): SVGElement {
  const group = svg("g", { class: "axes" });
  const bottom = frame.top + frame.tall;
  for (const tick of frame.y.ticks) {
    const y = py(frame, tick.at);
    group.append(svg("line", { x1: frame.left, x2: frame.left + frame.inner, y1: y, y2: y, class: "grid" }));
    group.append(svg("text", { x: frame.left - 8, y: y + 3.5, class: "tick end" }, tick.text));
  }
  let beyond = -Infinity;
  for (const tick of frame.x.ticks) {
    const x = px(frame, tick.at), half = tick.text.length * 3.1, middle = Math.min(x, frame.width - half);
    group.append(svg("line", { x1: x, x2: x, y1: bottom, y2: bottom + (tick.minor ? 3 : 5), class: "mark" }));
    if (middle - half < beyond + 4) continue;
    group.append(svg("text", { x: middle, y: bottom + 17, class: "tick middle" }, tick.text));
    beyond = middle + half;
  }
  group.append(svg("line", { x1: frame.left, x2: frame.left + frame.inner, y1: bottom, y2: bottom, class: "base" }));
  group.append(svg("text", { x: frame.left + frame.inner / 2, y: frame.height - 4, class: "name middle" }, frame.x.axis.label));
  group.append(svg("text", { x: -(frame.top + frame.tall / 2), y: 12, transform: "rotate(-90)", class: "name middle" }, frame.y.axis.label));
  return group;
}

function marker(kind: Line["marker"], x: number, y: number): SVGElement | null {
  switch (kind ?? "circle") {
    case "square": return svg("rect", { x: x - 3, y: y - 3, width: 6, height: 6, class: "point" });
    case "triangle": return svg("path", { d: `M${x},${y - 4}l4,7h-8z`, class: "point" });
    case "diamond": return svg("path", { d: `M${x},${y - 4.4}l4.4,4.4l-4.4,4.4l-4.4,-4.4z`, class: "point" });
    case "none": return null;
    default: return svg("circle", { cx: x, cy: y, r: 3.2, class: "point" });
  }
}

function pathOf(frame: Frame, line: Line): string {
  let path = "", last = NaN;
  for (const point of line.points) {
    const x = px(frame, point.x), y = py(frame, point.y);
    if (!Number.isFinite(x) || !Number.isFinite(y)) { last = NaN; continue; }
    path += Number.isFinite(last) ? (line.steps ? `H${x.toFixed(1)}V${y.toFixed(1)}` : `L${x.toFixed(1)},${y.toFixed(1)}`) : `M${x.toFixed(1)},${y.toFixed(1)}`;
    last = y;
  }
  return path;
}

function drawLine(frame: Frame, line: Line): SVGElement {
  const group = svg("g", { class: `line c${line.colour % 8}${line.dashed ? " dashed" : ""}` });
  const path = pathOf(frame, line);
  if (line.area && line.points.length) {
    const base = frame.top + frame.tall;
    group.append(svg("path", { d: `${path}V${base}H${px(frame, line.points[0].x).toFixed(1)}Z`, class: "area" }));
  }
  for (const point of line.points) {
    if (point.low === undefined || point.high === undefined) continue;
    const x = px(frame, point.x), high = py(frame, point.high);
    let low = py(frame, point.low);
    if (!Number.isFinite(low) || low > frame.top + frame.tall) low = frame.top + frame.tall; // below a log axis
    if (Number.isFinite(x) && Number.isFinite(high)) group.append(svg("path", { d: `M${x},${low}V${high}m-3,0h6M${x - 3},${low}h6`, class: "error" }));
  }
  if (!line.bare) group.append(svg("path", { d: path, class: "stroke" }));
  for (const point of line.points) {
    const x = px(frame, point.x), y = py(frame, point.y);
    const mark = Number.isFinite(x) && Number.isFinite(y) && marker(line.marker, x, y);
    if (mark) group.append(mark);
  }
  return group;
}

function drawRules(frame: Frame, rules: Rule[]): SVGElement {
  const group = svg("g", { class: "rules" });
  for (const rule of rules) {
    const y = py(frame, rule.at);
    if (!Number.isFinite(y)) continue;
    group.append(svg("line", { x1: frame.left, x2: frame.left + frame.inner, y1: y, y2: y, class: `rule c${(rule.colour ?? 7) % 8}` }));
    group.append(svg("text", { x: frame.left + 4, y: y - 4, class: "rule-name" }, rule.text));
  }
  return group;
}

function drawSpans(frame: Frame, spans: Span[]): SVGElement {
  const group = svg("g", { class: "spans" });
  for (const span of spans) {
    const from = px(frame, span.from), width = Math.max(1, px(frame, span.to) - from);
    group.append(svg("rect", { x: from, width, y: frame.top, height: frame.tall, class: `span c${span.colour % 8}` }));
    if (width > 10) group.append(svg("text", { x: from + width / 2, y: frame.top + 11, class: "tick middle" }, span.text));
  }
  return group;
}

interface Near { line: Line; point: Point; x: number; y: number }

function nearest(frame: Frame, lines: Line[], x: number, y: number): Near | null {
  let best: Near | null = null, distance = 40 * 40;
  for (const line of lines)
    for (const point of line.points) {
      const at = px(frame, point.x), high = py(frame, point.y), d = (at - x) ** 2 + (high - y) ** 2;
      if (d < distance) { distance = d; best = { line, point, x: at, y: high }; }
    }
  return best;
}

function describe(spec: ChartSpec, near: Near): string[] {
  const { point, line } = near;
  const name = spec.x.names?.find((tick) => tick.at === point.x)?.text ?? tickText(spec.x.unit, point.x);
  const error = point.high !== undefined && Number.isFinite(point.high) ? ` ± ${tickText(spec.y.unit, point.high - point.y)}` : "";
  return [line.name, `${spec.x.label}: ${name}`, `${spec.y.label}: ${tickText(spec.y.unit, point.y)}${error}`, ...(point.note ? [point.note] : [])];
}

/** A tip that follows the nearest point, for mouse and touch; the table below has the same for the keyboard. */
function addTip(box: HTMLElement, spec: ChartSpec, frame: Frame, picture: SVGElement): void {
  const tip = h("div", { class: "tip", hidden: true }), ring = svg("circle", { r: 6, class: "ring", visibility: "hidden" });
  picture.append(ring);
  box.append(tip);
  const visible = spec.lines.filter((line) => !line.hidden);
  picture.addEventListener("pointermove", (event) => {
    const area = picture.getBoundingClientRect();
    const near = nearest(frame, visible, event.clientX - area.left, event.clientY - area.top);
    tip.hidden = !near;
    ring.setAttribute("visibility", near ? "visible" : "hidden");
    if (!near) return;
    ring.setAttribute("cx", String(near.x));
    ring.setAttribute("cy", String(near.y));
    tip.replaceChildren(...describe(spec, near).map((text, i) => h(i ? "div" : "strong", {}, text)));
    tip.style.left = `${Math.min(near.x + 12, Math.max(0, frame.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(0, near.y - tip.offsetHeight - 10)}px`;
  });
  picture.addEventListener("pointerleave", () => { tip.hidden = true; ring.setAttribute("visibility", "hidden"); });
}

function paint(box: HTMLElement, spec: ChartSpec): void {
  const width = Math.max(220, Math.floor(box.clientWidth || 600));
  const frame = frameOf(spec, width), id = `clip-${++clips}`;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${frame.height}`, width, height: frame.height, role: "img", "aria-label": spec.label });
  picture.append(svg("clipPath", { id }, svg("rect", { x: frame.left - 5, y: frame.top - 5, width: frame.inner + 10, height: frame.tall + 6 })));
  const inside = svg("g", { "clip-path": `url(#${id})` }, drawSpans(frame, spec.spans ?? []));
  for (const line of spec.lines) if (!line.hidden) inside.append(drawLine(frame, line));
  picture.append(drawAxes(frame), inside, drawRules(frame, spec.rules ?? []));
  box.replaceChildren(picture);
  addTip(box, spec, frame, picture);
}

export function legend(lines: Line[], changed: () => void): HTMLElement {
  return h("div", { class: "legend", role: "group", "aria-label": "lines shown" }, lines.map((line) => {
    const key = h("button", { type: "button", class: `key c${line.colour % 8}${line.dashed ? " dashed" : ""}`, "aria-pressed": String(!line.hidden) }, h("i", {}), line.name);
    key.addEventListener("click", () => {
      line.hidden = !line.hidden;
      key.setAttribute("aria-pressed", String(!line.hidden));
      changed();
    });
    return key;
  }));
}

/** The chart; it draws itself when it has a width, and again when that changes. */
export function chart(spec: ChartSpec, withLegend = true): HTMLElement {
  const box = h("div", { class: "chart", style: `min-height:${spec.height ?? 250}px` });
  const draw = () => paint(box, spec);
  let width = -1;
  new ResizeObserver(() => { if (box.clientWidth !== width) { width = box.clientWidth; draw(); } }).observe(box);
  return h("div", { class: "chart-box" }, spec.title ? h("h4", {}, spec.title) : null, box, withLegend && spec.lines.length > 1 ? legend(spec.lines, draw) : null);
}

/** Panels beside each other with the same axes and one legend. */
export function panels(specs: ChartSpec[]): HTMLElement {
  const scale = (pick: (spec: ChartSpec) => Axis, value: (p: Point) => number[]) => {
    const all = specs.flatMap((spec) => spec.lines.flatMap((line) => line.points.flatMap(value)).concat(pick(spec) === spec.y ? (spec.rules ?? []).map((rule) => rule.at) : []));
    const usable = all.filter((v) => Number.isFinite(v) && (!pick(specs[0]).log || v > 0));
    return usable.length ? { min: usable.reduce((a, b) => Math.min(a, b)), max: usable.reduce((a, b) => Math.max(a, b)) } : {};
  };
  if (specs.length === 0) return h("p", {}, "Nothing to draw.");
  const x = scale((spec) => spec.x, (p) => [p.x]), y = scale((spec) => spec.y, (p) => [p.y, p.high ?? p.y]);
  const grown = specs[0].y.log ? { min: (y.min ?? 1) / 1.25, max: (y.max ?? 10) * 1.15 } : { min: Math.min(0, y.min ?? 0), max: (y.max ?? 1) * 1.04 };
  const shared = specs.map((spec) => ({ ...spec, x: { ...x, ...spec.x }, y: { ...grown, ...spec.y } }));
  const names = new Map<string, Line>();
  for (const line of specs.flatMap((spec) => spec.lines)) if (!names.has(line.name)) names.set(line.name, line);
  const charts = shared.map((spec) => chart(spec, false));
  const keys = [...names.values()].map((line) => h("span", { class: `key c${line.colour % 8}${line.dashed ? " dashed" : ""}` }, h("i", {}), line.name));
  return h("div", {}, h("div", { class: `panels${specs.length === 2 || specs.length === 4 ? " pairs" : ""}` }, charts), keys.length > 1 ? h("div", { class: "legend" }, keys) : null);
}
