// The views of the page, in their order. To add one: a file in views/, and a line here.
import type { Report } from "./data";
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
import { sources } from "./views/sources";

export interface View {
  id: string;
  title: string;
  about: string; // one line under the title
  applies: (report: Report) => boolean;
  render: (report: Report) => HTMLElement[];
}

export const VIEWS: View[] = [
  overview, rates, raw, distribution, kernels, compare, piobench, gpfs, beffio, beff, peak, phases, prediction, devices, sources,
];
