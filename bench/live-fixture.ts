/** The whole service with signed-in customers, each with an open event stream of the panel. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { openService } from '../src/compose/service.ts';
import { loadConfig } from '../src/config.ts';
import { newSessionCookie, newVisitorCookie } from '../src/domain/sessions/cookie.ts';
import { newId } from '../src/kernel/ids.ts';
import type { KeyRing } from '../src/kernel/secrets.ts';
import { LIVE_PATH } from '../src/spec/paths.ts';
import { insertSession } from '../src/store/customers/sessions.ts';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { insertCustomers } from './deliver-fixture.ts';
import { type Peer, startPeer } from './load.ts';

export interface LiveFixture {
  readonly db: OpenDatabase;
  readonly peer: Peer;
  /** Internal ids, and a session cookie of each. */
  readonly customers: readonly string[];
  readonly cookies: readonly string[];
  /** Opens the streams of these sessions. */
  open(cookies: readonly string[]): Promise<IncomingMessage[]>;
  stop(): Promise<void>;
}

/** Each stream is another customer's, so that none shares what is read for another one. */
export async function startLive(folder: string, count: number): Promise<LiveFixture> {
  const database = await startEmbedded({ dataDir: join(folder, 'live') });
  const { connection } = database;
  const dataDir = join(folder, 'live-data');
  const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
  const opened = await openService(config, connection, { mayMigrate: true });
  const { keys } = opened.service;
  await opened.close();
  const db = openDatabase(connection, { poolSize: 4 });
  const customers = await insertCustomers(db, { customers: count, each: 0, url: '', keys });
  const cookies = await insertSessions(db, customers, keys);
  await db.run('vacuum analyze');
  const peer = await startPeer('./deliver-server.ts', [JSON.stringify(connection), dataDir]);
  const agent = new Agent({ maxSockets: count });
  return {
    ...{ db, peer, customers, cookies },
    open: (some) => Promise.all(some.map((cookie) => openStream(peer, cookie, agent))),
    stop: async () => {
      agent.destroy();
      await peer.stop();
      await db.close();
      await database.stop();
    },
  };
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
