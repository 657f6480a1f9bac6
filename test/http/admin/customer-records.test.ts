import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exportCustomer } from '../../../src/domain/customers/export.ts';
import { CUSTOMER_RECORD_LIMITS } from '../../../src/spec/staff/customers.ts';
import { textOf } from '../../support/panel-client.ts';
import { PASSWORD, type SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

describe('notes, tags, and own limits of a customer', () => {
  let world: StaffWorld;
  let support: Person;
  let customer: SessionClient;
  let api: V1Client;
  let email: string;
  let path: string;
  const reason = 'ticket 7';

  before(async () => {
    world = await startStaffWorld();
    support = await world.person('support');
    customer = await world.customer(40);
    api = V1Client.forUrl(world.url, await createApiToken(customer));
    email = customer.email ?? '';
    path = `/customers/${encodeURIComponent(email)}`;
  });
  after(() => world.close());

  const exported = async (name: string): Promise<Record<string, Record<string, unknown>[]>> => {
    const texts: string[] = [];
    await exportCustomer(world.opened.service, name, async (text) => void texts.push(text));
    return JSON.parse(texts.join(''));
  };
  const notes = async () =>
    (await world.api(support.token, 'GET', `${path}/notes`)).body.data as {
      id: string;
      text: string;
      author: string;
    }[];

  it('keeps a note with its author, and an export of the account has its text', async () => {
    const text = 'Called about <b>backups</b>.\nCall again.';
    const done = await fill(support.browser, path, 'customers.add_note', { text });
    assert.match(done.location ?? '', /done=saved/, done.text);
    const [note] = await notes();
    assert.deepEqual([note?.text, note?.author], [text, 'A person (support)']);
    const page = await support.browser.get(path);
    assert.match(textOf(page.text), /Call again/);
    assert.doesNotMatch(page.text, /<b>backups/);
    const { staff_notes: [row] = [] } = await exported(email);
    assert.deepEqual(Object.keys(row ?? {}).sort(), ['created_at', 'id', 'text']);
    assert.equal(row?.text, text);
  });

  it('deletes a note, and refuses the note of another customer', async () => {
    const other = await world.customer();
    const [note] = await notes();
    const body = { note: note?.id };
    const wrong = await world.api(support.token, 'POST', `/customers/${other.email}/delete_note`, body);
    assert.equal(wrong.status, 404);
    const page = await support.browser.get(path);
    const done = await support.browser.submit(page, 'customers.delete_note', {});
    assert.match(done.location ?? '', /done=saved/, done.text);
    assert.deepEqual(await notes(), []);
  });

  it('refuses an empty note, a long one, and one more than fit, also at once', async () => {
    const add = (text: string) => world.api(support.token, 'POST', `${path}/notes`, { text });
    assert.equal((await add('  ')).status, 400);
    assert.equal((await add('x'.repeat(CUSTOMER_RECORD_LIMITS.noteMaxChars + 1))).status, 400);
    await world.opened.db.run(
      `insert into customer_notes (id, customer_id, text, created_at)
       select gen_random_uuid(), id, 'x', now() from customers, generate_series(2, $2) where email = $1`,
      [email, CUSTOMER_RECORD_LIMITS.notesMax],
    );
    const statuses = (await Promise.all([add('a'), add('b')])).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [201, 409]);
    await world.opened.db.run('delete from customer_notes');
  });

  it('tags customers, and lists those with a tag', async () => {
    const done = await fill(support.browser, path, 'customers.set_tags', { tags: 'vip  reseller, vip' });
    assert.match(done.location ?? '', /done=saved/, done.text);
    const { body } = await world.api(support.token, 'GET', path);
    assert.deepEqual(body.tags, ['reseller', 'vip']);
    const tagged = await world.api(support.token, 'GET', '/customers?tag=vip');
    assert.deepEqual(
      (tagged.body.data as { email: string }[]).map((row) => row.email),
      [email],
    );
    assert.match(textOf((await support.browser.get('/customers?tag=vip')).text), new RegExp(email));
    assert.deepEqual((await world.api(support.token, 'GET', '/customers?tag=other')).body.data, []);
    const fewer = await world.api(support.token, 'POST', `${path}/set_tags`, { tags: ['vip'] });
    assert.deepEqual(fewer.body.tags, ['vip']);
    const bad = await world.api(support.token, 'POST', `${path}/set_tags`, { tags: ['No Tag'] });
    assert.equal(bad.status, 400);
    assert.deepEqual((await exported(email)).staff_tags, [{ tag: 'vip' }]);
  });

  it('enforces a limit of the customer’s own, and shows it to the customer', async () => {
    const limitOf = async (name: string) => {
      const { data } = (await api.get('/account/limits?page_size=100')).body;
      return data.find((row: { name: string }) => row.name === name)?.limit;
    };
    const usual = await limitOf('servers');
    const done = await fill(support.browser, `${path}/limits`, 'customers.set_limits', {
      ...{ servers: '0', ssh_keys: '1', webhooks: '0', volumes: '0', volumes_disk_gb: '0', reason },
    });
    assert.match(done.location ?? '', /done=saved/, done.text);
    assert.deepEqual([await limitOf('servers'), await limitOf('ssh_keys')], [0, 1]);
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian-13', billing: 1 };
    const deploy = () =>
      customer.post('/deploy-api.php', { ...order, root_password: 'a long root password' });
    const ordered = await deploy();
    assert.deepEqual([ordered.body.error, ordered.body.limit], ['limit_reached', 0]);
    const webhook = await api.post('/webhooks', { url: 'https://example.com', events: ['token.created'] });
    assert.match(JSON.stringify(webhook.body), /limit_reached/);
    const volume = await api.post('/volumes', { name: 'a', size_gb: 10, region: 'par' });
    assert.match(JSON.stringify(volume.body), /limit_reached/);
    const audit = await api.get('/audit/events?action=customer.set_limits');
    assert.equal(audit.body.data.length, 1);
    const raised = await world.api(support.token, 'POST', `${path}/limits`, { servers: usual + 7, reason });
    assert.equal(raised.status, 200, JSON.stringify(raised.body));
    assert.deepEqual([await limitOf('servers'), await limitOf('ssh_keys')], [usual + 7, 100]);
    const placed = await deploy();
    assert.equal(placed.body.ok, true, JSON.stringify(placed.body));
  });

  it('refuses a limit that is negative, huge, or unknown', async () => {
    for (const body of [{ servers: -1 }, { servers: 10_000_001 }, { moons: 3 }, { servers: 'many' }]) {
      const refused = await world.api(support.token, 'POST', `${path}/limits`, { ...body, reason });
      assert.equal(refused.status, 400, JSON.stringify(body));
    }
  });

  it('deletes notes, tags, and own limits with the account', async () => {
    const leaving = await world.customer();
    const leavingPath = `/customers/${leaving.email}`;
    await world.api(support.token, 'POST', `${leavingPath}/notes`, { text: 'x' });
    await world.api(support.token, 'POST', `${leavingPath}/set_tags`, { tags: ['left'] });
    await world.api(support.token, 'POST', `${leavingPath}/limits`, { servers: 3, reason });
    const { body } = await world.api(support.token, 'GET', leavingPath);
    const gone = await leaving.post('/account-api.php', {
      action: 'delete_account',
      current_password: PASSWORD,
    });
    assert.equal(gone.body.ok, true, JSON.stringify(gone.body));
    await world.settle();
    const kept = await world.api(support.token, 'GET', `/customers/${body.id}`);
    assert.deepEqual([kept.body.email, kept.body.tags], ['deleted', []]);
    const counts = await world.opened.db.row(
      `select (select count(*)::int from customer_notes) as notes,
              (select count(*)::int from customer_tags where tag = 'left') as tags,
              (select count(*)::int from balances where own_limits ->> 'servers' = '3') as limits`,
    );
    assert.deepEqual({ ...counts }, { notes: 0, tags: 0, limits: 0 });
  });
});
