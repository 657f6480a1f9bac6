/** A server that is created with backups, and their price (API 1.7, "In POST /servers" and "Backups"). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { verify } from '../../../src/domain/verify/verify.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from './contract/estate.ts';

/** Of s1, with backups for 20% of it, rounded up. */
const PLAN_USD = 7.35;
const BACKUPS_USD = 1.47;
const BETA = { headers: { 'x-service-beta': 'true' } };
const WEEKLY = { every: 'week', weekday: 'sunday', hour_utc: 3, keep: 4 };

let world: World;
let api: V1Client;
let order: JsonBody;

before(async () => {
  world = await startWorld(NO_RATES);
  api = V1Client.forApp(world.http, await createApiToken(await world.customer(500)));
  const { id: key } = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body;
  const image = (await api.get('/images?family=alpine')).body.data[0].id;
  order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
  await world.opened.db.run('update plans set backup_percent = 20');
});
after(() => world.close());

async function create(backups: JsonBody): Promise<JsonBody> {
  const created = await api.post('/servers', { ...order, backups });
  assert.equal(created.status, 201, created.text);
  await world.settle();
  return created.body;
}
const policyOf = async ({ id }: JsonBody) => (await api.get(`/servers/${id}/backup-policy`)).body;
const ledger = async (): Promise<JsonBody[]> => (await api.get('/billing/ledger')).body.data;
async function limited(limits: JsonBody): Promise<V1Client> {
  const made = await api.post('/account/tokens', { name: 'limited', scope: 'billing', limits });
  assert.equal(made.status, 201, made.text);
  return api.withToken(made.body.token);
}
async function assertVerified(): Promise<void> {
  const broken = (await verify(world.opened.service)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
}

describe('a server created with backups', () => {
  it('has the policy, one charge for both, and an audit row of each', async () => {
    assert.equal((await api.get('/plans/s1')).body.backup_percent, 20);
    const server = await create(WEEKLY);
    assert.equal(server.price_usd_cycle, PLAN_USD + BACKUPS_USD);
    const policy = await policyOf(server);
    assert.deepEqual({ ...policy, ...WEEKLY, enabled: true }, policy);
    assert.deepEqual([policy.price_usd_cycle, policy.price_usd_now], [BACKUPS_USD, 0]);
    const start = new Date(policy.window.start);
    assert.deepEqual([start.getUTCDay(), start.getUTCHours()], [0, 3]);
    const [entry] = await ledger();
    assert.deepEqual(
      [entry?.description, entry?.amount_usd],
      ['s1 in par, 1 month, with backups', -(PLAN_USD + BACKUPS_USD)],
    );
    const audit = (await api.get(`/audit/events?filter[resource]=${server.id}`)).body.data as JsonBody[];
    const actions = audit.map(({ action }) => action);
    assert.ok(['server.create', 'backup_policy.replace'].every((action) => actions.includes(action)));
    await assertVerified();
  });

  it('takes its first backup on schedule', async () => {
    const server = await create({});
    assert.equal((await policyOf(server)).every, 'day');
    await world.advance(86_400);
    assert.equal((await policyOf(server)).last.status, 'success');
  });

  it('costs nothing more with `enabled: false`', async () => {
    const server = await create({ enabled: false, hour_utc: 5 });
    assert.equal(server.price_usd_cycle, PLAN_USD);
    const { enabled, hour_utc, window } = await policyOf(server);
    assert.deepEqual([enabled, hour_utc, window], [false, 5, null]);
    await assertVerified();
  });

  it('is refused for a weekday that does not fit, and for hardware without snapshots', async () => {
    const weekly = await api.post('/servers', { ...order, backups: { every: 'week' } });
    const [missing] = assertApiError(weekly, 400, 'invalid_request');
    assert.deepEqual([missing.field, missing.issue], ['backups.weekday', 'required']);
    const dedicated = await api.post('/servers', { ...order, plan: 'r1', backups: {} });
    const [item] = assertApiError(dedicated, 422, 'unprocessable');
    assert.deepEqual([item.field, item.issue], ['backups', 'unavailable']);
  });

  it('counts with its backups against the limit of a token, which may set policies', async () => {
    const cap = 10;
    const spender = await limited({ spend_usd: cap });
    const created = await spender.post('/servers', { ...order, backups: {} });
    assert.equal(created.status, 201, created.text);
    await world.settle();
    const other = await create({ enabled: false });
    const enabled = await spender.put(`/servers/${other.id}/backup-policy`, { enabled: true });
    const [reached] = assertApiError(enabled, 422, 'unprocessable');
    assert.deepEqual(
      [reached.field, reached.issue, reached.limit, reached.used],
      ['limits.spend_usd', 'limit_reached', cap, PLAN_USD + BACKUPS_USD],
    );
    const orderer = await limited({ operations: ['servers.create'] });
    const refused = await orderer.post('/servers', { ...order, backups: {} });
    assertApiError(refused, 403, 'forbidden_scope');
    await assertVerified();
  });
});

describe('backups that are turned on later', () => {
  it('send billing.charged, and return the rest of the cycle when they are turned off', async () => {
    const server = await create({ enabled: false });
    const path = `/servers/${server.id}/backup-policy`;
    const { price_usd_now: now } = await policyOf(server);
    assert.ok(now > 1.4 && now < BACKUPS_USD + 0.015, String(now));
    const cheap = await api.put(path, { enabled: true, max_price_usd: now - 0.01 });
    const [item] = assertApiError(cheap, 409, 'conflict_state');
    assert.deepEqual([item.field, item.issue, item.price_usd], ['max_price_usd', 'price_changed', now]);
    const on = await api.put(path, { enabled: true, max_price_usd: now });
    assert.equal(on.status, 200, on.text);
    const [charge] = await ledger();
    assert.deepEqual([charge?.type, charge?.amount_usd, charge?.resource], ['charge', -now, server.id]);
    const events = await world.opened.db.rows<{ id: string }>(
      `select data -> 'ledger_entry' ->> 'id' as id from events
        where type = 'billing.charged' order by place desc limit 1`,
    );
    assert.equal(events[0]?.id, charge?.id);
    // The same again changes nothing.
    assert.equal((await api.put(path, { enabled: true })).status, 200);
    assert.equal((await ledger())[0]?.id, charge?.id);
    assert.equal((await api.put(path, { enabled: false })).status, 200);
    const [refund] = await ledger();
    assert.equal(refund?.type, 'refund');
    // Each step rounds up.
    assert.ok(refund?.amount_usd <= now && refund?.amount_usd > now - 0.03, String(refund?.amount_usd));
    assert.equal((await api.get(`/servers/${server.id}`)).body.price_usd_cycle, PLAN_USD);
    await assertVerified();
  });

  it('are refused during a resize, which would put back the previous price', async () => {
    const server = await create({ enabled: false });
    const body = { plan: 's2', restart: true };
    const resize = await api.post(`/servers/${server.id}/resize`, body, BETA);
    assert.equal(resize.status, 202, resize.text);
    const path = `/servers/${server.id}/backup-policy`;
    assertApiError(await api.put(path, { enabled: true }), 409, 'conflict_state');
    // The schedule alone may change.
    assert.equal((await api.put(path, { enabled: false, hour_utc: 7 })).status, 200);
    await world.settle();
    assert.equal((await api.put(path, { enabled: true })).status, 200);
    const { price_usd_cycle: usd } = await policyOf(server);
    assert.equal(usd, 2.94);
    await assertVerified();
  });
});
