import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { thrown } from '../../test/support/thrown.ts';
import { GatewayError } from '../platform/errors/gateway-error.ts';
import { parseCommandBody } from './command-body.ts';
import { ControlDto } from './dto/control.dto.ts';
import { SpawnDto } from './dto/spawn.dto.ts';

describe('parseCommandBody', () => {
  it('gives what a spawn says', () => {
    const bytes = Buffer.from(
      ' {"id":"a1",\n"type":"chat", "args": {"n": 12345678901234567890, "n": null} } ',
    );
    const body = parseCommandBody(bytes, SpawnDto);
    expect(body).toEqual({ type: 'chat', id: 'a1', args: { n: null } });
  });

  it.each([
    '{"type":"a"}',
    '{"type":"a","args":{"type":1,"id":2,"\\u0074ype":3}}',
    '{"type":"a","args":{"__proto__":{"x":1},"constructor":1}}',
    '{"type":"a","parent":"","workspaceRef":""}',
    '{"\\u0074ype":"a"}',
  ])('takes the spawn %s', (text) => {
    expect(parseCommandBody(Buffer.from(text), SpawnDto).type).toBe('a');
  });

  // Many serializers write null for a field that is not set. It was refused by name.
  it('takes null for an optional field as if it were absent', () => {
    const bytes = Buffer.from(
      '{"type":"a","id":null,"args": null,"parent":null,"workspaceRef":null}',
    );
    const body = parseCommandBody(bytes, SpawnDto);
    expect(body).toEqual({ type: 'a' });
    const control = parseCommandBody(Buffer.from('{"verb":"pause","reason":null}'), ControlDto);
    expect(control).toEqual({ verb: 'pause' });
  });

  it.each(['interrupt', 'pause', 'resume', 'archive'])('takes the verb %s', (verb) => {
    const text = JSON.stringify({ verb, reason: '' });
    expect(parseCommandBody(Buffer.from(text), ControlDto)).toEqual({ verb, reason: '' });
  });

  it.each<[string, Buffer, string]>([
    ['nothing', Buffer.alloc(0), 'The body must be a JSON object; it is not JSON.'],
    ['text', Buffer.from('type=a'), 'The body must be a JSON object; it is not JSON.'],
    [
      'two values',
      Buffer.from('{"type":"a"}{}'),
      'The body must be a JSON object; it is not JSON.',
    ],
    ['null', Buffer.from('null'), 'The body must be a JSON object.'],
    ['an array', Buffer.from('[{"type":"a"}]'), 'The body must be a JSON object.'],
    ['a string', Buffer.from('"a"'), 'The body must be a JSON object.'],
    ['a number', Buffer.from('1'), 'The body must be a JSON object.'],
    [
      'a byte-order mark',
      Buffer.from('\uFEFF{"type":"a"}'),
      'The body must not begin with a byte-order mark.',
    ],
    [
      'UTF-16',
      Buffer.from('{"type":"a"}', 'utf16le'),
      'The body must be a JSON object; it is not JSON.',
    ],
    [
      'an overlong encoding',
      Buffer.from('7b2274797065223a22c0af227d', 'hex'),
      'The body must be JSON in valid UTF-8.',
    ],
    [
      'an encoded surrogate',
      Buffer.from('7b2274797065223a22eda080227d', 'hex'),
      'The body must be JSON in valid UTF-8.',
    ],
    [
      'a character cut off',
      Buffer.from('7b2274797065223a22e2827d', 'hex'),
      'The body must be JSON in valid UTF-8.',
    ],
  ])('refuses %s', (_, bytes, message) => {
    expect(refusal(bytes)).toMatchObject({ code: 'invalid_body', message, errors: undefined });
  });

  const type = { field: 'type', message: 'is required: the entity type to spawn' };
  const twice = 'must be given only once';
  const unknown = 'is not a known field';
  it.each([
    ['{}', 'invalid_body', [type]],
    ['{"type":null}', 'invalid_body', [type]],
    ['{"type":"a","type":"a"}', 'invalid_body', [{ field: 'type', message: twice }]],
    ['{"type":"a","\\u0074ype":"b"}', 'invalid_body', [{ field: 'type', message: twice }]],
    ['{"type":"a","id":"1","i\\u0064":"1"}', 'invalid_body', [{ field: 'id', message: twice }]],
    // Passed once: the gateway judged the last parent, and an agent may read the first.
    [
      '{"type":"a","parent":"/t/other/a/b/c","p\\u0061rent":"/t/default/a/b/c"}',
      'invalid_body',
      [{ field: 'parent', message: twice }],
    ],
    [
      '{"type":"a","args":1,"args":1,"workspaceRef":"a/b","workspaceRef":"a/b"}',
      'invalid_body',
      [
        { field: 'args', message: twice },
        { field: 'workspaceRef', message: twice },
      ],
    ],
    ['{"type":"a","x":1}', 'invalid_body', [{ field: 'x', message: unknown }]],
    ['{"type":"a","":1}', 'invalid_body', [{ field: '', message: unknown }]],
    ['{"type":"a","Id":"1"}', 'invalid_body', [{ field: 'Id', message: unknown }]],
    ['{"type":"a","__proto__":{}}', 'invalid_body', [{ field: '__proto__', message: unknown }]],
    ['{"type":"a","constructor":1}', 'invalid_body', [{ field: 'constructor', message: unknown }]],
    ['{"type":"a","toString":1}', 'invalid_body', [{ field: 'toString', message: unknown }]],
    [
      '{"type":"a","parent":1,"workspaceRef":[]}',
      'invalid_body',
      [
        { field: 'parent', message: 'must be a string: the entity URL of the parent' },
        { field: 'workspaceRef', message: 'must be a string of the form <tenant>/<name>' },
      ],
    ],
  ])('refuses the spawn %s, field by field', (text, code, errors) => {
    expect(refusal(Buffer.from(text))).toMatchObject({ code, errors });
  });

  it.each(['""', '"1"', '"a b"', '"restate"', '7', 'true', '["a"]', '{"a":1}'])(
    'refuses the type %s',
    (type) => {
      expect(refusal(Buffer.from(`{"type":${type}}`)).code).toBe('invalid_entity_type');
    },
  );

  it.each(['""', '"."', '"~a"', '"a/b"', '".."', '7', 'false', '["a"]'])(
    'refuses the id %s',
    (id) => {
      expect(refusal(Buffer.from(`{"type":"a","id":${id}}`)).code).toBe('invalid_entity_id');
    },
  );

  it('has one code for several kinds of wrong fields', () => {
    const refused = refusal(Buffer.from('{"type":"1","id":"/","x":1}'));
    expect(refused.code).toBe('invalid_body');
    expect(refused.errors?.map(({ field }) => field)).toEqual(['x', 'type', 'id']);
    // Neither the code of the first nor that of the last.
    const two = refusal(Buffer.from('{"type":7,"id":7}'));
    expect(two.code).toBe('invalid_body');
    const [type, id] = two.errors ?? [];
    expect(two.message).toBe(
      `The body is not valid: "type" ${type?.message}; "id" ${id?.message}.`,
    );
  });

  it.each(['"stop"', '"Pause"', '""', '7', '["pause"]', '{}'])('refuses the verb %s', (verb) => {
    const refused = refusal(Buffer.from(`{"verb":${verb}}`), ControlDto);
    expect(refused).toMatchObject({
      code: 'unknown_verb',
      message: 'The body is not valid: "verb" must be one of interrupt, pause, resume, archive.',
      errors: [{ field: 'verb', message: 'must be one of interrupt, pause, resume, archive' }],
    });
  });

  it.each([
    ['{}', 'verb', 'is required: one of interrupt, pause, resume, archive'],
    ['{"verb":"pause","verb":"pause"}', 'verb', twice],
    ['{"verb":"pause","\\u0076erb":"archive"}', 'verb', twice],
    ['{"verb":"pause","reason":"x","reason":"y"}', 'reason', twice],
    ['{"verb":null}', 'verb', 'is required: one of interrupt, pause, resume, archive'],
    ['{"verb":"pause","reason":null,"reason":null}', 'reason', twice],
    ['{"verb":"pause","type":null}', 'type', unknown],
    ['{"verb":"pause","reason":["x"]}', 'reason', 'must be a string'],
    ['{"verb":"pause","type":"a"}', 'type', unknown],
  ])('refuses the control %s', (text, field, message) => {
    expect(refusal(Buffer.from(text), ControlDto)).toMatchObject({
      code: 'invalid_body',
      errors: [{ field, message }],
    });
  });

  it('takes arguments nested 250,000 deep, and a control refused for the like', () => {
    const deep = '['.repeat(250_000) + ']'.repeat(250_000);
    expect(parseCommandBody(Buffer.from(`{"type":"a","args":${deep}}`), SpawnDto).type).toBe('a');
    expect(refusal(Buffer.from(deep)).message).toBe('The body must be a JSON object.');
    expect(refusal(Buffer.from(`{"verb":${deep}}`), ControlDto).code).toBe('unknown_verb');
  });

  // A body of 1 MiB with 170,000 fields was once answered with 15 MiB.
  it('names at most 32 unknown fields, and none at more than 128 characters', () => {
    const fields = Array.from({ length: 10_000 }, (_, i) => `"${'x'.repeat(200)}${i}":1`);
    const refused = refusal(Buffer.from(`{"type":"a",${fields.join()}}`));
    expect(refused.errors).toHaveLength(32);
    expect(refused.errors?.[0]?.field).toBe(`${'x'.repeat(128)}…`);
    expect(refused.message.length).toBeLessThan(6_000);
    const longest = 'y'.repeat(128);
    expect(refusal(Buffer.from(`{"type":"a","${longest}":1}`)).errors?.[0]?.field).toBe(longest);
  });
});

function refusal(bytes: Buffer, Dto: typeof SpawnDto | typeof ControlDto = SpawnDto): GatewayError {
  const error = thrown(GatewayError, () => parseCommandBody<object>(bytes, Dto));
  if (!error) throw new Error('nothing was refused');
  return error;
}
