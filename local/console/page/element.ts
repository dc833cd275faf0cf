type Properties<Tag extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[Tag], 'dataset'>
> & { dataset?: Record<string, string> };

/**
 * Creates an element with properties and children. Data of the system only becomes text or a property, never
 * markup.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  { dataset, ...rest }: Properties<Tag> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = Object.assign(document.createElement(tag), rest);
  Object.assign(made.dataset, dataset);
  made.append(...children);
  return made;
}

/** The element of the page with this id. Throws an Error if there is none. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (!found) throw new Error(`There is no element "${id}".`);
  return found as E;
}
