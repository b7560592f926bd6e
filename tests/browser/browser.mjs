// A headless Chromium over a pipe (the DevTools protocol, no packages), and the few things that tests do with it.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CALL_LIMIT_MS = 60_000;

export class Browser {
  #next = 1;
  #calls = new Map();
  #listeners = new Set();
  #rest = "";

  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), "piolet-browser-"));
    this.process = spawn(
      program,
      [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-extensions",
        `--user-data-dir=${this.profile}`,
        "--remote-debugging-pipe",
        "about:blank",
      ],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
    );
    this.exited = new Promise((resolve) => this.process.on("exit", resolve));
    this.process.stdio[4].setEncoding("utf8").on("data", (text) => this.#take(text));
  }

  #take(text) {
    const parts = (this.#rest + text).split("\0");
    this.#rest = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part),
        call = this.#calls.get(message.id);
      this.#calls.delete(message.id);
      if (call)
        message.error
          ? call.reject(new Error(`${call.method}: ${message.error.message}`))
          : call.resolve(message.result);
      else for (const listener of this.#listeners) listener(message);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), CALL_LIMIT_MS);
      const done = (f) => (value) => {
        clearTimeout(timer);
        f(value);
      };
      this.#calls.set(id, { method, resolve: done(resolve), reject: done(reject) });
    });
  }

  listen(listener) {
    this.#listeners.add(listener);
  }

  async open(url, { width = 1280, height = 900, mobile = false, scheme = "light" } = {}) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    await page.send("Page.enable");
    await page.send("Runtime.enable");
    await page.send("Log.enable");
    await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    await page.send("Page.navigate", { url });
    await page.until("document.documentElement.dataset.ready !== undefined", "the page to be ready");
    return page;
  }

  async close() {
    await this.send("Browser.close").catch(() => this.process.kill("SIGKILL"));
    await this.exited;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Page {
  errors = []; // of the console, uncaught ones, and requests to any network

  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target });
    browser.listen(({ method, params, sessionId }) => {
      if (sessionId !== session) return;
      if (method === "Runtime.exceptionThrown")
        this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      if (method === "Runtime.consoleAPICalled" && params.type === "error")
        this.errors.push(params.args.map((a) => a.description ?? a.value).join(" "));
      if (method === "Log.entryAdded" && params.entry.level === "error") this.errors.push(params.entry.text);
    });
  }

  send(method, params = {}) {
    return this.browser.send(method, params, this.session);
  }

  /** The value of an expression, awaited. */
  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async until(expression, what) {
    for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((r) => setTimeout(r, 50)))
      if (await this.run(`!!(${expression})`).catch(() => false)) return;
    throw new Error(`waited in vain for ${what}`);
  }

  /** Shows a view, drawn. */
  async show(id) {
    await this.run(
      `location.hash = ${JSON.stringify(`#${id}`)}; document.getElementById(${JSON.stringify(id)}).scrollIntoView(); new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r, 120))))`,
    );
    await this.until(`document.getElementById(${JSON.stringify(id)}).dataset.state === "rendered"`, `the view ${id}`);
  }

  async picture(selector) {
    const clip = selector
      ? await this.run(
          `(() => { const b = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect(); return { x: b.x + scrollX, y: b.y + scrollY, width: b.width, height: b.height, scale: 1 }; })()`,
        )
      : undefined;
    const { data } = await this.send("Page.captureScreenshot", {
      format: "png",
      captureBeyondViewport: true,
      ...(clip ? { clip } : {}),
    });
    return Buffer.from(data, "base64");
  }

  async drag(from, to) {
    const at = (type, [x, y], buttons) =>
      this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons, clickCount: 1 });
    await at("mouseMoved", from, 0);
    await at("mousePressed", from, 1);
    for (let i = 1; i <= 6; i++)
      await at("mouseMoved", [from[0] + ((to[0] - from[0]) * i) / 6, from[1] + ((to[1] - from[1]) * i) / 6], 1);
    await at("mouseReleased", to, 0);
  }

  close() {
    return this.browser.send("Target.closeTarget", { targetId: this.target });
  }
}
