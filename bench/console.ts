/**
 * The cost of the pages of the operator's console with 100,000 customers, 300,000 servers, and five million
 * entries of the ledger: CPU of the process and the database per page, every list, a page of each resource,
 * and every search.
 */
import { join } from 'node:path';
import { formatId } from '../src/kernel/ids.ts';
import { CONSOLE_PATHS } from '../src/panel/staff/layout.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { startStaffWorld } from '../test/http/admin/staff-world.ts';
import type { PanelClient, PanelResponse } from '../test/support/panel-client.ts';
import { insertLargeHost, SAMPLE, type Sample } from './console-fixture.ts';
import type { Figure } from './figure.ts';
import { databaseCpuMicros } from './load.ts';

const WARM_UP = 3;
const REPEATS = 20;
const MAX_MS = 100;
const GOAL_MS = 50;

type Visit = (browser: PanelClient) => Promise<PanelResponse>;

export async function benchConsole(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'console') });
  process.env.SKERRY_TEST_PG = JSON.stringify(database.connection);
  try {
    return await measurePages();
  } finally {
    await database.stop();
  }
}

async function measurePages(): Promise<Figure[]> {
  const world = await startStaffWorld();
  try {
    const { browser } = await world.person('owner');
    const sample = await insertLargeHost(world.opened.db);
    const figures: Figure[] = [];
    for (const [name, visit] of Object.entries({ ...lists(), ...resources(sample), ...searches() })) {
      const value = (await cpuMicros(world.opened.db, () => visit(browser))) / 1_000;
      figures.push({
        name: `console: ${name}`,
        value,
        unit: 'ms',
        limit: MAX_MS,
        goal: GOAL_MS,
        bound: 'max',
      });
    }
    return figures;
  } finally {
    await world.close();
  }
}

/** Microseconds of the process, which also reads the page, and of the database. */
async function cpuMicros(db: Parameters<typeof databaseCpuMicros>[0], visit: () => Promise<PanelResponse>) {
  const repeat = async (times: number) => {
    for (let n = 0; n < times; n++) {
      const { status, path } = await visit();
      if (status !== 200) throw new Error(`${path}: ${status}`);
    }
  };
  await repeat(WARM_UP);
  const database = await databaseCpuMicros(db);
  const cpu = process.cpuUsage();
  await repeat(REPEATS);
  const { user, system } = process.cpuUsage(cpu);
  return (user + system + (await databaseCpuMicros(db)) - database) / REPEATS;
}

const SIGNED_OUT: readonly string[] = [CONSOLE_PATHS.signIn, CONSOLE_PATHS.signOut, CONSOLE_PATHS.join];

function lists(): Readonly<Record<string, Visit>> {
  const paths = Object.values(CONSOLE_PATHS).filter((path) => !SIGNED_OUT.includes(path));
  return Object.fromEntries(paths.map((path) => [path, (browser: PanelClient) => browser.get(path)]));
}

function resources({ customerId, serverId, topupId }: Sample): Readonly<Record<string, Visit>> {
  return {
    'a customer': (browser) => browser.get(`${CONSOLE_PATHS.customers}/${formatId('customer', customerId)}`),
    'a server': (browser) => browser.get(`${CONSOLE_PATHS.servers}/${formatId('server', serverId)}`),
    'a top-up': (browser) => browser.get(`${CONSOLE_PATHS.topups}/${formatId('topup', topupId)}`),
  };
}

/** A search is a form, because what is searched for may be an IP address. */
function searches(): Readonly<Record<string, Visit>> {
  return Object.fromEntries(
    Object.entries(SAMPLE).map(([kind, search]): [string, Visit] => [
      `search for a customer by ${kind}`,
      async (browser) =>
        browser.followRedirects(
          await browser.submit(await browser.get(CONSOLE_PATHS.account), 'find', { search }),
        ),
    ]),
  );
}
