// Numbers for people. Rates are in MB/s = 10^6 bytes a second, sizes in the unit in which they are short.

export function digits(value: number, significant = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) return grouped(value);
  if (size >= 1e15 || size < 1e-4) return value.toExponential(significant - 1);
  const places = Math.max(0, significant - 1 - Math.floor(Math.log10(size)));
  const text = value.toFixed(Math.min(places, 12));
  return size >= 10_000 ? grouped(Number(text)) : text;
}

/** Thousands apart, from 10 000 on. */
function grouped(value: number): string {
  return Math.abs(value) < 10_000 ? String(value) : value.toLocaleString("en-US").replaceAll(",", "\u202f");
}

const TIMES: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

export function time(ns: number, significant = 3): string {
  if (!Number.isFinite(ns)) return "–";
  if (ns === 0) return "0";
  if (ns >= 120e9) return `${digits(ns / 60e9, significant)} min`;
  const [size, unit] = TIMES.find(([least]) => Math.abs(ns) >= least) ?? [1, "ns"];
  return `${digits(ns / size, significant)} ${unit}`;
}

const DECIMAL: [number, string][] = [
  [1e15, "PB"],
  [1e12, "TB"],
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
  [1, "B"],
];
const BINARY: [number, string][] = [
  [2 ** 50, "PiB"],
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
];

/** Whole powers of 1024 in their units, others in decimal ones. */
export function bytes(value: number, significant = 3): string {
  if (!Number.isFinite(value)) return "–";
  const whole = value >= 1024 && BINARY.find(([size]) => value >= size && value % size === 0);
  if (whole && value / whole[0] < 4096) return `${value / whole[0]} ${whole[1]}`;
  const [size, unit] = DECIMAL.find(([least]) => Math.abs(value) >= least) ?? [1, "B"];
  return size === 1 ? `${value} B` : `${trim(digits(value / size, significant))} ${unit}`;
}

const trim = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** A rate given in MB/s. */
export function rate(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return value >= 10_000 ? `${digits(value / 1000)} GB/s` : `${digits(value)} MB/s`;
}

export const percent = (part: number): string =>
  Number.isFinite(part) ? `${digits(100 * part, Math.abs(part) >= 1 ? 3 : 2)} %` : "–";

export const plural = (count: number, word: string): string => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;

export function instant(text: string | undefined): string {
  return (text ?? "").replace("T", " ").replace(/:\d\dZ$/, " UTC");
}

/** For the ticks of an axis: 1.5M, 20k. */
export function short(value: number): string {
  const size = Math.abs(value);
  const [unit, letter]: [number, string] =
    size >= 1e9 ? [1e9, "G"] : size >= 1e6 ? [1e6, "M"] : size >= 1e4 ? [1e3, "k"] : [1, ""];
  return `${Number(digits(value / unit, 3).replaceAll("\u202f", ""))}${letter}`;
}

/** A value with its unit as benchmarks write it, in the unit in which it is short. */
export function measure(value: number, unit: string): string {
  switch (unit) {
    case "ns":
      return time(value);
    case "s":
      return time(value * 1e9);
    case "B":
    case "bytes":
      return bytes(value);
    case "MB/s":
      return rate(value);
    case "B/s":
    case "bytes/s":
      return rate(value / 1e6);
    default:
      return Number.isFinite(value) ? `${digits(value, 4)}${unit ? ` ${unit}` : ""}` : "–";
  }
}
