import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import type { CustomerActor } from '../../src/domain/context.ts';
import { runIdempotent } from '../../src/domain/idempotency.ts';
import { credit } from '../../src/domain/ledger/transfer.ts';
import { Failure, fail } from '../../src/kernel/fail.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { FailureCode } from '../../src/spec/errors.ts';
import { readBalance } from '../../src/store/ledger/ledger.ts';
import type { TestService } from '../support/test-service.ts';
import { assertRefused, IdempotencyWorld } from './idempotency-world.ts';

/** The module as another process would load it, with its own in-flight requests. */
const otherProcess = (await import(
  `${new URL('../../src/domain/idempotency.ts', import.meta.url).href}?elsewhere`
)) as { runIdempotent: typeof runIdempotent };

let client: IdempotencyWorld;
let world: TestService;

before(async () => {
  client = await IdempotencyWorld.open();
  world = client.world;
});
after(() => world.close());
beforeEach(() => client.renew());

describe('two requests with one key at the same time', { timeout: 20_000 }, () => {
  /** Returns work that waits in its transaction until released, then succeeds or fails. */
  function slow(failure?: FailureCode) {
    const entered = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const work = ({ saveResponse }: CustomerActor): Promise<object> =>
      world.db.transaction(async (tx) => {
        const response = { ok: true, number: 1 };
        await saveResponse?.(tx, response);
        entered.resolve();
        await release.promise;
        if (failure) fail(failure);
        return response;
      });
    return { work, entered: entered.promise, release: () => release.resolve() };
  }

  for (const [where, other] of [
    ['in one process', runIdempotent],
    ['in two processes', otherProcess.runIdempotent],
  ] as const) {
    it(`${where}: a concurrent second request waits and gets the first response`, async () => {
      const { work, entered, release } = slow();
      const first = runIdempotent(world.service, client.request(), work);
      await entered;
      const second = other(world.service, client.request(), client.run);
      await waitingOrQueued();
      release();
      assert.deepEqual(await second, { ...(await first), replayed: true });
      assert.equal(await client.spent(), 0n);
    });

    it(`${where}: a concurrent second request runs when the first fails`, async () => {
      const { work, entered, release } = slow('out_of_stock');
      const first = runIdempotent(world.service, client.request(), work).catch((error: unknown) => error);
      await entered;
      const second = other(world.service, client.request(), client.run);
      await waitingOrQueued();
      release();
      const [refused, acted] = await Promise.all([first, second]);
      assert.ok(!acted.replayed);
      assert.equal(await client.spent(), 100n);
      // The first looks for a stored response before it returns its failure. By then the second may have one.
      if (!(refused instanceof Failure)) assert.deepEqual(refused, { ...acted, replayed: true });
      else assert.equal(refused.code, 'out_of_stock');
    });

    it(`${where}: a concurrent different request is a conflict`, async () => {
      const { work, entered, release } = slow();
      const first = runIdempotent(world.service, client.request(), work);
      await entered;
      const second = assertRefused(
        'idempotency_conflict',
        other(world.service, client.request({ body: {} }), client.run),
      );
      await waitingOrQueued();
      release();
      await Promise.all([first, second]);
      assert.equal(await client.spent(), 0n);
    });
  }

  /** Lets requests continue until a statement waits for a lock or all are idle. */
  async function waitingOrQueued(): Promise<void> {
    for (let quiet = 0; quiet < 5; ) {
      const row = await world.db.row<{ waiting: boolean; busy: boolean }>(
        `select coalesce(bool_or(wait_event_type = 'Lock'), false) as waiting,
                coalesce(bool_or(state = 'active' and pid <> pg_backend_pid()), false) as busy
           from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`,
      );
      if (row?.waiting) return;
      quiet = row?.busy ? 0 : quiet + 1;
    }
  }

  it('a concurrent request is a conflict when the first takes longer than 30 seconds', async () => {
    const { work, entered, release } = slow();
    const first = runIdempotent(world.service, client.request(), work);
    await entered;
    // Thirty seconds pass at once. All other timers are real.
    const { setTimeout: real } = globalThis;
    mock.method(globalThis, 'setTimeout', (rise: () => void, ms = 0) =>
      real(rise, ms > 29_000 && ms <= 30_000 ? 0 : ms),
    );
    await assertRefused('idempotency_conflict', runIdempotent(world.service, client.request(), client.run));
    mock.restoreAll();
    release();
    await first;
    assert.ok((await client.send()).replayed);
    assert.equal(await client.spent(), 0n);
  });

  it('concurrent requests in any number of processes are one change with one response', async () => {
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 ? runIdempotent : otherProcess.runIdempotent)(world.service, client.request(), client.run),
      ),
    );
    assert.equal(await client.spent(), 100n);
    assert.equal(responses.filter(({ replayed }) => !replayed).length, 1);
    const [first, ...others] = responses;
    for (const { response, requestId } of others) {
      assert.deepEqual(
        { response: response, requestId },
        { response: first?.response, requestId: first?.requestId },
      );
    }
  });

  it('concurrent requests share one response even if the first spent the last of the balance', async () => {
    await client.renew(100n);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? runIdempotent : otherProcess.runIdempotent)(world.service, client.request(), client.run),
      ),
    );
    assert.equal(await readBalance(world.db, client.actor.customerId), 0n);
    assert.equal(new Set(responses.map(({ requestId }) => requestId)).size, 1);
  });

  it('concurrent requests that both fail return the failure to both', async () => {
    await client.renew(99n);
    const both = [
      runIdempotent(world.service, client.request(), client.run),
      otherProcess.runIdempotent(world.service, client.request(), client.run),
    ];
    await Promise.all(both.map((each) => assertRefused('insufficient_balance', each)));
    const fact = `idempotency:${newId(new Date())}`;
    const movement = {
      customerId: client.actor.customerId,
      account: 'adjustments',
      amountCents: 1n,
      fact,
    } as const;
    await credit(world.db, { ...movement, type: 'adjustment', description: 'test' }, world.clock.now());
    assert.ok(!(await client.send()).replayed);
  });
});
