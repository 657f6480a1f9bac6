import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OffsetClock } from '../../src/kernel/clock.ts';
import { addMonths, formatRfc3339, formatSessionTime, HOUR_MS, parseRfc3339 } from '../../src/kernel/time.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';

const runs = { numRuns: PROPERTY_RUNS * 20 };
const utc = (text: string) => new Date(`${text}Z`);
const months = (from: string, count: number, anchorDay: number) =>
  formatRfc3339(addMonths(utc(`${from}T10:20:30`), count, anchorDay)).slice(0, 10);

test('a cycle that began on the 31st ends on the last day of short months, then on the 31st again', () => {
  assert.equal(months('2030-01-31', 1, 31), '2030-02-28');
  assert.equal(months('2030-02-28', 1, 31), '2030-03-31');
  assert.equal(months('2030-03-31', 1, 31), '2030-04-30');
  assert.equal(months('2030-08-31', 6, 31), '2031-02-28');
});

test('a cycle ends on February 29 only in leap years', () => {
  assert.equal(months('2028-01-31', 1, 31), '2028-02-29');
  assert.equal(months('2028-02-29', 12, 29), '2029-02-28');
  assert.equal(months('2031-02-28', 12, 29), '2032-02-29');
  assert.equal(months('2100-01-30', 1, 30), '2100-02-28');
  assert.equal(months('2400-01-30', 1, 30), '2400-02-29');
});

test('a cycle crosses the end of the year', () => {
  assert.equal(months('2030-12-15', 1, 15), '2031-01-15');
  assert.equal(months('2030-11-30', 3, 30), '2031-02-28');
  assert.equal(months('2030-12-31', 12, 31), '2031-12-31');
});

test('a cycle ends at the time of day when it began', () => {
  assert.equal(addMonths(utc('2030-01-31T23:59:59.999'), 1, 31).toISOString(), '2030-02-28T23:59:59.999Z');
});

test('consecutive cycles end when one long cycle does, for any anchor day', () => {
  const start = fc.date({ min: new Date('2020-01-01'), max: new Date('2120-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(
      start,
      fc.constantFrom(1, 3, 6, 12),
      fc.integer({ min: 1, max: 24 }),
      (from, cycle, count) => {
        const anchorDay = from.getUTCDate();
        let end = from;
        for (let n = 0; n < count; n++) {
          const next = addMonths(end, cycle, anchorDay);
          assert.ok(next > end);
          end = next;
        }
        assert.deepEqual(end, addMonths(from, cycle * count, anchorDay));
      },
    ),
    runs,
  );
});

test('a time is formatted in UTC for each surface', () => {
  const time = new Date('2030-01-31T23:59:59.999+02:00');
  assert.equal(formatRfc3339(time), '2030-01-31T21:59:59Z');
  assert.equal(formatSessionTime(time), '2030-01-31 21:59:59');
});

test('parseRfc3339 accepts every valid form', () => {
  const expected = utc('2030-01-31T12:00:00').getTime();
  for (const text of [
    '2030-01-31T12:00:00Z',
    '2030-01-31t12:00:00z',
    '2030-01-31 12:00:00Z',
    '2030-01-31T12:00:00.000Z',
    '2030-01-31T12:00:00.000000000Z',
    '2030-01-31T14:30:00+02:30',
    '2030-01-31T00:00:00-12:00',
    '2030-02-01T11:59:00+23:59',
    '2030-01-31T12:00:00-00:00',
  ]) {
    assert.equal(parseRfc3339(text)?.getTime(), expected, text);
  }
  assert.equal(parseRfc3339('2030-01-31T12:00:00.5Z')?.getTime(), expected + 500);
});

test('a date or time that does not exist is rejected, not shifted', () => {
  for (const text of [
    '2030-02-30T00:00:00Z',
    '2030-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2030-04-31T00:00:00Z',
    '2030-00-10T00:00:00Z',
    '2030-13-10T00:00:00Z',
    '2030-01-00T00:00:00Z',
    '2030-01-32T00:00:00Z',
    '2030-01-01T24:00:00Z',
    '2030-01-01T12:60:00Z',
    '2030-01-01T12:00:60Z',
    '2030-01-01T12:00:00+24:00',
    '2030-01-01T12:00:00+02:60',
  ]) {
    assert.equal(parseRfc3339(text), undefined, text);
  }
  assert.ok(parseRfc3339('2028-02-29T00:00:00Z'));
});

test('a time without a zone, and any other text, is rejected', () => {
  for (const text of [
    '',
    'now',
    '2030',
    '2030-01-31',
    '2030-01-31T12:00:00',
    '2030-01-31T12:00Z',
    '2030-1-31T12:00:00Z',
    '2030-01-31T12:00:00.Z',
    '2030-01-31T12:00:00.0000000000Z',
    '2030-01-31T12:00:00+0200',
    '2030-01-31T12:00:00 Z',
    ' 2030-01-31T12:00:00Z',
    '2030-01-31T12:00:00Z\n',
    '+002030-01-31T12:00:00Z',
    '1893456000',
  ]) {
    assert.equal(parseRfc3339(text), undefined, JSON.stringify(text));
  }
});

test('parseRfc3339 restores a formatted time to the second', () => {
  const time = fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(time, (moment) => {
      const seconds = Math.floor(moment.getTime() / 1000);
      assert.equal((parseRfc3339(formatRfc3339(moment))?.getTime() ?? 0) / 1000, seconds);
    }),
    runs,
  );
});

test('the business clock is real time plus its offset', () => {
  const clock = new OffsetClock();
  const [before, now, after] = [Date.now(), clock.now().getTime(), Date.now()];
  assert.ok(before <= now && now <= after);
  clock.offsetMs += HOUR_MS;
  assert.ok(clock.now().getTime() >= before + HOUR_MS);
});

test('a time is formatted as ISO 8601 has it, and an invalid one is refused', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (time) => {
      const seconds = time.toISOString().slice(0, 19);
      assert.equal(formatRfc3339(time), `${seconds}Z`);
      assert.equal(formatSessionTime(time), seconds.replace('T', ' '));
    }),
    runs,
  );
  assert.equal(formatRfc3339(new Date('0009-01-02T03:04:05Z')), '0009-01-02T03:04:05Z');
  assert.throws(() => formatRfc3339(new Date(Number.NaN)), RangeError);
});

test('a leap second is the second after it, and second 60 is invalid at other times', () => {
  const parsed = (text: string) => parseRfc3339(text)?.toISOString();
  assert.equal(parsed('2030-01-01T23:59:60Z'), '2030-01-02T00:00:00.000Z');
  assert.equal(parsed('2030-01-01T18:59:60.5-05:00'), '2030-01-02T00:00:00.500Z');
  assert.equal(parsed('2030-12-31T23:59:60+00:00'), '2031-01-01T00:00:00.000Z');
  for (const text of ['2030-01-01T12:59:60Z', '2030-01-01T23:59:61Z', '2030-01-01T23:59:60+01:00']) {
    assert.equal(parsed(text), undefined, text);
  }
});
