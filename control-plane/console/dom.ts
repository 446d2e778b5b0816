type Child = Node | string | null | false | undefined;
type Attribute = string | number | boolean | null | undefined | ((event: Event) => void);

/**
 * An element. Functions become listeners (`onclick`), `true` an empty attribute, `false` and null none. Text is
 * always text, never markup.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...present(children));
  return element;
}

/** Replaces everything inside `element`. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...present(children));
}

let lastId = 0;
/** An id for `for`, `aria-describedby` and the like; never the same twice. */
export function uniqueId(prefix: string): string {
  lastId += 1;
  return `${prefix}-${lastId}`;
}

function present(children: readonly Child[]): (Node | string)[] {
  return children.filter((child) => child !== null && child !== undefined && child !== false);
}
