// Axes of all charts: ranges, ticks, labels. Pure.
import { bytes, short, time } from "./format";

export type Unit = "number" | "bytes" | "ns" | "rate" | "percent" | "count";

export interface Tick {
  at: number;
  text: string;
  minor?: boolean;
}

export interface Axis {
  label: string;
  unit: Unit;
  log?: boolean;
  min?: number;
  max?: number;
  names?: Tick[]; // words in the place of numbers
}

export interface Scale {
  axis: Axis;
  min: number;
  max: number;
  place: (value: number) => number; // 0…1; NaN where the value cannot be drawn
  ticks: Tick[];
}

export function tickText(unit: Unit, value: number): string {
  switch (unit) {
    case "bytes":
      return bytes(value, 2);
    case "ns":
      return time(value, 2).replace(/\.0(?= )/, "");
    case "percent":
      return `${short(value)} %`;
    default:
      return short(value);
  }
}

/** Least and largest; undefined where there is nothing. */
export function extent(values: Iterable<number>): { min: number; max: number } | undefined {
  let min = Infinity;
  let max = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return min <= max ? { min, max } : undefined;
}

function linearTicks(min: number, max: number, wanted: number, least: number): number[] {
  const raw = Math.max(least, (max - min) / Math.max(1, wanted));
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) ?? 10 * power;
  const ticks: number[] = [];
  for (let i = Math.ceil(min / step - 1e-9); i * step <= max + step * 1e-9; i++)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function logTicks(min: number, max: number, wanted: number, base: number): number[] {
  const decades = Math.log(max / min) / Math.log(base);
  const factors = base === 10 && decades * 3 <= wanted * 1.7 ? [1, 2, 5] : [1];
  const stride = factors.length > 1 ? 1 : Math.max(1, Math.ceil(decades / (wanted + 1)));
  const ticks: number[] = [];
  for (let e = Math.floor(Math.log(min) / Math.log(base) + 1e-9); base ** e <= max * 1.0001; e++) {
    if (e % stride !== 0) continue;
    for (const factor of factors) {
      const tick = factor * base ** e;
      if (tick >= min * 0.9999 && tick <= max * 1.0001) ticks.push(tick);
    }
  }
  return ticks;
}

/** Sizes that are powers of two get ticks at powers of two. */
function isBinary(values: number[]): boolean {
  return values.length > 0 && values.every((v) => v > 0 && Number.isInteger(Math.log2(v)));
}

/** What the axis spans: as it says, else the values with some room around them; from zero on where it is linear. */
function limitsOf(axis: Axis, values: number[]): [number, number] {
  const found = extent(values);
  let min = axis.min ?? found?.min;
  let max = axis.max ?? found?.max;
  if (min === undefined || max === undefined) return axis.log ? [1, 10] : [0, 1];
  if (axis.log) {
    if (min === max) return [min / 2, max * 2];
    return axis.min === undefined && axis.unit !== "bytes" && axis.unit !== "ns"
      ? [min / 1.25, max * 1.15]
      : [min, max];
  }
  if (axis.min === undefined && !axis.names) min = Math.min(0, min);
  if (min === max) max = min + 1;
  if (axis.max === undefined && !axis.names) max += (max - min) * 0.04;
  return [min, max];
}

/** The scale for these values, with about so many ticks. */
export function makeScale(axis: Axis, values: number[], wanted: number): Scale {
  const usable = values.filter((v) => Number.isFinite(v) && (!axis.log || v > 0));
  const [min, max] = limitsOf(axis, usable);
  const place = axis.log
    ? (v: number) => (v > 0 ? Math.log(v / min) / Math.log(max / min) : NaN)
    : (v: number) => (v - min) / (max - min);
  if (axis.names) return { axis, min, max, place, ticks: axis.names };
  const base = axis.unit === "bytes" && isBinary(usable) ? 4 : 10;
  const at = axis.log
    ? logTicks(min, max, wanted, base)
    : linearTicks(min, max, wanted, usable.every(Number.isInteger) && usable.length ? 1 : 0);
  // A logarithmic axis of less than a decade may hold no round number: its ends say where it is.
  const shown = axis.log && at.length < 2 ? [min, max] : at;
  return { axis, min, max, place, ticks: shown.map((value) => ({ at: value, text: tickText(axis.unit, value) })) };
}

/** A scale that several charts have in common. */
export function sharedAxis(axis: Axis, values: number[]): Axis {
  const { min, max } = makeScale(axis, values, 5);
  return { ...axis, min, max };
}
