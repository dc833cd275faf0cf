import type { OpenApiDocument, Operation, Reference, Response } from './openapi.ts';

/**
 * Moves responses that several operations share to the components, under the name of the first operation, such as
 * `spawnAgent.401`.
 */
export function withSharedResponses(document: OpenApiDocument): OpenApiDocument {
  const names = sharedNames(operationsOf(document));
  const shared: Record<string, Response> = {};
  const refer = (response: Response | Reference): Response | Reference => {
    const name = names.get(JSON.stringify(response));
    if (name === undefined || '$ref' in response) return response;
    shared[name] = response;
    return { $ref: `#/components/responses/${name}` };
  };
  for (const operation of operationsOf(document)) {
    operation.responses = Object.fromEntries(
      Object.entries(operation.responses).map(([status, response]) => [status, refer(response)]),
    );
  }
  return { ...document, components: { ...document.components, responses: shared } };
}

function operationsOf({ paths }: OpenApiDocument): Operation[] {
  return Object.values(paths).flatMap((item) => Object.values(item));
}

/** The names of responses that occur more than once, by their text. */
function sharedNames(operations: Operation[]): Map<string, string> {
  const first = new Map<string, string>();
  const names = new Map<string, string>();
  for (const { operationId, responses } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      const text = JSON.stringify(response);
      const name = first.get(text);
      if (name === undefined) first.set(text, `${operationId}.${status}`);
      else names.set(text, name);
    }
  }
  return names;
}
