import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readStatus } from '../../../src/domain/health/status.ts';
import { textOf } from '../../support/panel-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { PUBLIC_KEY } from '../v1/contract/estate.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

const REASON = { reason: 'ticket 12' };
const MANY = 100_000;
const DAY_S = 86_400;
const WHILE_S = 1_800;

interface Work {
  readonly id: string;
  readonly queue: string;
  readonly state: string | null;
  readonly attempts: number;
  readonly last_fault: string | null;
  readonly next_try_at: string | null;
}

describe('stuck work in the console', () => {
  let world: StaffWorld;
  let person: Person;
  let api: V1Client;
  let server: string;

  const path = (id: string) => `/stuck_work/${encodeURIComponent(id)}`;
  const call = async (method: string, where: string, body?: object) =>
    await world.api(person.token, method, where, body);
  const list = async (query = '') => (await call('GET', `/stuck_work${query}`)).body.data as Work[];
  const retry = async (id: string) => await call('POST', `${path(id)}/retry`);
  const giveUp = async (id: string) => await call('POST', `${path(id)}/give_up`, REASON);
  const breakDriver = async (driver: string, operation: string, times: number) =>
    await world.sandbox('faults', { driver, operation, times });
  const findings = async () =>
    (await readStatus(world.opened.service)).filter(({ subject }) => subject === 'work');
  const attachVolume = async (name: string): Promise<string> => {
    const { body } = await api.post('/volumes', { name, size_gb: 10, region: 'par' });
    const attached = await api.post(`/volumes/${body.id}/attach`, { server });
    assert.ok(attached.status < 300, attached.text);
    await world.settle();
    return body.id;
  };

  before(async () => {
    world = await startStaffWorld();
    person = await world.person('support');
    api = V1Client.forApp(world.http, await createApiToken(await world.customer(90)));
    const key = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body.id;
    const image = (await api.get('/images?family=alpine')).body.data[0].id;
    const order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
    server = (await api.post('/servers', order)).body.id;
    await world.advance(10);
    await world.settle();
  });
  after(() => world.close());

  it('lists nothing while all work progresses', async () => {
    assert.deepEqual(await list(), []);
    assert.deepEqual(await findings(), []);
  });

  it('gives up a task, which nothing tries until someone retries it', async () => {
    await breakDriver('compute', 'attach', MANY);
    const volume = await attachVolume('one');
    const [failing] = await list('?state=failing');
    const id = `task:volume:${volume}`;
    assert.deepEqual([failing?.id, failing?.queue, failing?.state], [id, 'task', 'failing']);
    assert.ok((failing?.attempts ?? 0) > 0 && (failing?.last_fault ?? '') !== '', JSON.stringify(failing));
    const page = textOf((await person.browser.get(path(id))).text);
    assert.match(page, /volume of vol_.*failing/s);

    const given = await fill(person.browser, path(id), 'work.give_up', REASON);
    assert.equal(given.location, '/stuck_work?done=begun', textOf(given.text));
    await breakDriver('compute', 'attach', 0);
    await world.advance(WHILE_S);
    const [waiting] = await list();
    assert.deepEqual([waiting?.state, waiting?.next_try_at], ['given_up', null]);
    assert.equal(waiting?.attempts, failing?.attempts);
    assert.match((await findings())[0]?.message ?? '', /1 of queue task given up/);

    const again = await fill(person.browser, path(id), 'work.retry', {});
    assert.equal(again.location, '/stuck_work?done=begun', textOf(again.text));
    await world.settle();
    assert.deepEqual(await list(), []);
    assert.deepEqual(await findings(), []);
    assert.equal((await api.get(`/volumes/${volume}`)).body.attached_to, server);
    assert.equal((await retry(id)).status, 404);
  });

  it('tries a task that was given up when its customer requests it again', async () => {
    await breakDriver('compute', 'attach', MANY);
    const volume = await attachVolume('two');
    assert.equal((await giveUp(`task:volume:${volume}`)).status, 200);
    await breakDriver('compute', 'attach', 0);
    await world.advance(WHILE_S);
    assert.equal((await list('?state=given_up')).length, 1);
    const detached = await api.post(`/volumes/${volume}/detach`);
    assert.ok(detached.status < 300, detached.text);
    await world.settle();
    assert.deepEqual(await list(), []);
  });

  it('retries a mail, and drops it', async () => {
    await breakDriver('mail', 'send', MANY);
    await world.customer(30);
    const [failing] = await list('?queue=mail');
    const id = failing?.id ?? '';
    assert.deepEqual([failing?.state, id.slice(0, 10)], ['failing', 'mail:mail_'], JSON.stringify(failing));
    assert.equal((await retry(id)).status, 200);
    await world.settle();
    assert.ok(((await call('GET', path(id))).body.attempts as number) > (failing?.attempts ?? 0));
    for (const mail of await list('?queue=mail')) assert.equal((await giveUp(mail.id)).status, 200);
    await breakDriver('mail', 'send', 0);
    assert.deepEqual(await list('?queue=mail'), []);
    await world.advance(WHILE_S);
    const { status } = (await world.opened.service.db.row<{ status: string }>(
      'select status from mails order by id desc limit 1',
    )) ?? { status: '' };
    assert.equal(status, 'dropped');
  });

  it('ends the backoff of a chain, and refuses to give it up', async () => {
    const { db } = world.opened.service;
    await db.run(
      `insert into coins (code, failures, last_fault, retry_at)
       values ('SOL', 12, 'the node is at block 7', clock_timestamp() + interval '1 hour')`,
    );
    const [failing] = await list('?queue=chain');
    assert.deepEqual([failing?.id, failing?.last_fault], ['chain:SOL', 'the node is at block 7']);
    assert.notEqual(failing?.next_try_at, null);
    assert.equal((await retry('chain:SOL')).status, 200);
    assert.equal((await list('?queue=chain'))[0]?.next_try_at, null);
    const refused = await giveUp('chain:SOL');
    assert.equal(refused.status, 400);
    assert.match(JSON.stringify(refused.body), /Payments would be missed/);
    await db.run(`delete from coins where code = 'SOL'`);
  });

  it('shows servers whose calendar is late', async () => {
    const owner = await world.person('owner');
    await world.api(owner.token, 'POST', '/switches/renewals', { state: 'off', ...REASON });
    await world.advance(31 * DAY_S);
    assert.deepEqual(
      (await list('?state=late&queue=billing')).map(({ id }) => id),
      [`billing:${server}`],
    );
    assert.equal((await retry(`billing:${server}`)).status, 400);
    await world.api(owner.token, 'POST', '/switches/renewals', { state: 'on', ...REASON });
    await world.settle();
    assert.deepEqual(await list('?queue=billing'), []);
  });

  it('reads the list in pages', async () => {
    await breakDriver('compute', 'attach', MANY);
    await breakDriver('mail', 'send', MANY);
    await attachVolume('three');
    await world.customer(30);
    const all = (await list()).map(({ id }) => id);
    assert.ok(all.length > 2 && all.some((id) => id.startsWith('task:')), all.join());
    const paged: string[] = [];
    for (const _ of all) {
      const [next] = await list(`?limit=1${paged.length > 0 ? `&before=${paged.at(-1)}` : ''}`);
      paged.push(next?.id ?? '');
    }
    assert.deepEqual(paged, all);
    await breakDriver('compute', 'attach', 0);
    await breakDriver('mail', 'send', 0);
  });

  it('gives work up only with a second person, if operations need one', async () => {
    await breakDriver('compute', 'attach', MANY);
    const id = `task:volume:${await attachVolume('four')}`;
    const owner = await world.person('owner', 'second@host.example');
    await world.person('owner', 'third@host.example');
    const rule = await world.api(owner.token, 'POST', '/approval_rules', { operation: 'operations.give_up' });
    assert.ok(rule.status < 300, JSON.stringify(rule.body));
    assert.equal((await giveUp(id)).status, 202);
    assert.deepEqual(await list('?state=given_up'), []);
    const log = await world.api(owner.token, 'GET', `/staff_log?target=${encodeURIComponent(id)}`);
    const [entry] = log.body.data as { operation: string }[];
    assert.equal(entry?.operation, 'work.give_up');
    await breakDriver('compute', 'attach', 0);
    await world.settle();
  });

  it('finds no work under an id that is not of a piece of work', async () => {
    const unknown = [
      'x',
      'task:volume:vol_x',
      'task:nothing:vol_x',
      'chain:XXX',
      'file:a:b',
      `mail:${server}`,
    ];
    for (const id of unknown) {
      assert.equal((await call('GET', path(id))).status, 404, id);
      assert.equal((await giveUp(id)).status, 404, id);
    }
    assert.equal((await call('GET', '/stuck_work?before=x')).status, 404);
  });
});
