/** What may happen in a life: each command does the same to the model and to the service. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Life } from './model.ts';
import type { Real } from './real.ts';
import * as rules from './rules.ts';
import type { ModelServer, ModelTopup } from './things.ts';

const SERVERS_MOST = 6;
const INVOICES_OPEN_MOST = 15;
/** Deep enough for every coin and amount. */
const BLOCKS = 30;

type Act = (life: Life, real: Real) => Promise<void>;
type Command = fc.AsyncCommand<Life, Real>;

/** A command that is written out when a life fails. What it began has come to rest when it is over, unless it begins nothing. */
function command(
  text: string,
  act: Act,
  options: { check?: (life: Readonly<Life>) => boolean; begins?: false } = {},
): Command {
  return {
    check: (life) => life.now < life.end && (options.check?.(life) ?? true),
    run: async (life, real) => {
      await act(life, real);
      await (options.begins === false ? real.compare(life) : real.pass(life));
    },
    toString: () => text,
  };
}

const advance = fc
  .oneof(
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 47 }).map((hours) => hours * rules.HOUR_MS) },
    { weight: 5, arbitrary: fc.integer({ min: 2, max: 13 }).map((days) => days * rules.DAY_MS) },
    { weight: 3, arbitrary: fc.integer({ min: 14, max: 65 }).map((days) => days * rules.DAY_MS) },
  )
  .map(
    (ms): Command => ({
      check: (life) => life.now < life.end,
      run: (life, real) => real.pass(life, ms),
      toString: () => `pass ${ms / rules.HOUR_MS} h`,
    }),
  );

const order = fc.record({
  plan: fc.constantFrom<rules.Plan>('s1', 's1', 's1', 's2', 's2', 's3', 'r1'),
  months: fc.constantFrom<rules.Months>(1, 1, 1, 1, 1, 3, 3, 6, 12),
  autoRenew: fc.constantFrom(true, true, true, true, true, false),
});

/** Orders a server, or is refused, as the model says. */
export async function deploy(
  life: Life,
  real: Real,
  what: typeof order extends fc.Arbitrary<infer T> ? T : never,
) {
  const answer = await real.api.post('/servers', {
    ...{ name: 'a-server', plan: what.plan, region: 'par', image: real.imageId, ssh_keys: [real.keyId] },
    ...{ billing_months: what.months, auto_renew: what.autoRenew },
  });
  const status = life.deploy(what, () => ({ id: answer.body.id, at: Date.parse(answer.body.created_at) }));
  assert.equal(answer.status, status, answer.text);
}

const deploying = order.map((what) =>
  command(
    `deploy ${what.plan} for ${what.months} months${what.autoRenew ? '' : ', not renewed'}`,
    (life, real) => deploy(life, real, what),
    { check: (life) => life.alive.length < SERVERS_MOST },
  ),
);

const regretting = order.map((what) =>
  command(
    `deploy ${what.plan} for ${what.months} months and destroy it at once`,
    async (life, real) => {
      const before = life.servers.length;
      await deploy(life, real, what);
      const server = life.servers[before];
      if (!server) return;
      assert.equal((await real.api.delete(`/servers/${server.id}`)).status, 202);
      life.regret(server);
    },
    {
      // Between the debit and the refund the service may warn of a low balance, or not.
      check: (life) =>
        life.alive.length < SERVERS_MOST &&
        life.alive.every((server) => server.windowOf !== server.paidUntil),
    },
  ),
);

const invoicing = fc
  .record({
    coin: fc.constantFrom(...(Object.keys(rules.COINS) as rules.Coin[])),
    cents: fc.oneof(fc.integer({ min: 3_000, max: 9_999 }), fc.constantFrom(10_000, 25_000, 50_000)),
  })
  .map(({ coin, cents }) =>
    command(
      `order a top-up of ${cents} cents in ${coin}`,
      async (life, real) => {
        const answer = await real.api.post('/billing/topup', { coin, amount_usd: cents / 100 });
        assert.equal(answer.status, 201, answer.text);
        const { id, deposit_address: address, deposit_amount, rate_usd, expires_at } = answer.body;
        const [asked, usd] = [BigInt(cents), life.rateOf(coin)];
        const units = rules.unitsFor(asked, coin, usd);
        assert.deepEqual([rules.coinUnits(deposit_amount, coin), rate_usd], [units, usd]);
        life.invoice({ id, coin, address, asked, units, usd, expiresAt: Date.parse(expires_at) });
      },
      {
        check: (life) => life.topups.filter(({ status }) => status === 'pending').length < INVOICES_OPEN_MOST,
        begins: false,
      },
    ),
  );

/** In thousandths of what is asked; most pay the newest invoice, as it is asked. */
const paying = fc
  .record({
    back: fc.constantFrom(1, 1, 1, 1, 2, 3, 5),
    parts: fc.constantFrom(1_000, 1_000, 1_000, 996, 994, 300, 600, 1_001, 1_700, 4_000),
  })
  .map(({ back, parts }) =>
    command(
      `pay ${parts / 10} % of the invoice before ${back}`,
      async (life, real) => {
        const topup = life.topups.at(-back) as ModelTopup;
        const units = (topup.units * BigInt(parts)) / 1_000n;
        const amount = rules.coinText(units, topup.coin);
        await real.sandbox('payments', { coin: topup.coin, address: topup.address, amount });
        await real.sandbox('blocks', { coin: topup.coin, count: BLOCKS });
        life.pay(topup, units);
      },
      { check: (life) => life.topups.length >= back },
    ),
  );

function give(text: string, centsOf: (life: Readonly<Life>) => bigint): Command {
  return command(
    `the operator gives ${text}`,
    async (life, real) => {
      const cents = centsOf(life);
      await real.give(cents);
      life.gift(cents);
    },
    { check: (life) => centsOf(life) > 0n },
  );
}

/** What the server lacks that has waited longest for its cycle, or the next one that will be charged. */
function lack(life: Readonly<Life>): bigint {
  const waiting = life.waiting()[0];
  const next = life.alive.toSorted((a, b) => a.paidUntil - b.paidUntil)[0];
  return ((waiting ?? next)?.price ?? 0n) - life.balance;
}

const giving = fc.oneof(
  fc.integer({ min: 1, max: 4_000 }).map((cents) => give(`${cents} cents`, () => BigInt(cents))),
  fc.constant(give('what is lacking', lack)),
  fc.constant(give('a cent less than is lacking', (life) => lack(life) - 1n)),
);

const rating = fc
  .constantFrom<[rules.Coin, string]>(
    ['LTC', '75.5'],
    ['LTC', '123.456789'],
    ['XMR', '149.99'],
    ['XMR', '310.07'],
  )
  .map(([coin, usd]) =>
    command(
      `${coin} costs ${usd}`,
      async (life, real) => {
        await real.sandbox('rates', { coin, usd });
        life.rates.set(coin, usd);
      },
      { begins: false },
    ),
  );

type OnServer = (life: Life, real: Real, server: ModelServer) => Promise<void>;
const anyServer = fc.nat({ max: SERVERS_MOST - 1 });

function onServer(what: string, act: OnServer, options: { begins?: false } = {}): fc.Arbitrary<Command> {
  return anyServer.map((index) =>
    command(
      `${what} server ${index}`,
      async (life, real) => {
        const server = life.alive[index % life.alive.length];
        if (server) await act(life, real, server);
      },
      { check: (life) => life.alive.length > 0, ...options },
    ),
  );
}

const stopping = onServer('stop', async (life, real, server) => {
  const answer = await real.api.post(`/servers/${server.id}/stop`);
  assert.equal(answer.status, life.stop(server), answer.text);
});

const starting = onServer('start', async (life, real, server) => {
  const answer = await real.api.post(`/servers/${server.id}/start`);
  assert.equal(answer.status, life.start(server), answer.text);
});

const destroying = onServer('destroy', async (life, real, server) => {
  const answer = await real.api.delete(`/servers/${server.id}`);
  assert.equal(answer.status, 202, answer.text);
  life.destroy(server);
});

function renewing(on: boolean): fc.Arbitrary<Command> {
  return onServer(
    on ? 'renew' : 'do not renew',
    async (life, real, server) => {
      const answer = await real.api.patch(`/servers/${server.id}`, { auto_renew: on });
      assert.equal(answer.status, 200, answer.text);
      life.setAutoRenew(server, on);
    },
    { begins: false },
  );
}

const weighted = (weight: number, arbitrary: fc.Arbitrary<Command>) => ({ weight, arbitrary });

export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  weighted(12, advance),
  ...[weighted(8, deploying), weighted(1, regretting), weighted(2, destroying)],
  ...[weighted(3, invoicing), weighted(4, paying), weighted(5, giving), weighted(1, rating)],
  ...[
    weighted(2, stopping),
    weighted(3, starting),
    weighted(2, renewing(true)),
    weighted(1, renewing(false)),
  ],
);
