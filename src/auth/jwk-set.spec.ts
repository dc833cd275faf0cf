import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile, rename } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../../test/support/scripted-upstream.ts';
import { jwkSetReader } from './jwk-set.ts';

describe('jwkSetReader', () => {
  describe('of a URL', () => {
    let server: ScriptedUpstream;
    let url: string;
    let answer: RequestListener;

    beforeAll(async () => {
      server = await startScriptedUpstream((request, response) => answer(request, response));
      url = `${server.url}/keys`;
    });
    afterAll(() => server.stop());

    it('reads the body, and asks for JSON', async () => {
      answer = (_, response) => response.end('{"keys":[]}');
      expect(await jwkSetReader(url)()).toBe('{"keys":[]}');
      const accept = 'application/jwk-set+json, application/json';
      const headers = { accept, 'accept-encoding': 'identity', connection: 'close' };
      expect(server.seen).toMatchObject([{ target: '/keys', headers }]);
    });

    it('reads a body that begins with a byte-order mark, and refuses what is no text', async () => {
      answer = (_, response) => response.end('\uFEFF{"keys":[]}');
      expect(await jwkSetReader(url)()).toBe('{"keys":[]}');
      answer = (_, response) => response.end(Buffer.from([0x1f, 0x8b, 0x08, 0xff]));
      await expect(jwkSetReader(url)()).rejects.toThrow('not UTF-8 text');
    });

    it.each([204, 401, 404, 500])('fails for a %d', async (status) => {
      answer = (_, response) => response.writeHead(status).end();
      await expect(jwkSetReader(url)()).rejects.toMatchObject({ code: `status ${status}` });
    });

    it.each([301, 302, 307])(
      'does not follow a %d to the keys of another server',
      async (status) => {
        answer = (_, response) => response.writeHead(status, { location: '/evil' }).end();
        await expect(jwkSetReader(url)()).rejects.toMatchObject({ code: `status ${status}` });
        expect(new Set(server.seen.map(({ target }) => target))).toEqual(new Set(['/keys']));
      },
    );

    it('fails for a set that is cut off', async () => {
      answer = (_, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"keys":[]}', () => response.destroy());
      };
      await expect(jwkSetReader(url)()).rejects.toThrow();
    });

    it('stops reading a set without end', async () => {
      let closed: Promise<unknown> | undefined;
      answer = (_, response) => {
        closed = once(response, 'close');
        const more = (): void => {
          while (response.write(Buffer.alloc(65_536, ' ')));
        };
        response.on('drain', more);
        more();
      };
      await expect(jwkSetReader(url)()).rejects.toThrow('exceeded max size');
      await closed;
    });

    it('fails where nobody listens', async () => {
      await expect(jwkSetReader('http://127.0.0.1:1/keys')()).rejects.toThrow('ECONNREFUSED');
    });
  });

  describe('of a file', () => {
    let folder: string;
    beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'jwks-'))));
    afterEach(() => rm(folder, { recursive: true }));

    it('reads what the file holds now, also behind a swapped symlink', async () => {
      // As Kubernetes mounts a secret: the file is a link through a folder that is swapped whole.
      const path = join(folder, 'keys.json');
      await writeFile(join(folder, 'old'), '{"keys":[]}');
      await writeFile(join(folder, 'new'), '{"keys":[{"kty":"RSA"}]}');
      await symlink('old', path);
      const read = jwkSetReader(path);
      expect(await read()).toBe('{"keys":[]}');
      await symlink('new', join(folder, 'next'));
      await rename(join(folder, 'next'), path);
      expect(await read()).toBe('{"keys":[{"kty":"RSA"}]}');
    });

    it('fails where it holds no set', async () => {
      const path = join(folder, 'keys.json');
      await writeFile(path, '{"keys":[');
      await expect(jwkSetReader(path)()).rejects.toMatchObject({ code: 'no JSON with keys' });
    });

    it('fails where there is none', async () => {
      await expect(jwkSetReader(join(folder, 'none.json'))()).rejects.toThrow('ENOENT');
    });
  });
});
