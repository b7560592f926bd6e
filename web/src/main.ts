// Opens the data, lays the page out, and renders each view when it comes near the screen.
import { load, type Report } from "./data";
import { h } from "./dom";
import { instant } from "./format";
import { themeSwitch } from "./theme";
import { type View, type ViewId, VIEWS } from "./views";

function renderOnce(section: HTMLElement, view: View, report: Report): void {
  if (section.dataset.state !== "waiting") return;
  section.dataset.state = "rendered";
  try {
    section.append(...view.render(report));
  } catch (error) {
    // One view that cannot be drawn takes no other with it.
    section.dataset.state = "failed";
    console.error(error);
    section.append(h("p", { class: "failure" }, `This view cannot be drawn: ${String(error)}`));
  }
}

function sectionOf(id: ViewId, view: View): HTMLElement {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title`, "data-state": "waiting" },
    h("header", {}, h("h2", { id: `${id}-title` }, view.title), h("p", {}, view.about)),
  );
}

const HANDS = ["wheel", "touchstart", "pointerdown", "keydown"];
const HOLD_MS = 3000;

let release = (): void => undefined;

/** Keeps a view at the top while charts above it find their size, until the reader takes over. */
function hold(target: HTMLElement): void {
  const heights = new ResizeObserver(() => target.scrollIntoView());
  const until = new AbortController();
  release();
  release = () => {
    heights.disconnect();
    until.abort();
  };
  heights.observe(document.getElementById("main")!);
  for (const name of HANDS) addEventListener(name, release, { passive: true, signal: until.signal });
  setTimeout(release, HOLD_MS);
}

function watch(sections: Map<HTMLElement, View>, links: Map<ViewId, HTMLElement>, report: Report): void {
  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries)
        if (entry.isIntersecting)
          renderOnce(entry.target as HTMLElement, sections.get(entry.target as HTMLElement)!, report);
    },
    { rootMargin: "800px" },
  );
  const here = new IntersectionObserver(
    (entries) => {
      for (const entry of entries)
        if (entry.isIntersecting)
          for (const [id, link] of links) link.toggleAttribute("aria-current", id === entry.target.id);
    },
    { rootMargin: "-20% 0px -70% 0px" },
  );
  for (const section of sections.keys()) {
    near.observe(section);
    here.observe(section);
  }
  addEventListener("beforeprint", () => {
    for (const [section, view] of sections) renderOnce(section, view, report);
  });
  // A link to a view: everything above it must have its height first.
  const jump = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (const [section, view] of sections) {
      renderOnce(section, view, report);
      if (section === target) break;
    }
    target.scrollIntoView();
    hold(target);
  };
  addEventListener("hashchange", jump);
  addEventListener("click", (event) => {
    // the link to where the address says that we are: nothing changes there
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href^='#']") : null;
    if (link?.hash === location.hash) jump();
  });
  if (location.hash) jump();
}

function layOut(report: Report): void {
  const views = [...VIEWS].filter(([, view]) => view.applies(report));
  const sections = new Map(views.map(([id, view]) => [sectionOf(id, view), view]));
  const links = new Map(views.map(([id, view]) => [id, h("a", { href: `#${id}` }, view.title)]));
  document.getElementById("app")!.replaceChildren(
    h(
      "header",
      { class: "top" },
      h("div", {}, h("h1", {}, report.title), h("p", {}, `piolet ${report.product_version} · ${instant(report.made)}`)),
      themeSwitch(),
    ),
    h(
      "nav",
      { "aria-label": "views" },
      h(
        "ol",
        {},
        [...links.values()].map((link) => h("li", {}, link)),
      ),
    ),
    h("main", { id: "main", tabindex: -1 }, [...sections.keys()]),
  );
  watch(sections, links, report);
}

const began = performance.now();
load().then(
  (report) => {
    layOut(report);
    document.documentElement.dataset.ready = String(Math.round(performance.now() - began));
  },
  (error: unknown) => {
    console.error(error);
    const text = `The data of this page cannot be opened: ${String(error)}`;
    document.getElementById("app")!.replaceChildren(h("p", { class: "failure" }, text));
  },
);
