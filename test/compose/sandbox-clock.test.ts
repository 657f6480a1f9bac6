/** Long jumps of the sandbox clock do the work of near due dates in one batch (decision 56). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { addMonths } from '../../src/kernel/time.ts';
import { NO_RATES, PUBLIC_KEY } from '../http/v1/contract/estate.ts';
import { createApiToken, type JsonBody, V1Client } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';

const DAY_S = 86_400;
const SERVERS = 4;
/** Between the orders, so that no two servers are due at the same time. */
const APART_S = 5;
const LATE_MAX_MS = 30_000;

describe('a long jump of the sandbox clock', () => {
  let world: World;
  let api: V1Client;
  const servers: JsonBody[] = [];

  before(async () => {
    world = await startWorld(NO_RATES);
    const customer = await world.customer();
    await world.addBalance(customer, 1_000_000n);
    api = V1Client.forApp(world.http, await createApiToken(customer));
    const { id: key } = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body;
    const image = (await api.get('/images?family=alpine')).body.data[0].id;
    for (let n = 0; n < SERVERS; n++) {
      const order = { name: `web-${n}`, plan: 's1', region: 'par', image, ssh_keys: [key] };
      const { id } = (await api.post('/servers', order)).body;
      await world.advance(APART_S);
      servers.push((await api.get(`/servers/${id}`)).body);
    }
  });
  after(() => world.close());

  const charges = async (): Promise<JsonBody[]> =>
    (await api.get('/billing/ledger?filter[type]=charge&page_size=100')).body.data;

  it('charges each cycle at most 30 seconds late, and no cycle drifts', async () => {
    await world.advance(70 * DAY_S);
    for (const { id, created_at: createdAt, paid_until: firstEnd } of servers) {
      const first = new Date(firstEnd);
      const anchorDay = new Date(createdAt).getUTCDate();
      const ends = [1, 2].map((months) => addMonths(first, months, anchorDay));
      const { paid_until: end } = (await api.get(`/servers/${id}`)).body;
      assert.equal(Date.parse(end), ends[1]?.getTime());
      const times = (await charges())
        .filter((entry) => entry.resource === id)
        .map((entry) => Date.parse(entry.created_at))
        .sort((a, b) => a - b)
        .slice(1);
      assert.equal(times.length, 2);
      for (const [cycle, due] of [first, ends[0]].entries()) {
        const lateMs = (times[cycle] ?? 0) - (due?.getTime() ?? 0);
        assert.ok(lateMs >= 0 && lateMs <= LATE_MAX_MS, `${lateMs} ms late`);
      }
    }
  });

  it('does the work of near due dates at one time', async () => {
    const times = new Set((await charges()).map((entry) => entry.created_at));
    // The orders at their own times, and two months of renewals.
    assert.ok(times.size < SERVERS * 3, `${times.size} times`);
  });
});
