import { describe, expect, it } from '@jest/globals';
import {
  entityAddress,
  entityIdProblem,
  entityTypeProblem,
  entityUrl,
  isEntityUrl,
  isWorkspaceRef,
  objectKey,
  timelinePath,
} from './entity-address.ts';

const ADDRESS = { tenant: 'acme', type: 'chat', id: 'a1' };

describe('entityTypeProblem', () => {
  it.each(['a', 'Chat', 'chat_bot-2.v1', 'a'.repeat(63), 'restate2', 'openapi.v1', 'constructor'])(
    'lets %j pass',
    (type) => expect(entityTypeProblem(type)).toBeUndefined(),
  );

  it.each([
    '',
    '1a',
    '_a',
    '-a',
    '.a',
    'a b',
    'a/b',
    'a:b',
    'a\n',
    'é',
    'a'.repeat(64),
    7,
    null,
    [],
  ])('refuses %j', (type) =>
    expect(entityTypeProblem(type)).toBe(
      'must be 1 to 63 letters, digits, underscores, dots or hyphens, the first a letter',
    ),
  );

  it.each(['restate', 'Restate', 'RESTATE', 'openapi', 'OpenAPI'])(
    'refuses %j, a path of the runtime itself',
    (type) =>
      expect(entityTypeProblem(type)).toBe(
        'must not be "restate" or "openapi", which the runtime keeps for itself',
      ),
  );
});

describe('entityIdProblem', () => {
  it.each([
    'a',
    '1',
    'A.b_c~d:e@f-g',
    'x..',
    '_a',
    '-a',
    '-',
    '__ds',
    'V1StGXR8_Z5jdHi6B-myT',
    'a'.repeat(128),
  ])('lets %j pass', (id) => expect(entityIdProblem(id)).toBeUndefined());

  it.each([
    '',
    '.',
    '..',
    '.a',
    '~a',
    ':a',
    '@a',
    'a b',
    'a/b',
    'a%2Fb',
    'a\n',
    'é',
    'a'.repeat(129),
    7,
    {},
  ])('refuses %j', (id) =>
    expect(entityIdProblem(id)).toBe(
      'must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ : @ -, the first a letter, a digit, _ or -',
    ),
  );
});

describe('entityAddress', () => {
  it('throws invalid_entity_type before it looks at the id', () => {
    expect(() => entityAddress('acme', '1', '/')).toThrow(
      expect.objectContaining({ code: 'invalid_entity_type', status: 400 }),
    );
  });

  it('throws invalid_entity_id', () => {
    expect(() => entityAddress('acme', 'chat', '/')).toThrow(
      expect.objectContaining({ code: 'invalid_entity_id', status: 400 }),
    );
  });

  it('is the entity URL and the timeline of the contract', () => {
    const address = entityAddress('acme', 'chat', 'a1');
    expect(entityUrl(address)).toBe('/t/acme/a/chat/a1');
    expect(timelinePath(address)).toBe('/t/acme/agents/chat/a1/timeline');
  });
});

describe('isEntityUrl', () => {
  it('accepts an entity of this tenant', () => {
    expect(isEntityUrl('/t/acme/a/chat/a1', 'acme')).toBe(true);
  });

  it.each([
    '/t/other/a/chat/a1',
    '/t/ACME/a/chat/a1',
    '/t/acme/agents/chat/a1',
    't/acme/a/chat/a1',
    'x/t/acme/a/chat/a1',
    '/x/acme/a/chat/a1',
    '//t/acme/a/chat/a1',
    '/t/acme/a/chat/a1/',
    '/t/acme/a/chat/a1/timeline',
    '/t/acme/a/chat',
    '/t/acme/a/chat/',
    '/t/acme/a/chat/a%31',
    '/t/acme/a/restate/a1',
    '/t/acme/a/chat/a1?x',
    'http://gateway/t/acme/a/chat/a1',
    '',
  ])('refuses %j', (value) => expect(isEntityUrl(value, 'acme')).toBe(false));
});

describe('isWorkspaceRef', () => {
  it('accepts a name of this tenant', () => {
    expect(isWorkspaceRef('acme/team-1', 'acme')).toBe(true);
  });

  it.each(['other/x', 'acme', 'acme/', '/x', 'acme/x/y', 'acme/x/', 'acme/..', 'acme/a b'])(
    'refuses %j',
    (value) => expect(isWorkspaceRef(value, 'acme')).toBe(false),
  );
});

describe('objectKey', () => {
  it.each([
    ['{id}', 'a1'],
    ['{tenant}/{type}/{id}', 'acme/chat/a1'],
    ['{id}{id}-x', 'a1a1-x'],
  ])('fills in %j', (template, key) => expect(objectKey(template, ADDRESS)).toBe(key));

  it('fills in once only: what looks like a placeholder or a pattern in a part stays', () => {
    expect(objectKey('{tenant}:{id}', { tenant: '{id}', type: 'chat', id: '$&$1' })).toBe(
      '{id}:$&$1',
    );
  });
});
