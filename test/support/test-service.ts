/**
 * The service's parts on a scratch database, with the simulated hypervisor and a clock that the test moves.
 */

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import type { Service } from '../../src/domain/context.ts';
import { checkInvariants } from '../../src/domain/verify/verify.ts';
import { DiskBlobs } from '../../src/drivers/blobs/disk.ts';
import { SimulatorControl } from '../../src/drivers/compute/simulator/control.ts';
import { SimulatedCompute } from '../../src/drivers/compute/simulator/driver.ts';
import { SqlFaults } from '../../src/drivers/faults.ts';
import { MailOutbox } from '../../src/drivers/mail/outbox.ts';
import { FixedRates } from '../../src/drivers/rates/fixed.ts';
import { KeyedMutex } from '../../src/kernel/keyed-mutex.ts';
import { createLogger } from '../../src/kernel/logger.ts';
import { PasswordHasher } from '../../src/kernel/passwords.ts';
import { KeyRing } from '../../src/kernel/secrets.ts';
import type { ReverseDns } from '../../src/ports/dns.ts';
import { QUOTAS } from '../../src/spec/limits.ts';
import { type OpenDatabase, openDatabase } from '../../src/store/db.ts';
import { MarkFile } from '../../src/store/service/mark-file.ts';
import { JobRunner } from '../../src/workers/job-runner.ts';
import { operateJob } from '../../src/workers/operate.ts';
import { tasksJob } from '../../src/workers/tasks.ts';
import { SteppedClock } from '../drivers/compute/simulator/simulator-world.ts';
import { CHEAP_PASSWORDS } from './cheap-passwords.ts';
import { openScratchDatabase } from './database.ts';
import { Fixtures } from './fixtures.ts';
import { NO_FLEET } from './no-fleet.ts';
import { scratchFolder } from './scratch-folder.ts';

/** The longest time that background work may take to become idle before the test fails. */
const IDLE_TIMEOUT_MS = 30_000;
const INSTALL_S = 3;

export interface TestService {
  readonly service: Service;
  readonly db: OpenDatabase;
  readonly clock: SteppedClock;
  readonly simulator: SimulatorControl;
  readonly faults: SqlFaults;
  readonly runner: JobRunner;
  readonly fixtures: Fixtures;
  /** Runs all work, moving the clock from one due time to the next, until nothing is scheduled. */
  runUntilIdle(): Promise<void>;
  /** Fails the test if any invariant of `skerryd verify` is broken. */
  assertInvariants(): Promise<void>;
  /** Returns the types of the customer's events, oldest first; ties are in reverse alphabetical order. */
  eventTypes(customerId: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function startTestService(
  options: { poolSize?: number; keys?: string; dns?: ReverseDns } = {},
): Promise<TestService> {
  const scratch = await openScratchDatabase(options);
  const simulatorDb = openDatabase(scratch.connection, { poolSize: 4 });
  const { db } = scratch;
  const blobsFolder = scratchFolder();
  const clock = new SteppedClock();
  const faults = new SqlFaults(simulatorDb);
  const simulator = new SimulatorControl({ db: simulatorDb, clock });
  const log = createLogger('silent');
  const keys = new KeyRing(options.keys ?? KeyRing.generate());
  const service: Service = {
    db,
    reads: db,
    clock,
    log,
    keys,
    passwords: new PasswordHasher({ queueMax: 8, cost: CHEAP_PASSWORDS }),
    compute: new SimulatedCompute({ db: simulatorDb, clock, faults, installS: INSTALL_S }),
    fleet: NO_FLEET,
    chains: new Map(),
    rates: new FixedRates({ db: simulatorDb, clock }),
    orders: new KeyedMutex(),
    marks: new MarkFile(null),
    blobs: new DiskBlobs({ folder: blobsFolder, reserveBytes: 0 }),
    mailer: new MailOutbox({ db: simulatorDb, keys, faults }),
    dns: options.dns ?? null,
    settings: {
      mode: 'sandbox',
      siteName: 'Skerry',
      baseUrl: 'http://panel.test',
      tokenPrefix: 'skerry',
      rateLockMinutes: 60,
      addressRestDays: 7,
      graceDays: 14,
      negativeBalanceDays: 7,
      shutdownDeadlineS: 60,
      throttleMbps: 10,
      floods: {
        packetsPerS: { in: 100_000, out: 50_000 },
        ...{ samples: 3, isAutomatic: false, blackholeMinutes: 30 },
      },
      copySnapshots: false,
      mailingsPerMinute: 60,
      webhookAllowLoopback: false,
      quotas: QUOTAS,
    },
    wake: () => undefined,
  };
  const runner = new JobRunner({ jobs: [operateJob(service), tasksJob(service)], pollMs: 500, log });
  return {
    service,
    db,
    clock,
    simulator,
    faults,
    runner,
    fixtures: new Fixtures({ db, clock, simulator }),
    runUntilIdle: () => runUntilIdle(runner, clock),
    assertInvariants: () => assertInvariants(db),
    eventTypes: async (customerId) => {
      // `verify` proves that each action has one event.
      const rows = await db.rows<{ type: string }>(
        `select type from events where customer_id = $1 and type not like 'action.%' order by place`,
        [customerId],
      );
      return rows.map(({ type }) => type);
    },
    close: async () => {
      await rm(blobsFolder, { recursive: true, force: true });
      await simulatorDb.close();
      await scratch.close();
    },
  };
}

async function runUntilIdle(runner: JobRunner, clock: SteppedClock): Promise<void> {
  const deadline = performance.now() + IDLE_TIMEOUT_MS;
  for (;;) {
    assert.ok(await runner.runDue(deadline), 'the work does not become idle');
    const next = await runner.nextDue();
    if (next === null) return;
    if (next > clock.now()) clock.moveTo(next);
  }
}

async function assertInvariants(db: OpenDatabase): Promise<void> {
  const findings = await checkInvariants(db);
  const broken = findings.filter((finding) => finding.broken > 0n);
  assert.deepEqual(
    broken.map(({ invariant, examples }) => ({ broken: invariant.name, examples })),
    [],
  );
}
