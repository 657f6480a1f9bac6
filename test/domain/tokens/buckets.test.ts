import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { type BucketRule, costMs, type Draw, MemoryBuckets } from '../../../src/domain/tokens/buckets.ts';
import { identifyBearer } from '../../../src/domain/tokens/identify-bearer.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { digest } from '../../../src/kernel/secrets.ts';
import { HOUR_MS } from '../../../src/kernel/time.ts';
import { insertToken } from '../../../src/store/customers/tokens.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

/** The tolerance for rounding. */
const HAIR_MS = 0.01;

const RULE: fc.Arbitrary<BucketRule> = fc.record({
  capacity: fc.integer({ min: 1, max: 20 }),
  refillPerS: fc.constantFrom(0.05, 1, 200 / 60, 60, 700, 3_000),
});

/**
 * Asserts that between any two draws, at most the capacity plus the refill passed. Expects the order of the
 * draws.
 */
function assertWithinRate(draws: readonly Draw[], rule: BucketRule): void {
  const passed = draws.filter((draw) => draw.allowed);
  for (const [n, last] of passed.entries()) {
    for (const [first, { nowMs }] of passed.slice(0, n).entries()) {
      const most = rule.capacity + (last.nowMs - nowMs + HAIR_MS) / costMs(rule);
      assert.ok(n - first + 1 <= most, `${n - first + 1} draws passed, but at most ${most} may`);
    }
  }
}

/** Asserts that a bucket that rejects reports less than one draw left. */
function assertReported({ allowed, fullAtMs, nowMs }: Draw, rule: BucketRule): void {
  const left = rule.capacity - (fullAtMs - nowMs) / costMs(rule);
  assert.ok(left <= rule.capacity);
  assert.ok(left > -HAIR_MS / costMs(rule) || !allowed, 'a draw passed with nothing left');
  if (!allowed) assert.ok(left < 1 + HAIR_MS / costMs(rule), `a draw was rejected with ${left} left`);
}

describe('a token bucket in memory', () => {
  it('a bucket in memory starts full, loses one per draw, and refills steadily', () => {
    const waits = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 })), { maxLength: 80 });
    fc.assert(
      fc.property(RULE, waits, (rule, waitsMs) => {
        const buckets = new MemoryBuckets();
        let nowMs = 1_000_000;
        let held = rule.capacity;
        const draws = waitsMs.map((waitMs) => {
          nowMs += waitMs;
          held = Math.min(rule.capacity, held + waitMs / costMs(rule));
          const draw = buckets.draw('one', rule, nowMs);
          if (Math.abs(held - 1) > 1e-6) assert.equal(draw.allowed, held > 1);
          if (draw.allowed) held -= 1;
          assert.ok(Math.abs(draw.fullAtMs - nowMs - (rule.capacity - held) * costMs(rule)) < HAIR_MS);
          assertReported(draw, rule);
          return draw;
        });
        assertWithinRate(draws, rule);
      }),
      { numRuns: PROPERTY_RUNS * 5 },
    );
  });

  it('a bucket is full again after the clock of the machine was set back', () => {
    const buckets = new MemoryBuckets();
    const rule = { capacity: 3, refillPerS: 1 };
    const draw = (nowMs: number) => buckets.draw('one', rule, nowMs).allowed;
    assert.deepEqual(
      [1, 2, 3, 4].map(() => draw(HOUR_MS)),
      [true, true, true, false],
    );
    // A short step gives nothing away.
    assert.equal(draw(HOUR_MS - 1), false);
    assert.deepEqual(
      [1, 2, 3].map(() => draw(0)),
      [true, true, true],
    );
    assert.equal(draw(0), false);
  });
});

describe('a token bucket in the database', () => {
  let world: TestService;
  before(async () => {
    world = await startTestService({ poolSize: 12 });
    await world.db.run(`insert into service (mode, key_check) values ('sandbox', 'of a test')`);
  });
  after(() => world.close());

  /** Creates a token and returns a function that draws once from its bucket. */
  async function bucket(rule: BucketRule): Promise<() => Promise<Draw>> {
    const { customerId } = await world.fixtures.addCustomer();
    const token = randomBytes(16).toString('hex');
    const id = newId(new Date());
    const row = { name: 'one', scope: 'read', digest: digest(token), expiresAt: null } as const;
    await insertToken(world.db, { id, customerId, ...row, createdAt: world.clock.now() });
    const buckets = { rules: { general: rule, provision: rule }, memory: null };
    return async () => {
      const { draw } = await identifyBearer(world.service, token, { buckets, bucket: 'general' });
      assert.ok(draw);
      return draw;
    };
  }

  it('a bucket in the database is full again after its clock was set back', async () => {
    const drawOne = await bucket({ capacity: 3, refillPerS: 0.05 });
    const draws = async () => [(await drawOne()).allowed, (await drawOne()).allowed];
    assert.deepEqual([...(await draws()), ...(await draws())], [true, true, true, false]);
    await world.db.run(`update rate_buckets set tat = tat + interval '1 hour'`);
    assert.deepEqual([...(await draws()), ...(await draws())], [true, true, true, false]);
  });

  it('a bucket in the database behaves like one in memory at the same times', async () => {
    await fc.assert(
      fc.asyncProperty(RULE, fc.integer({ min: 1, max: 40 }), async (rule, times) => {
        const drawOne = await bucket(rule);
        const memory = new MemoryBuckets();
        for (let n = 0; n < times; n++) {
          const drawn = await drawOne();
          assertReported(drawn, rule);
          const model = memory.draw('one', rule, drawn.nowMs);
          // At the exact limit, a microsecond decides. Both may differ there, so the comparison ends.
          const border = Math.abs(model.fullAtMs - drawn.nowMs - (rule.capacity - 1) * costMs(rule));
          if (model.allowed !== drawn.allowed)
            return assert.ok(border < HAIR_MS || border > costMs(rule) - HAIR_MS);
          assert.ok(
            Math.abs(model.fullAtMs - drawn.fullAtMs) < HAIR_MS * times,
            `${model.fullAtMs} ${drawn.fullAtMs}`,
          );
        }
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  it('a bucket limits concurrent draws and reports an empty bucket to rejected callers', async () => {
    await fc.assert(
      fc.asyncProperty(RULE, fc.integer({ min: 2, max: 60 }), async (rule, callers) => {
        const drawOne = await bucket(rule);
        const draws = await Promise.all(Array.from({ length: callers }, drawOne));
        const inOrder = draws.toSorted((one, other) => one.fullAtMs - other.fullAtMs);
        assertWithinRate(inOrder, rule);
        const passed = draws.filter((draw) => draw.allowed);
        // A draw counts from the start of its statement. An earlier statement may see later draws and be
        // rejected; if a draw costs less than that wait, this may happen to many.
        const older = draws.filter(
          ({ allowed, nowMs }) => !allowed && passed.some((other) => other.nowMs > nowMs),
        );
        const most = Math.min(callers, rule.capacity);
        if (costMs(rule) >= 250)
          assert.ok(passed.length + older.length >= most, `${passed.length} of ${callers} passed`);
        for (const draw of draws) assertReported(draw, rule);
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });
});
