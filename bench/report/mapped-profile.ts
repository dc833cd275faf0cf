import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { CpuProfile } from './profile-owners.ts';

/**
 * The profile with the addresses of the files that a bundled program was made of, in place of its own. A file without a source
 * map beside it stays.
 */
export function mappedProfile(profile: CpuProfile): CpuProfile {
  const maps = new Map<string, SourceMap | undefined>();
  const nodes = profile.nodes.map((node) => {
    const { url, lineNumber, columnNumber } = node.callFrame;
    if (!url.startsWith('file:')) return node;
    if (!maps.has(url)) maps.set(url, sourceMapBeside(url));
    const entry = maps.get(url)?.findEntry(lineNumber, columnNumber);
    if (entry === undefined || !('originalSource' in entry)) return node;
    const source = new URL(entry.originalSource, url).href;
    return { ...node, callFrame: { ...node.callFrame, url: source } };
  });
  return { ...profile, nodes };
}

function sourceMapBeside(url: string): SourceMap | undefined {
  try {
    const payload = readFileSync(`${fileURLToPath(url)}.map`, 'utf8');
    return new SourceMap(JSON.parse(payload) as SourceMapPayload);
  } catch {
    return undefined;
  }
}
