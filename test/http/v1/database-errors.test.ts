/** One statement in a hundred fails. A request is answered or refused, and no answer is false. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { OUTCOME_UNKNOWN_MESSAGE } from '../../../src/spec/error-messages.ts';
import { Random } from '../../support/random.ts';
import { byLevel } from '../../support/runs.ts';
import { createApiToken, V1Client, type V1Response } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const REQUESTS = byLevel({ sample: 300, full: 4_000, soak: 40_000 });
const AT_ONCE = 8;
const ONE_IN = 100;
/** SQLSTATEs of a full disk, of no free connections, of a shutdown, of a crash, and of a lost connection. */
const STATES = ['53100', '53300', '57P01', '57P02', '08006'];

let world: HttpWorld;
let api: V1Client;
before(async () => {
  world = await startHttpWorld({ catalogue: true });
  api = V1Client.forApp(world.app, await createApiToken(await world.customer()));
});
after(() => world.close());

const seed = process.env.SKERRY_TEST_SEED ?? String(Math.floor(Math.random() * 2 ** 31));

it('a service whose database fails in 1 % of statements never claims a change falsely', async (t) => {
  t.diagnostic(`seed ${seed}`);
  const random = new Random(seed);
  let failed = 0;
  Object.defineProperty(world.outage, 'error', {
    configurable: true,
    get: () => {
      if (random.below(ONE_IN) > 0) return null;
      failed += 1;
      return Object.assign(new Error('the database failed'), { code: random.pick(STATES) });
    },
  });
  const counts = { done: 0, refused: 0 };
  /** Returns whether the change was made; undefined if no one knows. */
  const isDone = ({ status, body, text }: V1Response, expected: number): boolean | undefined => {
    counts[status === expected ? 'done' : 'refused'] += 1;
    if (status === expected) return true;
    assert.equal(status, 503, text);
    assert.equal(body.error.code, 'maintenance', text);
    return body.error.message === OUTCOME_UNKNOWN_MESSAGE ? undefined : false;
  };
  const names = new Map<string, boolean | undefined>();
  let next = 0;
  const work = async (): Promise<void> => {
    while (counts.done + counts.refused < REQUESTS) {
      const name = `group ${next++}`;
      const created = await api.post('/firewall/groups', { name, default_action: 'drop' });
      names.set(name, isDone(created, 201));
      if (names.get(name) !== true) continue;
      const path = `/firewall/groups/${created.body.id}`;
      isDone(await api.get(path), 200);
      // A refused deletion has deleted nothing: then the next one would find no group.
      while (isDone(await api.delete(path), 204) !== true);
      names.set(name, false);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  Object.defineProperty(world.outage, 'error', { value: null, writable: true });
  const rows = await world.db.rows<{ name: string }>('select name from firewall_groups');
  const stored = new Set(rows.map(({ name }) => name));
  const wrong = [...names].filter(([name, exists]) => exists !== undefined && exists !== stored.has(name));
  assert.deepEqual(wrong, [], `SKERRY_TEST_SEED=${seed}`);
  assert.ok(
    failed > 0 && counts.refused > 0 && counts.done > 10 * counts.refused,
    JSON.stringify({ seed, ...counts }),
  );
});
