/** PostgreSQL ends, freezes, and has no disk; and so does the network before it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { PgProxy } from '../../support/pg-proxy.ts';
import type { FaultStep } from '../history.ts';
import { SingleDatabase } from '../world/database.ts';
import type { World } from '../world/world.ts';
import { type Begin, breakOne, lasting, momentary, onPart, type Part, rotate } from './begin.ts';

const DELAY_MAX_MS = 400;
/** A fault is aimed at one of so many messages to come. */
const MESSAGES = 300;
const DROP_MS = 300;

function single({ database }: World): SingleDatabase {
  if (database instanceof SingleDatabase) return database;
  throw new Error('the database is a cluster');
}

const untilAnswers = async (world: World) => await world.untilDone(() => world.db.run('select 1'));

/** SIGKILL: a crash. SIGINT: a restart. SIGQUIT: a restart that does not wait for anything. */
export const signalServer =
  (signal: NodeJS.Signals): Begin =>
  async (world) => {
    const server = single(world);
    const pid = await server.signal(signal);
    if (pid === null) return null;
    return momentary(async () => {
      await server.untilReplaced(pid);
      await untilAnswers(world);
    });
  };

export const freezeServer = breakOne(
  (world) => [onPart('database server', single(world))],
  async (server) => {
    const thaw = await server.freeze();
    return thaw === null ? null : lasting(async () => thaw());
  },
);

export const killBackend: Begin = async (world, { value }) => {
  const isKilled = await single(world).killBackend(value);
  return isKilled ? momentary(() => untilAnswers(world)) : null;
};

export const terminateBackends: Begin = async (world, { value }) => {
  const sql = `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'skerry' and pid <> pg_backend_pid() and pid % 3 = $1`;
  const ended = await world.db.rows(sql, [value % 3]).catch(() => []);
  return ended.length > 0 ? momentary() : null;
};

export const fillDatabaseDisk = breakOne(
  ({ databaseDisk }) => [onPart('database disk', databaseDisk)],
  async (disk, _, world) => {
    if (!(await disk.fill())) return null;
    // PostgreSQL may have ended, and starts once there is space.
    return lasting(async () => {
      await disk.repair();
      await untilAnswers(world);
    });
  },
);

type Proxies = readonly PgProxy[];

/** Those of all processes of the service, or else of one. */
function proxiesOf({ databaseProxies }: World, { on }: FaultStep): Part<Proxies>[] {
  const each = databaseProxies.map((part, index) => onPart(`database proxy ${index}`, part));
  const all = { places: each.flatMap(({ places }) => places), part: databaseProxies.flat() };
  return [...(on % 3 === 0 ? [all] : []), ...rotate(each, on)];
}

/** Both return whether anything happened. */
const onProxies = (
  act: (proxy: PgProxy, value: number) => boolean,
  undo: ((proxy: PgProxy, value: number) => boolean) | null,
): Begin =>
  breakOne(proxiesOf, async (proxies, { value }) => {
    const isBroken = proxies.map((proxy) => act(proxy, value)).includes(true);
    if (!isBroken) return null;
    if (undo === null) return momentary();
    return lasting(async () => proxies.map((proxy) => undo(proxy, value)).includes(true));
  });

const resume = (proxy: PgProxy): boolean => {
  proxy.resume();
  return true;
};
const failedMessage = (value: number): number => 1 + (value % MESSAGES);

export const delayDatabase = onProxies((proxy, value) => {
  proxy.delay(1 + (value % DELAY_MAX_MS));
  return true;
}, resume);
export const hangDatabase = onProxies((proxy) => {
  proxy.hang();
  return true;
}, resume);
export const resetDatabase = onProxies((proxy) => proxy.reset() > 0, null);
export const loseDatabase = onProxies((proxy) => proxy.lose() > 0, null);
/** The data in flight is lost, then the connections end, and new ones are refused for a while. */
export const dropDatabase = onProxies(
  (proxy) => {
    proxy.hang();
    proxy.refuse(true);
    void pause(DROP_MS).then(() => proxy.reset());
    return true;
  },
  (proxy) => {
    proxy.reset();
    proxy.resume();
    proxy.refuse(false);
    return true;
  },
);
export const failDatabase = onProxies(
  (proxy, value) => {
    proxy.failAt(failedMessage(value), value % 2 === 0 ? 'closes' : 'stays');
    return true;
  },
  (proxy, value) => {
    const isFailed = proxy.messageCount >= failedMessage(value);
    proxy.failAt(0, 'stays');
    return isFailed;
  },
);
