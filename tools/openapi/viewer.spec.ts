import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startViewer, type Viewer } from './viewer.ts';

describe('the viewer', () => {
  let viewer: Viewer;
  beforeAll(async () => {
    viewer = await startViewer(0);
  });
  afterAll(() => viewer.stop());

  const get = async (path: string) => {
    const response = await fetch(new URL(path, viewer.url));
    return { status: response.status, text: await response.text() };
  };

  it('has all that its page asks for, and asks nobody else', async () => {
    const { text } = await get('/');
    const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);
    expect(links).toContain('./swagger-ui-bundle.js');
    expect(links.filter((link) => !link.startsWith('./') && link !== 'index.css')).toEqual([]);
    const statuses = await Promise.all(links.map(async (link) => (await get(link)).status));
    expect(statuses).toEqual(links.map(() => 200));
  });

  it('shows the document that is committed', async () => {
    const committed = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    expect(await get('/openapi.json')).toEqual({ status: 200, text: committed });
    expect((await get('/swagger-initializer.js')).text).toContain("url: './openapi.json'");
  });

  it('has no other file', async () => {
    expect(await get('/swagger-ui.js')).toEqual({ status: 404, text: 'There is no such page.' });
  });
});
