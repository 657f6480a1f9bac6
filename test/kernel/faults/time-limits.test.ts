import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { TimeLimits } from '../../../src/kernel/faults/time-limits.ts';

describe('time limits with one timer', () => {
  it('a late entry expires once, and a forgotten entry never', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const limits = new TimeLimits();
    const expired: string[] = [];
    const remaining: Record<string, number> = { a: 1_000, b: 1_000, c: 1_000, d: 1_000 };
    const forget = Object.fromEntries(
      Object.keys(remaining).map((name) => [
        name,
        limits.add(
          () => remaining[name] ?? 0,
          () => expired.push(name),
        ),
      ]),
    );
    t.mock.timers.tick(100);
    assert.deepEqual(expired, []);
    forget.a?.();
    forget.a?.();
    Object.assign(remaining, { a: 0, b: 0, d: -5 });
    t.mock.timers.tick(100);
    assert.deepEqual(expired.toSorted(), ['b', 'd']);
    forget.b?.();
    remaining.c = 0;
    t.mock.timers.tick(100);
    t.mock.timers.tick(100);
    assert.deepEqual(expired.toSorted(), ['b', 'c', 'd']);
  });

  it('after a pause of the process, what came meanwhile is read before anything expires', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const limits = new TimeLimits();
    const expire = mock.fn();
    limits.add(() => 0, expire);
    const now = performance.now.bind(performance);
    t.mock.method(performance, 'now', () => now() + 5_000);
    t.mock.timers.tick(100);
    assert.equal(expire.mock.callCount(), 0);
    t.mock.timers.tick(100);
    assert.equal(expire.mock.callCount(), 1);
  });

  it('an entry that is added after all others have ended is checked as well', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const limits = new TimeLimits();
    const expire = mock.fn();
    limits.add(() => 1, expire)();
    t.mock.timers.tick(100);
    t.mock.timers.tick(1_000);
    limits.add(() => 0, expire);
    t.mock.timers.tick(100);
    assert.equal(expire.mock.callCount(), 1);
  });
});
