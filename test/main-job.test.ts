/** The main job over real HTTP: sign up, top up, pay, deploy, running. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setSwitch } from '../src/domain/rules/switches.ts';
import { startWorld, topUp, type World } from './support/world.ts';

const DEPLOY = {
  product: 'vps',
  plan: 's1',
  region: 'par',
  os: 'debian',
  billing: 1,
  root_password: 'a root password',
};

describe('the main job over HTTP', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());

  it('takes a visitor from sign-up to a running server with addresses', async () => {
    const customer = world.visitor();
    const signedUp = await customer.signUp();
    assert.equal(signedUp.body.ok, true);
    await topUp(world, customer, 100);
    assert.equal(
      (await customer.get('/me.php')).body.balance,
      130,
      'the balance includes the bonus of the first tier',
    );
    const deployed = await customer.post('/deploy-api.php', DEPLOY);
    assert.equal(deployed.body.ok, true, deployed.text);
    await world.settle();
    const page = await customer.get(String(deployed.body.redirect));
    assert.match(page.text, /running/);
    assert.match(page.text, /198\.18\.\d+\.\d+/);
    assert.match(page.text, /2001:db8:/);
  });

  it('records events that carry the whole object', async () => {
    const customer = await world.customer(90);
    await customer.post('/deploy-api.php', DEPLOY);
    await world.settle();
    const events = await world.opened.db.rows<{
      type: string;
      data: Record<string, Record<string, unknown>>;
    }>(
      `select type, data from events
        where customer_id = (select id from customers where email = $1) and type not like 'action.%'
        order by place`,
      [customer.email],
    );
    assert.deepEqual(
      events.map((event) => event.type),
      ['topup.pending', 'topup.confirmed', 'server.created', 'billing.charged', 'server.running'],
    );
    const created = events.find((event) => event.type === 'server.created')?.data.server;
    assert.equal(created?.status, 'provisioning');
    assert.equal(created?.ipv4, null);
    const running = events.find((event) => event.type === 'server.running')?.data.server;
    assert.equal(running?.status, 'running');
    assert.ok(running?.ipv4 && running.ipv6);
    const charged = events.find((event) => event.type === 'billing.charged')?.data.ledger_entry;
    assert.equal(charged?.balance_after_usd, (await customer.get('/me.php')).body.balance);
  });

  it('sells exactly 7 servers for the price of 7 when 60 are ordered in parallel', async () => {
    const price = await monthlyPrice(world);
    const customer = await world.customer(Math.max(30, Math.ceil(price * 7)));
    const affordable = Math.floor(Number((await customer.get('/me.php')).body.balance) / price);
    const responses = await Promise.all(
      Array.from({ length: 60 }, () => customer.post('/deploy-api.php', DEPLOY)),
    );
    const sold = responses.filter(({ body }) => body.ok === true);
    const rejected = responses.filter(({ body }) => body.ok === false);
    assert.equal(sold.length, affordable);
    assert.equal(sold.length, 7);
    assert.deepEqual(new Set(rejected.map(({ body }) => body.error)), new Set(['insufficient_balance']));
    assert.equal(new Set(sold.map(({ body }) => body.server_id)).size, 7);
  });

  it('refunds the order when no host can create the machine', async () => {
    const customer = await world.customer(60);
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 100 });
    const deployed = await customer.post('/deploy-api.php', DEPLOY);
    assert.equal(deployed.body.ok, true);
    await world.advance(300);
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 0 });
    assert.equal((await customer.get('/me.php')).body.balance, 60);
    assert.equal((await customer.get(String(deployed.body.redirect))).status, 404);
    const types = await eventTypes(world, customer.email);
    assert.ok(types.includes('server.destroyed') && !types.includes('server.running'));
  });

  it('tries another host when the first one fails', async () => {
    const customer = await world.customer(60);
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 1 });
    const deployed = await customer.post('/deploy-api.php', DEPLOY);
    await world.settle();
    assert.match((await customer.get(String(deployed.body.redirect))).text, /running/);
  });

  it('settles only after an install completes, even if its host does not respond at first', async () => {
    const customer = await world.customer(60);
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 2 });
    const deployed = await customer.post('/deploy-api.php', DEPLOY);
    await world.settle();
    assert.match((await customer.get(String(deployed.body.redirect))).text, /running/);
  });

  it('deploys dedicated machines until none is left', async () => {
    const free = await world.opened.db.row<{ count: bigint }>(
      `select count(*) from machines where plan_id = 'r1' and region_id = 'zrh' and server_id is null`,
    );
    const customer = await world.customer(90);
    await world.opened.db.run(
      `update balances set balance_cents = 10000000
        where customer_id = (select id from customers where email = $1)`,
      [customer.email],
    );
    const form = { ...DEPLOY, product: 'dedi', plan: 'r1', region: 'zrh' };
    const orderCount = Number(free?.count ?? 0n) + 3;
    const responses = await Promise.all(
      Array.from({ length: orderCount }, () => customer.post('/deploy-api.php', form)),
    );
    assert.equal(responses.filter(({ body }) => body.ok === true).length, orderCount - 3);
    assert.equal(responses.filter(({ body }) => body.error === 'out_of_stock').length, 3);
  });

  it('shows a server to its owner only', async () => {
    const owner = await world.customer(60);
    const deployed = await owner.post('/deploy-api.php', DEPLOY);
    const stranger = await world.customer();
    assert.equal((await stranger.get(String(deployed.body.redirect))).status, 404);
    const signedOut = await world.visitor().get(String(deployed.body.redirect));
    assert.doesNotMatch(signedOut.text, /provisioning|installing|running/);
  });
});

async function monthlyPrice(world: World): Promise<number> {
  const plan = await world.opened.db.row<{ price_cents_month: bigint }>(
    `select price_cents_month from plans where id = 's1'`,
  );
  return Number(plan?.price_cents_month ?? 0n) / 100;
}

async function eventTypes(world: World, email: string): Promise<string[]> {
  const rows = await world.opened.db.rows<{ type: string }>(
    `select type from events where customer_id = (select id from customers where email = $1)`,
    [email],
  );
  return rows.map((row) => row.type);
}

describe('the kill switch for credits', () => {
  it('withholds the credit of a paid invoice, and the panel shows instructions', async () => {
    const world = await startWorld();
    try {
      await setSwitch(world.opened.service, 'topup-credit', false);
      const customer = await world.customer();
      const ref = await topUp(world, customer, 100);
      assert.equal((await customer.get(`/topup-status.php?ref=${ref}`)).body.status, 'confirmed');
      assert.equal((await customer.get('/me.php')).body.balance, 0);
      for (const path of ['/billing', `/topup?ref=${ref}`]) {
        const { text } = await customer.get(path);
        assert.match(text, /class="state bad">error</);
        assert.match(text, /refunded/);
      }
      assert.equal((await world.visitor().get(`/topup?ref=${ref}`)).text.includes(ref), false);
      assert.equal((await (await world.customer()).get(`/topup?ref=${ref}`)).status, 404);
      await setSwitch(world.opened.service, 'topup-credit', true);
      await world.settle();
      assert.equal((await customer.get('/me.php')).body.balance, 0, 'the operator decides each case');
    } finally {
      await world.close();
    }
  });
});

describe('a quota set by the operator', () => {
  it('replaces the default, and errors report its limit', async () => {
    const world = await startWorld({ SKERRY_QUOTAS: 'servers=1, openTopups=1' });
    try {
      const customer = await world.customer(60);
      const first = await customer.post('/deploy-api.php', DEPLOY);
      assert.equal(first.body.ok, true, first.text);
      const { body } = await customer.post('/deploy-api.php', DEPLOY);
      assert.deepEqual([body.error, body.limit], ['limit_reached', 1]);
      const form = { action: 'create', amount: 30, coin: 'BTC' };
      assert.equal((await customer.post('/topup-api.php', form)).body.ok, true);
      const second = await customer.post('/topup-api.php', form);
      assert.deepEqual([second.body.error, second.body.limit], ['limit_reached', 1]);
    } finally {
      await world.close();
    }
  });
});
