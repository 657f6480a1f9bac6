/** The token buckets of the rate limits are shared by all processes of a service. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../support/runs.ts';
import { assertApiError, V1Client, type V1Response } from '../support/v1-client.ts';
import { type ProcessWorld, startProcesses } from './process-world.ts';

const CAPACITY = 10;
const PROVISION_CAPACITY = 4;
const CONCURRENT_REQUESTS = 50;
const REFILL_PER_S = 0.05;
const PROVISION_REFILL_PER_S = 0.1;

describe('the rate limit of a token at two processes', FULL_ONLY, () => {
  let world: ProcessWorld;
  before(async () => {
    world = await startProcesses(2, {
      SKERRY_RATE_CAPACITY: String(CAPACITY),
      SKERRY_RATE_REFILL_PER_S: String(REFILL_PER_S),
      SKERRY_PROVISION_RATE_CAPACITY: String(PROVISION_CAPACITY),
      SKERRY_PROVISION_RATE_REFILL_PER_S: String(PROVISION_REFILL_PER_S),
    });
  });
  after(() => world.close());

  /** Sends many requests in parallel, on connections that the kernel distributes over both processes. */
  async function burst(
    send: () => Promise<V1Response>,
  ): Promise<{ passed: V1Response[]; limited: V1Response[]; tookS: number }> {
    const startedAt = Date.now();
    const responses = await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, send));
    return {
      passed: responses.filter((response) => response.status !== 429),
      limited: responses.filter((response) => response.status === 429),
      tookS: (Date.now() - startedAt) / 1_000,
    };
  }

  function numericHeader(response: V1Response, name: string): number {
    const text = response.headers.get(name);
    assert.match(text ?? '', /^\d+$/, `${name} of ${response.status}`);
    return Number(text);
  }

  function assertHeaders(
    { passed, limited, tookS }: Awaited<ReturnType<typeof burst>>,
    rule: { capacity: number; refillPerS: number },
  ): void {
    const most = rule.capacity + Math.ceil(tookS * rule.refillPerS);
    assert.ok(passed.length >= rule.capacity && passed.length <= most, `${passed.length} passed`);
    for (const response of [...passed, ...limited]) {
      assert.equal(numericHeader(response, 'x-ratelimit-limit'), Math.round(rule.refillPerS * 60));
      const untilFullS = numericHeader(response, 'x-ratelimit-reset') - Date.now() / 1_000;
      assert.ok(
        untilFullS > -tookS && untilFullS <= rule.capacity / rule.refillPerS + 1,
        `full in ${untilFullS} s`,
      );
    }
    // Never more than the bucket has. It may report one less: each process uses its own clock, and they may
    // differ.
    const left = passed.map((response) => numericHeader(response, 'x-ratelimit-remaining'));
    const refilled = most - rule.capacity;
    for (let n = 0; n < rule.capacity; n++) {
      const count = left.filter((each) => each >= n).length;
      assert.ok(count <= rule.capacity - n + refilled, `${count} responses report ${n} or more left`);
    }
    for (const [n, each] of left
      .sort((a, b) => b - a)
      .slice(0, rule.capacity)
      .entries()) {
      assert.ok(each >= Math.max(rule.capacity - 2 - n, 0), `${left} left`);
    }
    for (const response of passed) assert.equal(response.headers.get('retry-after'), null);
    for (const response of limited) {
      assert.deepEqual(assertApiError(response, 429, 'rate_limited'), []);
      assert.equal(numericHeader(response, 'x-ratelimit-remaining'), 0);
      const waitS = numericHeader(response, 'retry-after');
      assert.ok(waitS >= 1 && waitS <= 1 / rule.refillPerS, `Retry-After: ${waitS}`);
    }
  }

  it('passes exactly its capacity of parallel requests and reports its state', async () => {
    const { api } = await world.customer(0);
    const result = await burst(() => api.get('/account/tokens'));
    assertHeaders(result, { capacity: CAPACITY, refillPerS: REFILL_PER_S });
    assert.ok(result.passed.every((response) => response.status === 200));
  });

  it('is separate from the limit for deploys', async () => {
    const { api } = await world.customer(0);
    // A request that fails validation still uses a token of the bucket.
    const deploys = await burst(() => api.post('/servers', {}));
    assertHeaders(deploys, { capacity: PROVISION_CAPACITY, refillPerS: PROVISION_REFILL_PER_S });
    assert.ok(deploys.passed.every((response) => response.status === 400));
    const others = await burst(() => api.get('/servers'));
    assertHeaders(others, { capacity: CAPACITY, refillPerS: REFILL_PER_S });
    assertApiError(await api.get('/servers'), 429, 'rate_limited');
  });

  it('belongs to one token, and unknown tokens have none', async () => {
    const { api, token } = await world.customer(0);
    await burst(() => api.get('/servers'));
    const second = await world.customer(0);
    assert.equal((await second.api.get('/servers')).status, 200);
    const stranger = V1Client.forUrl(world.serving.url, `${token.slice(0, -4)}aaaa`);
    const { passed, limited } = await burst(() => stranger.get('/servers'));
    assert.equal(limited.length, 0);
    for (const response of passed) {
      assertApiError(response, 401, 'unauthenticated');
      assert.equal(response.headers.get('x-ratelimit-limit'), null);
    }
  });
});
