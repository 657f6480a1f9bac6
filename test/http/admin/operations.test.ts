import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

const REASON = { reason: 'ticket 12' };
const ORDER = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };

interface Operation {
  readonly id: string;
  readonly kind: string;
  readonly step: string;
  readonly attempts: number;
  readonly last_fault: string | null;
  readonly stuck: boolean;
}

describe('operations in the console', () => {
  let world: StaffWorld;
  let person: Person;
  let customer: SessionClient;

  const list = async (query = '') =>
    (await world.api(person.token, 'GET', `/operations${query}`)).body.data as Operation[];
  const breakMachines = async (operation: string, times: number) =>
    await world.sandbox('faults', { driver: 'compute', operation, times });
  const order = async () => {
    const ordered = await customer.post('/deploy-api.php', { ...ORDER, root_password: 'correct horse' });
    assert.equal(ordered.body.ok, true, JSON.stringify(ordered.body));
    await world.settle();
  };
  const servers = async () =>
    (await world.api(person.token, 'GET', `/servers?customer=${customer.email}`)).body.data as {
      id: string;
      status: string;
    }[];

  before(async () => {
    world = await startStaffWorld();
    person = await world.person('support');
    customer = await world.customer(60);
  });
  after(() => world.close());

  it('ends a power action that does not progress, and the customer sees that it failed', async () => {
    await order();
    const [server] = await servers();
    const path = `/servers/${server?.id}`;
    await breakMachines('power', 1_000);
    await world.api(person.token, 'POST', `${path}/power`, { action: 'shutdown', ...REASON });
    await world.settle();
    const [failing] = await list('?state=failing');
    assert.deepEqual([failing?.id, failing?.kind, failing?.step], [server?.id, 'stop', 'shut_down']);
    assert.ok((failing?.attempts ?? 0) > 0 && failing?.last_fault !== '');
    assert.deepEqual(await list('?state=stuck'), []);
    assert.deepEqual(await list('?kind=rebuild'), []);
    const page = textOf((await person.browser.get(`/operations/${server?.id}`)).text);
    assert.match(page, /stop of .*failing.*Steps/s);
    const again = await fill(person.browser, `/operations/${server?.id}`, 'operations.retry', {});
    assert.equal(again.location, `${path}?done=begun`);
    await world.settle();
    assert.ok(((await list())[0]?.attempts ?? 0) > (failing?.attempts ?? 0));
    const ended = await fill(person.browser, `/operations/${server?.id}`, 'operations.give_up', REASON);
    assert.equal(ended.location, `${path}?done=begun`, textOf(ended.text));
    await breakMachines('power', 0);
    await world.settle();
    assert.deepEqual(await list(), []);
    const { body } = await world.api(person.token, 'GET', path);
    const [action] = body.actions as { command: string; status: string }[];
    assert.deepEqual([action?.command, action?.status], ['server.stop', 'error']);
    const none = await world.api(person.token, 'POST', `/operations/${server?.id}/retry`);
    assert.equal(none.status, 404);
  });

  it('gives up a first install, which refunds and deletes the server', async () => {
    await breakMachines('ensure', 1);
    await breakMachines('remove', 1_000);
    const before = await balance();
    await order();
    const [failing] = await list();
    assert.equal(failing?.kind, 'provision', JSON.stringify(failing));
    assert.ok((await balance()) < before);
    const given = await world.api(person.token, 'POST', `/operations/${failing?.id}/give_up`, REASON);
    assert.equal(given.status, 200, JSON.stringify(given.body));
    await breakMachines('remove', 0);
    await world.settle();
    assert.equal(await balance(), before);
    assert.ok((await servers()).every(({ id }) => id !== failing?.id));
    const log = await world.api(person.token, 'GET', `/staff_log?target=${failing?.id}`);
    const [entry] = log.body.data as { operation: string; reason: string; result: string }[];
    assert.deepEqual(
      [entry?.operation, entry?.reason, entry?.result],
      ['operations.give_up', 'ticket 12', 'ok'],
    );
  });

  it('refuses to give up a removal', async () => {
    const [server] = await servers();
    await breakMachines('remove', 1_000);
    const api = await world.api(
      (await world.person('owner')).token,
      'POST',
      `/servers/${server?.id}/delete`,
      REASON,
    );
    assert.equal(api.status, 200, JSON.stringify(api.body));
    await world.settle();
    const refused = await world.api(person.token, 'POST', `/operations/${server?.id}/give_up`, REASON);
    assert.equal(refused.status, 400, JSON.stringify(refused.body));
    await breakMachines('remove', 0);
    assert.equal((await world.api(person.token, 'POST', `/operations/${server?.id}/retry`)).status, 200);
    await world.settle();
    assert.deepEqual(await servers(), []);
  });

  async function balance(): Promise<number> {
    const { body } = await world.api(person.token, 'GET', `/customers/${customer.email}`);
    return body.balance_usd as number;
  }
});
