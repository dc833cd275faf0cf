import { describe, expect, it } from '@jest/globals';
import { readControl, readSpawn } from './command.ts';

describe('readControl', () => {
  it.each(['interrupt', 'pause', 'resume', 'archive'])('reads %s', (verb) => {
    expect(readControl(Buffer.from(JSON.stringify({ verb })))).toEqual({ verb });
  });

  it('reads the reason', () => {
    expect(readControl(Buffer.from('{"verb":"pause","reason":"lunch"}'))).toEqual({
      verb: 'pause',
      reason: 'lunch',
    });
  });

  it.each(['', '{', '[]', '{"verb":"explode"}', '{"verb":1}', '{"reason":"x"}'])(
    'gives nothing for %j',
    (body) => {
      expect(readControl(Buffer.from(body))).toBeUndefined();
    },
  );
});

describe('readSpawn', () => {
  it('reads what an agent needs to know', () => {
    const spawn = { args: { a: [1] }, parent: '/t/x/a/echo/e', workspaceRef: 'x/w' };
    expect(readSpawn(Buffer.from(JSON.stringify({ type: 'echo', id: 'e', ...spawn })))).toEqual(
      spawn,
    );
  });

  it('keeps arguments that are null', () => {
    expect(readSpawn(Buffer.from('{"type":"echo","args":null}'))).toEqual({ args: null });
  });

  it.each(['', 'x', '"x"', `{"args":${'['.repeat(100)}${']'.repeat(100)}}`])(
    'gives nothing for %j',
    (body) => {
      expect(readSpawn(Buffer.from(body))).toBeUndefined();
    },
  );
});
