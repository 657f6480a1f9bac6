/**
 * Customers keep working while the database is killed, shut down, and frozen, and the process is killed. Full
 * runs only. SKERRY_TEST_KILLS sets the number of faults of each kind, SKERRY_TEST_SEED repeats their order.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../store/embedded/support.ts';
import { postSandbox } from '../support/answers.ts';
import { Random } from '../support/random.ts';
import { byLevel, FULL_ONLY } from '../support/runs.ts';
import { killLeftovers, runSkerryd } from '../support/skerryd-process.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { settingsFor } from './crash-time-world.ts';
import { assertEventsArrived, assertNothingLost, payWhatIsUnpaid } from './unshaken-checks.ts';
import { mine, ShakenCustomer } from './unshaken-customer.ts';
import { DATABASE_FAULTS, type DatabaseFault, ShakenService } from './unshaken-world.ts';

const KILLS = Number(process.env.SKERRY_TEST_KILLS ?? byLevel({ sample: 1, full: 4, soak: 100 }));
const CUSTOMERS = 5;
/** Work that is done between two faults. */
const DONE_BETWEEN_FAULTS = 15;
/** A frozen database and a busy machine included. */
const WORK_TIMEOUT_MS = 120_000;
const DAY_S = 86_400;

describe('a busy service whose database and process keep breaking', FULL_ONLY, () => {
  const seed = Number(process.env.SKERRY_TEST_SEED ?? randomInt(2 ** 31));
  let folder = '';
  let receiver: WebhookReceiver;
  let service: ShakenService;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-unshaken-'));
    // When root runs the tests, the database runs as another user, who must be able to enter this folder.
    await chmod(folder, 0o755);
    receiver = await WebhookReceiver.start();
    await writeFile(join(folder, 'ca.pem'), receiver.authority.cert);
    service = new ShakenService({
      ...settingsFor(folder, 'data'),
      SKERRY_LOG_LEVEL: 'error',
      SKERRY_ADDRESS_REST_DAYS: '0',
      SKERRY_RATE_CAPACITY: '1000000',
      SKERRY_QUOTAS: 'openTopups=10000,unpaidTopupsPerDay=10000',
    });
    await service.start();
  });
  after(async () => {
    killLeftovers();
    await receiver?.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });

  it('every request is answered or refused, and no acknowledged change is lost', async (t) => {
    const customers = Array.from({ length: CUSTOMERS }, (_, n) => new ShakenCustomer(service, `c${n}`, seed));
    try {
      for (const customer of customers) await customer.prepare(receiver);
      await shake(customers);
      const changes = await check(customers);
      t.diagnostic(JSON.stringify({ seed, kills: KILLS, ...service.figures, changes }));
    } catch (error) {
      const exits = service.deaths.map(
        ({ code, signal, stderr }) => `${code ?? signal} ${stderr.slice(-2_000)}`,
      );
      throw new Error(`SKERRY_TEST_SEED=${seed} ${['', ...exits].join('\na process died: ')}`, {
        cause: error,
      });
    }
  });

  /** Breaks the service again and again while the customers work. */
  async function shake(customers: readonly ShakenCustomer[]): Promise<void> {
    const end = new AbortController();
    const untilEnd = (work: Promise<void>) => work.finally(() => end.abort());
    const working = customers.map((customer) => untilEnd(customer.work(end.signal)));
    const results = await Promise.allSettled([untilEnd(breakAgainAndAgain(end.signal)), ...working]);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async function breakAgainAndAgain(end: AbortSignal): Promise<void> {
    const random = new Random(`${seed} faults`);
    const ofDatabase = Array.from({ length: KILLS }, (_, n) => DATABASE_FAULTS[n % DATABASE_FAULTS.length]);
    const faults = [...ofDatabase, ...ofDatabase.map(() => 'process' as const)];
    for (const fault of random.shuffle<DatabaseFault | 'process' | undefined>(faults)) {
      const { done } = service.figures;
      const isBusy = async () => end.aborted || service.figures.done >= done + DONE_BETWEEN_FAULTS;
      await waitUntil('work between two faults', isBusy, WORK_TIMEOUT_MS);
      // Any moment of the work.
      await pause(random.below(500));
      if (end.aborted) return;
      if (fault === 'process') await service.killProcess();
      else if (fault) await service.breakDatabase(fault, 2_000 + random.below(5_000));
    }
  }

  /** Returns the number of acknowledged changes. */
  async function check(customers: readonly ShakenCustomer[]): Promise<number> {
    const { url } = service;
    await settle();
    for (const customer of customers) await payWhatIsUnpaid(customer);
    await settle();
    const found = await Promise.all(customers.map((customer) => assertNothingLost(customer, url)));
    // The longest delay between two attempts of a delivery.
    assert.equal((await postSandbox(url, 'clock', { advance_s: DAY_S })).status, 200);
    for (const customer of customers) assertEventsArrived(customer, receiver);
    assert.deepEqual(service.deaths, [], 'no process died on its own');
    assert.equal((await service.stop()).code, 0);
    const verified = await runSkerryd(['verify'], service.settings);
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    return found.reduce((sum, count) => sum + count, 0);
  }

  /** Confirms all payments, and waits until no work is due. */
  async function settle(): Promise<void> {
    await mine(service);
    const { answer } = await service.ask('settle', (url) => postSandbox(url, 'settle'));
    assert.equal(answer.status, 200, answer.text);
  }
});
