/**
 * A world for tests of top-ups: a separate database, chains (scripted unless others are given), rates, and a
 * clock that the test moves.
 */

import type { CustomerActor, Service } from '../../src/domain/context.ts';
import { createTopup } from '../../src/domain/topups/create.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { formatId, newId, newPublicNumber } from '../../src/kernel/ids.ts';
import { KeyedMutex } from '../../src/kernel/keyed-mutex.ts';
import { createLogger } from '../../src/kernel/logger.ts';
import { KeyRing } from '../../src/kernel/secrets.ts';
import type { ChainDriver } from '../../src/ports/chain.ts';
import type { Rate } from '../../src/ports/rates.ts';
import type { CoinCode } from '../../src/spec/coins.ts';
import { QUOTAS } from '../../src/spec/limits.ts';
import type { Topup } from '../../src/spec/schemas/topup.ts';
import { insertCustomer } from '../../src/store/customers/customers.ts';
import { type ConnectionSettings, type OpenDatabase, openDatabase } from '../../src/store/db.ts';
import { readBalance } from '../../src/store/ledger/ledger.ts';
import { MarkFile } from '../../src/store/service/mark-file.ts';
import { type DepositRow, listDeposits } from '../../src/store/topups/deposits.ts';
import { findTopupByRef, type TopupRow } from '../../src/store/topups/topups.ts';
import type { Job } from '../../src/workers/job.ts';
import { watchJob } from '../../src/workers/watch.ts';
import { openScratchDatabase } from './database.ts';
import { ScriptedChain } from './scripted-chain.ts';

export class ManualClock implements Clock {
  #ms = Date.UTC(2030, 4, 1, 12);
  now(): Date {
    return new Date(this.#ms);
  }
  advanceMinutes(minutes: number): void {
    this.#ms += minutes * 60_000;
  }
}

export interface LedgerEntry {
  readonly type: string;
  /** Signed, from the customer's side. */
  readonly cents: bigint;
}

/** The parts of the world that a chain factory may use. */
export interface ChainContext {
  readonly clock: ManualClock;
  readonly db: OpenDatabase;
}

export type ChainFactory = (context: ChainContext) => ReadonlyMap<CoinCode, ChainDriver>;

export interface TopupWorldOptions {
  /** Replaces the scripted BTC and ETH chains, for example with drivers of real chains. */
  readonly chains?: ChainFactory;
}

interface WorldDatabase {
  readonly db: OpenDatabase;
  readonly connection: ConnectionSettings;
  close(): Promise<void>;
}

/** US dollars for one whole coin. */
const RATES: readonly (readonly [CoinCode, string])[] = [
  ['BTC', '50000'],
  ['LTC', '80'],
  ['ETH', '2500.5'],
  ['XMR', '160'],
  ['USDT', '1'],
  ['USDTTRC', '1'],
  ['TRX', '0.25'],
  ['SOL', '150'],
];

function scriptedChains({ clock }: ChainContext): ReadonlyMap<CoinCode, ChainDriver> {
  return new Map((['BTC', 'ETH'] as const).map((coin) => [coin, new ScriptedChain(coin, clock)]));
}

export class TopupWorld {
  readonly db: OpenDatabase;
  readonly connection: ConnectionSettings;
  readonly clock: ManualClock;
  readonly service: Service;
  readonly chains: Map<CoinCode, ChainDriver>;
  /** Delete an entry to make its source fail. */
  readonly rates: Map<CoinCode, string>;
  readonly watchJob: Job;
  /** The number of wake calls from the service. */
  wakeCount = 0;
  readonly #close: () => Promise<void>;

  private constructor(database: WorldDatabase, { chains = scriptedChains }: TopupWorldOptions) {
    this.db = database.db;
    this.connection = database.connection;
    this.#close = database.close;
    this.clock = new ManualClock();
    this.chains = new Map(chains({ clock: this.clock, db: this.db }));
    this.rates = new Map(RATES);
    this.service = {
      db: this.db,
      reads: this.db,
      clock: this.clock,
      chains: this.chains,
      rates: {
        usdPerCoin: async (coin: CoinCode) => this.#rate(coin),
        findUnpriced: async () => new Map(),
        eurPerUsd: async () => '0.9',
      },
      keys: new KeyRing(KeyRing.generate()),
      log: createLogger('silent'),
      orders: new KeyedMutex(),
      marks: new MarkFile(null),
      settings: {
        mode: 'sandbox',
        tokenPrefix: 'skerry',
        rateLockMinutes: 60,
        addressRestDays: 7,
        graceDays: 14,
        negativeBalanceDays: 7,
        shutdownDeadlineS: 60,
        throttleMbps: 10,
        copySnapshots: false,
        mailingsPerMinute: 60,
        webhookAllowLoopback: false,
        quotas: QUOTAS,
      },
      wake: () => {
        this.wakeCount += 1;
      },
    } as unknown as Service;
    this.watchJob = watchJob(this.service, { runWaitMaxMs: 10_000, retry: { firstMs: 1, maxMs: 20 } });
  }

  static async start(options: TopupWorldOptions = {}): Promise<TopupWorld> {
    return new TopupWorld(await openScratchDatabase(), options);
  }

  /** Opens the same world as a second process would. */
  static attach(connection: ConnectionSettings, options: TopupWorldOptions = {}): TopupWorld {
    const db = openDatabase(connection, { poolSize: 4 });
    return new TopupWorld({ db, connection, close: () => db.close() }, options);
  }

  async close(): Promise<void> {
    await this.#close();
  }

  get btc(): ScriptedChain {
    return this.#scripted('BTC');
  }

  get eth(): ScriptedChain {
    return this.#scripted('ETH');
  }

  /** Creates a customer and returns them as a session actor. */
  async createCustomer(): Promise<CustomerActor> {
    const now = this.clock.now();
    const id = newId(now);
    const email = `${id}@example.test`;
    await insertCustomer(this.db, {
      id,
      publicNo: newPublicNumber(),
      email,
      emailKey: email,
      passwordHash: 'none',
      recoveryDigest: Buffer.alloc(32),
      createdAt: now,
    });
    const requestId = formatId('request', newId(now));
    return { customerId: id, sessionId: null, tokenId: null, requestId, ipCountry: 'IS' };
  }

  /** Creates an invoice over whole dollars for a new customer. */
  async createInvoice(usd: number, coin: CoinCode = 'BTC'): Promise<TopupRow> {
    return await createTopup(this.service, await this.createCustomer(), {
      coin,
      amountCents: BigInt(usd) * 100n,
    });
  }

  /** Polls the chains until nothing changes. A real node may need a longer timeout than a scripted chain. */
  async runUntilIdle({ timeoutMs = 10_000 } = {}): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while ((await this.watchJob.run()) > 0 || (await this.watchJob.busy())) {
      if (Date.now() > deadline) throw new Error('the chains do not become idle');
    }
  }

  /** Returns the current row of the invoice. */
  async reloadTopup(topup: TopupRow): Promise<TopupRow> {
    const row = await findTopupByRef(this.db, topup.customer_id, topup.order_ref);
    if (!row) throw new Error('invoice not found');
    return row;
  }

  async deposits(topup: TopupRow): Promise<DepositRow[]> {
    return await listDeposits(this.db, topup.id);
  }

  async balance(topup: TopupRow): Promise<bigint> {
    return await readBalance(this.db, topup.customer_id);
  }

  /** Returns all ledger entries of the invoice, in order. */
  async ledgerEntries(topup: TopupRow): Promise<LedgerEntry[]> {
    return await this.db.rows<LedgerEntry>(
      `select type, case when credit_account = customer_id then amount_cents else -amount_cents end as cents
         from transfers where resource_id = $1 order by ctid`,
      [topup.id],
    );
  }

  /** Returns the invoice's events, in order. */
  async topupEvents(topup: TopupRow): Promise<{ type: string; topup: Topup }[]> {
    return await this.db.rows(
      `select type, data->'topup' as topup from events
        where customer_id = $1 and data->'topup'->>'id' = $2 order by ctid`,
      [topup.customer_id, formatId('topup', topup.id)],
    );
  }

  /** Returns the customer's audit actions on the invoice, in order. */
  async auditActions(topup: TopupRow): Promise<string[]> {
    const rows = await this.db.rows<{ action: string }>(
      `select action from audit_events where customer_id = $1 and resource = $2 order by ctid`,
      [topup.customer_id, formatId('topup', topup.id)],
    );
    return rows.map((row) => row.action);
  }

  #scripted(coin: CoinCode): ScriptedChain {
    const chain = this.chains.get(coin);
    if (!(chain instanceof ScriptedChain)) throw new Error(`no scripted chain for ${coin}`);
    return chain;
  }

  #rate(coin: CoinCode): Rate {
    const usd = this.rates.get(coin);
    if (usd === undefined) throw new Error('no rate');
    return { usd, quotes: [{ source: 'test', usd, at: this.clock.now().toISOString() }] };
  }
}
