/**
 * An element with its properties and children, texts among them. What comes from the system only
 * ever becomes text or a property here, never markup.
 */
export function element(tag, properties = {}, ...children) {
  const { dataset, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  Object.assign(made.dataset, dataset);
  made.append(...children);
  return made;
}
