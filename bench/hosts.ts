/**
 * Hosts on other machines. A call through a host over TLS on loopback, compared with the same call of the
 * local driver, in turns; both ends share this process, so neither hides behind the other. Then the time to
 * observe 50,000 machines on 1,000 backends, of which one hangs. The backends are in this process and encode
 * and decode their answers as the wire does; the inventory and its directory are a real database.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { composeCompute } from '../src/drivers/compute/composed/driver.ts';
import type { BackendDriver } from '../src/drivers/compute/composed/link.ts';
import { METHODS } from '../src/drivers/compute/host/methods.ts';
import { decodeValue, encodeValue } from '../src/drivers/compute/host/wire.ts';
import { openQemuCompute } from '../src/drivers/compute/qemu/driver.ts';
import { createLogger } from '../src/kernel/logger.ts';
import type { MachineState } from '../src/ports/compute.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { createBackendDirectory } from '../src/store/inventory/backends.ts';
import { migrate } from '../src/store/migrate.ts';
import { hostWorld } from '../test/drivers/compute/host/host-world.ts';
import { type Figure, median } from './figure.ts';

const CALLS = 1_000;
const WARM_UP_CALLS = 100;
/** Machines that a call asks about. */
const PER_CALL = 10;
const EXTRA_MAX_MS = 3;
const BACKENDS = 1_000;
const PER_BACKEND = 50;
const ROUNDS = 5;
const OBSERVED_MAX_MS = 2_000;
const DEAD = 'host-500';

export async function benchHosts(folder: string): Promise<Figure[]> {
  return [await compareCalls(folder), ...(await observeFleet(folder))];
}

/** The QEMU driver looks for machines that it does not have. */
async function compareCalls(folder: string): Promise<Figure> {
  const local = openQemuCompute({
    dir: join(folder, 'hosts-qemu'),
    hosts: ['far'],
    accelerator: 'tcg',
    netns: null,
    log: createLogger('silent'),
  });
  const world = await hostWorld(local);
  try {
    const ids = Array.from({ length: PER_CALL }, () => randomUUID());
    const extra: number[] = [];
    for (let call = -WARM_UP_CALLS; call < CALLS; call++) {
      const through = await timeOf(() => world.driver.observe(ids));
      const direct = await timeOf(() => local.observe(ids));
      if (call >= 0) extra.push(through - direct);
    }
    return {
      name: 'a call through a host, more than the local call',
      value: median(extra),
      unit: 'ms',
      limit: EXTRA_MAX_MS,
      goal: EXTRA_MAX_MS / 2,
      bound: 'max',
    };
  } finally {
    await world.close();
  }
}

async function observeFleet(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'hosts') });
  const db = openDatabase(database.connection, { poolSize: 4 });
  const dead = new Set<string>();
  try {
    await migrate(db);
    const ids = await addFleet(db);
    const compute = composeCompute({
      local: openLocal(join(folder, 'hosts-local')),
      directory: createBackendDirectory(db),
      open: ({ name }) => simulated(name, dead),
      log: createLogger('silent'),
    });
    const observe = async () => {
      let known = 0;
      const ms = await timeOf(async () => {
        const states = await compute.observe(ids);
        known = states.filter(({ state }) => state === 'running').length;
      });
      const expected = (BACKENDS - dead.size) * PER_BACKEND;
      if (known !== expected) throw new Error(`${known} machines were observed, not ${expected}`);
      return ms;
    };
    await observe();
    const alive = await repeat(observe);
    dead.add(DEAD);
    const firstWithDead = await observe();
    const withDead = await repeat(observe);
    compute.close();
    const time = { unit: 'ms', limit: OBSERVED_MAX_MS, goal: OBSERVED_MAX_MS / 2, bound: 'max' } as const;
    return [
      { name: `${BACKENDS} hosts of ${PER_BACKEND} machines observed`, value: alive, ...time },
      { name: 'the same when one hangs, before it counts as away', value: firstWithDead, ...time },
      { name: 'the same with one away', value: withDead, ...time },
      {
        name: 'one host away, compared with none',
        value: withDead / alive,
        ...{ unit: 'x', limit: 1.2, goal: 1.05, bound: 'max' },
      },
    ];
  } finally {
    await db.close();
    await database.stop();
  }
}

function openLocal(dir: string) {
  const log = createLogger('silent');
  return openQemuCompute({ dir, hosts: ['local'], accelerator: 'tcg', netns: null, log });
}

/** Adds the backends and their machines. Returns the ids of the machines in no order of the backends. */
async function addFleet(db: OpenDatabase): Promise<string[]> {
  await db.run(
    `insert into regions (id, session_code, name, country, pop_id) values ('par', 'par', 'Paris', 'FR', 'P')`,
  );
  await db.run(
    `insert into backends (name, kind, address, fingerprint, identity, region_id, state, created_at,
                           certificate_from, certificate_until, renew_at)
     select 'host-' || n, 'host', '127.0.0.1:1', repeat('ab', 32), gen_random_uuid(), 'par', 'active', now(),
            now(), now() + interval '30 days', now() + interval '20 days'
       from generate_series(1, $1::int) as n`,
    [BACKENDS],
  );
  const rows = await db.rows<{ id: string }>(
    `insert into placed_resources (kind, id, backend)
     select 'machine', gen_random_uuid()::text, 'host-' || (n % $1::int + 1)
       from generate_series(1, $2::int) as n returning id`,
    [BACKENDS, BACKENDS * PER_BACKEND],
  );
  await db.run('analyze placed_resources');
  return rows.map(({ id }) => id);
}

/** Answers for every machine, in the form of the wire. */
function simulated(name: string, dead: ReadonlySet<string>): BackendDriver {
  const observe = async (ids: readonly string[]): Promise<MachineState[]> => {
    if (dead.has(name)) return await new Promise<never>(() => undefined);
    const states = ids.map((id): MachineState => {
      return { id, state: 'running', host: name, generation: 1, rescue: false };
    });
    const answer: unknown = JSON.parse(JSON.stringify({ result: encodeValue(states) }));
    if (!METHODS.observe.answer.Check(answer)) throw new Error('the answer is not valid');
    return decodeValue((answer as { readonly result: unknown }).result) as MachineState[];
  };
  return { observe, close: () => undefined } as Partial<BackendDriver> as BackendDriver;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function repeat(measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await measure());
  return median(times);
}
