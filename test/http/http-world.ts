/** The real app on a scratch database with simulated drivers, an adjustable clock, and a readable log. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { loadCatalogue } from '../../src/domain/catalogue/load.ts';
import type { Service } from '../../src/domain/context.ts';
import type { EventStreams } from '../../src/domain/events/streams.ts';
import { credit } from '../../src/domain/ledger/transfer.ts';
import { DiskBlobs } from '../../src/drivers/blobs/disk.ts';
import { Simnet } from '../../src/drivers/chain/simnet/driver.ts';
import { SimulatedCompute } from '../../src/drivers/compute/simulator/driver.ts';
import { SqlFaults } from '../../src/drivers/faults.ts';
import { MailOutbox } from '../../src/drivers/mail/outbox.ts';
import { FixedRates } from '../../src/drivers/rates/fixed.ts';
import type { Timeouts } from '../../src/http/admission/deadlines.ts';
import { buildHttpServer } from '../../src/http/server.ts';
import type { HttpSettings, SiteSettings } from '../../src/http/settings.ts';
import { OffsetClock } from '../../src/kernel/clock.ts';
import { KeyedMutex } from '../../src/kernel/keyed-mutex.ts';
import { PasswordHasher, type PasswordLane } from '../../src/kernel/passwords.ts';
import { KeyRing } from '../../src/kernel/secrets.ts';
import type { Database, Sql, SqlValues } from '../../src/kernel/sql.ts';
import type { Geo } from '../../src/ports/geo.ts';
import { COIN_CODES } from '../../src/spec/coins.ts';
import { QUOTAS } from '../../src/spec/limits.ts';
import { isUnavailable } from '../../src/store/connections/errors.ts';
import { type OpenDatabase, openDatabase } from '../../src/store/db.ts';
import { MarkFile } from '../../src/store/service/mark-file.ts';
import { CHEAP_PASSWORDS } from '../support/cheap-passwords.ts';
import { openScratchDatabase } from '../support/database.ts';
import { NO_FLEET } from '../support/no-fleet.ts';
import { type PgProxy, startPgProxy } from '../support/pg-proxy.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { SessionClient } from '../support/session-client.ts';

/** Counts Argon2 derivations, the work that a timing attack would measure. */
export class CountingHasher extends PasswordHasher {
  derivations = 0;
  override async hash(password: string, lane?: PasswordLane): Promise<string> {
    this.derivations += 1;
    return await super.hash(password, lane);
  }
  override async verify(password: string, stored: string | null, lane?: PasswordLane): Promise<boolean> {
    this.derivations += 1;
    return await super.verify(password, stored, lane);
  }
}

export interface HttpWorld {
  readonly app: FastifyInstance;
  readonly db: OpenDatabase;
  /** The same database, without the proxy. */
  readonly scratch: OpenDatabase;
  /** Null unless `proxied`. */
  readonly proxy: PgProxy | null;
  readonly service: Service;
  readonly clock: OffsetClock;
  readonly passwords: CountingHasher;
  /** While set, every statement of the service fails with this error. */
  readonly outage: { error: Error | null };
  /** Every logged line. */
  readonly log: string[];
  visitor(): SessionClient;
  customer(): Promise<SessionClient>;
  /** The stored id of a customer, by email. */
  customerId(client: SessionClient): Promise<string>;
  /** Adds money to a customer’s balance. */
  creditBalance(client: SessionClient, cents: bigint): Promise<void>;
  /** The audit log of a customer, oldest first: `server.create ok`. */
  auditLines(client: SessionClient): Promise<string[]>;
  close(): Promise<void>;
}

export interface HttpWorldOptions {
  readonly site?: SiteSettings;
  readonly settings?: Partial<HttpSettings>;
  /** Countries of addresses. Empty by default. */
  readonly geo?: Geo;
  readonly catalogue?: boolean;
  readonly passwordQueue?: number;
  readonly ready?: () => Promise<boolean>;
  readonly beforeRequest?: () => Promise<void>;
  readonly bodyTimeoutMs?: number;
  readonly timeouts?: Timeouts;
  /** Whether the service reaches its database through a proxy that can fail. */
  readonly proxied?: boolean;
  readonly streams?: (service: Service) => EventStreams;
}

/** A host without texts and marks of its own. */
export const PLAIN_SITE: SiteSettings = {
  ...{ terms: null, privacy: null, contact: null, abuseForm: false, accent: null, logo: null },
  ...{ footerText: null, footerLinks: [] },
};

export async function startHttpWorld(options: HttpWorldOptions = {}): Promise<HttpWorld> {
  const scratch = await openScratchDatabase();
  const proxy = options.proxied ? await startPgProxy(scratch.connection as PgProxy['connection']) : null;
  const db = proxy ? openDatabase(proxy.connection, { poolSize: 8 }) : scratch.db;
  await db.run(`insert into service (mode, key_check) values ('sandbox', 'of a test')`);
  const clock = new OffsetClock();
  const cost = options.passwordQueue === undefined ? CHEAP_PASSWORDS : undefined;
  const passwords = new CountingHasher({ queueMax: options.passwordQueue ?? 64, cost });
  const log: string[] = [];
  const outage: HttpWorld['outage'] = { error: null };
  const service = { ...simulatedService(db, clock, log), passwords, ...breakableDatabase(db, outage) };
  if (options.catalogue) await loadSandbox(service);
  const limits = {
    ...{ signupsPerHour: 0, signinFailuresPerHour: 0, tokenFailuresPerHour: 0 },
    rates: {
      shared: false,
      general: { capacity: 1e6, refillPerS: 1e6 },
      provision: { capacity: 1e6, refillPerS: 1e6 },
    },
  };
  const app = buildHttpServer({
    service,
    settings: {
      ...{
        site: options.site ?? PLAIN_SITE,
        baseUrl: null,
        trustedProxies: [],
        explorers: new Map(),
      },
      ...limits,
      overload: { targetMs: 0, requestsMax: 1_000 },
      isUnavailable,
      ...options.settings,
    },
    geo: options.geo ?? { countryOf: () => null },
    ready: options.ready ?? (async () => true),
    ...(options.streams ? { streams: options.streams(service) } : {}),
    ...(options.timeouts ? { timeouts: options.timeouts } : {}),
    ...(options.beforeRequest ? { beforeRequest: options.beforeRequest } : {}),
    ...(options.bodyTimeoutMs === undefined ? {} : { bodyTimeoutMs: options.bodyTimeoutMs }),
  });
  await app.ready();
  const close = async () => {
    await app.close();
    if (proxy) await db.close();
    await proxy?.close();
    await scratch.close();
  };
  const visitor = () => SessionClient.forApp(app);
  const customer = async () => {
    const client = visitor();
    await client.signUp();
    return client;
  };
  return {
    proxy,
    scratch: scratch.db,
    ...{ app, db, service, clock, passwords, outage, log, visitor, customer, close },
    customerId: (client) => customerId(db, client),
    creditBalance: async (client, cents) => creditBalance(db, await customerId(db, client), cents),
    auditLines: async (client) => auditLines(db, await customerId(db, client)),
  };
}

async function customerId(db: OpenDatabase, client: SessionClient): Promise<string> {
  const row = await db.row<{ id: string }>('select id from customers where email = $1', [client.email]);
  if (!row) throw new Error('customer not found');
  return row.id;
}

async function creditBalance(db: OpenDatabase, customerId: string, amountCents: bigint): Promise<void> {
  const fact = `gift:${randomUUID()}`;
  const gift = { customerId, amountCents, fact, description: 'a gift' };
  await credit(db, { ...gift, account: 'adjustments', type: 'adjustment' }, new Date());
}

async function auditLines(db: OpenDatabase, customerId: string): Promise<string[]> {
  // Rows of the same millisecond are in the order in which they were written.
  const rows = await db.rows<{ line: string }>(
    `select action || ' ' || result as line from audit_events
      where customer_id = $1 order by created_at, ctid`,
    [customerId],
  );
  return rows.map((row) => row.line);
}

function breakableDatabase(db: OpenDatabase, outage: HttpWorld['outage']): Pick<Service, 'db' | 'reads'> {
  const breaking = breakable(db, outage);
  return { db: breaking, reads: breaking };
}

function breakable(db: OpenDatabase, outage: HttpWorld['outage']): Database {
  return {
    ...breakableStatements(db, outage),
    transaction: async (work) => {
      const { error } = outage;
      if (error) throw error;
      return await db.transaction((tx) => work(breakableStatements(tx, outage)));
    },
  };
}

function breakableStatements(sql: Sql, outage: HttpWorld['outage']): Sql {
  const check = () => {
    const { error } = outage;
    if (error) throw error;
  };
  return {
    rows: async <Row extends object>(text: string, values?: SqlValues) => {
      check();
      return await sql.rows<Row>(text, values);
    },
    row: async <Row extends object>(text: string, values?: SqlValues) => {
      check();
      return await sql.row<Row>(text, values);
    },
    run: async (text, values) => {
      check();
      return await sql.run(text, values);
    },
  };
}

function simulatedService(db: OpenDatabase, clock: OffsetClock, log: string[]): Omit<Service, 'passwords'> {
  const stream = new Writable({
    write: (line, _encoding, done) => {
      log.push(String(line));
      done();
    },
  });
  const faults = new SqlFaults(db);
  const keys = new KeyRing(KeyRing.generate());
  const chains = COIN_CODES.map(
    (coin) => [coin, new Simnet({ coin, db, clock, faults, blockS: 0 })] as const,
  );
  return {
    db,
    reads: db,
    clock,
    keys,
    log: pino({ base: null }, stream),
    compute: new SimulatedCompute({ db, clock, faults, installS: 0 }),
    fleet: NO_FLEET,
    chains: new Map(chains),
    rates: new FixedRates({ db, clock }),
    orders: new KeyedMutex(),
    marks: new MarkFile(null),
    blobs: new DiskBlobs({ folder: scratchFolder(), reserveBytes: 0 }),
    mailer: new MailOutbox({ db, keys, faults }),
    dns: null,
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
}

async function loadSandbox(service: Service): Promise<void> {
  const text = readFileSync(new URL('../../catalogue/sandbox.yaml', import.meta.url), 'utf8');
  await loadCatalogue(service, text, { sandbox: true, register: async () => undefined });
}
