/**
 * A busy service that is repeatedly killed with SIGKILL at random moments. Afterwards every published event
 * was delivered under a single id, event numbers have no gap, no mail was sent twice, and the ledger is
 * consistent. Full runs only.
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
import { byLevel, FULL_ONLY } from '../support/runs.ts';
import { killLeftovers, runSkerryd, startSkerryd } from '../support/skerryd-process.ts';
import { V1Client } from '../support/v1-client.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { type BaseFixture, createBaseFixture, DAY_S, HOOK_PATH, settingsFor } from './crash-time-world.ts';
import { callSandbox } from './crash-world.ts';

const KILLS = byLevel({ sample: 1, full: 5, soak: 100 });
/** The most that one action advances the clock. Keeps the whole run within the event retention period. */
const MAX_DAYS = 6.5 / KILLS;

type Action = (url: string, api: V1Client, base: BaseFixture) => Promise<unknown>;

const serverPath = async (api: V1Client, index: number): Promise<string> => {
  const { data } = (await api.get('/servers')).body;
  return `/servers/${data[index % data.length].id}`;
};

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.double({ min: 0.01, max: MAX_DAYS, noNaN: true }).map(
    (days): Action =>
      (url) =>
        callSandbox(url, 'clock', { advance_s: Math.round(days * DAY_S) }),
  ),
  fc.constant<Action>(async (_, api, base) => {
    const order = { name: 'more', plan: 's1', region: 'par', image: base.imageId, ssh_keys: [base.keyId] };
    await api.post('/servers', order);
  }),
  fc.nat({ max: 5 }).map(
    (n): Action =>
      async (_, api) =>
        api.post(`${await serverPath(api, n)}/reboot`),
  ),
  fc.nat({ max: 5 }).map(
    (n): Action =>
      async (_, api) =>
        api.post(`${await serverPath(api, n)}/stop`),
  ),
  fc.nat({ max: 5 }).map(
    (n): Action =>
      async (_, api) =>
        api.delete(await serverPath(api, n)),
  ),
  fc.constant<Action>(async (url, api) => {
    const { body } = await api.post('/billing/topup', { coin: 'LTC', amount_usd: 30 });
    await callSandbox(url, 'payments', {
      coin: 'LTC',
      address: body.deposit_address,
      amount: body.deposit_amount,
    });
    await callSandbox(url, 'blocks', { coin: 'LTC', count: 12 });
  }),
);
const rounds = fc.array(
  fc.record({
    actions: fc.array(action, { minLength: 2, maxLength: 8 }),
    killAfterMs: fc.integer({ min: 20, max: 2_500 }),
  }),
  { minLength: KILLS, maxLength: KILLS },
);

describe('a busy service that is killed at random moments', FULL_ONLY, () => {
  let folder = '';
  let receiver: WebhookReceiver;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-crash-'));
    // When root runs the tests, the database runs as another user, who must be able to enter this folder.
    await chmod(folder, 0o755);
    receiver = await WebhookReceiver.start();
    await writeFile(join(folder, 'ca.pem'), receiver.authority.cert);
  });
  after(async () => {
    killLeftovers();
    await receiver?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });

  it('loses no event and repeats nothing', async () => {
    await fc.assert(
      fc.asyncProperty(rounds, async (each) => {
        const settings = settingsFor(folder, 'random');
        const first = await startSkerryd(settings);
        const base = await createBaseFixture(first, receiver);
        await first.stop('SIGKILL');
        for (const { actions, killAfterMs } of each) {
          const serving = await startSkerryd(settings);
          const api = V1Client.forUrl(serving.url, base.token);
          const busy = actions.map((act) => act(serving.url, api, base).catch(() => undefined));
          await pause(killAfterMs);
          await serving.stop('SIGKILL');
          await Promise.all(busy);
        }
        const last = await startSkerryd(settings);
        // The longest delay between two attempts.
        await callSandbox(last.url, 'clock', { advance_s: DAY_S });
        assert.equal((await last.stop()).code, 0);
        const verified = await runSkerryd(['verify'], settings);
        assert.equal(verified.code, 0, verified.stdout + verified.stderr);
        await assertNothingLost(join(folder, 'random'), receiver);
      }),
      { numRuns: 1, endOnFailure: true },
    );
  });
});

interface EventRow {
  readonly id: string;
  readonly seq: bigint | null;
  readonly delivered: bigint;
}

async function assertNothingLost(dataDir: string, receiver: WebhookReceiver): Promise<void> {
  const database = await startEmbedded({ dataDir });
  const db = openDatabase(database.connection, { poolSize: 1 });
  try {
    const events = await db.rows<EventRow>(
      `select e.id, e.seq, count(d.id) filter (where d.status = 'delivered') as delivered
         from events e left join deliveries d on d.event_id = e.id group by e.id order by e.seq`,
    );
    const queued = await db.row<{ n: bigint }>(
      `select count(*) as n from deliveries where status = 'pending'`,
    );
    assert.equal(queued?.n, 0n, 'no delivery is pending');
    const numbers = events.map(({ seq }) => seq);
    assert.deepEqual(
      numbers,
      numbers.map((_, n) => (numbers[0] ?? 1n) + BigInt(n)),
      'numbered without a gap',
    );
    const delivered = events.filter((event) => event.delivered > 0n).length;
    const bodies = receiver.requestsTo(HOOK_PATH).map(({ body }) => JSON.parse(body));
    const ids = new Set(bodies.map(({ id }) => id));
    assert.equal(ids.size, delivered, 'each event arrived under its own id only');
    // Events from before the subscription: a token and the first payment.
    assert.ok(events.length - delivered <= 4, `${events.length - delivered} events were not delivered`);
    const twice = await db.rows(`select kind, cause from mails group by kind, cause having count(*) > 1`);
    assert.deepEqual(twice, []);
  } finally {
    await db.close();
    await database.stop();
  }
}
