// Statistics of a region of a series. The same definitions as src/lab/result/analysis.h, so that both give the same
// numbers: the error is the half width of the 90 % interval, by the means of 20 consecutive batches and Student's t.
import type { Series } from "./data";

export interface Region {
  from: number;
  to: number;
} // counters, both inclusive

export interface Statistics {
  n: number;
  sum: number;
  mean: number;
  error: number;
  deviation: number;
  min: number;
  max: number;
  p5: number;
  median: number;
  p95: number;
  p99: number;
  exact: boolean; // false: of bins, as the file held too many samples for the page
}

const BATCHES = 20;
// Two-sided 90 % Student t by degrees of freedom.
const T90 = [
  NaN,
  6.3138,
  2.92,
  2.3534,
  2.1318,
  2.015,
  1.9432,
  1.8946,
  1.8595,
  1.8331,
  1.8125,
  1.7959,
  1.7823,
  1.7709,
  1.7613,
  1.7531,
  1.7459,
  1.7396,
  1.7341,
  1.7291,
];

export function wholeRegion(series: Series): Region {
  return { from: 0, to: series.count - 1 };
}

/** Samples of the region (means, where they are binned), in their order. */
export function samples(series: Series, region: Region): Float64Array {
  const first = Math.max(0, Math.ceil(region.from / series.bin));
  const last = Math.min(series.sums.length - 1, Math.floor(region.to / series.bin));
  const values = new Float64Array(Math.max(0, last - first + 1));
  for (let i = 0; i < values.length; i++) values[i] = series.sums[first + i] / sizeOfBin(series, first + i);
  return values;
}

function sizeOfBin(series: Series, index: number): number {
  return Math.min(series.bin, series.count - index * series.bin);
}

/** Nearest rank; `sorted` ascending. */
export function quantile(sorted: Float64Array, q: number): number {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))] : NaN;
}

/** How many of the sorted are not larger than the value. */
export function below(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function batchError(values: Float64Array, mean: number): number {
  const count = Math.min(values.length, BATCHES);
  if (count < 2) return NaN;
  let spread = 0;
  for (let b = 0; b < count; b++) {
    const first = Math.floor((b * values.length) / count);
    const end = Math.floor(((b + 1) * values.length) / count);
    let sum = 0;
    for (let i = first; i < end; i++) sum += values[i];
    spread += (sum - mean * (end - first)) ** 2;
  }
  const deviation = Math.sqrt(spread / (count - 1));
  return (T90[count - 1] * deviation * Math.sqrt(count)) / values.length;
}

export function statistics(series: Series, region: Region): Statistics {
  const values = samples(series, region);
  const n = values.length;
  let sum = 0;
  let operations = 0;
  let min = Infinity;
  let max = -Infinity;
  const first = Math.max(0, Math.ceil(region.from / series.bin));
  for (let i = 0; i < n; i++) {
    operations += sizeOfBin(series, first + i);
    sum += series.sums[first + i];
    min = Math.min(min, series.least ? series.least[first + i] : values[i]);
    max = Math.max(max, series.most ? series.most[first + i] : values[i]);
  }
  const mean = n ? sum / operations : NaN;
  let squares = 0;
  for (let i = 0; i < n; i++) squares += (values[i] - mean) ** 2;
  const sorted = values.slice().sort();
  return {
    n: operations,
    sum,
    mean,
    error: batchError(values, mean),
    deviation: n > 1 ? Math.sqrt(squares / (n - 1)) : NaN,
    min: n ? min : NaN,
    max: n ? max : NaN,
    p5: quantile(sorted, 0.05),
    median: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    exact: series.bin === 1,
  };
}

export interface Binned {
  x: Float64Array;
  low: Float64Array;
  high: Float64Array;
  mean: Float64Array;
  perBin: number;
}

/** Least, largest and mean of the region in at most `bins` columns: what a chart of that many pixels can show. */
export function binned(series: Series, region: Region, bins: number): Binned {
  const first = Math.max(0, Math.floor(region.from / series.bin));
  const last = Math.min(series.sums.length - 1, Math.ceil(region.to / series.bin));
  const count = Math.max(0, last - first + 1);
  const columns = Math.min(bins, count);
  const out: Binned = {
    x: new Float64Array(columns),
    low: new Float64Array(columns),
    high: new Float64Array(columns),
    mean: new Float64Array(columns),
    perBin: count / Math.max(1, columns),
  };
  for (let c = 0; c < columns; c++) {
    const begin = first + Math.floor((c * count) / columns);
    const end = first + Math.floor(((c + 1) * count) / columns);
    let low = Infinity;
    let high = -Infinity;
    let sum = 0;
    let size = 0;
    for (let i = begin; i < end; i++) {
      const n = sizeOfBin(series, i);
      const mean = series.sums[i] / n;
      const least = series.least ? series.least[i] : mean;
      const most = series.most ? series.most[i] : mean;
      if (least < low) low = least;
      if (most > high) high = most;
      sum += series.sums[i];
      size += n;
    }
    out.x[c] = ((begin + end - 1) / 2) * series.bin;
    out.low[c] = low;
    out.high[c] = high;
    out.mean[c] = sum / size;
  }
  return out;
}
