import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changeMessages, snapshotMessages } from './shape-messages.ts';
import type { ShapeMessage } from './shape-messages.ts';
import { parseShapeRequest } from './shape-request.ts';
import type { Shape } from './shape-definition.ts';
import { findTable } from './tables.ts';
import type { Row } from './tables.ts';

const notes = findTable('notes')!;
const relation = ['public', 'notes'];

function shape(params: Record<string, string> = {}): Shape {
  return parseShapeRequest(new URLSearchParams({ table: 'notes', offset: '-1', ...params })).shape;
}

function note(id: string, tenant: string, body: string | null = null): Row {
  return { id, tenant, body };
}

describe('changeMessages', () => {
  it('splits a primary-key change into a delete and an insert of one lsn', () => {
    const change = { table: notes, lsn: 7, old: note('a/b', 't'), new: note('c', 't', 'x') };

    expect(changeMessages(change, shape())).toEqual([
      {
        key: '"public"."notes"/"a//b"',
        value: { id: 'a/b' },
        headers: { operation: 'delete', relation, lsn: '7', op_position: 0, txids: [7] },
      },
      {
        key: '"public"."notes"/"c"',
        value: { id: 'c', tenant: 't', body: 'x' },
        headers: {
          operation: 'insert',
          relation,
          lsn: '7',
          op_position: 1,
          txids: [7],
          last: true,
        },
      },
    ]);
  });

  it('says nothing of a row that the filter judges as unknown before and after', () => {
    const change = { table: notes, lsn: 1, old: note('a', 't'), new: note('a', 'u') };

    expect(changeMessages(change, shape({ where: "body <> 'x'" }))).toEqual([]);
  });

  it('says nothing of another table', () => {
    const table = findTable('entities')!;

    expect(changeMessages({ table, lsn: 1, new: note('a', 't') }, shape())).toEqual([]);
  });

  it('gives a reader who applies it the rows of the filter, however the rows change', () => {
    const value = fc.constantFrom('x', 'y');
    const row = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      tenant: value,
      body: fc.option(value),
    });
    // Each step puts a row, moves one to another key or takes one away.
    const step = fc.record({ from: fc.constantFrom('a', 'b', 'c'), row: fc.option(row) });
    const query = fc.record(
      {
        where: fc.constantFrom("tenant = 'x'", "body <> 'x'", "body IS NULL OR tenant = 'y'"),
        columns: fc.constantFrom('id', 'id,body'),
        replica: fc.constantFrom('full', 'default'),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(query, fc.array(step, { maxLength: 30 }), fc.nat(30), (params, steps, joins) => {
        const wanted = shape(params);
        const table = new Map<string, Row>();
        const reader = new Map<string, Row>();
        steps.forEach(({ from, row: next }, lsn) => {
          if (lsn === joins) applyAll(reader, snapshotMessages(wanted, [...table.values()]));
          const old = table.get(next && !table.has(from) ? next.id : from);
          if (!old && !next) return;
          if (next && next.id !== old?.id && table.has(next.id)) return;
          if (old) table.delete(old['id']!);
          if (next) table.set(next.id, next);
          const change = { table: notes, lsn, ...(old && { old }), ...(next && { new: next }) };
          if (lsn >= joins) applyAll(reader, changeMessages(change, wanted));
        });
        if (joins >= steps.length) return;
        expect(sorted(reader)).toEqual(
          [...table.values()]
            .filter((candidate) => wanted.matches(candidate) === true)
            .map((match) => Object.fromEntries(wanted.columns.map((name) => [name, match[name]])))
            .toSorted((a, b) => (a['id']! < b['id']! ? -1 : 1)),
        );
      }),
      { numRuns: 500 },
    );
  });
});

/** A strict reader: it takes an insert only for a row it lacks, all else only for one it has. */
function applyAll(reader: Map<string, Row>, messages: readonly ShapeMessage[]): void {
  for (const { key, value, headers } of messages) {
    expect(reader.has(key!)).toBe(headers['operation'] !== 'insert');
    if (headers['operation'] === 'delete') reader.delete(key!);
    else reader.set(key!, { ...reader.get(key!), ...value });
  }
}

function sorted(reader: Map<string, Row>): Row[] {
  return [...reader.values()].toSorted((a, b) => (a['id']! < b['id']! ? -1 : 1));
}
