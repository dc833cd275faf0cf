import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const SRC = new URL('../../src/', import.meta.url).href;

/**
 * For `node --import`. Node runs TypeScript by removing types, which keeps decorators but creates no metadata. So
 * files in `src` are compiled as in the tests, with `.swcrc`.
 */
registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith(SRC) || !url.endsWith('.ts')) return nextLoad(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { filename });
    return { format: 'module', shortCircuit: true, source: code };
  },
});
