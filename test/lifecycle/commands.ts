/** What may happen in a life: each command does the same to the model and to the service. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CustomerModel } from './model.ts';
import type { RealCustomer } from './real-customer.ts';
import type { ModelServer, ModelTopup } from './resources.ts';
import * as rules from './rules.ts';

const MAX_SERVERS = 6;
const MAX_OPEN_INVOICES = 15;
/** Deep enough for every coin and amount. */
const BLOCKS = 30;

type Action = (life: CustomerModel, real: RealCustomer) => Promise<void>;
type Command = fc.AsyncCommand<CustomerModel, RealCustomer>;

/** A command that is written out when a life fails. What it began has come to rest when it is over, unless it begins nothing. */
function command(
  text: string,
  act: Action,
  options: { check?: (life: Readonly<CustomerModel>) => boolean; startsWork?: false } = {},
): Command {
  return {
    check: (life) => life.now < life.end && (options.check?.(life) ?? true),
    run: async (life, real) => {
      await act(life, real);
      await (options.startsWork === false ? real.compare(life) : real.advance(life));
    },
    toString: () => text,
  };
}

const advanceCommand = fc
  .oneof(
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 47 }).map((hours) => hours * rules.HOUR_MS) },
    { weight: 5, arbitrary: fc.integer({ min: 2, max: 13 }).map((days) => days * rules.DAY_MS) },
    { weight: 3, arbitrary: fc.integer({ min: 14, max: 65 }).map((days) => days * rules.DAY_MS) },
  )
  .map(
    (ms): Command => ({
      check: (life) => life.now < life.end,
      run: (life, real) => real.advance(life, ms),
      toString: () => `pass ${ms / rules.HOUR_MS} h`,
    }),
  );

const orderArbitrary = fc.record({
  plan: fc.constantFrom<rules.Plan>('s1', 's1', 's1', 's2', 's2', 's3', 'r1'),
  months: fc.constantFrom<rules.Months>(1, 1, 1, 1, 1, 3, 3, 6, 12),
  autoRenew: fc.constantFrom(true, true, true, true, true, false),
});

/** Orders a server, or is refused, as the model says. */
export async function deploy(
  life: CustomerModel,
  real: RealCustomer,
  spec: typeof orderArbitrary extends fc.Arbitrary<infer T> ? T : never,
) {
  const answer = await real.api.post('/servers', {
    ...{ name: 'a-server', plan: spec.plan, region: 'par', image: real.imageId, ssh_keys: [real.keyId] },
    ...{ billing_months: spec.months, auto_renew: spec.autoRenew },
  });
  const status = life.deploy(spec, () => ({ id: answer.body.id, at: Date.parse(answer.body.created_at) }));
  assert.equal(answer.status, status, answer.text);
}

const deployCommand = orderArbitrary.map((spec) =>
  command(
    `deploy ${spec.plan} for ${spec.months} months${spec.autoRenew ? '' : ', not renewed'}`,
    (life, real) => deploy(life, real, spec),
    { check: (life) => life.activeServers.length < MAX_SERVERS },
  ),
);

const deployAndDestroyCommand = orderArbitrary.map((spec) =>
  command(
    `deploy ${spec.plan} for ${spec.months} months and destroy it at once`,
    async (life, real) => {
      const before = life.servers.length;
      await deploy(life, real, spec);
      const server = life.servers[before];
      if (!server) return;
      assert.equal((await real.api.delete(`/servers/${server.id}`)).status, 202);
      life.destroyBeforeFirstRun(server);
    },
    {
      // Between the debit and the refund the service may warn of a low balance, or not.
      check: (life) =>
        life.activeServers.length < MAX_SERVERS &&
        life.activeServers.every((server) => server.windowOpenedFor !== server.paidUntil),
    },
  ),
);

const invoiceCommand = fc
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
        const [requested, usd] = [BigInt(cents), life.rateOf(coin)];
        const units = rules.unitsFor(requested, coin, usd);
        assert.deepEqual([rules.parseCoin(deposit_amount, coin), rate_usd], [units, usd]);
        life.invoice({ id, coin, address, asked: requested, units, usd, expiresAt: Date.parse(expires_at) });
      },
      {
        check: (life) => life.topups.filter(({ status }) => status === 'pending').length < MAX_OPEN_INVOICES,
        startsWork: false,
      },
    ),
  );

/** In thousandths of what is asked; most pay the newest invoice, as it is asked. */
const payCommand = fc
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
        const amount = rules.formatCoin(units, topup.coin);
        await real.sandbox('payments', { coin: topup.coin, address: topup.address, amount });
        await real.sandbox('blocks', { coin: topup.coin, count: BLOCKS });
        life.pay(topup, units);
      },
      { check: (life) => life.topups.length >= back },
    ),
  );

function creditCommand(text: string, centsOf: (life: Readonly<CustomerModel>) => bigint): Command {
  return command(
    `the operator gives ${text}`,
    async (life, real) => {
      const cents = centsOf(life);
      await real.addBalance(cents);
      life.adjustBalance(cents);
    },
    { check: (life) => centsOf(life) > 0n },
  );
}

/** What the server lacks that has waited longest for its cycle, or the next one that will be charged. */
function shortfall(life: Readonly<CustomerModel>): bigint {
  const waiting = life.awaitingBalance()[0];
  const next = life.activeServers.toSorted((a, b) => a.paidUntil - b.paidUntil)[0];
  return ((waiting ?? next)?.price ?? 0n) - life.balance;
}

const creditCommands = fc.oneof(
  fc.integer({ min: 1, max: 4_000 }).map((cents) => creditCommand(`${cents} cents`, () => BigInt(cents))),
  fc.constant(creditCommand('what is lacking', shortfall)),
  fc.constant(creditCommand('a cent less than is lacking', (life) => shortfall(life) - 1n)),
);

const rateCommand = fc
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
      { startsWork: false },
    ),
  );

type ServerAction = (life: CustomerModel, real: RealCustomer, server: ModelServer) => Promise<void>;
const serverIndex = fc.nat({ max: MAX_SERVERS - 1 });

function serverCommand(
  verb: string,
  act: ServerAction,
  options: { startsWork?: false } = {},
): fc.Arbitrary<Command> {
  return serverIndex.map((index) =>
    command(
      `${verb} server ${index}`,
      async (life, real) => {
        const server = life.activeServers[index % life.activeServers.length];
        if (server) await act(life, real, server);
      },
      { check: (life) => life.activeServers.length > 0, ...options },
    ),
  );
}

const stopCommand = serverCommand('stop', async (life, real, server) => {
  const answer = await real.api.post(`/servers/${server.id}/stop`);
  assert.equal(answer.status, life.stop(server), answer.text);
});

const startCommand = serverCommand('start', async (life, real, server) => {
  const answer = await real.api.post(`/servers/${server.id}/start`);
  assert.equal(answer.status, life.start(server), answer.text);
});

const destroyCommand = serverCommand('destroy', async (life, real, server) => {
  const answer = await real.api.delete(`/servers/${server.id}`);
  assert.equal(answer.status, 202, answer.text);
  life.destroy(server);
});

function autoRenewCommand(on: boolean): fc.Arbitrary<Command> {
  return serverCommand(
    on ? 'renew' : 'do not renew',
    async (life, real, server) => {
      const answer = await real.api.patch(`/servers/${server.id}`, { auto_renew: on });
      assert.equal(answer.status, 200, answer.text);
      life.setAutoRenew(server, on);
    },
    { startsWork: false },
  );
}

const weighted = (weight: number, arbitrary: fc.Arbitrary<Command>) => ({ weight, arbitrary });

export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  weighted(12, advanceCommand),
  ...[weighted(8, deployCommand), weighted(1, deployAndDestroyCommand), weighted(2, destroyCommand)],
  ...[
    weighted(3, invoiceCommand),
    weighted(4, payCommand),
    weighted(5, creditCommands),
    weighted(1, rateCommand),
  ],
  ...[
    weighted(2, stopCommand),
    weighted(3, startCommand),
    weighted(2, autoRenewCommand(true)),
    weighted(1, autoRenewCommand(false)),
  ],
);
