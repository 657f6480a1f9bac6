/** PostgreSQL ends, freezes, and has no disk; and so does the network before it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { PgProxy } from '../../support/pg-proxy.ts';
import { SingleDatabase } from '../world/database.ts';
import type { World } from '../world/world.ts';
import { type Begin, nothingToRepair } from './breaking.ts';

const DELAY_MAX_MS = 400;
/** A fault is aimed at one of so many messages to come. */
const MESSAGES = 300;
const DROP_MS = 300;

function single({ database }: World): SingleDatabase {
  if (database instanceof SingleDatabase) return database;
  throw new Error('the database is a cluster');
}

/** SIGKILL: a crash. SIGINT: a restart. SIGQUIT: a restart that does not wait for anything. */
export const signalServer =
  (signal: NodeJS.Signals): Begin =>
  async (world) => {
    await single(world).signal(signal);
    return nothingToRepair;
  };

export const freezeServer: Begin = async (world) => {
  const thaw = await single(world).freeze();
  return async () => thaw();
};

export const killBackend: Begin = async (world, { value }) => {
  await single(world).killBackend(value);
  return nothingToRepair;
};

export const terminateBackends: Begin = async (world, { value }) => {
  const sql = `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'skerry' and pid <> pg_backend_pid() and pid % 3 = $1`;
  await world.db.rows(sql, [value % 3]).catch(() => undefined);
  return nothingToRepair;
};

export const fillDatabaseDisk: Begin = async (world) => {
  await world.databaseDisk.fill();
  return async () => await world.databaseDisk.repair();
};

/** Of one process of the service, or of all. */
const onProxies =
  (act: (proxy: PgProxy, value: number) => void, undo: (proxy: PgProxy) => void): Begin =>
  async (world, { on, value }) => {
    const each = world.databaseProxies;
    const all = on % 3 === 0 ? each.flat() : (each[on % each.length] ?? []);
    for (const proxy of all) act(proxy, value);
    return async () => {
      for (const proxy of all) undo(proxy);
    };
  };

const nothing = () => undefined;

export const delayDatabase = onProxies(
  (proxy, value) => proxy.delay(1 + (value % DELAY_MAX_MS)),
  (proxy) => proxy.resume(),
);
export const hangDatabase = onProxies(
  (proxy) => proxy.hang(),
  (proxy) => proxy.resume(),
);
export const resetDatabase = onProxies((proxy) => proxy.reset(), nothing);
export const loseDatabase = onProxies((proxy) => proxy.lose(), nothing);
/** The data in flight is lost, then the connections end, and new ones are refused for a while. */
export const dropDatabase = onProxies(
  (proxy) => {
    proxy.hang();
    proxy.refuse(true);
    void pause(DROP_MS).then(() => proxy.reset());
  },
  (proxy) => {
    proxy.reset();
    proxy.resume();
    proxy.refuse(false);
  },
);
export const failDatabase = onProxies(
  (proxy, value) => proxy.failAt(1 + (value % MESSAGES), value % 2 === 0 ? 'closes' : 'stays'),
  nothing,
);
