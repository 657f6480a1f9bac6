import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setSwitch } from '../../../src/domain/rules/switches.ts';
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

  it('approves a refund, then records its transaction, with the person and the reason in the log', async () => {
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
