// Points in space that can be turned: WebGL, or plain canvas where there is none. No library: those that build shaders'
// callers at run time need 'unsafe-eval', which a page made of other people's files should not allow.
import { colour, onTheme } from "./theme";
import { h } from "./dom";

export interface Cloud {
  x: Float32Array;
  y: Float32Array;
  z: Float32Array;
  colour: Uint8Array;
  faint: Uint8Array;
} // places 0…1
export interface AxisText {
  x: string;
  y: string;
  z: string;
  ends: [string, string, string];
}

// The edges of the floor and of the wall behind it, as pairs of corners.
const CUBE = [
  0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1,
  1, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1,
];
const VERTEX = `attribute vec3 place; attribute vec4 tint; uniform mat4 view; uniform float size; varying vec4 shade;
void main() { gl_Position = view * vec4(place, 1.0); gl_PointSize = size; shade = tint; }`;
const FRAGMENT = `precision mediump float; varying vec4 shade; uniform float round;
void main() { if (round > 0.5 && length(gl_PointCoord - 0.5) > 0.5) discard;
  gl_FragColor = vec4(shade.rgb * shade.a, shade.a); }`;

function rgb(name: string): [number, number, number] {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour(name))?.[1] ?? "888888";
  return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255) as [number, number, number];
}

export class Scene {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { tabindex: 0, role: "img" });
  private readonly labels: HTMLElement[];
  private readonly gl: WebGLRenderingContext | null;
  private readonly flat: CanvasRenderingContext2D | null;
  private program: WebGLProgram | null = null;
  private yaw = -0.62;
  private pitch = 0.42;
  private zoom = 1;
  private cloud: Cloud = {
    x: new Float32Array(0),
    y: new Float32Array(0),
    z: new Float32Array(0),
    colour: new Uint8Array(0),
    faint: new Uint8Array(0),
  };
  private waiting = false;

  constructor(
    label: string,
    texts: AxisText,
    private readonly picked: (index: number) => void,
  ) {
    this.canvas.setAttribute("aria-label", label);
    this.gl = this.canvas.getContext("webgl", {
      antialias: true,
      preserveDrawingBuffer: true,
      premultipliedAlpha: true,
    });
    this.flat = this.gl ? null : this.canvas.getContext("2d");
    this.labels = [texts.x, texts.y, texts.z, ...texts.ends].map((text, i) =>
      h("span", { class: `axis-label${i > 2 ? " axis-end" : ""}` }, text),
    );
    this.element = h("div", { class: "scene" }, this.canvas, ...this.labels);
    if (this.gl) this.program = this.link(this.gl);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.element);
    onTheme(this.element, () => this.draw());
  }

  show(cloud: Cloud): void {
    this.cloud = cloud;
    this.draw();
  }

  turn(yaw: number, pitch: number): void {
    this.yaw += yaw;
    this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + pitch));
    this.draw();
  }

  grow(factor: number): void {
    this.zoom = Math.max(0.5, Math.min(6, this.zoom * factor));
    this.draw();
  }
  look(yaw: number, pitch: number): void {
    this.yaw = yaw;
    this.pitch = pitch;
    this.zoom = 1;
    this.draw();
  }

  private link(gl: WebGLRenderingContext): WebGLProgram {
    const program = gl.createProgram();
    for (const [kind, source] of [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ] as const) {
      const shader = gl.createShader(kind)!;
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    return program;
  }

  private listen(): void {
    let from: { x: number; y: number; moved: boolean } | null = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      const dx = event.clientX - from.x;
      const dy = event.clientY - from.y;
      if (!from.moved && Math.hypot(dx, dy) < 4) return;
      this.turn(dx * 0.008, dy * 0.008);
      from = { x: event.clientX, y: event.clientY, moved: true };
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (from && !from.moved) this.pick(event);
      from = null;
    });
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && document.activeElement !== this.canvas) return;
        event.preventDefault();
        this.grow(event.deltaY < 0 ? 1.1 : 1 / 1.1);
      },
      { passive: false },
    );
    const keys: Record<string, () => void> = {
      ArrowLeft: () => this.turn(-0.1, 0),
      ArrowRight: () => this.turn(0.1, 0),
      ArrowUp: () => this.turn(0, -0.1),
      ArrowDown: () => this.turn(0, 0.1),
      "+": () => this.grow(1.15),
      "-": () => this.grow(1 / 1.15),
    };
    this.canvas.addEventListener("keydown", (event) => {
      if (!Object.hasOwn(keys, event.key)) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  /** Column-major, maps the unit cube to clip space; slightly in perspective. */
  private matrix(): Float32Array {
    const aspect = this.canvas.width / Math.max(1, this.canvas.height);
    const s = 0.94 * this.zoom;
    const cy = Math.cos(this.yaw);
    const sy = Math.sin(this.yaw);
    const cp = Math.cos(this.pitch);
    const sp = Math.sin(this.pitch);
    const wide = Math.min(1.5, Math.max(1, aspect)); // a wide canvas stretches the tick axis
    const right = [cy * wide, 0, -sy];
    const up = [sp * sy * wide, cp, sp * cy];
    const back = [cp * sy * wide, -sp, cp * cy];
    const row = (v: number[], k: number) => [v[0] * k, v[1] * k, v[2] * k, -(v[0] + v[1] + v[2]) * 0.5 * k];
    const x = row(right, s / aspect);
    const y = row(up, s);
    const z = row(back, 0.25);
    const w = row(back, 0.2);
    w[3] += 1;
    return new Float32Array([
      x[0],
      y[0],
      z[0],
      w[0],
      x[1],
      y[1],
      z[1],
      w[1],
      x[2],
      y[2],
      z[2],
      w[2],
      x[3],
      y[3],
      z[3],
      w[3],
    ]);
  }

  private project(m: Float32Array, x: number, y: number, z: number): [number, number] {
    const w = m[3] * x + m[7] * y + m[11] * z + m[15];
    return [
      ((m[0] * x + m[4] * y + m[8] * z + m[12]) / w + 1) * 0.5 * this.canvas.clientWidth,
      (1 - (m[1] * x + m[5] * y + m[9] * z + m[13]) / w) * 0.5 * this.canvas.clientHeight,
    ];
  }

  private pick(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const m = this.matrix();
    const { x, y, z } = this.cloud;
    let best = -1;
    let distance = 14 * 14;
    for (let i = 0; i < x.length; i++) {
      const [px, py] = this.project(m, x[i], y[i], z[i]);
      const d = (px - event.clientX + box.left) ** 2 + (py - event.clientY + box.top) ** 2;
      if (d < distance) {
        distance = d;
        best = i;
      }
    }
    if (best >= 0) this.picked(best);
  }

  private draw(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  private paint(): void {
    const ratio = Math.min(2, devicePixelRatio);
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (!width) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const m = this.matrix();
    if (this.gl) this.paintSpace(this.gl, m, ratio);
    else if (this.flat) this.paintFlat(this.flat, m, ratio);
    const places: [number, number, number][] = [
      [0.5, -0.1, -0.12],
      [-0.08, 0.5, 0],
      [1.1, -0.09, 0.5],
      [1, -0.09, -0.1],
      [-0.08, 1, 0],
      [1.07, -0.07, 1],
    ];
    const inside = (value: number, size: number, margin: number) => Math.max(margin, Math.min(size - margin, value));
    this.labels.forEach((label, i) => {
      const [left, top] = this.project(m, ...places[i]);
      const x = inside(left, width, 26);
      const y = inside(top, height, 10);
      label.style.transform = `translate(-50%, -50%) translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    });
  }

  /** Places and tints of the points, then of the cube's edges. */
  private vertices(): { place: Float32Array; tint: Float32Array; count: number } {
    const { x, y, z } = this.cloud;
    const n = x.length;
    const edges = CUBE.length / 3;
    const place = new Float32Array(3 * (n + edges));
    const tint = new Float32Array(4 * (n + edges));
    const colours = Array.from({ length: 8 }, (_, i) => rgb(`c${i}`));
    const grid = rgb("grid");
    for (let i = 0; i < n; i++) {
      place.set([x[i], y[i], z[i]], 3 * i);
      tint.set([...colours[this.cloud.colour[i] % 8], this.cloud.faint[i] ? 0.12 : 0.9], 4 * i);
    }
    place.set(CUBE, 3 * n);
    for (let i = 0; i < edges; i++) tint.set([...grid, 1], 4 * (n + i));
    return { place, tint, count: n };
  }

  private paintSpace(gl: WebGLRenderingContext, m: Float32Array, ratio: number): void {
    const { place, tint, count } = this.vertices();
    const program = this.program!;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(program);
    for (const [name, data, size] of [
      ["place", place, 3],
      ["tint", tint, 4],
    ] as const) {
      const at = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STREAM_DRAW);
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, 0, 0);
    }
    const uniform = (name: string) => gl.getUniformLocation(program, name);
    gl.uniformMatrix4fv(uniform("view"), false, m);
    gl.uniform1f(uniform("size"), (count > 5000 ? 3 : 5) * ratio);
    gl.uniform1f(uniform("round"), 0);
    gl.drawArrays(gl.LINES, count, CUBE.length / 3);
    gl.uniform1f(uniform("round"), 1);
    gl.drawArrays(gl.POINTS, 0, count);
  }

  private paintFlat(context: CanvasRenderingContext2D, m: Float32Array, ratio: number): void {
    const { x, y, z } = this.cloud;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.strokeStyle = colour("grid");
    context.beginPath();
    for (let i = 0; i < CUBE.length; i += 6) {
      context.moveTo(...this.project(m, CUBE[i], CUBE[i + 1], CUBE[i + 2]));
      context.lineTo(...this.project(m, CUBE[i + 3], CUBE[i + 4], CUBE[i + 5]));
    }
    context.stroke();
    const colours = Array.from({ length: 8 }, (_, i) => colour(`c${i}`));
    for (let i = 0; i < x.length; i++) {
      const [px, py] = this.project(m, x[i], y[i], z[i]);
      context.globalAlpha = this.cloud.faint[i] ? 0.12 : 0.9;
      context.fillStyle = colours[this.cloud.colour[i] % 8];
      context.fillRect(px - 1.5, py - 1.5, 3, 3);
    }
    context.globalAlpha = 1;
  }
}
