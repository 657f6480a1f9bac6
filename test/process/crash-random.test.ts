/**
 * A busy service killed with -9 again and again, at any moment: afterwards every event that was published has been
 * delivered, under its one id, numbers have no gap, no letter came twice, and the books are whole. In the full run.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { openDatabase } from '../../src/store/db.ts';
import { startEmbedded } from '../../src/store/embedded/index.ts';
import { killLeftovers, skerryd, startServing } from '../support/process.ts';
import { Receiver } from '../support/receiver.ts';
import { IN_FULL } from '../support/runs.ts';
import { V1Client } from '../support/v1-client.ts';
import { type Base, DAY_S, HOOK, makeBase, settingsFor } from './crash-time-world.ts';
import { sandbox } from './crash-world.ts';

const KILLS = 20;
/** All of it within the time for which events are kept. */
const DAYS_MOST = 1.3;

type Act = (url: string, api: V1Client, base: Base) => Promise<unknown>;

const server = async (api: V1Client, index: number): Promise<string> => {
  const { data } = (await api.get('/servers')).body;
  return `/servers/${data[index % data.length].id}`;
};

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.double({ min: 0.01, max: DAYS_MOST, noNaN: true }).map(
    (days): Act =>
      (url) =>
        sandbox(url, 'clock', { advance_s: Math.round(days * DAY_S) }),
  ),
  fc.constant<Act>(async (_, api, base) => {
    const order = { name: 'more', plan: 's1', region: 'par', image: base.imageId, ssh_keys: [base.keyId] };
    await api.post('/servers', order);
  }),
  fc.nat({ max: 5 }).map(
    (n): Act =>
      async (_, api) =>
        api.post(`${await server(api, n)}/reboot`),
  ),
  fc.nat({ max: 5 }).map(
    (n): Act =>
      async (_, api) =>
        api.post(`${await server(api, n)}/stop`),
  ),
  fc.nat({ max: 5 }).map(
    (n): Act =>
      async (_, api) =>
        api.delete(await server(api, n)),
  ),
  fc.constant<Act>(async (url, api) => {
    const { body } = await api.post('/billing/topup', { coin: 'LTC', amount_usd: 30 });
    await sandbox(url, 'payments', {
      coin: 'LTC',
      address: body.deposit_address,
      amount: body.deposit_amount,
    });
    await sandbox(url, 'blocks', { coin: 'LTC', count: 12 });
  }),
);
const lives = fc.array(
  fc.record({
    acts: fc.array(act, { minLength: 2, maxLength: 8 }),
    killAfterMs: fc.integer({ min: 20, max: 2_500 }),
  }),
  { minLength: KILLS, maxLength: KILLS },
);

describe('a busy service that is killed at any moment', IN_FULL, () => {
  let folder = '';
  let receiver: Receiver;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-crash-'));
    // Root's database runs as another user, who must be able to pass through.
    await chmod(folder, 0o755);
    receiver = await Receiver.start();
    await writeFile(join(folder, 'ca.pem'), receiver.authority.cert);
  });
  after(async () => {
    killLeftovers();
    await receiver?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });

  it('loses nothing and repeats nothing', async () => {
    await fc.assert(
      fc.asyncProperty(lives, async (each) => {
        const settings = settingsFor(folder, 'random');
        const first = await startServing(settings);
        const base = await makeBase(first, receiver);
        await first.stop('SIGKILL');
        for (const { acts, killAfterMs } of each) {
          const serving = await startServing(settings);
          const api = V1Client.over(serving.url, base.token);
          const busy = acts.map((one) => one(serving.url, api, base).catch(() => undefined));
          await pause(killAfterMs);
          await serving.stop('SIGKILL');
          await Promise.all(busy);
        }
        const last = await startServing(settings);
        // The longest wait between two attempts.
        await sandbox(last.url, 'clock', { advance_s: DAY_S });
        assert.equal((await last.stop()).code, 0);
        const verified = await skerryd(['verify'], settings);
        assert.equal(verified.code, 0, verified.stdout + verified.stderr);
        await assertWhole(join(folder, 'random'), receiver);
      }),
      { numRuns: 1, endOnFailure: true },
    );
  });
});

interface EventRow {
  readonly shown: string;
  readonly seq: bigint | null;
  readonly sent: bigint;
}

async function assertWhole(dataDir: string, receiver: Receiver): Promise<void> {
  const database = await startEmbedded({ dataDir });
  const db = openDatabase(database.connection, { poolSize: 1 });
  try {
    const events = await db.rows<EventRow>(
      `select e.id as shown, e.seq, count(d.id) filter (where d.status = 'delivered') as sent
         from events e left join deliveries d on d.event_id = e.id group by e.id order by e.seq`,
    );
    const queued = await db.row<{ n: bigint }>(
      `select count(*) as n from deliveries where status = 'pending'`,
    );
    assert.equal(queued?.n, 0n, 'nothing waits any more');
    const numbers = events.map(({ seq }) => seq);
    assert.deepEqual(
      numbers,
      numbers.map((_, n) => (numbers[0] ?? 1n) + BigInt(n)),
      'numbered without a gap',
    );
    const sent = events.filter((event) => event.sent > 0n).length;
    const bodies = receiver.to(HOOK).map(({ body }) => JSON.parse(body));
    const ids = new Set(bodies.map(({ id }) => id));
    assert.equal(ids.size, sent, 'each came, and none under another id');
    // What was published before there was a subscription: a token, the first payment.
    assert.ok(events.length - sent <= 4, `${events.length - sent} were sent to nobody`);
    const twice = await db.rows(`select kind, cause from mails group by kind, cause having count(*) > 1`);
    assert.deepEqual(twice, []);
  } finally {
    await db.close();
    await database.stop();
  }
}
