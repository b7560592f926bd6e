// Elements without innerHTML: whatever a result file says stays text.

export type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | EventListener | undefined>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
}

export function add(element: Element, children: Child): void {
  if (Array.isArray(children)) for (const child of children) add(element, child);
  else if (children instanceof Node) element.append(children);
  else if (children !== null && children !== undefined && children !== false) element.append(String(children));
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** A labelled list of choices; `change` gets the index of the chosen one. */
export function chooser(
  label: string,
  options: string[],
  chosen: number,
  change: (index: number) => void,
): HTMLLabelElement {
  const select = h(
    "select",
    {},
    options.map((text, i) => h("option", { value: i, selected: i === chosen }, text)),
  );
  select.addEventListener("change", () => change(select.selectedIndex));
  return h("label", { class: "control" }, h("span", {}, label), select);
}

export function button(text: string, press: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", onclick: press, ...attributes }, text);
}

/** Hands a text to the user as a file. */
export function download(name: string, text: string): void {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
