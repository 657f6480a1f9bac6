import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SessionClient } from '../../support/session-client.ts';
import { type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

const NOTICE = { kind: 'service', subject: 'A notice', text: 'Hello,\n\nwe have new plans.' };

describe('the criteria of mailings', () => {
  const tag = 'all-of-them';
  let world: StaffWorld;
  let support: Person;
  let customers: readonly SessionClient[];

  before(async () => {
    world = await startStaffWorld();
    support = await world.person('support');
    customers = await Promise.all(Array.from({ length: 5 }, () => world.customer()));
    await world.opened.db.run('update customers set email_confirmed_at = created_at');
    for (const { email } of customers)
      await world.api(support.token, 'POST', `/customers/${email}/set_tags`, { tags: [tag] });
  });
  after(() => world.close());

  const post = (path: string, body: object) => world.api(support.token, 'POST', `/mailings${path}`, body);

  it('find customers by what the database knows', async () => {
    const [rich, poor] = customers as [SessionClient, SessionClient];
    await world.addBalance(rich, 10_000n);
    const owner = await world.person('owner', 'owner@host.example');
    await world.api(owner.token, 'POST', `/customers/${poor.email}/freeze`, { reason: 'a test' });
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 };
    const bought = await rich.post('/deploy-api.php', { ...order, root_password: 'a root password' });
    assert.equal(bought.body.ok, true, JSON.stringify(bought.body));
    await world.settle();
    const server = await world.opened.db.row<{ name: string }>(
      'select h.name from servers s join hosts h on h.id = s.host_id order by s.created_at desc limit 1',
    );
    const count = async (criteria: object) => {
      const { body } = await post('/preview', { ...NOTICE, tag, ...criteria });
      return body.recipients ?? JSON.stringify(body);
    };
    assert.equal(await count({ balance_above_usd: '5' }), 1);
    assert.equal(await count({ balance_below_usd: '5' }), 4);
    assert.equal(await count({ balance_below_usd: '-1.50' }), 0);
    assert.equal(await count({ frozen: 'yes' }), 1);
    assert.equal(await count({ frozen: 'no' }), 4);
    assert.equal(await count({ servers: 'yes' }), 1);
    assert.equal(await count({ servers: 'no' }), 4);
    assert.equal(await count({ region: 'par', plan: 's1', host: server?.name }), 1);
    assert.equal(await count({ plan: 's2' }), 0);
    assert.equal(await count({ confirmed: 'no' }), 0);
  });

  it('are refused with what is wrong', async () => {
    const refused: readonly (readonly [field: string, body: object])[] = [
      ['subject', { ...NOTICE, subject: 'x'.repeat(121) }],
      ['text', { ...NOTICE, text: 'x'.repeat(8_001) }],
      ['text', { ...NOTICE, text: ' \n ' }],
      ['kind', { ...NOTICE, kind: 'spam' }],
      ['region', { ...NOTICE, region: 'nowhere' }],
      ['host', { ...NOTICE, host: 'nowhere' }],
      ['plan', { ...NOTICE, plan: 'none' }],
      ['servers', { ...NOTICE, servers: 'no', region: 'par' }],
      ['balance_below_usd', { ...NOTICE, balance_below_usd: 'much' }],
    ];
    for (const [field, body] of refused) {
      for (const path of ['/preview', '']) {
        const answer = await post(path, { ...body, ...(path === '' && { reason: 'a test' }) });
        assert.equal(answer.status, 400, JSON.stringify(answer.body));
        assert.ok(JSON.stringify(answer.body).includes(`"${field}"`), JSON.stringify(answer.body));
      }
    }
    assert.equal((await post('', NOTICE)).status, 400);
    const empty = await post('', { ...NOTICE, tag: 'no-one', reason: 'a test' });
    assert.equal(empty.status, 409, JSON.stringify(empty.body));
    const technician = await world.person('technician', 'technician@host.example');
    for (const path of ['/preview', '']) {
      const answer = await world.api(technician.token, 'POST', `/mailings${path}`, {
        ...NOTICE,
        reason: 'x',
      });
      assert.equal(answer.status, 403);
    }
  });
});
