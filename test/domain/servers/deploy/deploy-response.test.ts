/** A deploy with an Idempotency-Key: its statement also stores the response. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor, Service } from '../../../../src/domain/context.ts';
import { type IdempotentResult, runIdempotent } from '../../../../src/domain/idempotency.ts';
import { deploy } from '../../../../src/domain/servers/deploy/deploy.ts';
import { serverObject } from '../../../../src/domain/servers/object.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { formatId, newId } from '../../../../src/kernel/ids.ts';
import { LIMITS } from '../../../../src/spec/limits.ts';
import { dumpTables } from '../../../support/dump-tables.ts';
import { S1 } from '../../../support/fixtures.ts';
import { startTestService, type TestService } from '../../../support/test-service.ts';

/** The module as another process would load it, with its own requests in progress. */
const otherProcess = (await import(
  `${new URL('../../../../src/domain/idempotency.ts', import.meta.url).href}?elsewhere`
)) as { runIdempotent: typeof runIdempotent };

const PRICE = S1.price_cents_month;
let world: TestService;
let actor: CustomerActor;

before(async () => {
  world = await startTestService();
  await world.fixtures.addPlans(['par'], [S1]);
  await world.fixtures.addHosts([60]);
  await world.fixtures.addAddresses(60);
});
after(() => world.close());
beforeEach(async () => {
  actor = await world.fixtures.addCustomer(PRICE * 3n);
});

interface Sent {
  readonly run?: typeof runIdempotent;
  readonly service?: Service;
  /** Runs after the key was looked up, before the deploy. */
  readonly first?: () => Promise<unknown>;
  readonly plan?: string;
}

/** Orders a server with the key `once`. */
function order({ run = runIdempotent, service = world.service, first, plan = 's1' }: Sent = {}) {
  const request = {
    actor: { ...actor, requestId: formatId('request', newId(new Date())) },
    key: 'once',
    credential: 'skerry_live_credential',
    request: { method: 'POST', path: '/v1/servers', query: {}, body: { plan } },
    status: 201,
  };
  const place = async (by: CustomerActor): Promise<object> => {
    await first?.();
    const { server } = await deploy(service, by, world.fixtures.buildOrder(), { respond: serverObject });
    return serverObject(server);
  };
  return run(service, request, place);
}

const servers = () => world.db.rows('select id from servers where customer_id = $1', [actor.customerId]);

function assertReplayOf(first: IdempotentResult, other: IdempotentResult): void {
  const { body } = first.response;
  assert.deepEqual(other, {
    ...first,
    response: { status: 201, body: JSON.parse(JSON.stringify(body)) as object },
    replayed: true,
  });
}

async function assertConflict(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => error instanceof Failure && error.code === 'idempotency_conflict');
}

describe('a deploy with a key', { timeout: 30_000 }, () => {
  it('a deploy stores its response without a transaction, and a repeated request gets it', async () => {
    const texts: string[] = [];
    const row: Service['db']['row'] = async (text, values) => {
      texts.push(text);
      return await world.db.row(text, values);
    };
    const transaction = () => assert.fail('a deploy with a key opened a transaction');
    const service = { ...world.service, db: { ...world.db, row, run: transaction, transaction } };
    const made = await order({ service });
    assert.equal(texts.length, 1);
    assert.ok(!made.replayed);
    assertReplayOf(made, await order({ service }));
    assert.equal((await servers()).length, 1);
    await world.assertInvariants();
  });

  it('a deploy whose key is taken meanwhile leaves nothing and returns the other response', async () => {
    let made: IdempotentResult | undefined;
    let before: unknown;
    const first = async () => {
      made = await order({ run: otherProcess.runIdempotent });
      before = await dumpTables(world.db);
    };
    const second = await order({ first });
    assert.ok(made);
    assertReplayOf(made, second);
    assert.deepEqual(await dumpTables(world.db), before);
    assert.equal((await servers()).length, 1);
  });

  it('a deploy whose key a different request takes is a conflict and leaves nothing', async () => {
    let before: unknown;
    const first = async () => {
      await order({ run: otherProcess.runIdempotent, plan: 's2' });
      before = await dumpTables(world.db);
    };
    await assertConflict(order({ first }));
    assert.deepEqual(await dumpTables(world.db), before);
  });

  it('deploys with one key at two processes make one server and have one response', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) => order(n % 2 ? { run: otherProcess.runIdempotent } : {})),
    );
    const made = results.find(({ replayed }) => !replayed);
    assert.ok(made);
    for (const other of results) if (other !== made) assertReplayOf(made, other);
    assert.equal((await servers()).length, 1);
    await world.assertInvariants();
  });

  it('a deploy replaces the response of a key that has expired', async () => {
    const expired = await order();
    world.clock.advanceS(LIMITS.idempotencyRetentionHours * 3_600 + 1);
    const made = await order();
    assert.notDeepEqual(made.response.body, expired.response.body);
    assertReplayOf(made, await order());
    assert.equal((await servers()).length, 2);
  });

  it('a deploy of a limited token stores its response too', async () => {
    const tokenId = newId(world.clock.now());
    await world.db.run(
      `insert into api_tokens (id, customer_id, name, scope, digest, created_at, limit_chain, limits)
       values ($1, $2, 'limited', 'write', $3, now(), array[$1]::uuid[], '{}')`,
      [tokenId, actor.customerId, Buffer.from(tokenId)],
    );
    const limits = { chain: [tokenId] } as unknown as NonNullable<CustomerActor['limits']>;
    actor = { ...actor, limits };
    const made = await order();
    assertReplayOf(made, await order());
    assert.equal((await servers()).length, 1);
  });
});
