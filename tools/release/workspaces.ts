/** The npm packages of a release, `@agent-gateway/NAME` in `packages/NAME`. */
export const WORKSPACES = ['client', 'cli', 'react', 'ai-sdk', 'ag-ui', 'mcp'];

/** The manifest of one, as a path in the project. */
export function manifestOf(name: string): string {
  return `packages/${name}/package.json`;
}
