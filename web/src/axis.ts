// Axes of the SVG charts: ranges, ticks, labels. Pure.
import { bytes, digits, time } from "./format";

export type Unit = "number" | "bytes" | "ns" | "rate" | "percent" | "count";

export interface Axis {
  label: string;
  unit: Unit;
  log?: boolean;
  min?: number; max?: number;
  names?: { at: number; text: string; minor?: boolean }[]; // words in the place of numbers
}

export interface Scale {
  axis: Axis;
  min: number; max: number;
  place: (value: number) => number; // 0…1; NaN where the value cannot be drawn
  ticks: { at: number; text: string; minor?: boolean }[];
}

export function tickText(unit: Unit, value: number): string {
  switch (unit) {
    case "bytes": return bytes(value, 2);
    case "ns": return time(value, 2).replace(/\.0(?= )/, "");
    case "percent": return `${plain(value)} %`;
    default: return plain(value);
  }
}

function plain(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${trim(value / 1e9)}G`;
  if (size >= 1e6) return `${trim(value / 1e6)}M`;
  if (size >= 1e4) return `${trim(value / 1e3)}k`;
  return trim(value);
}

const trim = (value: number): string => String(Number(digits(value, 3).replaceAll("\u202f", "")));

function linearTicks(min: number, max: number, wanted: number): number[] {
  const raw = (max - min) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) ?? 10 * power;
  const ticks: number[] = [];
  for (let i = Math.ceil(min / step - 1e-9); i * step <= max + step * 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function logTicks(min: number, max: number, wanted: number, base: number): number[] {
  const decades = Math.log(max / min) / Math.log(base);
  const per = base === 10 && decades * 3 <= wanted * 1.7 ? [1, 2, 5] : [1];
  const stride = per.length > 1 ? 1 : Math.max(1, Math.ceil(decades / (wanted + 1)));
  const ticks: number[] = [];
  for (let e = Math.floor(Math.log(min) / Math.log(base) + 1e-9); base ** e <= max * 1.0001; e++)
    if (e % stride === 0) for (const m of per) if (m * base ** e >= min * 0.9999 && m * base ** e <= max * 1.0001) ticks.push(m * base ** e);
  return ticks;
}

/** Sizes that are powers of two get ticks at powers of two. */
function isBinary(values: number[]): boolean {
  return values.length > 0 && values.every((v) => v > 0 && Number.isInteger(Math.log2(v)));
}

export function makeScale(axis: Axis, values: number[], wanted: number): Scale {
  const usable = values.filter((v) => Number.isFinite(v) && (!axis.log || v > 0));
  let min = axis.min ?? usable.reduce((a, b) => Math.min(a, b), Infinity);
  let max = axis.max ?? usable.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(min) || !Number.isFinite(max)) [min, max] = axis.log ? [1, 10] : [0, 1];
  if (axis.log && min === max) [min, max] = [min / 2, max * 2];
  else if (axis.log && axis.unit === "rate" && axis.min === undefined) [min, max] = [min / 1.25, max * 1.15];
  if (!axis.log && axis.min === undefined && !axis.names) min = Math.min(0, min);
  if (min === max) max = min + 1;
  if (axis.max === undefined && !axis.log && !axis.names) max += (max - min) * 0.04;
  const place = axis.log
    ? (v: number) => (v > 0 ? Math.log(v / min) / Math.log(max / min) : NaN)
    : (v: number) => (v - min) / (max - min);
  const base = axis.unit === "bytes" && isBinary(usable) ? 4 : 10;
  const at = axis.names ? [] : axis.log ? logTicks(min, max, wanted, base) : linearTicks(min, max, wanted);
  return { axis, min, max, place, ticks: axis.names ?? at.map((value) => ({ at: value, text: tickText(axis.unit, value) })) };
}
