import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Counters,
  guestRamMb,
  parseStat,
} from '../../../../../src/drivers/compute/qemu/metrics/counters.ts';
import {
  type HourSum,
  minutesBetween,
  type Reading,
  usageBetween,
} from '../../../../../src/drivers/compute/qemu/metrics/metrics-store.ts';
import { toMinuteSample, toSample } from '../../../../../src/drivers/compute/qemu/metrics/sample.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../../src/kernel/time.ts';

const HOUR = 500_000 * HOUR_MS;

function counters(wanted: Partial<Counters> = {}): Counters {
  return {
    ...{ run: '7 100', runSince: HOUR, cpuMs: 0, ramMb: 100 },
    ...{ diskRead: 0, diskWritten: 0, netIn: 0, netOut: 0, ...wanted },
  };
}
const readingAt = (minutes: number, wanted: Partial<Counters> = {}): Reading => ({
  ...counters(wanted),
  at: HOUR + minutes * MINUTE_MS,
});
const total = (hours: readonly HourSum[], of: keyof HourSum) =>
  Math.round(hours.reduce((sum, hour) => sum + hour[of], 0));

describe('the memory of a guest', () => {
  const MIB = 1024 ** 2;
  const NOW_S = 1_800_000_000;
  const UNKNOWN = 2 ** 64;
  const used = (stats: Record<string, number>, ageS = 10) =>
    guestRamMb({ 'last-update': NOW_S - ageS, stats }, NOW_S);
  const all = { 'stat-total-memory': 512 * MIB, 'stat-free-memory': 100 * MIB };

  it('memory in use is the total without what is available, or else free', () => {
    assert.equal(used({ ...all, 'stat-available-memory': 400 * MIB }), 112);
    assert.equal(used({ ...all, 'stat-available-memory': UNKNOWN }), 412);
    assert.equal(used({ ...all, 'stat-available-memory': 600 * MIB }), 0);
  });

  it('a guest that reports nothing, or no longer, has no memory of its own', () => {
    assert.equal(used({}), null);
    assert.equal(used({ ...all, 'stat-total-memory': UNKNOWN }), null);
    assert.equal(used(all, 600), null);
    assert.equal(used(all, NOW_S), null);
  });
});

describe('usage between readings', () => {
  it('usage is the increase of the counters over the time between two readings', () => {
    const last = readingAt(10, { cpuMs: 1000, diskRead: 5, diskWritten: 50, netIn: 500, netOut: 5000 });
    const now = counters({ cpuMs: 7000, diskRead: 8, diskWritten: 80, netIn: 800, netOut: 8000, ramMb: 64 });
    const [hour, ...others] = usageBetween(last, now, HOUR + 11 * MINUTE_MS);
    assert.deepEqual(others, []);
    assert.deepEqual(hour, {
      ...{ hour: HOUR, onMs: MINUTE_MS, cpuMs: 6000, ramMbMs: 64 * MINUTE_MS },
      ...{ diskRead: 3, diskWritten: 30, netIn: 300, netOut: 3000 },
    });
  });

  it('after a restart, usage is everything since the new QEMU started', () => {
    const last = readingAt(10, { cpuMs: 1000, diskRead: 50, netOut: 5000 });
    const again = counters({
      run: '8 900',
      runSince: HOUR + 20 * MINUTE_MS,
      cpuMs: 2000,
      diskRead: 70,
      netOut: 90,
    });
    const hours = usageBetween(last, again, HOUR + 30 * MINUTE_MS);
    assert.equal(total(hours, 'onMs'), 10 * MINUTE_MS);
    assert.deepEqual(
      [total(hours, 'cpuMs'), total(hours, 'diskRead'), total(hours, 'netOut')],
      [2000, 70, 90],
    );
    // The tap is the same, so its counters continue.
    const kept = usageBetween(last, { ...again, netOut: 5090 }, HOUR + 30 * MINUTE_MS);
    assert.equal(total(kept, 'netOut'), 90);
    assert.equal(total(usageBetween(null, again, HOUR + 30 * MINUTE_MS), 'cpuMs'), 2000);
  });

  it('usage is spread over the hours between two readings', () => {
    const hours = usageBetween(readingAt(30), counters({ netOut: 6000 }), HOUR + 150 * MINUTE_MS);
    assert.deepEqual(
      hours.map(({ hour, onMs, netOut }) => [(hour - HOUR) / HOUR_MS, onMs / MINUTE_MS, netOut]),
      [
        [0, 30, 1500],
        [1, 60, 3000],
        [2, 30, 1500],
      ],
    );
  });

  it('an unreadable counter is counted later, and usage is never negative', () => {
    assert.equal(
      total(
        usageBetween(readingAt(1, { diskRead: 5 }), counters({ diskRead: null }), HOUR + 2 * MINUTE_MS),
        'diskRead',
      ),
      0,
    );
    const back = usageBetween(readingAt(10, { netOut: 9 }), counters({ netOut: 4 }), HOUR + 9 * MINUTE_MS);
    assert.equal(total(back, 'netOut'), 4);
    assert.ok(total(back, 'onMs') > 0);
    assert.equal(
      usageBetween(null, counters({ runSince: HOUR }), HOUR).length,
      1,
      'also at the moment of the power-on',
    );
  });

  it('a sample shows the load while the machine was on, and traffic that adds up', () => {
    const sum = { hour: HOUR, onMs: 6 * MINUTE_MS, cpuMs: 6 * MINUTE_MS, ramMbMs: 700 * 6 * MINUTE_MS };
    const flows = { diskRead: 3600, diskWritten: 7200, netIn: 0, netOut: 36_000 };
    const over = toSample('a', { ...sum, ...flows }, { cpu: 2, ramMb: 512, now: HOUR + 2 * HOUR_MS });
    assert.deepEqual(over, {
      ...{ id: 'a', hour: new Date(HOUR), cpuPct: 50, ramMb: 512 },
      ...{ diskReadBps: 1, diskWriteBps: 2, netInBps: 0, netOutBps: 10 },
    });
    const running = toSample('a', { ...sum, ...flows }, { cpu: 1, ramMb: 512, now: HOUR + HOUR_MS / 2 });
    assert.deepEqual([running.netOutBps, running.cpuPct], [20, 100]);
  });

  it('usage is spread over the minutes between two readings that are close', () => {
    const last = readingAt(9.5, { netOut: 1000 });
    const minutes = minutesBetween(last, counters({ netOut: 2200 }), HOUR + 11.5 * MINUTE_MS);
    assert.deepEqual(
      minutes.map(({ minute, onMs, netOut }) => [(minute - HOUR) / MINUTE_MS, onMs / 1000, netOut]),
      [
        [9, 30, 300],
        [10, 60, 600],
        [11, 30, 300],
      ],
    );
    assert.deepEqual(minutesBetween(last, counters({ netOut: 2200 }), HOUR + 13 * MINUTE_MS), []);
  });

  it('a minute has a sample once it has ended and half of it was observed', () => {
    const sum = { minute: HOUR, onMs: 30_000, cpuMs: 15_000, ramMbMs: 700 * 30_000, diskRead: 0 };
    const flows = { diskWritten: 60, netIn: 0, netOut: 3000 };
    const limits = { cpu: 1, ramMb: 512, now: HOUR + MINUTE_MS };
    assert.deepEqual(toMinuteSample('a', { ...sum, ...flows }, limits), [
      {
        ...{ id: 'a', minute: new Date(HOUR), cpuPct: 50, ramMb: 512 },
        ...{ diskReadBps: 0, diskWriteBps: 2, netInBps: 0, netOutBps: 100 },
      },
    ]);
    assert.deepEqual(toMinuteSample('a', { ...sum, ...flows }, { ...limits, now: limits.now - 1 }), []);
    assert.deepEqual(toMinuteSample('a', { ...sum, ...flows, onMs: 29_999 }, limits), []);
  });

  it('process times are parsed for any process name', () => {
    const fields = Array.from({ length: 50 }, (_, n) => n + 3);
    assert.deepEqual(parseStat(`12 (qemu (a) b) ${fields.join(' ')}\n`), {
      cpuMs: (14 + 15) * 10,
      beganMs: 220,
    });
  });
});
