/** Commands of a customer's life. Each command acts on the model and on the service in the same way. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CustomerModel } from './model.ts';
import type { RealCustomer } from './real-customer.ts';
import type { ModelServer, ModelTopup } from './resources.ts';
import * as rules from './rules.ts';

const MAX_SERVERS = 6;
const MAX_OPEN_INVOICES = 15;
/** Enough confirmations for every coin and amount. */
const BLOCKS = 30;

type Action = (model: CustomerModel, real: RealCustomer) => Promise<void>;
type Command = fc.AsyncCommand<CustomerModel, RealCustomer>;

/** Creates a command. `text` is printed on failure. Work that it starts completes before the next command. */
function command(
  text: string,
  act: Action,
  options: { check?: (model: Readonly<CustomerModel>) => boolean; startsWork?: false } = {},
): Command {
  return {
    check: (model) => model.now < model.end && (options.check?.(model) ?? true),
    run: async (model, real) => {
      await act(model, real);
      await (options.startsWork === false ? real.compare(model) : real.advance(model));
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
      check: (model) => model.now < model.end,
      run: (model, real) => real.advance(model, ms),
      toString: () => `wait ${ms / rules.HOUR_MS} h`,
    }),
  );

const orderArbitrary = fc.record({
  plan: fc.constantFrom<rules.Plan>('s1', 's1', 's1', 's2', 's2', 's3', 'r1'),
  months: fc.constantFrom<rules.Months>(1, 1, 1, 1, 1, 3, 3, 6, 12),
  autoRenew: fc.constantFrom(true, true, true, true, true, false),
});

/** Orders a server; the service must accept or reject the order as the model does. */
export async function deploy(
  model: CustomerModel,
  real: RealCustomer,
  spec: typeof orderArbitrary extends fc.Arbitrary<infer T> ? T : never,
) {
  const response = await real.api.post('/servers', {
    ...{ name: 'a-server', plan: spec.plan, region: 'par', image: real.imageId, ssh_keys: [real.keyId] },
    ...{ billing_months: spec.months, auto_renew: spec.autoRenew },
  });
  const created = () => ({ id: response.body.id, at: Date.parse(response.body.created_at) });
  assert.equal(response.status, model.deploy(spec, created), response.text);
}

const deployCommand = orderArbitrary.map((spec) =>
  command(
    `deploy ${spec.plan} for ${spec.months} months${spec.autoRenew ? '' : ', without renewal'}`,
    (model, real) => deploy(model, real, spec),
    { check: (model) => model.activeServers.length < MAX_SERVERS },
  ),
);

const deployAndDestroyCommand = orderArbitrary.map((spec) =>
  command(
    `deploy ${spec.plan} for ${spec.months} months and destroy it immediately`,
    async (model, real) => {
      const before = model.servers.length;
      await deploy(model, real, spec);
      const server = model.servers[before];
      if (!server) return;
      assert.equal((await real.api.delete(`/servers/${server.id}`)).status, 202);
      model.destroyBeforeFirstRun(server);
    },
    {
      // Between the charge and the refund the service may or may not warn of a low balance.
      check: (model) =>
        model.activeServers.length < MAX_SERVERS &&
        model.activeServers.every((server) => server.windowOpenedFor !== server.paidUntil),
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
      `create a top-up of ${cents} cents in ${coin}`,
      async (model, real) => {
        const response = await real.api.post('/billing/topup', { coin, amount_usd: cents / 100 });
        assert.equal(response.status, 201, response.text);
        const { id, deposit_address: address, deposit_amount, rate_usd, expires_at } = response.body;
        const [requested, usd] = [BigInt(cents), model.rateOf(coin)];
        const units = rules.unitsFor(requested, coin, usd);
        assert.deepEqual([rules.parseCoin(deposit_amount, coin), rate_usd], [units, usd]);
        const expiresAt = Date.parse(expires_at);
        model.invoice({ id, coin, address, requested, units, usd, expiresAt });
      },
      {
        check: (model) =>
          model.topups.filter(({ status }) => status === 'pending').length < MAX_OPEN_INVOICES,
        startsWork: false,
      },
    ),
  );

/** Pays thousandths of the requested amount; most commands pay the newest invoice in full. */
const payCommand = fc
  .record({
    back: fc.constantFrom(1, 1, 1, 1, 2, 3, 5),
    parts: fc.constantFrom(1_000, 1_000, 1_000, 996, 994, 300, 600, 1_001, 1_700, 4_000),
  })
  .map(({ back, parts }) =>
    command(
      `pay ${parts / 10} % of invoice -${back}`,
      async (model, real) => {
        const topup = model.topups.at(-back) as ModelTopup;
        const units = (topup.units * BigInt(parts)) / 1_000n;
        const amount = rules.formatCoin(units, topup.coin);
        await real.sandbox('payments', { coin: topup.coin, address: topup.address, amount });
        await real.sandbox('blocks', { coin: topup.coin, count: BLOCKS });
        model.pay(topup, units);
      },
      { check: (model) => model.topups.length >= back },
    ),
  );

function creditCommand(text: string, centsOf: (model: Readonly<CustomerModel>) => bigint): Command {
  return command(
    `the operator credits ${text}`,
    async (model, real) => {
      const cents = centsOf(model);
      await real.addBalance(cents);
      model.adjustBalance(cents);
    },
    { check: (model) => centsOf(model) > 0n },
  );
}

/** Returns the cents missing for the server that has waited longest, or else for the next renewal. */
function shortfall(model: Readonly<CustomerModel>): bigint {
  const waiting = model.awaitingBalance()[0];
  const next = model.activeServers.toSorted((a, b) => a.paidUntil - b.paidUntil)[0];
  return ((waiting ?? next)?.price ?? 0n) - model.balance;
}

const creditCommands = fc.oneof(
  fc.integer({ min: 1, max: 4_000 }).map((cents) => creditCommand(`${cents} cents`, () => BigInt(cents))),
  fc.constant(creditCommand('the shortfall', shortfall)),
  fc.constant(creditCommand('one cent less than the shortfall', (model) => shortfall(model) - 1n)),
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
      `set the ${coin} rate to ${usd}`,
      async (model, real) => {
        await real.sandbox('rates', { coin, usd });
        model.rates.set(coin, usd);
      },
      { startsWork: false },
    ),
  );

type ServerAction = (model: CustomerModel, real: RealCustomer, server: ModelServer) => Promise<void>;
const serverIndex = fc.nat({ max: MAX_SERVERS - 1 });

function serverCommand(
  verb: string,
  act: ServerAction,
  options: { startsWork?: false } = {},
): fc.Arbitrary<Command> {
  return serverIndex.map((index) =>
    command(
      `${verb} server ${index}`,
      async (model, real) => {
        const server = model.activeServers[index % model.activeServers.length];
        if (server) await act(model, real, server);
      },
      { check: (model) => model.activeServers.length > 0, ...options },
    ),
  );
}

const stopCommand = serverCommand('stop', async (model, real, server) => {
  const response = await real.api.post(`/servers/${server.id}/stop`);
  assert.equal(response.status, model.stop(server), response.text);
});

const startCommand = serverCommand('start', async (model, real, server) => {
  const response = await real.api.post(`/servers/${server.id}/start`);
  assert.equal(response.status, model.start(server), response.text);
});

const destroyCommand = serverCommand('destroy', async (model, real, server) => {
  const response = await real.api.delete(`/servers/${server.id}`);
  assert.equal(response.status, 202, response.text);
  model.destroy(server);
});

function autoRenewCommand(on: boolean): fc.Arbitrary<Command> {
  return serverCommand(
    on ? 'enable auto-renew of' : 'disable auto-renew of',
    async (model, real, server) => {
      const response = await real.api.patch(`/servers/${server.id}`, { auto_renew: on });
      assert.equal(response.status, 200, response.text);
      model.setAutoRenew(server, on);
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
