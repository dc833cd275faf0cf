import { describe, expect, it } from '@jest/globals';
import { IsIn, Length } from 'class-validator';
import fc from 'fast-check';
import { parseCommandBody } from '../../src/commands/command-body.ts';
import { ControlDto } from '../../src/commands/dto/control.dto.ts';
import { SpawnDto, tenantProblems } from '../../src/commands/dto/spawn.dto.ts';
import { GatewayError } from '../../src/platform/errors/gateway-error.ts';
import { SchemaJudge } from '../../test/support/contract/schema-judge.ts';
import { dtoSchema } from './dto-schema.ts';
import type { OpenApiDocument, Schema } from './openapi.ts';
import { SCHEMAS } from './schemas.ts';

const RUNS = { numRuns: 3_000 };

const judge = new SchemaJudge({ components: { schemas: SCHEMAS } } as unknown as OpenApiDocument);
const parseSpawn = (bytes: Buffer) =>
  parseCommandBody(bytes, SpawnDto, (dto) => tenantProblems(dto, 'default'));

function isTaken(parse: (bytes: Buffer) => unknown, body: object): boolean {
  try {
    parse(Buffer.from(JSON.stringify(body)));
    return true;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

/** Near the limits of names: just short enough, just too long, with a letter that is not allowed. */
const name = fc.oneof(
  { weight: 12, arbitrary: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,4}$/) },
  fc.stringMatching(/^[A-Za-z0-9_.:@~-]{1,5}$/),
  fc.constantFrom(
    'restate',
    'ReState',
    'OPENAPI',
    'openapi2',
    '',
    '-a',
    '_a',
    '.a',
    'a b',
    'é',
    'a/b',
    'a\n',
  ),
  fc.integer({ min: 60, max: 66 }).map((length) => 'a'.repeat(length)),
  fc.integer({ min: 126, max: 130 }).map((length) => '1'.repeat(length)),
);
const entityUrl = fc.tuple(name, name).map(([type, id]) => `/t/default/a/${type}/${id}`);
const workspaceRef = name.map((value) => `default/${value}`);
const field = (value: fc.Arbitrary<unknown>) =>
  fc.option(fc.oneof({ weight: 12, arbitrary: value }, fc.constant(null), fc.jsonValue()), {
    nil: undefined,
  });

const spawnBody = fc.record({
  type: field(name),
  id: field(name),
  args: fc.option(fc.jsonValue(), { nil: undefined }),
  parent: field(entityUrl),
  workspaceRef: field(workspaceRef),
  colour: fc.option(fc.constant('red'), { nil: undefined, freq: 8 }),
});
const controlBody = fc.record({
  verb: field(fc.constantFrom('interrupt', 'pause', 'resume', 'archive', 'stop', 'Pause')),
  reason: field(fc.string()),
  colour: fc.option(fc.constant('red'), { nil: undefined, freq: 8 }),
});

/** As it is once it has been JSON: without what is undefined. */
const plain = (body: object): object => JSON.parse(JSON.stringify(body)) as object;

describe('the schemas of commands', () => {
  // A schema that says less than the validators lets clients send what is refused; one that says
  // more has them refuse what would be taken.
  it('take a spawn body just where the gateway does', () => {
    let taken = 0;
    fc.assert(
      fc.property(spawnBody, (body) => {
        const isFine = judge.problems(SCHEMAS.SpawnCommand!, plain(body)).length === 0;
        taken += Number(isFine);
        expect(isFine).toBe(isTaken(parseSpawn, body));
      }),
      RUNS,
    );
    expect(taken).toBeGreaterThan(30);
  });

  it('take a control body just where the gateway does', () => {
    let taken = 0;
    fc.assert(
      fc.property(controlBody, (body) => {
        const isFine = judge.problems(SCHEMAS.ControlCommand!, plain(body)).length === 0;
        taken += Number(isFine);
        expect(isFine).toBe(isTaken((bytes) => parseCommandBody(bytes, ControlDto), body));
      }),
      RUNS,
    );
    expect(taken).toBeGreaterThan(30);
  });
});

describe('dtoSchema', () => {
  it('follows the validators', () => {
    class SizeDto {
      static readonly fields = ['size'] as const;
      @IsIn(['small', 'large'])
      size: string;
    }
    const schema: Schema = dtoSchema(SizeDto, 'A size.', { size: { description: 'Of a shirt.' } });
    expect(schema).toEqual({
      type: 'object',
      description: 'A size.',
      required: [],
      properties: { size: { enum: ['small', 'large'], description: 'Of a shirt.' } },
      additionalProperties: false,
    });
  });

  it('refuses a validator that it cannot put into a schema', () => {
    class NameDto {
      static readonly fields = ['name'] as const;
      @Length(1, 8)
      name: string;
    }
    expect(() => dtoSchema(NameDto, 'A name.', { name: {} })).toThrow(
      'NameDto.name: no schema for the validator "isLength"',
    );
  });
});
