/**
 * One balance and two APIs under load: for every random order of deploys, exactly the paid servers are sold.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { verify } from '../src/domain/verify/verify.ts';
import { byLevel, IS_FULL_RUN } from './support/runs.ts';
import { PASSWORD, SessionClient } from './support/session-client.ts';
import { createApiToken, V1Client } from './support/v1-client.ts';
import { startWorld, type World } from './support/world.ts';

const AFFORDABLE_SERVERS = 7;
const SEEDS = byLevel({ sample: 1, full: 2, soak: 20 });
const DEPLOY_COUNT = IS_FULL_RUN ? 2_000 : 200;
/** The price of every plan in the race, so the affordable number does not depend on the plan. */
const PRICE_CENTS = 505n;

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
const PLANS = ['s1', 's2', 's3'] as const;
/** Region codes of the REST API and of the session API. */
const REGIONS = [
  ['par', 'par'],
  ['rkv', 'rek'],
  ['zrh', 'zrh'],
  ['buh', 'otp'],
] as const;

interface Order {
  readonly plan: (typeof PLANS)[number];
  readonly region: (typeof REGIONS)[number];
  /**
   * An index into a few Idempotency-Keys; null: none. Orders with the same key on the same API are one order.
   */
  readonly key: number | null;
}
type Surface = 'session' | 'rest';

const ORDER: fc.Arbitrary<Order> = fc.record({
  plan: fc.constantFrom(...PLANS),
  region: fc.constantFrom(...REGIONS),
  key: fc.option(fc.nat({ max: 30 }), { freq: 2 }),
});
/** Half of the orders use each API, in random order. */
const RACE = fc
  .tuple(
    fc.array(ORDER, { minLength: DEPLOY_COUNT, maxLength: DEPLOY_COUNT }),
    fc.infiniteStream(fc.nat({ max: 2 ** 31 - 1 })),
    fc.bigInt({ min: 0n, max: PRICE_CENTS - 1n }),
  )
  .map(([orders, dice, leftoverCents]) => {
    const halves = orders.map((order, n) => ({ order, surface: (n % 2 ? 'rest' : 'session') as Surface }));
    const shuffled = halves.map((entry) => ({ entry, at: dice.next().value as number }));
    return { runners: shuffled.sort((a, b) => a.at - b.at).map(({ entry }) => entry), leftoverCents };
  });

interface Outcome {
  /** The id of the server on its API; null: rejected. */
  readonly sold: string | null;
  readonly error: string | null;
}

describe(`${DEPLOY_COUNT} parallel deploys over both APIs`, () => {
  let world: World;
  before(async () => {
    // No order is refused for load: all of them race for the balance, on a slow machine too.
    world = await startWorld({ SKERRY_PROVISION_RATE_CAPACITY: '1000000', SKERRY_OVERLOAD_MS: '0' });
    await world.opened.db.run('update plans set price_cents_month = $1 where id = any($2)', [
      PRICE_CENTS,
      PLANS,
    ]);
  });
  after(() => world.close());

  async function buyer(balanceCents: bigint): Promise<{ session: SessionClient; api: V1Client }> {
    const session = SessionClient.forApp(world.http);
    await session.signUp();
    await world.addBalance(session, balanceCents);
    return { session, api: V1Client.forApp(world.http, await createApiToken(session)) };
  }

  for (let n = 0; n < SEEDS; n++) {
    const seed = randomInt(2 ** 31);
    it(`sell exactly the ${AFFORDABLE_SERVERS} servers that the balance covers (seed ${seed})`, async () => {
      const [race] = fc.sample(RACE, { seed, numRuns: 1 });
      assert.ok(race);
      const { session, api } = await buyer(BigInt(AFFORDABLE_SERVERS) * PRICE_CENTS + race.leftoverCents);
      const rest = await restDeployer(api);
      const run = { session: sessionDeployer(session), rest };
      const outcomes = await Promise.all(race.runners.map(({ order, surface }) => run[surface](order)));
      const sold = new Set(outcomes.flatMap((outcome) => outcome.sold ?? []));
      assert.equal(sold.size, AFFORDABLE_SERVERS);
      const errors = new Set(outcomes.flatMap((outcome) => outcome.error ?? []));
      assert.deepEqual([...errors], ['insufficient_balance']);
      const left = Number(race.leftoverCents) / 100;
      assert.equal((await api.get('/billing/balance')).body.usd, left);
      assert.equal((await session.get('/me.php')).body.balance, left);
      assert.equal((await api.get('/servers?page_size=100')).body.data.length, AFFORDABLE_SERVERS);
      assert.equal(
        (await api.get('/billing/ledger?filter[type]=charge&page_size=100')).body.data.length,
        AFFORDABLE_SERVERS,
      );
      await world.settle();
      const servers = (await api.get('/servers?page_size=100')).body.data as { status: string }[];
      assert.deepEqual([...new Set(servers.map((server) => server.status))], ['running']);
      const broken = (await verify(world.opened.service)).filter((finding) => finding.broken > 0n);
      assert.deepEqual(
        broken.map((finding) => finding.invariant.name),
        [],
      );
    });
  }
});

function sessionDeployer(session: SessionClient): (order: Order) => Promise<Outcome> {
  return async ({ plan, region: [, region], key }) => {
    // The key identifies the order, so it includes the plan, the region, and the API.
    const headers = key === null ? {} : { 'idempotency-key': `session-${plan}-${region}-${key}` };
    const form = { product: 'vps', plan, region, os: 'debian', billing: 1, root_password: PASSWORD };
    const { status, body } = await session.post('/deploy-api.php', form, { headers });
    assert.equal(status, 200);
    return body.ok === true
      ? { sold: `session ${body.server_id}`, error: null }
      : { sold: null, error: String(body.error) };
  };
}

async function restDeployer(api: V1Client): Promise<(order: Order) => Promise<Outcome>> {
  const images = (await api.get('/images?filter[family]=debian&filter[type]=official')).body.data;
  const image = images.find(
    (candidate: { deprecated_at: string | null }) => candidate.deprecated_at === null,
  ).id;
  const sshKey = await api.post('/ssh-keys', { name: 'mine', public_key: PUBLIC_KEY });
  const order = { name: 'web-1', image, ssh_keys: [sshKey.body.id] };
  return async ({ plan, region: [region], key: number }) => {
    const extra = number === null ? {} : { key: `rest-${plan}-${region}-${number}` };
    const { status, body } = await api.post('/servers', { ...order, plan, region }, extra);
    if (status === 201) return { sold: `rest ${body.id}`, error: null };
    assert.equal(status, 422);
    return { sold: null, error: body.error.errors[0].issue };
  };
}
