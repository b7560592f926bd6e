// b_eff by pattern, method and message length (BEFF-7).
import { type Bar, bars } from "../bars";
import { type ChartSpec, panels } from "../chart";
import { type Block, derived, type Report, type ResultFile } from "../data";
import { h } from "../dom";
import { caption, figure, tableOf } from "../figure";
import { bytes, digits, time } from "../format";
import { placeLabel } from "../systems";
import type { View } from "../views";

const MB = 2 ** 20; // b_eff's MByte

interface Run { file: ResultFile; block: Block; result: any; name: string }

function runs(report: Report): Run[] {
  const list = derived(report, "beff").flatMap(({ file, result }) => result.runs.map((run: any) => ({ file, run })));
  return list.map(({ file, run }, i) => {
    const block = file.blocks.filter((b: Block) => b.class === "Beff")[run.block - 1];
    return { file, block, result: run, name: placeLabel(report, block, list.length > 1) || (list.length > 1 ? `run ${i + 1}` : "") };
  });
}

/** The columns of the document's Table 1. */
function summary(list: Run[]): HTMLElement {
  const table = {
    name: "b_eff summary", columns: ["run", "processes", "b_eff MByte/s", "per process", "L_max", "ping-pong at L_max", "at L_max", "per process at L_max", "rings only", "latency"],
    rows: list.map(({ name, result: r }) => [name, r.nprocs, r.b_eff / MB, r.b_eff_per_process / MB, bytes(r.length_max_bytes), r.pingpong_at_length_max / MB, r.b_eff_at_length_max / MB, r.b_eff_at_length_max_per_process / MB, r.rings_at_length_max_per_process / MB, time(r.latency_s * 1e9)]),
  };
  return figure({ title: "Effective bandwidth", body: tableOf(table), caption: caption("MByte = 2²⁰ bytes. b_eff is the logarithmic average over ring and random patterns of the mean over 21 message lengths.", list.map((run) => run.block)), table: () => table });
}

function lengthSpec(run: Run): ChartSpec {
  const lengths: number[] = run.result.by_length.map((l: any) => l.length_bytes);
  const names = lengths.map((length, i) => ({ at: i, text: bytes(length) }));
  const pingpong = run.result.by_pattern.find((p: any) => p.pattern === "ping-pong");
  const worst = run.result.by_pattern.find((p: any) => p.pattern === "worst-cycle" || p.pattern === "cycle");
  const line = (name: string, colour: number, values: (number | null)[], dashed = false) => ({ name, colour, dashed, points: values.map((v, i) => ({ x: i, y: v === null ? NaN : v / MB })) });
  return {
    title: run.name || undefined, label: `bandwidth by message length, ${run.name}`, height: 290,
    x: { label: "message length (equidistant)", unit: "number", names }, y: { label: "MByte/s, all processes", unit: "rate", log: true },
    lines: [line("rings", 0, run.result.by_length.map((l: any) => l.rings)), line("random", 1, run.result.by_length.map((l: any) => l.random)),
      ...(pingpong ? [line("ping-pong", 2, pingpong.by_length, true)] : []), ...(worst ? [line("worst-case cycle", 3, worst.by_length, true)] : [])],
  };
}

function patternBars(run: Run, most: number): HTMLElement {
  const kind = (name: string) => (name.startsWith("ring") ? 0 : name.startsWith("random") ? 1 : name === "ping-pong" ? 2 : 3);
  const list: Bar[] = run.result.by_pattern.filter((p: any) => p.mean !== null).map((p: any) => ({ label: p.pattern, value: p.mean / MB, text: digits(p.mean / MB), colour: kind(p.pattern), note: `${p.messages} messages in a round` }));
  return h("div", {}, run.name ? h("h4", {}, run.name) : null, bars(list, `patterns of ${run.name}`, most));
}

function methodBars(run: Run, most: number): HTMLElement {
  const list: Bar[] = run.result.by_method.flatMap((m: any) => [["b_eff", 4], ["rings", 0], ["random", 1]].map(([key, colour]) => ({ group: m.method, label: key as string, value: (m[key as string] ?? NaN) / MB, text: digits((m[key as string] ?? NaN) / MB), colour: colour as number })));
  return h("div", {}, run.name ? h("h4", {}, run.name) : null, bars(list, `methods of ${run.name}`, most));
}

export const beff: View = {
  id: "beff", title: "Communication: b_eff", about: "What all processes exchange at once, by pattern, method and message length.",
  applies: (report) => derived(report, "beff").some(({ result }) => result.runs.length > 0),
  render: (report) => {
    const list = runs(report), blocks = list.map((run) => run.block);
    const most = Math.max(...list.flatMap((run) => run.result.by_pattern.map((p: any) => (p.mean ?? 0) / MB)));
    const mostOfMethods = Math.max(...list.flatMap((run) => run.result.by_method.flatMap((m: any) => [m.b_eff, m.rings, m.random].map((v) => (v ?? 0) / MB))));
    return [
      summary(list),
      figure({
        title: "By message length", body: panels(list.map(lengthSpec)), caption: caption("Largest bandwidth over methods and repetitions; rings and random are logarithmic averages over their patterns.", blocks),
        table: () => ({ name: "b_eff by length", columns: ["run", "pattern", "messages", "length bytes", "bytes/s"], rows: list.flatMap((run) => run.result.by_pattern.flatMap((p: any) => p.by_length.map((v: number, i: number) => [run.name, p.pattern, p.messages, run.result.by_length[i].length_bytes, v]))) }),
      }),
      figure({
        title: "By pattern (MByte/s, mean over lengths)", body: h("div", { class: "columns" }, list.map((run) => patternBars(run, most))), caption: caption("Rings and random patterns make b_eff; the others are for comparison.", blocks),
        table: () => ({ name: "b_eff by pattern", columns: ["run", "pattern", "messages", "bytes/s"], rows: list.flatMap((run) => run.result.by_pattern.map((p: any) => [run.name, p.pattern, p.messages, p.mean])) }),
      }),
      figure({
        title: "By method (MByte/s)", body: h("div", { class: "columns" }, list.map((run) => methodBars(run, mostOfMethods))), caption: caption("b_eff with the maximum over one method alone.", blocks),
        table: () => ({ name: "b_eff by method", columns: ["run", "method", "b_eff bytes/s", "rings", "random"], rows: list.flatMap((run) => run.result.by_method.map((m: any) => [run.name, m.method, m.b_eff, m.rings, m.random])) }),
      }),
    ];
  },
};
