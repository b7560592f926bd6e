// The views of the page, in their order. To add one: a file in views/, and a line here.
import type { Report } from "./data";
import { apps } from "./views/apps";
import { beff } from "./views/beff";
import { beffio } from "./views/beffio";
import { compare } from "./views/compare";
import { devices } from "./views/devices";
import { distribution } from "./views/distribution";
import { gpfs } from "./views/gpfs";
import { kernels } from "./views/kernels";
import { overview } from "./views/overview";
import { peak } from "./views/peak";
import { phases } from "./views/phases";
import { piobench } from "./views/piobench";
import { prediction } from "./views/prediction";
import { rates } from "./views/rates";
import { raw } from "./views/raw";
import { results } from "./views/results";
import { sources } from "./views/sources";

/** A number that matters, for the overview; the largest `size` comes first. */
export interface Entry {
  value: string;
  where: string;
  verdict?: string;
  good?: boolean;
  size: number;
}

export interface Card {
  label: string;
  entries: Entry[];
}

export type Level = "error" | "warning" | "note";

export interface View {
  title: string;
  about: string; // one line under the title
  applies: (report: Report) => boolean;
  render: (report: Report) => HTMLElement[];
  cards?: (report: Report) => Card[];
  remarks?: (report: Report) => { level: Level; text: string; where: string }[];
}

const LIST = {
  overview,
  rates,
  raw,
  distribution,
  kernels,
  apps,
  compare,
  piobench,
  gpfs,
  beffio,
  beff,
  peak,
  phases,
  prediction,
  devices,
  results,
  sources,
};

export type ViewId = keyof typeof LIST;

/** By the id of their sections, which links to them have. */
export const VIEWS = new Map<ViewId, View>(Object.entries(LIST) as [ViewId, View][]);
