// Rows of dots on one axis: many cases, few contestants each. Logarithmic where values differ by a lot, as rates of I/O do:
// dots may be compared there, lengths of bars may not.
import { makeScale, type Unit } from "./axis";
import { h } from "./dom";

export interface Dot { name: string; colour: number; value: number; low?: number; high?: number; text: string }
export interface DotRow { label: string; group?: string; dots: Dot[]; text?: string; note?: string }

const LOG_FROM = 12; // ratio of largest to least

function scaleOf(rows: DotRow[], unit: Unit, label: string) {
  const values = rows.flatMap((row) => row.dots.flatMap((dot) => [dot.value, dot.high ?? NaN])).filter((v) => Number.isFinite(v) && v > 0);
  const least = values.reduce((a, b) => Math.min(a, b), Infinity), most = values.reduce((a, b) => Math.max(a, b), 0);
  const log = most / least > LOG_FROM;
  return makeScale({ label, unit, log, min: log ? least / 1.25 : 0, max: log ? most * 1.25 : most * 1.04 || 1 }, values, 5);
}

/** Ticks whose texts do not run into each other, in a track of any width. */
function labelled(scale: ReturnType<typeof scaleOf>): { at: number; text: string }[] {
  let beyond = -1;
  return scale.ticks.filter((tick) => { const place = scale.place(tick.at); if (place < beyond + 0.19) return false; beyond = place; return true; });
}

function trackOf(row: DotRow, place: (value: number) => number, ticks: { at: number }[]): HTMLElement {
  const left = (value: number) => `${(100 * Math.max(0, Math.min(1, place(value)))).toFixed(2)}%`;
  const shown = row.dots.filter((dot) => Number.isFinite(place(dot.value)));
  const places = shown.map((dot) => place(dot.value)), least = Math.min(...places), most = Math.max(...places);
  return h("span", { class: "dot-track", role: "cell" },
    ticks.map((tick) => h("u", { style: `left:${left(tick.at)}` })),
    shown.length > 1 ? h("s", { style: `left:${(100 * least).toFixed(2)}%;width:${(100 * (most - least)).toFixed(2)}%` }) : null,
    shown.map((dot) => [
      Number.isFinite(dot.low ?? NaN) && Number.isFinite(dot.high ?? NaN) ? h("b", { class: `c${dot.colour % 8}`, style: `left:${left(dot.low!)};width:${(100 * (Math.min(1, place(dot.high!)) - Math.max(0, place(dot.low!) || 0))).toFixed(2)}%` }) : null,
      h("i", { class: `c${dot.colour % 8}`, style: `left:${left(dot.value)}`, title: `${dot.name}: ${dot.text}`, role: "img", "aria-label": `${dot.name}: ${dot.text}` }),
    ]));
}

/** `label` names the axis, with its unit. */
export function dots(rows: DotRow[], unit: Unit, label: string): HTMLElement {
  const scale = scaleOf(rows, unit, label), lines: HTMLElement[] = [];
  let group: string | undefined;
  for (const row of rows) {
    if (row.group !== group && row.group) lines.push(h("div", { class: "bar-group", role: "row" }, h("span", { role: "rowheader" }, row.group)));
    group = row.group;
    lines.push(h("div", { class: "bar", role: "row", title: row.note }, h("span", { class: "bar-label", role: "rowheader" }, row.label), trackOf(row, scale.place, scale.ticks), h("span", { class: "bar-value", role: "cell" }, row.text ?? "")));
  }
  const axis = h("div", { class: "bar dot-axis", "aria-hidden": "true" }, h("span", {}, ""), h("span", { class: "dot-ticks" }, labelled(scale).map((tick) => h("span", { style: `left:${(100 * scale.place(tick.at)).toFixed(2)}%` }, tick.text))), h("span", {}, ""));
  const names = new Map(rows.flatMap((row) => row.dots).map((dot) => [dot.name, dot]));
  return h("div", {}, h("div", { class: "bars dots", role: "table", "aria-label": label }, lines, axis),
    h("div", { class: "legend" }, h("span", {}, `${label}${scale.axis.log ? ", logarithmic" : ""}`), names.size > 1 ? [...names.values()].map((dot) => h("span", { class: `key dot c${dot.colour % 8}` }, h("i", {}), dot.name)) : null));
}
