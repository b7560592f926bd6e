// Horizontal bars, as a table of HTML: labels wrap, numbers line up, and a screen reader reads rows.
import { h } from "./dom";

export interface Bar { label: string; group?: string; value: number; low?: number; high?: number; colour: number; text: string; note?: string; faint?: boolean }

export function bars(list: Bar[], label: string, most?: number): HTMLElement {
  const usable = list.flatMap((bar) => [bar.value, bar.high ?? 0]).filter(Number.isFinite);
  const max = most ?? (usable.reduce((a, b) => Math.max(a, b), 0) || 1);
  const part = (value: number) => `${Math.max(0, Math.min(100, (100 * value) / max)).toFixed(2)}%`;
  let group: string | undefined;
  const rows: HTMLElement[] = [];
  for (const bar of list) {
    if (bar.group !== group && bar.group !== undefined) rows.push(h("div", { class: "bar-group", role: "row" }, h("span", { role: "rowheader" }, bar.group)));
    group = bar.group;
    rows.push(h("div", { class: `bar c${bar.colour % 8}${bar.faint ? " faint" : ""}`, role: "row", title: bar.note },
      h("span", { class: "bar-label", role: "rowheader" }, bar.label),
      h("span", { class: "bar-track", role: "presentation" },
        Number.isFinite(bar.value) ? h("i", { style: `width:${part(bar.value)}` }) : null,
        Number.isFinite(bar.low ?? NaN) && Number.isFinite(bar.high ?? NaN) ? h("b", { style: `left:${part(bar.low!)};width:${part(bar.high! - Math.max(0, bar.low!))}` }) : null),
      h("span", { class: "bar-value", role: "cell" }, bar.text)));
  }
  return h("div", { class: "bars", role: "table", "aria-label": label }, rows);
}
