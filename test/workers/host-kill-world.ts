/**
 * Hosts behind TLS, each with simulated machines of its own, and processes of the control plane. A fault hits
 * one of them at a chosen call: a host's process, the connections, or a process of the control plane.
 */
import { composeCompute } from '../../src/drivers/compute/composed/driver.ts';
import type { RemoteCompute } from '../../src/drivers/compute/composed/link.ts';
import { openHostDriver } from '../../src/drivers/compute/host/driver.ts';
import { SimulatorControl } from '../../src/drivers/compute/simulator/control.ts';
import { SimulatedCompute } from '../../src/drivers/compute/simulator/driver.ts';
import { SqlFaults } from '../../src/drivers/faults.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { Database } from '../../src/kernel/sql.ts';
import type { ComputeDriver } from '../../src/ports/compute.ts';
import {
  createBackendDirectory,
  insertBackend,
  nextBackendCall,
} from '../../src/store/inventory/backends.ts';
import { insertHost } from '../../src/store/inventory/hosts.ts';
import { JobRunner } from '../../src/workers/job-runner.ts';
import { operateJob } from '../../src/workers/operate.ts';
import { tasksJob } from '../../src/workers/tasks.ts';
import { type HostWorld, hostWorld } from '../drivers/compute/host/host-world.ts';
import { openScratchDatabase } from '../support/database.ts';
import type { TestService } from '../support/test-service.ts';
import { startWire, type Wire } from './wire.ts';

const INSTALL_S = 3;
const SIZE = { cpu: 64, ramMb: 65_536, diskGb: 1_024 };
const CHANGES: readonly string[] = ['ensure', 'remove', 'power', 'rebuild', 'filter', 'traffic', 'rescue'];

/** Before or after the host carries out the call, or before it is sent. */
export type Moment = 'sending' | 'before' | 'after';
export interface Fault {
  /** The call at which it happens, counted from 1. */
  readonly at: number;
  readonly what: 'connection' | 'host' | 'control plane';
  readonly moment: Moment;
}

export interface KillHost {
  readonly name: string;
  readonly world: HostWorld;
  readonly machines: SimulatorControl;
}

export class KillWorld {
  readonly world: TestService;
  readonly hosts: KillHost[] = [];
  /** Changes that hosts have carried out, in order: method and machine. */
  readonly carriedOut: string[] = [];
  readonly #closing: (() => Promise<void>)[] = [];
  #fault: Fault | null = null;
  #process: ControlPlane | null = null;
  #arrived = 0;

  constructor(world: TestService) {
    this.world = world;
  }

  async addHost(name: string): Promise<void> {
    const { clock, db } = this.world;
    const own = await openScratchDatabase();
    const machines = new SimulatorControl({ db: own.db, clock });
    await machines.addHost({ name, ...SIZE });
    const faults = new SqlFaults(own.db);
    const driver = new SimulatedCompute({ db: own.db, clock, faults, installS: INSTALL_S });
    const world = await hostWorld(this.#watched(name, driver));
    const now = clock.now();
    const { address, fingerprint, identity } = world.backend;
    const certificate = { certificate_from: now, certificate_until: now, renew_at: now };
    const row = { name, kind: 'host', address, fingerprint, region_id: 'par', state: 'active' } as const;
    await insertBackend(db, { ...row, ...certificate, identity: identity ?? '', created_at: now });
    const size = { cpu: SIZE.cpu, ram_mb: SIZE.ramMb, disk_gb: SIZE.diskGb };
    const placement = { tags: [], reserve_ram_mb: 0, reserve_disk_gb: 0, backend: name, created_at: now };
    await insertHost(db, { id: newId(now), name, region_id: 'par', ...size, ...placement });
    this.hosts.push({ name, world, machines });
    this.#closing.push(async () => {
      await world.close();
      await own.close();
    });
  }

  /** Starts a process of the control plane, at which the next fault is aimed. */
  async startProcess(): Promise<ControlPlane> {
    const process = await ControlPlane.start(this, () => this.#beforeSending());
    this.#process = process;
    return process;
  }

  arm(fault: Fault | null): void {
    this.#fault = fault;
    this.#arrived = 0;
  }
  disarm(): void {
    this.#fault = null;
  }
  /** Whether the fault is still to come. */
  get isArmed(): boolean {
    return this.#fault !== null;
  }
  /** Changes that arrived at hosts since `arm`. */
  get arrived(): number {
    return this.#arrived;
  }

  async close(): Promise<void> {
    for (const close of this.#closing) await close();
  }

  /** Returns the fault if it is due: it happens once. */
  #take(moment: Moment, call: number): Fault | null {
    const fault = this.#fault;
    if (fault === null || fault.moment !== moment || fault.at !== call) return null;
    this.#fault = null;
    return fault;
  }

  #beforeSending(): void {
    const fault = this.#take('sending', this.#arrived + 1);
    if (fault?.what === 'connection') this.#process?.cutConnections();
    if (fault?.what === 'control plane') this.#process?.holdBack();
  }

  /** Passes calls to the driver, with the faults around them. */
  #watched(name: string, driver: ComputeDriver): ComputeDriver {
    return new Proxy(driver, {
      get: (_, key) => {
        const value: unknown = Reflect.get(driver, key, driver);
        if (typeof value !== 'function') return value;
        if (!CHANGES.includes(String(key))) return value.bind(driver);
        return async (...args: unknown[]) => {
          const call = ++this.#arrived;
          if (await this.#meet('before', call, name)) return await new Promise<never>(() => undefined);
          const [target] = args as [string | { readonly id: string }];
          this.carriedOut.push(`${String(key)} ${typeof target === 'string' ? target : target.id}`);
          const result: unknown = await value.apply(driver, args);
          await this.#meet('after', call, name);
          return result;
        };
      },
    });
  }

  /** Returns whether the host's process was killed before it carried out the call. */
  async #meet(moment: Moment, call: number, name: string): Promise<boolean> {
    const fault = this.#take(moment, call);
    if (fault?.what === 'connection') this.#process?.cutConnections();
    if (fault?.what === 'control plane') this.#process?.kill();
    if (fault?.what !== 'host') return false;
    await this.hosts.find((host) => host.name === name)?.world.restart();
    return moment === 'before';
  }
}

/** A process of the control plane with connections of its own. */
export class ControlPlane {
  readonly runner: JobRunner;
  /** Resolves when it is killed. */
  readonly killed: Promise<void>;
  readonly #compute: RemoteCompute;
  readonly #wires: readonly Wire[];
  readonly #markKilled: () => void;
  #isKilled = false;

  static async start(world: KillWorld, beforeSending: () => void): Promise<ControlPlane> {
    const wires = await Promise.all(
      world.hosts.map(async ({ name, world: { server } }) => await startWire(name, server.port)),
    );
    const process = new ControlPlane(world, wires, beforeSending);
    // It is connected to all hosts before the first change.
    await process.#compute.list();
    process.#isConnected = true;
    return process;
  }
  #isConnected = false;

  private constructor({ world, hosts }: KillWorld, wires: readonly Wire[], beforeSending: () => void) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.killed = promise;
    this.#markKilled = resolve;
    this.#wires = wires;
    const db = this.#mortal(world.db);
    const { log } = world.service;
    this.#compute = composeCompute({
      local: world.service.compute,
      directory: createBackendDirectory(db),
      log,
      open: (backend) => {
        const own = hosts.find(({ name }) => name === backend.name)?.world;
        const wire = wires.find(({ name }) => name === backend.name);
        if (own === undefined || wire === undefined) throw new Error('no such host');
        return openHostDriver({
          backend: { ...own.backend, name: backend.name, address: `127.0.0.1:${wire.port}` },
          credentials: async () => own.credentials,
          capabilities: world.service.compute.capabilities,
          nextCall: async () => {
            const call = await nextBackendCall(db);
            if (this.#isConnected) beforeSending();
            return call;
          },
        });
      },
    });
    const service = { ...world.service, db, reads: db, compute: this.#compute };
    const jobs = [operateJob(service), tasksJob(service)];
    this.runner = new JobRunner({ jobs, pollMs: 500, log });
  }

  cutConnections(): void {
    for (const wire of this.#wires) wire.cut();
  }

  /** Delays the call that is sent next, and kills the process once it is on its way. */
  holdBack(): void {
    for (const wire of this.#wires) wire.hold(() => this.kill());
  }

  kill(): void {
    this.#isKilled = true;
    this.#markKilled();
  }

  /** The delayed bytes arrive now. */
  async deliver(): Promise<void> {
    for (const wire of this.#wires) await wire.release();
  }

  async close(): Promise<void> {
    this.kill();
    this.#compute.close();
    await Promise.all([this.runner.stop(), ...this.#wires.map((wire) => wire.close())]);
  }

  /** A process that was killed reads and writes nothing. */
  #mortal<T extends Database>(db: T): T {
    return new Proxy(db, {
      get: (_, key) => {
        const value: unknown = Reflect.get(db, key, db);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          if (this.#isKilled) throw new Error('this process was killed');
          return (await value.apply(db, args)) as unknown;
        };
      },
    });
  }
}
