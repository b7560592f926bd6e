// Light and dark: as the system says, or as chosen. Canvases ask for their colours when they draw.
import { h } from "./dom";

type Choice = "auto" | "light" | "dark";
const KEY = "piolet-theme";
const listeners = new Set<() => void>();
const dark = matchMedia("(prefers-color-scheme: dark)");
const print = matchMedia("print");

function stored(): Choice {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "auto";
  } catch {
    return "auto";
  } // pages from disk may have no storage
}

function apply(choice: Choice): void {
  document.documentElement.dataset.theme = choice === "auto" ? (dark.matches ? "dark" : "light") : choice;
  if (print.matches) document.documentElement.dataset.theme = "light";
  for (const listener of listeners) listener();
}

/** Calls `redraw` when colours have changed, as long as `owner` is part of the page. */
export function onTheme(owner: Element, redraw: () => void): void {
  const listener = () => {
    if (owner.isConnected) redraw();
    else listeners.delete(listener);
  };
  listeners.add(listener);
}

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The colours that the classes c0, c1, … give, for canvases. */
export const palette = (): string[] => Array.from({ length: 8 }, (_, i) => colour(`c${i}`));

export function themeSwitch(): HTMLElement {
  let choice = stored();
  const select = h(
    "select",
    { "aria-label": "colours" },
    ["auto", "light", "dark"].map((name) => h("option", { value: name, selected: name === choice }, name)),
  );
  select.addEventListener("change", () => {
    choice = select.value as Choice;
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      /* then it is for this time only */
    }
    apply(choice);
  });
  dark.addEventListener("change", () => apply(choice));
  print.addEventListener("change", () => apply(choice));
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    for (const listener of listeners) listener();
  });
  addEventListener("afterprint", () => apply(choice));
  apply(choice);
  return h("label", { class: "control theme" }, h("span", {}, "Colours"), select);
}
