// Application kernels: the time of each part of a run.
import { blocksOf } from "../classes";
import { type Block, type Report, slowest } from "../data";
import { figure } from "../figure";
import { time } from "../format";
import { caption, joined, placeLabel } from "../origin";
import { type Bar, bars } from "../rows";
import type { View } from "../views";

const runsOf = (report: Report): Block[] => blocksOf(report, "apps").filter((block) => block.sets.length > 0);

function runFigure(report: Report, block: Block, many: boolean): HTMLElement {
  const list = block.sets.flatMap((set): Bar[] => {
    const parts = [...slowest(set)].filter(([, ns]) => ns > 0);
    const group = block.sets.length > 1 ? `set ${set.set}` : undefined;
    return parts.map(([key, ns], colour) => ({
      label: key.replaceAll("_", " "),
      group,
      value: ns,
      colour,
      text: time(ns),
    }));
  });
  return figure({
    title: joined([block.testname, placeLabel(report, block, many)]),
    body: bars(list, `times of ${block.testname}`),
    caption: caption("Time of the slowest rank in each part of the run.", [block]),
    table: () => ({
      name: `times ${block.testname}`,
      columns: ["set", "rank", "time", "ns"],
      rows: block.sets.flatMap((set) => set.times.map(([rank, key, ns]) => [set.set, rank, key, ns])),
    }),
  });
}

export const apps: View = {
  title: "Applications",
  about: "Application kernels: where the time of a run goes.",
  applies: (report) => runsOf(report).length > 0,
  render: (report) => {
    const runs = runsOf(report);
    return runs.map((block) => runFigure(report, block, runs.length > 1));
  },
};
