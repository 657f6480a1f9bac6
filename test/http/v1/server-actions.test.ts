import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const SETTINGS = { SKERRY_RATE_CAPACITY: '100000', SKERRY_RATE_REFILL_PER_S: '100000' };
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
const MISSING_ID = formatId('server', newId(new Date()));
const SNAPSHOT = formatId('snapshot', newId(new Date()));

const ACTIONS = ['stop', 'start', 'reboot', 'rescue', 'rebuild', 'restore'] as const;
const BODIES: Partial<Record<(typeof ACTIONS)[number], object>> = { restore: { snapshot: SNAPSHOT } };

let world: World;
let api: V1Client;
let stranger: V1Client;
let key: string;
let image: string;
let id: string;

before(async () => {
  world = await startWorld(SETTINGS);
  api = V1Client.forUrl(world.url, await createApiToken(await world.customer(90)));
  stranger = api.withToken(await createApiToken(await world.customer()));
  key = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body.id;
  image = (await api.get('/images?family=alpine')).body.data[0].id;
});
after(() => world.close());
beforeEach(async () => {
  const body = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
  const made = await api.post('/servers', body);
  assert.equal(made.status, 201, made.text);
  id = made.body.id;
  await world.advance(5);
  assert.equal((await server()).status, 'running');
});

const server = async (): Promise<JsonBody> => (await api.get(`/servers/${id}`)).body;
const act = (action: string, body?: object, extra?: { key: string }) =>
  api.post(`/servers/${id}/${action}`, body, extra);

/** Runs the action. Returns the status in the response and the status at the end. */
async function forEachAction(action: string, body?: object): Promise<[string, string]> {
  const { status, body: answer, text } = await act(action, body);
  assert.equal(status, 202, text);
  assert.equal(answer.id, id);
  await world.advance(10);
  return [answer.status, (await server()).status];
}

describe('the actions on a server over REST', () => {
  it('server actions get 202 with the server and end as the contract says', async () => {
    assert.deepEqual(await forEachAction('stop'), ['running', 'stopped']);
    assert.deepEqual(await forEachAction('start'), ['stopped', 'running']);
    assert.deepEqual(await forEachAction('reboot'), ['running', 'running']);
    assert.deepEqual(await forEachAction('reboot?hard=true'), ['running', 'running']);
    assert.deepEqual(await forEachAction('rescue'), ['running', 'running']);
    assert.deepEqual(await forEachAction('rebuild'), ['installing', 'running']);
    const { body: taken } = await act('snapshots');
    await world.advance(60);
    assert.deepEqual(await forEachAction('restore', { snapshot: taken.id }), ['installing', 'running']);
    const last = await api.delete(`/servers/${id}`);
    assert.deepEqual([last.status, last.body.status], [202, 'destroying']);
    await world.advance(10);
    assertApiError(await api.delete(`/servers/${id}`), 404, 'not_found');
    assertApiError(await api.get(`/servers/${id}`), 404, 'not_found');
    const events = await world.opened.db.rows<{ type: string }>(
      `select type from events where data -> 'server' ->> 'id' = $1 order by place`,
      [id],
    );
    assert.deepEqual(
      events.map(({ type }) => type),
      [
        ...[
          'created',
          'running',
          'stopped',
          'rebooted',
          'rebooted',
          'rebooted',
          'rebuilt',
          'rebuilt',
          'destroyed',
        ],
      ].map((word) => `server.${word}`),
    );
  });

  it('a server can be deleted repeatedly while it exists', async () => {
    await world.sandbox('faults', { driver: 'compute', operation: 'remove', times: 2 });
    for (let n = 0; n < 3; n++) assert.equal((await api.delete(`/servers/${id}`)).status, 202);
    await world.advance(60);
    assertApiError(await api.delete(`/servers/${id}`), 404, 'not_found');
  });

  it('server actions run once per key, and a rescue password is replayed to its caller only', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => act('rescue', undefined, { key: 'once' })),
    );
    const [first] = answers;
    assert.match(first?.body.rescue.password, /^[a-z2-7]{26}$/);
    for (const answer of answers) assert.deepEqual([answer.status, answer.text], [202, first?.text]);
    await world.advance(10);
    assert.equal((await act('rescue', undefined, { key: 'once' })).text, first?.text);
    assert.equal((await server()).rescue, undefined);
  });

  it('server actions on another customer’s server get the response for an unknown one', async () => {
    for (const action of ACTIONS) {
      const body = BODIES[action];
      const foreign = await stranger.post(`/servers/${id}/${action}`, body);
      assertApiError(foreign, 404, 'not_found');
      const missing = await stranger.post(`/servers/${MISSING_ID}/${action}`, body);
      const masked = (text: string) => text.replace(/req_[a-z2-7]+/, '');
      assert.equal(masked(foreign.text), masked(missing.text));
      assertApiError(await api.post(`/servers/nonsense/${action}`, body), 404, 'not_found');
    }
    assertApiError(await stranger.delete(`/servers/${id}`), 404, 'not_found');
    assert.equal((await server()).status, 'running');
  });

  it('server actions in a wrong state get 409', async () => {
    assertApiError(await act('start'), 409, 'conflict_state');
    await world.sandbox('faults', { driver: 'compute', operation: 'power', times: 1_000 });
    await act('stop');
    for (const action of ACTIONS) assertApiError(await act(action, BODIES[action]), 409, 'conflict_state');
    await world.sandbox('faults', { driver: 'compute', operation: 'power', times: 0 });
    await world.advance(60);
    for (const action of ['stop', 'reboot', 'rescue'])
      assertApiError(await act(action), 409, 'conflict_state');
  });

  it('server actions with invalid input are rejected with the field', async () => {
    const foreignKey = (await stranger.post('/ssh-keys', { name: 'k', public_key: PUBLIC_KEY })).body.id;
    const refusals: [string, object, number, string, string][] = [
      ['reboot?hard=maybe', {}, 400, 'hard', 'invalid_type'],
      ['rebuild', { ssh_keys: [] }, 400, 'ssh_keys', 'min_items'],
      ['rebuild', { image: 7 }, 400, 'image', 'invalid_type'],
      ['rebuild', { user_data_b64: '***' }, 400, 'user_data_b64', 'invalid_format'],
      ['rebuild', { image: 'img_none' }, 422, 'image', 'not_found'],
      ['rebuild', { ssh_keys: [key, foreignKey] }, 422, 'ssh_keys.1', 'not_found'],
      ['restore', {}, 400, 'snapshot', 'required'],
      ['restore', { snapshot: SNAPSHOT }, 422, 'snapshot', 'not_found'],
    ];
    for (const [action, body, status, field, issue] of refusals) {
      const code = status === 400 ? 'invalid_request' : 'unprocessable';
      const [item] = assertApiError(await act(action, body), status, code);
      assert.deepEqual([item.field, item.issue], [field, issue], action);
    }
    assert.equal((await server()).status, 'running');
  });
});
