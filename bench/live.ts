/** The panel's event streams: from a commit to a thousand of them in one process, and their idle cost. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { newSessionCookie, newVisitorCookie } from '../src/domain/sessions/cookie.ts';
import { newId } from '../src/kernel/ids.ts';
import type { KeyRing } from '../src/kernel/secrets.ts';
import { LIVE_PATH } from '../src/spec/paths.ts';
import { insertSession } from '../src/store/customers/sessions.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { notifyWorkers } from '../src/store/service/service.ts';
import { insertCustomers, insertEvents } from './deliver-fixture.ts';
import { type Figure, percentile } from './figure.ts';
import { cpuMicros, type Peer, startPeer } from './load.ts';

/** Each of another customer, so that none shares what is read for another one. */
const STREAMS = 1_000;
const ROUNDS = 10;
const IDLE_MS = 30_000;
const ROUND_MAX_MS = 10_000;

export async function benchLive(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'live') });
  const { connection } = database;
  const dataDir = join(folder, 'live-data');
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  const opened = await openService(config, connection, { mayMigrate: true });
  const { keys } = opened.service;
  await opened.close();
  const db = openDatabase(connection, { poolSize: 4 });
  const customers = await insertCustomers(db, { customers: STREAMS, each: 0, url: '', keys });
  const cookies = await insertSessions(db, customers, keys);
  await db.run('vacuum analyze');
  const peer = await startPeer('./deliver-server.ts', [JSON.stringify(connection), dataDir]);
  const agent = new Agent({ maxSockets: STREAMS });
  const arrivals = new Arrivals();
  try {
    const streams = await Promise.all(cookies.map((cookie) => openStream(peer, cookie, agent)));
    for (const stream of streams) stream.on('data', (text: Buffer) => arrivals.read(text.toString()));
    return toFigures(await measureLatency(db, customers, arrivals), await measureIdleShare(peer));
  } finally {
    agent.destroy();
    await peer.stop();
    await db.close();
    await database.stop();
  }
}

async function insertSessions(db: OpenDatabase, customers: readonly string[], keys: KeyRing) {
  const now = new Date();
  await db.run(`insert into balances (customer_id) select unnest($1::uuid[])`, [customers]);
  const cookies: string[] = [];
  for (const customerId of customers) {
    const { text, digest } = newSessionCookie(newVisitorCookie(keys));
    await insertSession(db, { digest, id: newId(now), customerId, now });
    cookies.push(text);
  }
  return cookies;
}

async function openStream(peer: Peer, cookie: string, agent: Agent): Promise<IncomingMessage> {
  const headers = { cookie: `PHPSESSID=${cookie}` };
  return await new Promise((resolve, reject) => {
    const sent = request(new URL(`${LIVE_PATH}?after=0`, peer.url), { headers, agent }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`${LIVE_PATH}: ${response.statusCode}`));
      // The end of the bench destroys the sockets.
      response.on('error', () => undefined);
    });
    sent.on('error', reject).end();
  });
}

/** When the messages of a round arrived. */
class Arrivals {
  times: number[] = [];

  read(text: string): void {
    for (const _ of text.matchAll(/^event: change$/gm)) this.times.push(performance.now());
  }
}

async function measureLatency(
  db: OpenDatabase,
  customers: readonly string[],
  arrivals: Arrivals,
): Promise<number[]> {
  const latencies: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    arrivals.times = [];
    await insertEvents(db, customers, 1);
    const committedAt = performance.now();
    // As every commit of the service does.
    await notifyWorkers(db);
    while (arrivals.times.length < STREAMS) {
      if (performance.now() - committedAt > ROUND_MAX_MS)
        throw new Error(`${arrivals.times.length} of ${STREAMS} messages arrived`);
      await pause(5);
    }
    // The first round is a warm-up.
    if (round > 0) latencies.push(...arrivals.times.map((at) => at - committedAt));
  }
  return latencies;
}

/** Returns the share of a core, in percent. */
async function measureIdleShare({ pid }: Peer): Promise<number> {
  const [before, startedAt] = [cpuMicros(pid), performance.now()];
  await pause(IDLE_MS);
  return (cpuMicros(pid) - before) / 10 / (performance.now() - startedAt);
}

function toFigures(latencies: readonly number[], idleShare: number): Figure[] {
  return [
    {
      name: `event from its commit to ${STREAMS} open pages, 95th percentile`,
      value: percentile(latencies, 0.95),
      unit: 'ms',
      limit: 1_000,
      goal: 500,
      bound: 'max',
    },
    {
      name: `CPU of the process while ${STREAMS} open pages are idle`,
      value: idleShare,
      unit: '%',
      limit: 5,
      goal: 3,
      bound: 'max',
    },
  ];
}
