import type { OpenApiDocument } from './openapi.ts';

/** Removes the components that nothing refers to. */
export function withoutUnused(document: OpenApiDocument): OpenApiDocument {
  const text = JSON.stringify(document);
  const components = Object.entries(document.components).map(([kind, entries]) => {
    if (kind === 'securitySchemes') return [kind, entries];
    const used = Object.entries(entries).filter(([key]) =>
      text.includes(`"#/components/${kind}/${key}"`),
    );
    return [kind, Object.fromEntries(used)];
  });
  return {
    ...document,
    components: Object.fromEntries(components) as OpenApiDocument['components'],
  };
}
