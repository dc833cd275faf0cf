import {
  METHODS,
  type Method,
  type OpenApiDocument,
  type Operation,
} from '../../../tools/openapi/openapi.ts';

export interface FoundOperation {
  /** The path as the document has it. */
  path: string;
  operation: Operation;
}

/** Finds the operation of a request. The most exact path wins (OpenAPI 3.1 §4.8.8.1). */
export function operationFinder(
  document: OpenApiDocument,
): (method: string, target: string) => FoundOperation | undefined {
  const templates = Object.entries(document.paths)
    .map(([path, item]) => ({ path, item, pattern: patternOf(path) }))
    .sort((a, b) => variablesOf(a.path) - variablesOf(b.path));
  return (method, target) => {
    const [path = ''] = target.split('?', 1);
    const found = templates.find(({ pattern }) => pattern.test(path));
    const name = method.toLowerCase();
    if (!found || !isMethod(name)) return undefined;
    const operation = found.item[name];
    return operation && { path: found.path, operation };
  };
}

function isMethod(name: string): name is Method {
  return (METHODS as readonly string[]).includes(name);
}

function variablesOf(path: string): number {
  return path.split('{').length;
}

/** `{path}` stands for any number of segments; elsewhere a slash at the end makes no difference. */
function patternOf(path: string): RegExp {
  const holdsMany = path.endsWith('/{path}');
  const source = path
    .split('/')
    .map((segment) => {
      if (segment === '{path}') return '.*';
      return segment.startsWith('{') ? '[^/]+' : segment.replace(/[^\w-]/g, '\\$&');
    })
    .join('/');
  return new RegExp(`^${source}${holdsMany ? '' : '/?'}$`, 's');
}
