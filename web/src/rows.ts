// Charts that are tables of HTML: a row for each case, with bars from zero or dots on an axis. Labels wrap, numbers
// line up, and a screen reader reads rows.
import { colourClass, legend } from "./chart";
import { h } from "./dom";
import { extent, makeScale, type Scale, type Tick, type Unit } from "./scale";

interface Row {
  label: string;
  group?: string; // a heading before the first row of each
  text?: string; // behind the row
  note?: string;
}

export interface Bar extends Row {
  value: number;
  low?: number;
  high?: number;
  colour: number;
}

export interface Dot {
  name: string;
  colour: number;
  value: number;
  low?: number;
  high?: number;
  text: string;
}

export interface DotRow extends Row {
  dots: Dot[];
}

const percent = (part: number): string => `${(100 * Math.max(0, Math.min(1, part))).toFixed(2)}%`;
const stretch = (from: number, to: number): string => `left:${percent(from)};width:${percent(to - Math.max(0, from))}`;
const hasRange = (item: { low?: number; high?: number }): boolean =>
  Number.isFinite(item.low ?? NaN) && Number.isFinite(item.high ?? NaN);

/** The rows under their groups' headings. */
function table<T extends Row>(
  rows: T[],
  kind: string,
  label: string,
  track: (row: T) => HTMLElement,
  foot?: HTMLElement,
) {
  let group: string | undefined;
  const lines = rows.flatMap((row) => {
    const heading =
      row.group && row.group !== group
        ? [h("div", { class: "bar-group", role: "row" }, h("span", { role: "rowheader" }, row.group))]
        : [];
    group = row.group;
    const line = h(
      "div",
      { class: "bar", role: "row", title: row.note },
      h("span", { class: "bar-label", role: "rowheader" }, row.label),
      track(row),
      h("span", { class: "bar-value", role: "cell" }, row.text ?? ""),
    );
    return [...heading, line];
  });
  return h("div", { class: `bars ${kind}`, role: "table", "aria-label": label }, lines, foot);
}

/** Bars from zero to `most`, or to the largest. */
export function bars(list: Bar[], label: string, most?: number): HTMLElement {
  const largest = most ?? extent(list.flatMap((bar) => [bar.value, bar.high ?? NaN]))?.max ?? 1;
  const part = (value: number) => value / (largest > 0 ? largest : 1);
  return table(list, "", label, (bar) =>
    h(
      "span",
      { class: `bar-track ${colourClass(bar.colour)}`, role: "presentation" },
      Number.isFinite(bar.value) ? h("i", { style: `width:${percent(part(bar.value))}` }) : null,
      hasRange(bar) ? h("b", { style: stretch(part(bar.low!), part(bar.high!)) }) : null,
    ),
  );
}

const LOG_FROM = 12; // ratio of largest to least

/**
 * Logarithmic where values differ by a lot, as rates of I/O do: dots may be compared there, lengths of bars may not.
 */
function dotScale(rows: DotRow[], unit: Unit, label: string): Scale {
  const values = rows.flatMap((row) => row.dots.flatMap((dot) => [dot.value, dot.high ?? NaN])).filter((v) => v > 0);
  const { min, max } = extent(values) ?? { min: 1, max: 1 };
  const log = max / min > LOG_FROM;
  const limits = log ? { min: min / 1.25, max: max * 1.25 } : { min: 0, max: max * 1.04 };
  return makeScale({ label, unit, log, ...limits }, values, 5);
}

/** Ticks whose texts do not run into each other, in a track of any width. */
function labelled(scale: Scale): Tick[] {
  let beyond = -1;
  return scale.ticks.filter((tick) => {
    const place = scale.place(tick.at);
    if (place < beyond + 0.19) return false;
    beyond = place;
    return true;
  });
}

function dotTrack(row: DotRow, scale: Scale): HTMLElement {
  const shown = row.dots.filter((dot) => Number.isFinite(scale.place(dot.value)));
  const ends = extent(shown.map((dot) => scale.place(dot.value)));
  const dotOf = (dot: Dot) => {
    const name = `${dot.name}: ${dot.text}`;
    const place = { class: colourClass(dot.colour), style: `left:${percent(scale.place(dot.value))}` };
    return [
      hasRange(dot)
        ? h("b", {
            class: colourClass(dot.colour),
            style: stretch(scale.place(dot.low!) || 0, Math.min(1, scale.place(dot.high!))),
          })
        : null,
      h("i", { ...place, title: name, role: "img", "aria-label": name }),
    ];
  };
  return h(
    "span",
    { class: "dot-track", role: "cell" },
    scale.ticks.map((tick) => h("u", { style: `left:${percent(scale.place(tick.at))}` })),
    ends && shown.length > 1 ? h("s", { style: stretch(ends.min, ends.max) }) : null,
    shown.map(dotOf),
  );
}

/** Many cases, few contestants each. `label` names the axis, with its unit. */
export function dots(rows: DotRow[], unit: Unit, label: string): HTMLElement {
  const scale = dotScale(rows, unit, label);
  const ticks = labelled(scale).map((tick) => h("span", { style: `left:${percent(scale.place(tick.at))}` }, tick.text));
  const axis = h(
    "div",
    { class: "bar dot-axis", "aria-hidden": "true" },
    h("span", {}, ""),
    h("span", { class: "dot-ticks" }, ticks),
    h("span", {}, ""),
  );
  const names = new Map(rows.flatMap((row) => row.dots).map((dot) => [dot.name, dot]));
  const keys = names.size > 1 ? [...names.values()] : [];
  return h(
    "div",
    {},
    table(rows, "dots", label, (row) => dotTrack(row, scale), axis),
    legend(keys, "dot", `${label}${scale.axis.log ? ", logarithmic" : ""}`),
  );
}
