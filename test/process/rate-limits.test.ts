/** Token buckets have one state for all processes of a service. */
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

describe('the rate of a token at two processes', FULL_ONLY, () => {
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

  /** Asks so often at once, on connections that the kernel deals out to both. */
  async function burst(
    ask: () => Promise<V1Response>,
  ): Promise<{ passed: V1Response[]; refused: V1Response[]; tookS: number }> {
    const begun = Date.now();
    const answers = await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, ask));
    return {
      passed: answers.filter((answer) => answer.status !== 429),
      refused: answers.filter((answer) => answer.status === 429),
      tookS: (Date.now() - begun) / 1_000,
    };
  }

  function numberIn(answer: V1Response, name: string): number {
    const text = answer.headers.get(name);
    assert.match(text ?? '', /^\d+$/, `${name} of ${answer.status}`);
    return Number(text);
  }

  function assertHeaders(
    { passed, refused, tookS }: Awaited<ReturnType<typeof burst>>,
    rule: { capacity: number; refillPerS: number },
  ): void {
    const most = rule.capacity + Math.ceil(tookS * rule.refillPerS);
    assert.ok(passed.length >= rule.capacity && passed.length <= most, `${passed.length} passed`);
    for (const answer of [...passed, ...refused]) {
      assert.equal(numberIn(answer, 'x-ratelimit-limit'), Math.round(rule.refillPerS * 60));
      const untilFullS = numberIn(answer, 'x-ratelimit-reset') - Date.now() / 1_000;
      assert.ok(
        untilFullS > -tookS && untilFullS <= rule.capacity / rule.refillPerS + 1,
        `full in ${untilFullS} s`,
      );
    }
    // Never more than there is. It may be one less: a draw tells what was left by its own clock, and another's may be ahead.
    const left = passed.map((answer) => numberIn(answer, 'x-ratelimit-remaining'));
    const refilled = most - rule.capacity;
    for (let n = 0; n < rule.capacity; n++) {
      const tellSoMany = left.filter((each) => each >= n).length;
      assert.ok(tellSoMany <= rule.capacity - n + refilled, `${tellSoMany} tell of ${n} or more left`);
    }
    for (const [n, each] of left
      .sort((a, b) => b - a)
      .slice(0, rule.capacity)
      .entries()) {
      assert.ok(each >= Math.max(rule.capacity - 2 - n, 0), `${left} left`);
    }
    for (const answer of passed) assert.equal(answer.headers.get('retry-after'), null);
    for (const answer of refused) {
      assert.deepEqual(assertApiError(answer, 429, 'rate_limited'), []);
      assert.equal(numberIn(answer, 'x-ratelimit-remaining'), 0);
      const waitS = numberIn(answer, 'retry-after');
      assert.ok(waitS >= 1 && waitS <= 1 / rule.refillPerS, `Retry-After: ${waitS}`);
    }
  }

  it('lets exactly its capacity through of many at once, and says how it stands', async () => {
    const { api } = await world.customer(0);
    const got = await burst(() => api.get('/account/tokens'));
    assertHeaders(got, { capacity: CAPACITY, refillPerS: REFILL_PER_S });
    assert.ok(got.passed.every((answer) => answer.status === 200));
  });

  it('is another one for deploys, and neither draws on the other', async () => {
    const { api } = await world.customer(0);
    // What is refused for its shape has drawn.
    const deploys = await burst(() => api.post('/servers', {}));
    assertHeaders(deploys, { capacity: PROVISION_CAPACITY, refillPerS: PROVISION_REFILL_PER_S });
    assert.ok(deploys.passed.every((answer) => answer.status === 400));
    const others = await burst(() => api.get('/servers'));
    assertHeaders(others, { capacity: CAPACITY, refillPerS: REFILL_PER_S });
    assertApiError(await api.get('/servers'), 429, 'rate_limited');
  });

  it('is each token’s own, and none for who has no token', async () => {
    const { api, token } = await world.customer(0);
    await burst(() => api.get('/servers'));
    const second = await world.customer(0);
    assert.equal((await second.api.get('/servers')).status, 200);
    const stranger = V1Client.forUrl(world.serving.url, `${token.slice(0, -4)}aaaa`);
    const { passed, refused } = await burst(() => stranger.get('/servers'));
    assert.equal(refused.length, 0);
    for (const answer of passed) {
      assertApiError(answer, 401, 'unauthenticated');
      assert.equal(answer.headers.get('x-ratelimit-limit'), null);
    }
  });
});
