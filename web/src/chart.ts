// Charts as SVG: axes, lines with points and error bars, legend, a text for the point under the pointer. Colours come
// from the style sheet: crisp on paper, and a change of theme needs no drawing. For up to some thousand points; more
// go to canvas.
import { h, svg } from "./dom";
import { type Axis, makeScale, type Scale, sharedAxis, tickText } from "./scale";

export interface Point {
  x: number;
  y: number;
  low?: number;
  high?: number;
  note?: string;
}

type Marker = "circle" | "square" | "triangle" | "diamond" | "none";

export interface Line {
  name: string;
  colour: number;
  points: Point[];
  dashed?: boolean;
  marker?: Marker;
  steps?: boolean; // level from each point to the next
  area?: boolean; // tinted down to the axis
}

/** A horizontal line, such as a limit. */
export interface Rule {
  at: number;
  text: string;
}

/** A stretch of the x axis, such as a phase. */
export interface Span {
  from: number;
  to: number;
  text: string;
  colour: number;
}

export interface ChartSpec {
  label: string; // for those who cannot see it
  title?: string;
  x: Axis;
  y: Axis;
  lines: Line[];
  rules?: Rule[];
  spans?: Span[];
  height?: number;
}

const HEIGHT = 250;
const MARGIN = { left: 62, right: 14, top: 10, bottom: 40 };
const COLOURS = 8;

/** The class that gives an element its colour of the palette. */
export const colourClass = (colour: number): string => `c${colour % COLOURS}`;

// ---- axes ----

export interface Frame {
  width: number;
  height: number;
  left: number;
  top: number;
  inner: number; // width between the axes
  tall: number;
  x: Scale;
  y: Scale;
}

/** Where things stand in a picture of this size. */
export function makeFrame(
  width: number,
  height: number,
  axes: { x: Axis; y: Axis },
  xs: number[],
  ys: number[],
): Frame {
  const inner = Math.max(60, width - MARGIN.left - MARGIN.right);
  const tall = height - MARGIN.top - MARGIN.bottom;
  const x = makeScale(axes.x, xs, inner / 90);
  const y = makeScale(axes.y, ys, tall / 45);
  return { width, height, left: MARGIN.left, top: MARGIN.top, inner, tall, x, y };
}

export const placeX = (frame: Frame, x: number): number => frame.left + frame.x.place(x) * frame.inner;
export const placeY = (frame: Frame, y: number): number => frame.top + (1 - frame.y.place(y)) * frame.tall;

/** Grid, ticks and names; a tick whose text would run into the one before has none. */
export function drawAxes(frame: Frame): SVGElement {
  const group = svg("g", { class: "axes" });
  const bottom = frame.top + frame.tall;
  const right = frame.left + frame.inner;
  for (const tick of frame.y.ticks) {
    const y = placeY(frame, tick.at);
    if (!frame.y.axis.names) group.append(svg("line", { x1: frame.left, x2: right, y1: y, y2: y, class: "grid" }));
    group.append(svg("text", { x: frame.left - 8, y: y + 3.5, class: "tick end" }, tick.text));
  }
  let beyond = -Infinity;
  for (const tick of frame.x.ticks) {
    const x = placeX(frame, tick.at);
    const half = tick.text.length * 3.1;
    const middle = Math.min(x, frame.width - half);
    group.append(svg("line", { x1: x, x2: x, y1: bottom, y2: bottom + (tick.minor ? 3 : 5), class: "mark" }));
    if (middle - half < beyond + 4) continue;
    group.append(svg("text", { x: middle, y: bottom + 17, class: "tick middle" }, tick.text));
    beyond = middle + half;
  }
  const middle = { x: frame.left + frame.inner / 2, y: -(frame.top + frame.tall / 2) };
  group.append(
    svg("line", { x1: frame.left, x2: right, y1: bottom, y2: bottom, class: "base" }),
    svg("text", { x: middle.x, y: frame.height - 4, class: "name middle" }, frame.x.axis.label),
    svg("text", { x: middle.y, y: 12, transform: "rotate(-90)", class: "name middle" }, frame.y.axis.label),
  );
  return group;
}

// ---- lines ----

function drawMarker(kind: Marker, x: number, y: number): SVGElement | null {
  switch (kind) {
    case "square":
      return svg("rect", { x: x - 3, y: y - 3, width: 6, height: 6, class: "point" });
    case "triangle":
      return svg("path", { d: `M${x},${y - 4}l4,7h-8z`, class: "point" });
    case "diamond":
      return svg("path", { d: `M${x},${y - 4.4}l4.4,4.4l-4.4,4.4l-4.4,-4.4z`, class: "point" });
    case "none":
      return null;
    case "circle":
      return svg("circle", { cx: x, cy: y, r: 3.2, class: "point" });
  }
}

/** The line; it breaks where a point cannot be drawn. */
function pathOf(frame: Frame, line: Line): string {
  let path = "";
  let drawing = false;
  for (const point of line.points) {
    const x = placeX(frame, point.x);
    const y = placeY(frame, point.y);
    const usable = Number.isFinite(x) && Number.isFinite(y);
    if (usable) {
      const [left, top] = [x.toFixed(1), y.toFixed(1)];
      path += !drawing ? `M${left},${top}` : line.steps ? `H${left}V${top}` : `L${left},${top}`;
    }
    drawing = usable;
  }
  return path;
}

function drawErrorBar(frame: Frame, point: Point): SVGElement | null {
  if (!Number.isFinite(point.low ?? NaN) || !Number.isFinite(point.high ?? NaN)) return null;
  const x = placeX(frame, point.x);
  const high = placeY(frame, point.high!);
  const bottom = frame.top + frame.tall;
  const below = placeY(frame, point.low!);
  const low = Number.isFinite(below) ? Math.min(below, bottom) : bottom; // zero is below a logarithmic axis
  if (!Number.isFinite(x) || !Number.isFinite(high)) return null;
  return svg("path", { d: `M${x},${low}V${high}m-3,0h6M${x - 3},${low}h6`, class: "error" });
}

function drawLine(frame: Frame, line: Line): SVGElement {
  const group = svg("g", { class: `line ${colourClass(line.colour)}${line.dashed ? " dashed" : ""}` });
  const path = pathOf(frame, line);
  if (line.area && line.points.length) {
    const d = `${path}V${frame.top + frame.tall}H${placeX(frame, line.points[0].x).toFixed(1)}Z`;
    group.append(svg("path", { d, class: "area" }));
  }
  for (const point of line.points) {
    const bar = drawErrorBar(frame, point);
    if (bar) group.append(bar);
  }
  group.append(svg("path", { d: path, class: "stroke" }));
  for (const point of line.points) {
    const x = placeX(frame, point.x);
    const y = placeY(frame, point.y);
    const mark = Number.isFinite(x) && Number.isFinite(y) ? drawMarker(line.marker ?? "circle", x, y) : null;
    if (mark) group.append(mark);
  }
  return group;
}

function drawRule(frame: Frame, rule: Rule): SVGElement[] {
  const y = placeY(frame, rule.at);
  if (!Number.isFinite(y)) return [];
  return [
    svg("line", { x1: frame.left, x2: frame.left + frame.inner, y1: y, y2: y, class: `rule ${colourClass(7)}` }),
    svg("text", { x: frame.left + 4, y: y - 4, class: "rule-name" }, rule.text),
  ];
}

function drawSpan(frame: Frame, span: Span): SVGElement[] {
  const x = placeX(frame, span.from);
  const width = Math.max(1, placeX(frame, span.to) - x);
  const area = { x, width, y: frame.top, height: frame.tall };
  const tint = svg("rect", { ...area, class: `span ${colourClass(span.colour)}` });
  if (width <= 10) return [tint];
  return [tint, svg("text", { x: x + width / 2, y: frame.top + 11, class: "tick middle" }, span.text)];
}

// ---- the point under the pointer ----

interface Near {
  line: Line;
  point: Point;
  x: number;
  y: number;
}

function nearest(frame: Frame, lines: Line[], x: number, y: number): Near | null {
  let best: Near | null = null;
  let distance = 40 * 40;
  for (const line of lines)
    for (const point of line.points) {
      const at = { x: placeX(frame, point.x), y: placeY(frame, point.y) };
      const d = (at.x - x) ** 2 + (at.y - y) ** 2;
      if (d < distance) {
        distance = d;
        best = { line, point, ...at };
      }
    }
  return best;
}

function describe(spec: ChartSpec, { point, line }: Near): string[] {
  const x = spec.x.names?.find((tick) => tick.at === point.x)?.text ?? tickText(spec.x.unit, point.x);
  const high = point.high ?? NaN;
  const error = Number.isFinite(high) ? ` ± ${tickText(spec.y.unit, high - point.y)}` : "";
  const lines = [`${spec.x.label}: ${x}`, `${spec.y.label}: ${tickText(spec.y.unit, point.y)}${error}`];
  return [line.name, ...lines, point.note ?? ""].filter(Boolean);
}

/** A text that follows the nearest point, for mouse and touch; the table below has the same for the keyboard. */
function addTip(box: HTMLElement, spec: ChartSpec, frame: Frame, picture: SVGElement): void {
  const tip = h("div", { class: "tip", hidden: true });
  const ring = svg("circle", { r: 6, class: "ring", visibility: "hidden" });
  picture.append(ring);
  box.append(tip);
  const show = (near: Near | null) => {
    tip.hidden = !near;
    ring.setAttribute("visibility", near ? "visible" : "hidden");
    if (!near) return;
    ring.setAttribute("cx", String(near.x));
    ring.setAttribute("cy", String(near.y));
    tip.replaceChildren(...describe(spec, near).map((text, i) => h(i ? "div" : "strong", {}, text)));
    tip.style.left = `${Math.min(near.x + 12, Math.max(0, frame.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(0, near.y - tip.offsetHeight - 10)}px`;
  };
  picture.addEventListener("pointermove", (event) => {
    const area = picture.getBoundingClientRect();
    show(nearest(frame, spec.lines, event.clientX - area.left, event.clientY - area.top));
  });
  picture.addEventListener("pointerleave", () => show(null));
}

// ---- the whole ----

/** Lower ends of error bars have no say: near zero they would stretch a logarithmic axis over decades. */
const yValues = (spec: ChartSpec): number[] => [
  ...spec.lines.flatMap((line) => line.points.flatMap((p) => [p.y, p.high ?? NaN])),
  ...(spec.rules ?? []).map((rule) => rule.at),
];
const xValues = (spec: ChartSpec): number[] => spec.lines.flatMap((line) => line.points.map((p) => p.x));

let clips = 0;

function paint(box: HTMLElement, spec: ChartSpec): void {
  const width = Math.max(220, Math.floor(box.clientWidth || 600));
  const frame = makeFrame(width, spec.height ?? HEIGHT, spec, xValues(spec), yValues(spec));
  const { height, left, top, inner, tall } = frame;
  const id = `clip-${++clips}`;
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": spec.label },
    svg("clipPath", { id }, svg("rect", { x: left - 5, y: top - 5, width: inner + 10, height: tall + 6 })),
    drawAxes(frame),
    svg(
      "g",
      { "clip-path": `url(#${id})` },
      (spec.spans ?? []).map((span) => drawSpan(frame, span)),
      spec.lines.map((line) => drawLine(frame, line)),
    ),
    (spec.rules ?? []).map((rule) => drawRule(frame, rule)),
  );
  box.replaceChildren(picture);
  addTip(box, spec, frame, picture);
}

/** Calls `draw` when the element has got a width, and when that changes. */
export function onWidth(element: HTMLElement, draw: () => void): void {
  let width = -1;
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    draw();
  }).observe(element);
}

interface Key {
  name: string;
  colour: number;
  dashed?: boolean;
}

function keyClass(key: Key, kind = ""): string {
  return `key ${kind} ${colourClass(key.colour)}${key.dashed ? " dashed" : ""}`;
}

/** What the colours mean. `kind` "dot": shown as dots. */
export function legend(keys: Key[], kind = "", before = ""): HTMLElement {
  const named = keys.map((key) => h("span", { class: keyClass(key, kind) }, h("i", {}), key.name));
  return h("div", { class: "legend" }, before ? h("span", {}, before) : null, named);
}

/** The same with buttons that take lines away and bring them back. */
function switches(keys: Key[], hidden: Set<string>, changed: () => void): HTMLElement {
  const buttons = keys.map((key) => {
    const attributes = { type: "button", class: keyClass(key), "aria-pressed": "true" };
    const button = h("button", attributes, h("i", {}), key.name);
    button.addEventListener("click", () => {
      if (!hidden.delete(key.name)) hidden.add(key.name);
      button.setAttribute("aria-pressed", String(!hidden.has(key.name)));
      changed();
    });
    return button;
  });
  return h("div", { class: "legend", role: "group", "aria-label": "lines shown" }, buttons);
}

/** Charts beside each other with the same axes and one legend. */
export function panels(specs: ChartSpec[]): HTMLElement {
  if (specs.length === 0) return h("p", {}, "Nothing to draw.");
  const x = sharedAxis(specs[0].x, specs.flatMap(xValues));
  const y = sharedAxis(specs[0].y, specs.flatMap(yValues));
  const hidden = new Set<string>();
  const charts = specs.map((spec) => {
    const box = h("div", { class: "chart", style: `min-height:${spec.height ?? HEIGHT}px` });
    const draw = () => {
      const lines = spec.lines.filter((line) => !hidden.has(line.name));
      paint(box, { ...spec, lines, x: { ...x, ...spec.x }, y: { ...y, ...spec.y } });
    };
    onWidth(box, draw);
    return { draw, element: h("div", { class: "chart-box" }, spec.title ? h("h4", {}, spec.title) : null, box) };
  });
  const keys = new Map<string, Line>();
  for (const line of specs.flatMap((spec) => spec.lines)) if (!keys.has(line.name)) keys.set(line.name, line);
  const redraw = () => charts.forEach((chart) => chart.draw());
  const pairs = specs.length === 2 || specs.length === 4;
  return h(
    "div",
    {},
    h(
      "div",
      { class: `panels${pairs ? " pairs" : ""}` },
      charts.map((chart) => chart.element),
    ),
    keys.size > 1 ? switches([...keys.values()], hidden, redraw) : null,
  );
}
