import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setSwitch } from '../../../src/domain/rules/switches.ts';
import { parseId } from '../../../src/kernel/ids.ts';
import { textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { topUp } from '../../support/world.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

const TO = '0x52908400098527886E0F7030069857D2E4169EE7';
const TXID = '4f5e'.repeat(16);

interface Row {
  readonly id: string;
  readonly order_ref: string;
  readonly outcome: string;
}

describe('top-ups in the console', () => {
  let world: StaffWorld;
  let finance: Person;
  let customer: SessionClient;
  let refs: readonly string[];

  before(async () => {
    world = await startStaffWorld();
    finance = await world.person('finance');
    customer = await world.customer(40);
    await setSwitch(world.opened.service, 'topup-credit', false);
    refs = [await topUp(world, customer, 50), await topUp(world, customer, 60, 'ETH')];
    await setSwitch(world.opened.service, 'topup-credit', true);
  });
  after(() => world.close());

  const list = async (path: string): Promise<Row[]> => {
    const { status, body } = await world.api(finance.token, 'GET', path);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data as Row[];
  };
  const pathOf = async (ref: string | undefined) => {
    const { body } = await world.api(finance.token, 'GET', `/topups/${ref}`);
    return `/topups/${body.id}`;
  };

  it('lists those that need attention, and pages through all payments', async () => {
    const withheld = await list('/topups?note=withheld');
    assert.deepEqual(withheld.map((row) => row.order_ref).sort(), [...refs].sort());
    assert.deepEqual(await list('/topups?note=refund_pending'), []);
    const held = await list('/deposits?outcome=withheld');
    assert.equal(held.length, 2);
    const all = await list('/deposits');
    const [first] = await list('/deposits?limit=1');
    const rest = await list(`/deposits?before=${encodeURIComponent(first?.id ?? '')}`);
    assert.deepEqual(
      [first?.id, ...rest.map(({ id }) => id)],
      all.map(({ id }) => id),
    );
    assert.equal((await world.api(finance.token, 'GET', '/deposits?before=x')).status, 400);
    const { text } = await finance.browser.get('/deposits?outcome=withheld');
    assert.match(textOf(text), new RegExp(refs[0] ?? ''));
  });

  it('credits the withheld payments to the customer', async () => {
    const path = await pathOf(refs[0]);
    const done = await fill(finance.browser, path, 'topups.release', { reason: 'checked' });
    assert.match(done.location ?? '', /done=released/, done.text);
    const found = await world.api(finance.token, 'GET', `/customers/${customer.email}`);
    assert.equal(found.body.balance_usd, 90);
  });

  it('approves a refund, then records its transaction, and logs the person and reason', async () => {
    const path = await pathOf(refs[1]);
    const wrong = await fill(finance.browser, path, 'topups.refund', { to: 'nowhere', reason: 'asked' });
    assert.equal(wrong.status, 400);
    assert.match(textOf(wrong.text), /To is not a valid ETH address/);
    const approved = await fill(finance.browser, path, 'topups.refund', { to: TO, reason: 'asked' });
    assert.match(approved.location ?? '', /done=saved/, approved.text);
    assert.equal((await list('/topups?note=refund_pending')).length, 1);
    const sent = await fill(finance.browser, path, 'topups.mark_refunded', { txid: TXID, reason: 'sent' });
    assert.match(sent.location ?? '', /done=saved/, sent.text);
    const { body } = await world.api(finance.token, 'GET', path);
    const [refund] = body.refunds as { to: string; txid: string; approved_by: string }[];
    assert.deepEqual([refund?.to, refund?.txid, refund?.approved_by], [TO, TXID, 'A person (finance)']);
    assert.equal((await list('/deposits?outcome=refunded')).length, 1);
    const log = await world.api(finance.token, 'GET', '/staff_log?operation=topups.mark_refunded');
    const [entry] = log.body.data as { reason: string; target: string }[];
    assert.equal(entry?.reason, 'sent');
    assert.match(entry?.target ?? '', /^top_/);
  });
});

describe('money that needs a second person', () => {
  let world: StaffWorld;
  let owner: Person;
  let finance: Person;

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
    finance = await world.person('finance');
    for (const operation of ['topups.refund', 'coins.import_addresses']) {
      const { status } = await world.api(owner.token, 'POST', '/approval_rules', { operation });
      assert.equal(status, 201);
    }
  });
  after(() => world.close());

  it('refunds once another person approves, in the name of the one who asked', async () => {
    const customer = await world.customer(40);
    await setSwitch(world.opened.service, 'topup-credit', false);
    const path = `/topups/${await topUp(world, customer, 60, 'ETH')}`;
    const mistyped = { to: TO.slice(0, -1), reason: 'asked' };
    const refused = await world.api(finance.token, 'POST', `${path}/refund`, mistyped);
    assert.equal(refused.status, 400, JSON.stringify(refused.body));
    const waiting = await world.api(owner.token, 'GET', '/approvals?state=open');
    assert.deepEqual(waiting.body.data, []);
    const held = await world.api(finance.token, 'POST', `${path}/refund`, { to: TO, reason: 'asked' });
    assert.equal(held.status, 202, JSON.stringify(held.body));
    assert.deepEqual((await world.api(owner.token, 'GET', path)).body.refunds, []);
    const code = await world.code(owner);
    const done = await world.api(owner.token, 'POST', `/approvals/${held.body.id}/approve`, { code });
    assert.equal(done.body.state, 'done', JSON.stringify(done.body));
    const [refund] = (await world.api(owner.token, 'GET', path)).body.refunds as object[];
    assert.partialDeepStrictEqual(refund, { to: TO, txid: null, approved_by: 'A person (finance)' });
  });

  it('stores no private key while an import waits', async () => {
    const path = '/coins/SOL/import_addresses';
    const key = '5'.repeat(88);
    const wrong = await world.api(finance.token, 'POST', path, { addresses: key, reason: 'more' });
    assert.equal(wrong.status, 400, JSON.stringify(wrong.body));
    const address = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g';
    const held = await world.api(finance.token, 'POST', path, { addresses: address, reason: 'more' });
    assert.equal(held.status, 202, JSON.stringify(held.body));
    const { body } = await world.api(owner.token, 'GET', '/approvals');
    assert.ok(JSON.stringify(body).includes(address));
    assert.ok(!JSON.stringify(body).includes(key));
    const code = await world.code(owner);
    const done = await world.api(owner.token, 'POST', `/approvals/${held.body.id}/approve`, { code });
    assert.equal(done.body.state, 'done', JSON.stringify(done.body));
    const log = await world.api(owner.token, 'GET', '/staff_log?operation=coins.import_addresses');
    assert.ok(!JSON.stringify(log.body).includes(address));
  });
});

describe('coins in the console', () => {
  let world: StaffWorld;
  let finance: Person;

  before(async () => {
    world = await startStaffWorld();
    finance = await world.person('finance');
    const customer = await world.customer(40);
    await topUp(world, customer, 55);
  });
  after(() => world.close());

  const get = async (path: string) => {
    const { status, body } = await world.api(finance.token, 'GET', path);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };

  it('shows the rate, the chain, and the addresses of each coin', async () => {
    const { data } = await get('/coins');
    const coins = data as { id: string; state: string; rate_usd: string; next_index: number }[];
    assert.equal(coins.length, 8);
    const litecoin = coins.find(({ id }) => id === 'LTC');
    assert.equal(litecoin?.state, 'ok');
    assert.ok(Number(litecoin?.rate_usd) > 0);
    const coin = await get('/coins/LTC');
    assert.equal(coin.addresses_given, 2);
    assert.ok(Number(coin.height) >= 30);
    assert.equal((await world.api(finance.token, 'GET', '/coins/DOGE')).status, 400);
    const nodes = (await get('/nodes')).data as { subject: string; level: string }[];
    assert.ok(nodes.some(({ subject, level }) => subject === 'LTC' && level === 'ok'));
  });

  it('skips addresses and reads blocks again, with the coin in the staff log', async () => {
    const skipped = await fill(finance.browser, '/coins/LTC', 'coins.skip_addresses', {
      count: '5',
      reason: 'restored',
    });
    assert.match(skipped.location ?? '', /done=saved/, skipped.text);
    assert.equal((await get('/coins/LTC')).next_index, 7);
    const order = { height: '3', reason: 'a payment is missing' };
    const read = await fill(finance.browser, '/coins/LTC', 'coins.reread', order);
    assert.match(read.location ?? '', /done=saved/, read.text);
    const high = { ...order, height: '99999999' };
    const refused = await fill(finance.browser, '/coins/LTC', 'coins.reread', high);
    assert.match(textOf(refused.text), /choose this block or a lower one/, JSON.stringify(refused));
    const { data } = await get('/staff_log?operation=coins.reread');
    assert.equal((data as { target: string }[])[0]?.target, 'LTC');
  });

  it('imports addresses of a pool, and keeps a pasted key out of the staff log', async () => {
    const key = '5'.repeat(88);
    const body = { addresses: key, reason: 'more' };
    const wrong = await world.api(finance.token, 'POST', '/coins/SOL/import_addresses', body);
    assert.equal(wrong.status, 400);
    const log = await get('/staff_log?operation=coins.import_addresses');
    assert.ok(!JSON.stringify(log).includes(key));
    const other = await world.api(finance.token, 'POST', '/coins/BTC/import_addresses', body);
    assert.equal(other.status, 400);
  });

  it('lists paid addresses, as a page and as a file', async () => {
    const { data } = await get('/paid_addresses?coin=LTC');
    const rows = data as { address: string; received: string }[];
    assert.equal(rows.length, 2);
    assert.deepEqual((await get('/paid_addresses?coin=BTC')).data, []);
    assert.deepEqual((await get('/paid_addresses')).data, data);
    assert.deepEqual((await get('/paid_addresses?coin=LTC&since=2100-01-01')).data, []);
    assert.equal((await world.api(finance.token, 'GET', '/paid_addresses?since=soon')).status, 400);
    const file = await finance.browser.get('/paid-addresses.csv?coin=LTC');
    const [heading, ...lines] = file.text.trim().split('\r\n');
    assert.equal(heading, 'Address,Received,Coin,Payments,Last paid,Top-up');
    assert.deepEqual(
      lines.map((line) => line.split(',').slice(0, 2)),
      rows.map(({ address, received }) => [address, received]),
    );
    const stranger = await world.stranger().get('/paid-addresses.csv?coin=LTC');
    assert.match(stranger.location ?? '', /^\/sign-in/);
  });

  it('downloads all paid addresses, and finds older top-ups that were paid since', async () => {
    const { db } = world.opened;
    const [{ id }] = (await get('/paid_addresses?coin=LTC')).data as [{ id: string }];
    const topupId = parseId('topup', id);
    await db.run(
      `with copies as (
         insert into topups
         select (jsonb_populate_record(null::topups, to_jsonb(t) || jsonb_build_object(
                  'id', overlay(t.id::text placing lpad(n::text, 4, '0') from 33), 'public_no', 1000000 + n,
                  'order_ref', 'copy-' || n, 'deposit_address', 'copy-' || n))).*
           from topups t, generate_series(1, 450) as n where t.id = $1
         returning id, order_ref)
       insert into deposits
       select (jsonb_populate_record(null::deposits, to_jsonb(d) || jsonb_build_object(
                'key', copies.order_ref, 'topup_id', copies.id, 'credit_transfer_id', null))).*
         from copies, (select * from deposits where topup_id = $1 limit 1) as d`,
      [topupId],
    );
    const file = await finance.browser.get('/paid-addresses.csv');
    assert.equal(file.text.trim().split('\r\n').length, 1 + 2 + 450);
    await db.run(
      `update deposits set included_at = '2090-01-01T00:00:00Z' where key in ('copy-7', 'copy-9')`,
    );
    const late = (await get('/paid_addresses?since=2089-12-31')).data as { order_ref: string }[];
    assert.deepEqual(late.map((row) => row.order_ref).sort(), ['copy-7', 'copy-9']);
    assert.equal(((await get('/paid_addresses?since=2000-01-01&limit=200')).data as []).length, 200);
  });
});
