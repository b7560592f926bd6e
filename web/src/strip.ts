// Many short bars between two axes: which process is where in the file, and when. The axes are those of the charts;
// the bars are on a canvas, since there may be tens of thousands.
import { drawAxes, type Frame, makeFrame, onWidth, placeX } from "./chart";
import { h, svg } from "./dom";
import { type Axis, extent } from "./scale";
import { onTheme, palette } from "./theme";

export interface Marks {
  from: ArrayLike<number>;
  to: ArrayLike<number>;
  row: ArrayLike<number>;
  rows: string[]; // their names, from above
  colour: Uint8Array;
  faint: Uint8Array;
  lane?: Uint8Array; // upper or lower half of the row
}

export class Strip {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", {});
  private marks: Marks | null = null;

  constructor(
    label: string,
    private readonly x: Axis,
    private readonly rowLabel: string,
    private readonly picked: (index: number) => void,
  ) {
    this.element = h("div", { class: "strip", role: "img", "aria-label": label });
    this.canvas.addEventListener("click", (event) => this.pick(event));
    onWidth(this.element, () => this.paint());
    onTheme(this.element, () => this.paint());
  }

  show(marks: Marks): void {
    this.marks = marks;
    this.paint();
  }

  private frame(marks: Marks): Frame {
    const rows = marks.rows.length;
    const every = Math.max(1, Math.ceil((12 * rows) / (this.element.clientHeight - 50)));
    const names = marks.rows.map((text, i) => ({ at: rows - i - 0.5, text })).filter((_, i) => i % every === 0);
    const x = { ...this.x, min: 0, max: Math.max(1, extent(Array.from(marks.to))?.max ?? 1) };
    const y: Axis = { label: this.rowLabel, unit: "number", names, min: 0, max: rows };
    return makeFrame(this.element.clientWidth, this.element.clientHeight, { x, y }, [], []);
  }

  private pick(event: MouseEvent): void {
    const marks = this.marks;
    if (!marks) return;
    const box = this.canvas.getBoundingClientRect();
    const frame = this.frame(marks);
    const row = Math.floor(((event.clientY - box.top - frame.top) / frame.tall) * marks.rows.length);
    const x = event.clientX - box.left;
    const isHit = (i: number) =>
      marks.row[i] === row && x >= placeX(frame, marks.from[i]) - 2 && x <= placeX(frame, marks.to[i]) + 2;
    const found = Array.from(marks.row, (_, i) => i).find(isHit);
    if (found !== undefined) this.picked(found);
  }

  private paint(): void {
    const { clientWidth: width, clientHeight: height } = this.element;
    const marks = this.marks;
    const context = this.canvas.getContext("2d");
    if (!marks || !width || !context) return;
    const frame = this.frame(marks);
    const size = { viewBox: `0 0 ${width} ${height}`, width, height };
    this.element.replaceChildren(svg("svg", { ...size, "aria-hidden": "true" }, drawAxes(frame)), this.canvas);
    this.canvas.width = width * devicePixelRatio;
    this.canvas.height = height * devicePixelRatio;
    context.scale(devicePixelRatio, devicePixelRatio);
    const rowHeight = frame.tall / marks.rows.length;
    const pad = rowHeight > 6 ? rowHeight * 0.12 : 0;
    const half = (rowHeight - 2 * pad) / 2;
    const colours = palette();
    for (let i = 0; i < marks.row.length; i++) {
      const from = placeX(frame, marks.from[i]);
      const top = frame.top + marks.row[i] * rowHeight + pad + (marks.lane?.[i] ? half : 0);
      context.globalAlpha = marks.faint[i] ? 0.12 : 0.85;
      context.fillStyle = colours[marks.colour[i] % colours.length];
      const tall = marks.lane ? half - 0.5 : 2 * half;
      context.fillRect(from, top, Math.max(1.5, placeX(frame, marks.to[i]) - from), Math.max(1, tall));
    }
  }
}
