import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { parseTime } from '../../src/store/connections/column-types.ts';
import { openScratchDatabase, type ScratchDatabase } from '../support/database.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';

const runs = { numRuns: PROPERTY_RUNS * 20 };

describe('column values', () => {
  let scratch: ScratchDatabase;
  before(async () => {
    scratch = await openScratchDatabase();
  });
  after(() => scratch.close());

  it('a time is read as the database sends it, to the millisecond', () => {
    const time = fc.date({
      min: new Date('0100-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(time, fc.integer({ min: 0, max: 999 }), (expected, microseconds) => {
        const [day, clock = ''] = expected.toISOString().split('T');
        const digits = clock.slice(9, 12) + String(microseconds).padStart(3, '0');
        // The database omits zeros at the end.
        const fraction = digits.replace(/0+$/, '');
        const sent = `${day} ${clock.slice(0, 8)}${fraction === '' ? '' : '.'}${fraction}`;
        assert.deepEqual(parseTime(`${sent}+00`), expected, sent);
      }),
      runs,
    );
  });

  it('times that the database stores come back unchanged', async () => {
    const times = [
      '0001-01-01T00:00:00.000Z',
      '0099-12-31T23:59:59.000Z',
      '0100-01-01T00:00:00.001Z',
      '1969-12-31T23:59:59.999Z',
      '2000-02-29T10:20:30.000Z',
      '2030-01-31T12:00:00.120Z',
      '9999-12-31T23:59:59.999Z',
    ].map((text) => new Date(text));
    const rows = await scratch.db.rows<{ time: Date }>(
      'select time from unnest($1::timestamptz[]) with ordinality as t (time, n) order by n',
      [times],
    );
    assert.deepEqual(
      rows.map(({ time }) => time),
      times,
    );
  });

  it('rare times are read as the driver reads them', async () => {
    const row = await scratch.db.row<object>(
      `select 'infinity'::timestamptz as never, '10000-01-01 00:00:00+00'::timestamptz as late,
              '2030-01-01 00:00:00.0009999+00'::timestamptz as rounded`,
    );
    assert.deepEqual(row, {
      never: Number.POSITIVE_INFINITY,
      late: new Date(Date.UTC(10_000, 0, 1)),
      rounded: new Date('2030-01-01T00:00:00.001Z'),
    });
    assert.deepEqual(parseTime('2030-01-01 05:30:00+05:30'), new Date('2030-01-01T00:00:00Z'));
  });

  it('arrays are read with all their items, and empty ones are empty', async () => {
    const id = '00000000-0000-0000-0000-000000000001';
    const row = await scratch.db.row<object>(
      `select '{}'::text[] as none, '{"{}",""}'::text[] as odd, '{}'::uuid[] as no_ids,
              array[$1::uuid] as ids`,
      [id],
    );
    assert.deepEqual(row, { none: [], odd: ['{}', ''], no_ids: [], ids: [id] });
  });
});
