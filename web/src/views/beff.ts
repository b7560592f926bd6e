// b_eff by pattern, method and message length (BEFF-7).
import { type ChartSpec, type Line, panels } from "../chart";
import { derived } from "../classes";
import type { BeffRun } from "../analysis";
import { type Block, type Report } from "../data";
import { h } from "../dom";
import { figure, tableFigure } from "../figure";
import { bytes, digits, rate, time } from "../format";
import { caption, fileLabel, joined, placeLabel, systemLabel } from "../origin";
import { type Bar, bars } from "../rows";
import { extent } from "../scale";
import type { Entry, View } from "../views";

const MB = 1e6; // of rates, as b_eff 3.6 prints them

interface Run {
  block?: Block;
  result: BeffRun;
  name: string;
}

function runsOf(report: Report): Run[] {
  const list = derived(report, "beff").flatMap(({ blocks, result }) => result.runs.map((run) => ({ blocks, run })));
  return list.map(({ blocks, run }, i) => {
    const block = blocks.at(run.block - 1);
    const many = list.length > 1;
    return { block, result: run, name: placeLabel(report, block, many) || (many ? `run ${i + 1}` : "") };
  });
}

const captionOf = (text: string, runs: Run[]) =>
  caption(
    text,
    runs.map((run) => run.block).filter((block) => block !== undefined),
  );

const COLUMNS = [
  "run",
  "processes",
  "b_eff MByte/s",
  "as 3.6",
  "per process",
  "L_max",
  "ping-pong at L_max",
  "at L_max",
  "per process at L_max",
  "rings only",
  "latency",
];
const BYTES = (value: number) => bytes(value);
const SECONDS = (value: number) => time(value * 1e9);

/** The columns of the document's Table 1. */
function summary(runs: Run[]): HTMLElement {
  const text =
    "MByte = 10⁶ bytes. b_eff is the logarithmic average over ring and random patterns of the mean over 21 message " +
    "lengths; as 3.6: as the program b_eff 3.6 counts, with one message each way in rings of 2.";
  return tableFigure("Effective bandwidth", captionOf(text, runs), {
    name: "b_eff summary",
    columns: COLUMNS,
    show: COLUMNS.map((name) => (name === "L_max" ? BYTES : name === "latency" ? SECONDS : undefined)),
    rows: runs.map(({ name, result: r }) => [
      name,
      r.nprocs,
      r.b_eff / MB,
      r.b_eff_as_3_6 / MB,
      r.b_eff_per_process / MB,
      r.length_max_bytes,
      r.pingpong_at_length_max / MB,
      r.b_eff_at_length_max / MB,
      r.b_eff_at_length_max_per_process / MB,
      r.rings_at_length_max_per_process / MB,
      r.latency_s,
    ]),
  });
}

// ---- by length ----

function lineOf(name: string, colour: number, values: number[] | undefined, dashed = false): Line[] {
  return values ? [{ name, colour, dashed, points: values.map((value, x) => ({ x, y: value / MB })) }] : [];
}

function lengthSpec({ name, result }: Run): ChartSpec {
  const pattern = (wanted: string) => result.by_pattern.find((p) => p.pattern === wanted)?.by_length;
  const names = result.by_length.map((item, at) => ({ at, text: bytes(item.length_bytes) }));
  return {
    title: name || undefined,
    label: `bandwidth by message length, ${name}`,
    height: 290,
    x: { label: "message length (equidistant)", unit: "number", names },
    y: { label: "MByte/s, all processes", unit: "rate", log: true },
    lines: [
      ...lineOf(
        "rings",
        0,
        result.by_length.map((item) => item.rings),
      ),
      ...lineOf(
        "random",
        1,
        result.by_length.map((item) => item.random),
      ),
      ...lineOf("ping-pong", 2, pattern("ping-pong"), true),
      ...lineOf("worst-case cycle", 3, pattern("worst-cycle"), true),
    ],
  };
}

function lengthFigure(runs: Run[]): HTMLElement {
  const rows = runs.flatMap(({ name, result }) =>
    result.by_pattern.flatMap((p) =>
      p.by_length.map((value, i) => [name, p.pattern, p.messages, result.by_length[i]?.length_bytes, value]),
    ),
  );
  const text =
    "Largest bandwidth over methods and repetitions; rings and random are logarithmic averages over their patterns.";
  return figure({
    title: "By message length",
    body: panels(runs.map(lengthSpec)),
    caption: captionOf(text, runs),
    table: () => ({
      name: "b_eff by length",
      columns: ["run", "pattern", "messages", "length bytes", "bytes/s"],
      rows,
    }),
  });
}

// ---- by pattern and method ----

const kindOf = (pattern: string): number =>
  pattern.startsWith("ring") ? 0 : pattern.startsWith("random") ? 1 : pattern === "ping-pong" ? 2 : 3;

const bar = (label: string, value: number, colour: number, more: Partial<Bar> = {}): Bar => ({
  label,
  value: value / MB,
  text: digits(value / MB),
  colour,
  ...more,
});

const patternBars = ({ result }: Run): Bar[] =>
  result.by_pattern
    .filter((p) => Number.isFinite(p.mean))
    .map((p) => bar(p.pattern, p.mean, kindOf(p.pattern), { note: `${p.messages} messages in a round` }));

const methodBars = ({ result }: Run): Bar[] =>
  result.by_method.flatMap(({ method: group, b_eff: both, rings, random }) => [
    bar("b_eff", both, 4, { group }),
    bar("rings", rings, 0, { group }),
    bar("random", random, 1, { group }),
  ]);

/** Bars of all runs beside each other, to the same scale. */
function barColumns(runs: Run[], what: string, barsOf: (run: Run) => Bar[]): HTMLElement {
  const most = extent(runs.flatMap(barsOf).map((item) => item.value))?.max;
  const column = (run: Run) =>
    h("div", {}, run.name ? h("h4", {}, run.name) : null, bars(barsOf(run), `${what} of ${run.name}`, most));
  return h("div", { class: "columns" }, runs.map(column));
}

function patternFigure(runs: Run[]): HTMLElement {
  const rows = runs.flatMap((run) => run.result.by_pattern.map((p) => [run.name, p.pattern, p.messages, p.mean]));
  return figure({
    title: "By pattern (MByte/s, mean over lengths)",
    body: barColumns(runs, "patterns", patternBars),
    caption: captionOf("Rings and random patterns make b_eff; the others are for comparison.", runs),
    table: () => ({ name: "b_eff by pattern", columns: ["run", "pattern", "messages", "bytes/s"], rows }),
  });
}

function methodFigure(runs: Run[]): HTMLElement {
  const rows = runs.flatMap((run) => run.result.by_method.map((m) => [run.name, m.method, m.b_eff, m.rings, m.random]));
  return figure({
    title: "By method (MByte/s)",
    body: barColumns(runs, "methods", methodBars),
    caption: captionOf("b_eff with the maximum over one method alone.", runs),
    table: () => ({ name: "b_eff by method", columns: ["run", "method", "b_eff bytes/s", "rings", "random"], rows }),
  });
}

function entryOf(report: Report, { block, result: run }: Run): Entry {
  const reason = run.not_standard.at(0);
  return {
    value: rate(run.b_eff / 1e6),
    size: run.b_eff,
    where: joined([systemLabel(report, block), `${run.nprocs} processes`, `latency ${SECONDS(run.latency_s)}`], " · "),
    verdict: reason ? `not standard: ${reason}` : "standard",
    good: !reason,
  };
}

export const beff: View = {
  title: "Communication: b_eff",
  about: "What all processes exchange at once, by pattern, method and message length.",
  applies: (report) => runsOf(report).length > 0,
  render: (report) => {
    const runs = runsOf(report);
    return [summary(runs), lengthFigure(runs), patternFigure(runs), methodFigure(runs)];
  },
  cards: (report) => [{ label: "b_eff", entries: runsOf(report).map((run) => entryOf(report, run)) }],
  remarks: (report) =>
    derived(report, "beff").flatMap(({ file, result }) =>
      result.runs.flatMap((run) =>
        run.not_standard.map((text) => ({
          level: "note",
          text: `b_eff is not standard: ${text}`,
          where: fileLabel(report, file),
        })),
      ),
    ),
};
