/** The comparisons find each kind of difference between a model and a service that lies. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatId } from '../../src/kernel/ids.ts';
import type { OpenDatabase } from '../../src/store/db.ts';
import { Deliveries } from './checks/deliveries.ts';
import { compareMoney } from './checks/money.ts';
import type { Problem } from './checks/problem.ts';
import { compareResources } from './checks/resources.ts';
import type { CustomerView } from './checks/view.ts';
import { Model, type ModelCustomer } from './model/model.ts';
import type { Deposit } from './world/chains.ts';

const NO_FAULTS = {
  lostServers: new Set<string>(),
  hostsFailed: false,
  refusedVolumes: new Set<string>(),
};
const SERVER = { object: 'server', id: 'srv_1', name: 'one', status: 'running', action: null };
const CYCLE = { plan: 's1', billing_months: 1, paid_until: '2026-02-01T00:00:00Z' };
const CREATED = { created_at: '2026-01-01T00:00:00Z' };
const VOLUME = {
  object: 'volume',
  id: 'vol_1',
  size_gb: 10,
  attached_to: 'srv_1',
  lost_at: null,
  action: null,
};
const CREDIT = { type: 'topup', resource: 'top_1', amount_usd: 50 };
const CHARGE = { type: 'charge', resource: 'srv_1', amount_usd: -7.35 };
const DEPOSIT: Deposit = { coin: 'LTC', address: 'a', state: 'included', confirmations: 40 };

function customer(): ModelCustomer {
  const made = new Model().add(0);
  const server = { id: 'srv_1', name: 'one', plan: 's1', months: 1, status: 'running' } as const;
  made.servers.push({ ...server, newName: null, isDeleted: false });
  const [owner = null] = made.servers;
  made.volumes.push({ id: 'vol_1', name: 'v', sizeGb: 10, server: owner, isDeleted: false });
  made.topups.push({ id: 'top_1', coin: 'LTC', address: 'a', amount: '1', cents: 5_000n });
  return made;
}

const VIEW: CustomerView = {
  servers: [{ ...SERVER, ...CYCLE, ...CREATED }],
  volumes: [VOLUME],
  snapshots: [],
  topups: [{ id: 'top_1', deposit_address: 'a' }],
  ledger: [CREDIT, CHARGE],
  balanceUsd: 42.65,
};

function find(changes: Partial<CustomerView>, deposits: readonly Deposit[] = [DEPOSIT]): string[] {
  const view = { ...VIEW, ...changes };
  const model = customer();
  const problems = [...compareResources(model, view, NO_FAULTS), ...compareMoney(model, view, deposits)];
  return problems.map(({ kind, text }: Problem) => `${kind}: ${text}`);
}

const finds = (changes: Partial<CustomerView>, pattern: RegExp, deposits?: readonly Deposit[]) => {
  const found = find(changes, deposits);
  assert.ok(
    found.some((line) => pattern.test(line)),
    found.join('\n') || 'nothing was found',
  );
};

it('a service that has exactly the acknowledged changes has no problem', () => {
  assert.deepEqual(find({}), []);
});

it('a missing credit, a credit without a payment, and a second credit are found', () => {
  finds({ ledger: [CHARGE], balanceUsd: -7.35 }, /^lost: the credit of top-up top_1: 0 cents, not 5000/);
  finds({}, /^doubled: the credit of top-up top_1: 5000 cents, not 0/, [{ ...DEPOSIT, state: 'removed' }]);
  const twice = { ledger: [CREDIT, CREDIT, CHARGE], balanceUsd: 92.65 };
  finds(twice, /^doubled: the credit of top-up top_1: 10000 cents, not 5000/);
});

it('a missing charge, a second charge, and a charge for an unknown server are found', () => {
  finds({ ledger: [CREDIT], balanceUsd: 50 }, /^lost: the charges of server srv_1: 0 cents, not 735/);
  const twice = { ledger: [CREDIT, CHARGE, CHARGE], balanceUsd: 35.3 };
  finds(twice, /^doubled: the charges of server srv_1: 1470 cents, not 735/);
  const other = { ...CHARGE, resource: 'srv_2' };
  finds(
    { ledger: [CREDIT, CHARGE, other], balanceUsd: 35.3 },
    /entries of srv_2, which was never acknowledged/,
  );
});

it('a renewal that ran twice is found, although the server is paid for longer', () => {
  const at = (created_at: string) => ({ ...CHARGE, created_at });
  const renewedTwice = [at('2026-01-01T00:00:00Z'), at('2026-02-01T00:00:00Z'), at('2026-02-01T00:00:01Z')];
  const servers = [{ ...VIEW.servers[0], paid_until: '2026-04-01T00:00:00Z' }];
  const early = /^doubled: the charges of server srv_1: one at 2026-02-01T00:00:01.000Z came too early/;
  finds({ servers, ledger: [CREDIT, ...renewedTwice], balanceUsd: 27.95 }, early);
  finds({ servers: [], ledger: [CREDIT, ...renewedTwice], balanceUsd: 27.95 }, early);
  const renewed = renewedTwice.slice(0, 2);
  const paid = [{ ...VIEW.servers[0], paid_until: '2026-03-01T00:00:00Z' }];
  assert.deepEqual(find({ servers: paid, ledger: [CREDIT, ...renewed], balanceUsd: 35.3 }), []);
});

it('a balance that is not the sum of its entries is found', () => {
  finds({ balanceUsd: 42.66 }, /^doubled: the balance of customer 0: 4266 cents, not 4265/);
});

it('a lost server, a second server, and a lost change of state are found', () => {
  finds({ servers: [] }, /^lost: server srv_1 is missing/);
  const second = { ...SERVER, ...CYCLE, ...CREATED, id: 'srv_2' };
  finds({ servers: [...VIEW.servers, second] }, /^doubled: server srv_2 was never acknowledged/);
  finds({ servers: [{ ...VIEW.servers[0], status: 'stopped' }] }, /^lost: server srv_1 is stopped/);
  finds({ servers: [{ ...VIEW.servers[0], name: 'two' }] }, /^lost: server srv_1 is named two/);
});

it('a lost volume, a lost attachment, and a lost size are found', () => {
  finds({ volumes: [] }, /^lost: volume vol_1 is missing/);
  finds({ volumes: [{ ...VOLUME, attached_to: null }] }, /^lost: volume vol_1 has 10 GiB at null/);
  finds({ volumes: [{ ...VOLUME, size_gb: 15 }] }, /^lost: volume vol_1 has 15 GiB/);
});

it('an attachment whose action failed is excused, and only that', () => {
  const facts = { ...NO_FAULTS, refusedVolumes: new Set(['vol_1']) };
  const volumes = [{ ...VOLUME, attached_to: null }];
  assert.deepEqual(compareResources(customer(), { ...VIEW, volumes }, facts), []);
  const elsewhere = [{ ...VOLUME, attached_to: 'srv_2' }];
  assert.equal(compareResources(customer(), { ...VIEW, volumes: elsewhere }, facts).length, 1);
});

it('work that does not end is found', () => {
  const action = { command: 'server.stop' };
  finds(
    { servers: [{ ...VIEW.servers[0], action }] },
    /^stuck: server srv_1: server.stop is still under way/,
  );
});

it('a resource that is back after its deletion is found', () => {
  const model = customer();
  for (const server of model.servers) server.isDeleted = true;
  const [problem] = compareResources(model, { ...VIEW, volumes: [] }, NO_FAULTS);
  assert.equal(problem?.text, 'server srv_1 is deleted, and running');
});

const REFUND = { type: 'refund', resource: 'srv_1', amount_usd: 7.35 };

function findMissing(id: string | null, ledger: CustomerView['ledger'], hostsFailed: boolean): string[] {
  const model = customer();
  model.volumes.splice(0);
  for (const server of model.servers) server.id = id;
  const view = { ...VIEW, servers: [], volumes: [], ledger };
  return compareResources(model, view, { ...NO_FAULTS, hostsFailed }).map(({ text }) => text);
}

it('a server that no host could create is excused by its refund, also one from a form', () => {
  for (const id of ['srv_1', null]) {
    assert.deepEqual(findMissing(id, [CREDIT, CHARGE, REFUND], true), []);
    assert.equal(findMissing(id, [CREDIT, CHARGE], true).length, 1);
    assert.equal(findMissing(id, [CREDIT, CHARGE, REFUND], false).length, 1);
  }
});

it('an event that arrives again under another delivery id is found', () => {
  const deliveries = new Deliveries();
  const request = (delivery: string) => ({
    ...{ path: '/', body: '{"id":"evt_1"}', atMs: 0 },
    headers: { 'x-service-delivery-id': delivery },
  });
  assert.deepEqual(deliveries.take([request('del_1'), request('del_1')]), []);
  assert.equal(deliveries.figures.repeated, 1);
  assert.equal(deliveries.take([request('del_2')])[0]?.kind, 'doubled');
});

const AT = new Date('2026-01-01T00:00:00Z');
const EVENT = {
  ...{ id: '0190b5c0-0000-7000-8000-000000000001', customer_id: 'one', created_at: AT, seq: 1n },
  ...{ deliveries: 0n, delivered: 0n, pending: 0n, failed: 0n, expired: false },
};
const HOOK = { id: '0190b5c0-0000-7000-8000-000000000002', customer_id: 'one', active_since: AT };
const HOOK_ID = formatId('webhook', HOOK.id);

async function findDeliveries(
  events: readonly object[],
  hooks: readonly object[] = [HOOK],
  deliveries = new Deliveries(),
): Promise<string[]> {
  const rows = async (sql: string) => (sql.includes('from webhooks') ? hooks : events);
  const found = await deliveries.compare({ rows } as unknown as OpenDatabase, [HOOK_ID], true);
  return found.map(({ kind, text }) => `${kind}: ${text}`);
}

it('the loss of every delivery of a customer is found', async () => {
  assert.match((await findDeliveries([EVENT])).join(), /^lost: event evt_\w+ has no delivery$/);
  const before = { ...EVENT, created_at: new Date(AT.getTime() - 1) };
  assert.deepEqual(await findDeliveries([before]), []);
});

it('a delivery that had ended may be deleted after its retention', async () => {
  const deliveries = new Deliveries();
  const compare = async (changes: object) => {
    const lost = await findDeliveries([{ ...EVENT, ...changes }], [HOOK], deliveries);
    return [lost.length, deliveries.figures.published];
  };
  assert.deepEqual(await compare({ expired: true }), [1, 0]);
  assert.deepEqual(await compare({ deliveries: 1n, failed: 1n }), [0, 1]);
  assert.deepEqual(await compare({ expired: false }), [1, 1]);
  assert.deepEqual(await compare({ expired: true }), [0, 0]);
});

it('an acknowledged webhook that is gone is found', async () => {
  assert.deepEqual(await findDeliveries([EVENT], []), [`lost: webhook ${HOOK_ID} is missing`]);
});

it('an event without a number, with two deliveries, or still pending is found', async () => {
  assert.match((await findDeliveries([{ ...EVENT, seq: null }])).join(), /^stuck: .* has no number$/);
  const twice = { ...EVENT, deliveries: 2n, pending: 1n };
  assert.match((await findDeliveries([twice])).join(), /^doubled: .* has 2 deliveries$/);
  const pending = { ...EVENT, deliveries: 1n, pending: 1n };
  assert.match((await findDeliveries([pending])).join(), /^stuck: .* is still pending$/);
});
