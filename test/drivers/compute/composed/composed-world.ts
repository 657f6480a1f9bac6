/** A composed driver over simulators, each with a database of its own, and a directory in the service's. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { composeCompute } from '../../../../src/drivers/compute/composed/driver.ts';
import type { RemoteCompute } from '../../../../src/drivers/compute/composed/link.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import { type Backend, type BackendDirectory, LOCAL_BACKEND } from '../../../../src/ports/backends.ts';
import { type ComputeDriver, ComputeError } from '../../../../src/ports/compute.ts';
import { createBackendDirectory, insertBackend } from '../../../../src/store/inventory/backends.ts';
import { insertHost } from '../../../../src/store/inventory/hosts.ts';
import { type SimulatedWorld, simulatedWorld } from '../simulator/simulator-world.ts';

/** How a backend is cut off: it refuses at once, or never answers. */
export type Outage = 'refuses' | 'hangs';

export interface Member {
  readonly name: string;
  readonly world: SimulatedWorld;
  /** Null: it answers. */
  outage: Outage | null;
  /** Calls of `list` that reached it. A probe that is under way makes none. */
  lists: number;
}

export interface ComposedWorld {
  readonly driver: RemoteCompute;
  readonly directory: BackendDirectory;
  readonly local: SimulatedWorld;
  readonly members: readonly Member[];
  /** Moves every clock from one due time to the next until the condition holds. */
  eventually(reached: () => Promise<boolean>): Promise<void>;
  addHost(member: Member | null, name: string): Promise<void>;
  close(): Promise<void>;
}

const SIZE = { cpu: 64, ramMb: 65_536, diskGb: 1_024 };
const REGION = 'par';

export interface ComposedWorldOptions {
  /** Opens the driver of a member. Omitted: it runs in this process, and can be cut off. */
  open?(member: Member, backend: Backend): RemoteCompute;
  /** Called when the clocks have moved. */
  moved?(now: Date): void;
}

export async function composedWorld(
  names: readonly string[],
  { open = cuttable, moved = () => undefined }: ComposedWorldOptions = {},
): Promise<ComposedWorld> {
  const [local, ...worlds] = await Promise.all([LOCAL_BACKEND, ...names].map(() => simulatedWorld()));
  if (local === undefined) throw new Error('no local simulator');
  const members = names.map((name, index): Member => {
    const world = worlds[index] ?? local;
    return { name, world, outage: null, lists: 0 };
  });
  const directory = createBackendDirectory(local.db);
  await local.db.run(
    `insert into regions (id, session_code, name, country, pop_id) values ($1, $1, 'Paris', 'FR', 'PAR1')`,
    [REGION],
  );
  const addHost: ComposedWorld['addHost'] = async (member, name) => {
    await (member?.world ?? local).control.addHost({ name, ...SIZE });
    const now = local.clock.now();
    const size = {
      ...{ cpu: SIZE.cpu, ram_mb: SIZE.ramMb, disk_gb: SIZE.diskGb },
      ...{ tags: [], reserve_ram_mb: 0, reserve_disk_gb: 0 },
    };
    const backend = member?.name ?? null;
    const row = { id: newId(now), name, region_id: REGION, ...size, backend, created_at: now };
    await insertHost(local.db, row);
  };
  for (const { name } of members) {
    const address = '127.0.0.1:1';
    const row = {
      name,
      kind: 'host',
      address,
      fingerprint: 'ab'.repeat(32),
      region_id: REGION,
      state: 'active',
    } as const;
    const now = local.clock.now();
    const certificate = { certificate_from: now, certificate_until: now, renew_at: now };
    await insertBackend(local.db, { ...row, ...certificate, identity: randomUUID(), created_at: now });
  }
  const driver = composeCompute({
    local: local.driver,
    directory,
    log: createLogger('silent'),
    open: (backend: Backend) => {
      const member = members.find(({ name }) => name === backend.name);
      if (member === undefined) throw new Error(`no member ${backend.name}`);
      return open(member, backend);
    },
  });
  return {
    driver,
    directory,
    local,
    members,
    addHost,
    eventually: (reached) => eventually([local, ...worlds], reached, moved),
    close: async () => {
      driver.close();
      await Promise.all([local, ...worlds].map((world) => world.close()));
    },
  };
}

/** Passes calls to the member's driver while it is not cut off. */
function cuttable(member: Member): RemoteCompute {
  const driver: ComputeDriver = member.world.driver;
  const handler: ProxyHandler<ComputeDriver> = {
    get: (_, key) => {
      if (key === 'close') return () => undefined;
      const value: unknown = Reflect.get(driver, key, driver);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        if (member.outage === 'refuses') throw new ComputeError('transient', 'the backend is cut off');
        if (member.outage === 'hangs') return await new Promise<never>(() => undefined);
        if (key === 'list') member.lists += 1;
        return (await value.apply(driver, args)) as unknown;
      };
    },
  };
  return new Proxy(driver, handler) as RemoteCompute;
}

const PROBE_ROUNDS_MAX = 200;

/** When no simulator has anything due, a probe of a backend that was away may still be under way. */
async function eventually(
  worlds: readonly SimulatedWorld[],
  reached: () => Promise<boolean>,
  moved: (now: Date) => void,
): Promise<void> {
  for (let idle = 0; !(await reached()); ) {
    const due = await Promise.all(worlds.map(({ control }) => control.nextDue()));
    const next = due
      .flatMap((at) => (at === null ? [] : [at.getTime()]))
      .sort((one, other) => one - other)[0];
    if (next === undefined) {
      idle += 1;
      if (idle > PROBE_ROUNDS_MAX) throw new Error('nothing is in progress that could change the condition');
      await pause(10);
    }
    for (const { clock } of worlds) {
      const to = next === undefined ? clock.now().getTime() : Math.max(next, clock.now().getTime());
      clock.moveTo(new Date(to));
    }
    moved(worlds[0]?.clock.now() ?? new Date());
  }
}
