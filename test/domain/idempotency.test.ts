import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor, Service } from '../../src/domain/context.ts';
import { runIdempotent } from '../../src/domain/idempotency.ts';
import { fail } from '../../src/kernel/fail.ts';
import { KeyRing } from '../../src/kernel/secrets.ts';
import type { TestService } from '../support/test-service.ts';
import { assertRefused, CANARY, CREDENTIAL, IdempotencyWorld } from './idempotency-world.ts';

const HOUR_S = 3_600;

let client: IdempotencyWorld;
let world: TestService;

before(async () => {
  client = await IdempotencyWorld.open();
  world = client.world;
});
after(() => world.close());
beforeEach(() => client.renew());

describe('a request with an Idempotency-Key', () => {
  it('a repeated request returns the first response without running again', async () => {
    const sent = client.request();
    const first = await runIdempotent(world.service, sent, client.run);
    assert.deepEqual(first, {
      response: { status: 200, body: { ok: true, number: 1, secret: CANARY } },
      replayed: false,
      requestId: sent.actor.requestId,
    });
    assert.deepEqual(await client.send(), { ...first, replayed: true });
    assert.deepEqual([client.runs, await client.spent()], [1, 100n]);
  });

  it('a request matches regardless of the order of keys, but not of list items', async () => {
    await client.send({ body: { a: { x: 1, y: [1, 2] }, b: 2 } });
    assert.ok((await client.send({ body: { b: 2, a: { y: [1, 2], x: 1 } } })).replayed);
    await assertRefused('idempotency_conflict', client.send({ body: { a: { x: 1, y: [2, 1] }, b: 2 } }));
    await client.send({ key: 'key-2', body: { rules: [] } });
    await assertRefused('idempotency_conflict', client.send({ key: 'key-2', body: { rules: {} } }));
  });

  it('a key with another body, path, method, or query is a conflict', async () => {
    await client.send();
    const base = client.request().request;
    for (const other of [
      { ...base, body: { plan: 's1', months: 3 } },
      { ...base, body: { plan: 's1' } },
      { ...base, body: { plan: 's1', months: '1' } },
      { ...base, path: '/topup-api.php' },
      { ...base, method: 'PUT' },
      { ...base, query: { hard: 'true' } },
    ]) {
      await assertRefused('idempotency_conflict', client.send({ request: other }));
    }
    assert.deepEqual([client.runs, await client.spent()], [1, 100n]);
  });

  it('a key with another credential is a conflict, because the response cannot be opened', async () => {
    await client.send();
    await assertRefused('idempotency_conflict', client.send({ credential: 'skerry_live_other' }));
    assert.ok((await client.send()).replayed);
  });

  it('another key, or the same key of another customer, is independent', async () => {
    await client.send();
    assert.ok(!(await client.send({ key: 'key-2' })).replayed);
    const other = await world.fixtures.addCustomer(1_000n);
    assert.ok(!(await client.send({ actor: other })).replayed);
    assert.equal(client.runs, 3);
  });

  it('a request runs again after a failure that was not stored', async () => {
    const refuse = async (): Promise<object> => fail('out_of_stock');
    await assertRefused('out_of_stock', runIdempotent(world.service, client.request(), refuse));
    assert.ok(!(await client.send()).replayed);
    assert.equal(client.runs, 1);
  });

  it('a response is stored after the change if the change did not store it', async () => {
    const respond = async () => ({ ok: true, number: 7 });
    assert.ok(!(await runIdempotent(world.service, client.request(), respond)).replayed);
    const again = await client.send();
    assert.deepEqual([again.replayed, again.response.body], [true, { ok: true, number: 7 }]);
    assert.equal(client.runs, 0);
  });

  it('failures are stored only if the API asks for it', async () => {
    let tries = 0;
    const refuse = async (): Promise<object> => {
      tries += 1;
      return fail('conflict_state');
    };
    const kept = { status: 409, body: { error: 'conflict' } };
    const request = { ...client.request(), refusal: () => kept };
    await assertRefused('conflict_state', runIdempotent(world.service, request, refuse));
    const again = await runIdempotent(world.service, { ...client.request(), refusal: () => kept }, refuse);
    assert.deepEqual([again.replayed, again.response, tries], [true, kept, 1]);
    const passing = { ...client.request({ key: 'key-2' }), refusal: () => undefined };
    await assertRefused('conflict_state', runIdempotent(world.service, passing, refuse));
    await assertRefused('conflict_state', runIdempotent(world.service, passing, refuse));
    assert.equal(tries, 3);
  });

  it('a rolled-back change leaves no response', async () => {
    const mine = new Error('mine');
    const broken = async ({ saveResponse }: CustomerActor): Promise<object> =>
      world.db.transaction(async (tx) => {
        await saveResponse?.(tx, { ok: true });
        throw mine;
      });
    await assert.rejects(runIdempotent(world.service, client.request(), broken), mine);
    assert.ok(!(await client.send()).replayed);
  });
});

describe('a request without a key', () => {
  it('a request without a key runs every time', async () => {
    const first = await client.send({ key: undefined });
    const second = await client.send({ key: undefined });
    assert.deepEqual([first.replayed, second.replayed, client.runs], [false, false, 2]);
  });
});

describe('a key', () => {
  it('an Idempotency-Key must be 1 to 255 visible ASCII characters', async () => {
    for (const key of ['a', '~!"#', 'k'.repeat(255), '6f0c5a2e-0d7a-4a3b-9c39-6d1c1f6f7a10']) {
      assert.ok(!(await client.send({ key })).replayed, key);
    }
    const count = client.runs;
    for (const key of ['', 'k'.repeat(256), 'a b', 'a\n', 'ü', 'a\u0000', '\u007f', ' a', '☃']) {
      await assertRefused('bad_request', client.send({ key }));
    }
    assert.equal(client.runs, count);
  });

  it('a key is stored for 24 hours of the business clock', async () => {
    await client.send();
    world.clock.advanceS(24 * HOUR_S - 1);
    assert.ok((await client.send()).replayed);
    world.clock.advanceS(1);
    const again = await client.send();
    assert.deepEqual([again.replayed, client.runs], [false, 2]);
    assert.ok((await client.send()).replayed);
  });

  it('an expired key may be used for another request', async () => {
    await client.send();
    world.clock.advanceS(24 * HOUR_S);
    const other = await client.send({ body: { plan: 's2' } });
    assert.ok(!other.replayed);
    assert.deepEqual((await client.send({ body: { plan: 's2' } })).response, other.response);
  });
});

describe("the service's keys", () => {
  const withKeys = (keys: string): Service => ({ ...world.service, keys: new KeyRing(keys) });
  const [OLD, NEW] = ['old', 'new'].map((id, n) => `${id}:${Buffer.alloc(32, n + 1).toString('base64')}`);

  it('a response from before a key rotation is replayed after it', async () => {
    await client.send({}, withKeys(`${OLD}`));
    assert.ok((await client.send({}, withKeys(`${NEW},${OLD}`))).replayed);
    await assertRefused('idempotency_conflict', client.send({ body: {} }, withKeys(`${NEW},${OLD}`)));
  });

  it('a removed service key turns old keys into conflicts, never into second charges', async () => {
    await client.send({}, withKeys(`${OLD}`));
    await assertRefused('idempotency_conflict', client.send({}, withKeys(`${NEW}`)));
    assert.deepEqual([client.runs, await client.spent()], [1, 100n]);
  });
});

describe('a stored response', () => {
  it('a stored response reveals no secret, key, credential, or body', async () => {
    await client.send({ key: 'key-canary-77', body: { password: 'body-canary' } });
    const rows = await world.db.rows<{ answer: Buffer; text: string }>(
      `select answer, t::text || encode(answer, 'escape') || encode(key_digest, 'escape') as text
         from idempotency t
        where customer_id = $1`,
      [client.actor.customerId],
    );
    assert.equal(rows.length, 1);
    for (const { answer, text } of rows) {
      for (const canary of [CANARY, CREDENTIAL, 'key-canary-77', 'body-canary', '"ok"']) {
        assert.ok(!text.includes(canary) && !answer.includes(canary), canary);
      }
    }
  });
});
