/** The product's parts for the tasks of a scenario, each with the service of a process of its own. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { ScopedActor, Service } from '../../../src/domain/context.ts';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import { SimulatorControl } from '../../../src/drivers/compute/simulator/control.ts';
import { SimulatedCompute } from '../../../src/drivers/compute/simulator/driver.ts';
import { SqlFaults } from '../../../src/drivers/faults.ts';
import { FixedRates } from '../../../src/drivers/rates/fixed.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { KeyedMutex } from '../../../src/kernel/keyed-mutex.ts';
import { createLogger } from '../../../src/kernel/logger.ts';
import { KeyRing } from '../../../src/kernel/secrets.ts';
import type { Database } from '../../../src/kernel/sql.ts';
import { DAY_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import type { ChainDriver } from '../../../src/ports/chain.ts';
import { type ComputeDriver, ComputeError } from '../../../src/ports/compute.ts';
import type { CoinCode } from '../../../src/spec/coins.ts';
import { QUOTAS } from '../../../src/spec/limits.ts';
import { LEASE_S } from '../../../src/store/leases.ts';
import { MarkFile } from '../../../src/store/service/mark-file.ts';
import type { Job } from '../../../src/workers/job.ts';
import { operateJob } from '../../../src/workers/operate.ts';
import { Fixtures, S1 } from '../../support/fixtures.ts';
import { NO_FLEET } from '../../support/no-fleet.ts';
import { currentTask, emptyIdPool, installContext, runIn } from './context.ts';
import { InterleaveDatabase } from './database.ts';
import { type DriverOptions, interleaveDriver } from './driver.ts';
import type { Chances } from './events.ts';
import { Scheduler, type Task } from './scheduler.ts';
import { type Rewrite, Sessions } from './sessions.ts';

const INSTALL_S = 3;
export const S2 = { ...S1, id: 's2', ram_mb: 2048, disk_gb: 20, price_cents_month: 1_000n };
const START = new Date(Date.UTC(2030, 0, 31, 12));
/** Enough hosts and addresses that only the scenarios about them run out. */
const HOST_CAPACITIES = [8, 8];
const ADDRESSES = 12;
/** One after the other, at the end. */
const LEASES_MAX = 3;

/** A customer without a balance, whose server runs and is paid for one month. */
export interface Owner {
  readonly actor: ScopedActor;
  readonly serverId: string;
  /** As customers see it. */
  readonly shownId: string;
}

export class InterleaveWorld {
  readonly fixtures: Fixtures;
  readonly simulator: SimulatorControl;
  readonly #database: InterleaveDatabase;
  readonly #sessions: Sessions;
  /** It has timers of its own. */
  readonly #log = createLogger('silent');
  readonly #keys = new KeyRing(KeyRing.generate());
  #scheduler: Scheduler | null = null;
  /** Before the first interleaving. */
  #preparedMs = START.getTime() - DAY_MS;
  #owner: Owner | undefined;

  private constructor(database: InterleaveDatabase) {
    this.#database = database;
    this.#sessions = new Sessions(database.db, () => this.#scheduler);
    this.simulator = new SimulatorControl({ db: database.admin, clock: this.clock });
    this.fixtures = new Fixtures({ db: database.admin, clock: this.clock, simulator: this.simulator });
  }

  static async open(): Promise<InterleaveWorld> {
    installContext();
    const world = new InterleaveWorld(await InterleaveDatabase.open());
    await world.fixtures.addPlans(['par'], [S1, S2]);
    await world.fixtures.addHosts(HOST_CAPACITIES);
    await world.fixtures.addAddresses(ADDRESSES);
    world.#owner = await world.#addOwner();
    await world.#database.keep();
    return world;
  }

  async #addOwner(): Promise<Owner> {
    const service = this.service();
    const actor = await this.fixtures.addCustomer(S1.price_cents_month);
    const { server } = await deploy(service, actor, this.fixtures.buildOrder({ name: 'home' }));
    const job = operateJob(service);
    for (let due: Date | null = this.clock.now(); due !== null; due = await job.nextDue()) {
      this.#preparedMs = Math.max(this.#preparedMs, due.getTime());
      while ((await job.run()) > 0);
    }
    return { actor, serverId: server.id, shownId: formatId('server', server.id) };
  }

  get owner(): Owner {
    return this.#owner ?? assert.fail('the world is not open');
  }

  readonly clock = { now: (): Date => this.#scheduler?.time.now() ?? new Date(this.#preparedMs) };

  /** For preparation and checks. */
  get db(): Database {
    return this.#database.admin;
  }

  /** Changes the statements of tasks from now on. */
  set rewrite(rewrite: Rewrite) {
    this.#sessions.rewrite = rewrite;
  }

  /** Forgets the previous interleaving, and starts one in which `work` runs. */
  async interleave<T>(
    options: { readonly seed: number; readonly chances?: Chances | undefined },
    work: (scheduler: Scheduler) => Promise<T>,
  ): Promise<{ readonly trace: readonly string[]; readonly result: T | { readonly failed: unknown } }> {
    await this.#database.reset();
    const scheduler = new Scheduler({
      ...options,
      wait: this.#database,
      onTime: (now) => this.#database.setClock(now),
    });
    this.#scheduler = scheduler;
    const context = { random: scheduler.random, time: scheduler.time, task: null };
    try {
      const result = await runIn(context, async () => {
        emptyIdPool();
        return await work(scheduler);
      }).catch((failed: unknown) => ({ failed }));
      return { trace: scheduler.trace, result };
    } finally {
      await scheduler.abandon();
      this.#scheduler = null;
    }
  }

  /** Returns the service of a new process. */
  service(more: Partial<Service> = {}): Service {
    const { admin } = this.#database;
    const db = this.#database.db;
    const { clock } = this;
    return {
      ...{ db, reads: db, clock, keys: this.#keys, log: this.#log },
      compute: this.compute(),
      fleet: NO_FLEET,
      chains: new Map<CoinCode, ChainDriver>(),
      rates: new FixedRates({ db: admin, clock }),
      orders: new KeyedMutex(),
      marks: new MarkFile(null),
      mailer: null,
      dns: null,
      settings: SETTINGS,
      wake: () => undefined,
      ...more,
    } as unknown as Service;
  }

  /** Runs the jobs until nothing is due, and then at the next due time, but not after `until`. */
  async runJobs(jobs: readonly Job[], until = this.clock.now()): Promise<void> {
    for (let leases = 0; ; ) {
      let did = 0;
      for (const job of jobs) did += await job.run();
      if (did > 0) continue;
      const dates = await Promise.all(jobs.map((job) => job.nextDue()));
      const next = Math.min(...dates.map((date) => date?.getTime() ?? Number.POSITIVE_INFINITY));
      if (next > until.getTime()) return;
      // A lost answer or a dead worker leaves a lease.
      if (next > this.clock.now().getTime()) leases = 0;
      else if (leases++ === LEASES_MAX) throw new Error('the jobs leave due work');
      if (leases > 0) await this.moveTime((LEASE_S + 1) * SECOND_MS);
      else await this.moveTime(next - this.clock.now().getTime());
    }
  }

  async moveTime(ms: number): Promise<void> {
    if (currentTask()) await pause(ms);
    else await this.#scheduler?.moveTime(this.clock.now().getTime() + ms);
  }

  driver<Driver extends object>(driver: Driver, options: Omit<DriverOptions, 'scheduler'>): Driver {
    return interleaveDriver(driver, { ...options, scheduler: () => this.#scheduler });
  }

  /** The simulated hosts, which all processes of an interleaving call. */
  compute(onCall?: DriverOptions['onCall']): ComputeDriver {
    const { admin } = this.#database;
    const faults = new SqlFaults(admin);
    const driver = new SimulatedCompute({ db: admin, clock: this.clock, faults, installS: INSTALL_S });
    const createFault = () => new ComputeError('transient', 'no answer');
    return this.driver(driver, { name: 'compute', createFault, ...(onCall ? { onCall } : {}) });
  }

  /** A step of the world around the product, such as a new block. */
  async step(label: string): Promise<void> {
    const task = currentTask() as Task | null;
    if (task) await this.#scheduler?.park(task, { label, fates: ['run'] });
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
}

const SETTINGS = {
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
  floods: { packetsPerS: { in: 100_000, out: 50_000 }, samples: 3, isAutomatic: false, blackholeMinutes: 30 },
  copySnapshots: false,
  mailingsPerMinute: 60,
  webhookAllowLoopback: false,
  quotas: QUOTAS,
} as const;
