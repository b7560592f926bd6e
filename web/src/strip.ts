// Many short bars between two axes on a canvas: which process is where in the file, and when.
import { type Axis, makeScale } from "./axis";
import { h } from "./dom";
import { colour, onTheme } from "./theme";

export interface Marks { from: ArrayLike<number>; to: ArrayLike<number>; row: ArrayLike<number>; colour: Uint8Array; faint: Uint8Array; rows: number; lane?: Uint8Array } // lane: upper or lower half of the row

const LEFT = 62, RIGHT = 14, TOP = 8, BOTTOM = 36;

export class Strip {
  readonly element = h("div", { class: "strip" });
  private readonly canvas = h("canvas", { role: "img" });
  private marks: Marks | null = null;

  constructor(label: string, private readonly x: Axis, private readonly rowLabel: string, private readonly picked?: (index: number) => void) {
    this.canvas.setAttribute("aria-label", label);
    this.element.append(this.canvas);
    this.canvas.addEventListener("click", (event) => this.pick(event));
    new ResizeObserver(() => this.paint()).observe(this.element);
    onTheme(this.element, () => this.paint());
  }

  show(marks: Marks): void { this.marks = marks; this.paint(); }

  private place(width: number, marks: Marks) {
    let most = 1;
    for (let i = 0; i < marks.to.length; i++) most = Math.max(most, marks.to[i]);
    const scale = makeScale({ ...this.x, min: 0, max: most }, [], (width - LEFT - RIGHT) / 90);
    return { scale, at: (value: number) => LEFT + scale.place(value) * (width - LEFT - RIGHT) };
  }

  private pick(event: MouseEvent): void {
    if (!this.marks || !this.picked) return;
    const box = this.canvas.getBoundingClientRect(), { at } = this.place(box.width, this.marks), rowHeight = (box.height - TOP - BOTTOM) / this.marks.rows;
    const row = Math.floor((event.clientY - box.top - TOP) / rowHeight), x = event.clientX - box.left;
    for (let i = 0; i < this.marks.row.length; i++) if (this.marks.row[i] === row && x >= at(this.marks.from[i]) - 2 && x <= at(this.marks.to[i]) + 2) { this.picked(i); return; }
  }

  private paint(): void {
    const marks = this.marks, width = this.element.clientWidth, height = this.element.clientHeight, ratio = devicePixelRatio;
    if (!marks || !width) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const context = this.canvas.getContext("2d")!, { scale, at } = this.place(width, marks), tall = height - TOP - BOTTOM, rowHeight = tall / marks.rows;
    context.scale(ratio, ratio);
    context.font = "11px system-ui, sans-serif";
    context.strokeStyle = colour("grid");
    context.fillStyle = colour("ink-2");
    context.textAlign = "center";
    for (const tick of scale.ticks) {
      const x = at(tick.at);
      context.beginPath();
      context.moveTo(x, TOP);
      context.lineTo(x, TOP + tall + 4);
      context.stroke();
      context.fillText(tick.text, x, TOP + tall + 16);
    }
    context.fillText(scale.axis.label, LEFT + (width - LEFT - RIGHT) / 2, height - 4);
    context.textAlign = "right";
    const every = Math.max(1, Math.ceil(12 / rowHeight));
    for (let row = 0; row < marks.rows; row += every) context.fillText(String(row), LEFT - 8, TOP + (row + 0.5) * rowHeight + 4);
    context.save();
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(this.rowLabel, -(TOP + tall / 2), 12);
    context.restore();
    const colours = Array.from({ length: 8 }, (_, i) => colour(`c${i}`));
    for (let i = 0; i < marks.row.length; i++) {
      const from = at(marks.from[i]), pad = rowHeight > 6 ? rowHeight * 0.12 : 0, half = (rowHeight - 2 * pad) / 2;
      const top = TOP + marks.row[i] * rowHeight + pad + (marks.lane?.[i] ? half : 0), tallness = marks.lane ? half - 0.5 : 2 * half;
      context.globalAlpha = marks.faint[i] ? 0.12 : 0.85;
      context.fillStyle = colours[marks.colour[i] % 8];
      context.fillRect(from, top, Math.max(1.5, at(marks.to[i]) - from), Math.max(1, tallness));
    }
    context.globalAlpha = 1;
  }
}
