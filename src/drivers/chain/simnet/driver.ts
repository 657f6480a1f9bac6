/** The chain port over a simulated network in the `sim` schema. It only reads payments. */
import type { Clock } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/sql.ts';
import type {
  ChainDriver,
  ChainFinding,
  ChainHealth,
  Deposit,
  Observation,
  ObservationState,
  PollResult,
} from '../../../ports/chain.ts';
import type { CoinCode } from '../../../spec/coins.ts';
import type { Faults } from '../../faults.ts';
import { removedObservation } from '../payment-keys.ts';
import { FINAL_CONFIRMATIONS } from './chain.ts';
import { addressAt, paymentUri } from './networks.ts';

interface PaymentRow {
  key: string;
  txid: string;
  address: string;
  amount_units: string;
  state: 'mempool' | 'included' | 'removed' | 'conflicted';
  height: number | null;
  block_hash: string | null;
  mined_at: Date | null;
  tip_height: number;
}

const OBSERVED_COLUMNS = `observed.key, observed.txid, observed.address, observed.amount_units,
    observed.state, observed.height, observed.block_hash,
    (select mined_at from sim.blocks where coin = $1 and hash = observed.block_hash) as mined_at`;

type PollRow = { tip_height: number; tip_hash: string } & (PaymentRow | { key: null });

/**
 * Selects payments that changed after the cursor's block, and those that were not final then or aren't now,
 * because their confirmations changed. The mempool is included, since every block empties it. An orphaned
 * block keeps its `seq`, so a rewind needs no walk back to the fork; an unknown cursor starts at the
 * beginning. The closed ranges ("between") make the planner expect few rows and use the index.
 */
const POLL = `
  with tip as (
    select chain.height, chain.hash, chain.seq, coalesce(seen.seq, 0) as seen_seq,
      least(chain.height, coalesce(seen.height, 0)) - $3::int + 2 as young_height
    from sim.chains chain left join sim.blocks seen on seen.coin = chain.coin and seen.hash = $2
    where chain.coin = $1
  ), observed as (
    select * from sim.payments where coin = $1
      and changed_seq between (select seen_seq + 1 from tip) and (select seq from tip)
    union all
    select * from sim.payments where coin = $1 and state = 'included'
      and height between (select young_height from tip) and (select height from tip)
      and changed_seq <= (select seen_seq from tip)
  )
  select tip.height as tip_height, tip.hash as tip_hash, ${OBSERVED_COLUMNS}
  from tip left join observed on true
  order by observed.changed_seq, observed.key`;

const RECHECK = `
  select (select height from sim.chains where coin = $1) as tip_height, ${OBSERVED_COLUMNS}
  from sim.payments observed where coin = $1 and key = any($2::text[])`;

export interface SimnetOptions {
  readonly coin: CoinCode;
  /** Must not be inside one of the service's transactions. */
  readonly db: Database;
  readonly clock: Clock;
  readonly faults: Faults;
  /** Seconds between blocks, 0 for on demand only. */
  readonly blockS: number;
}

export class Simnet implements ChainDriver {
  readonly #options: SimnetOptions;
  readonly coin: CoinCode;
  #seed: Buffer | undefined;

  constructor(options: SimnetOptions) {
    this.coin = options.coin;
    this.#options = options;
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    await this.#throwIfFaultArmed('allocate');
    const wanted = addressAt(this.coin, await this.#readSeed(), invoice.index);
    await this.#options.db.run(
      `insert into sim.addresses (coin, invoice_id, index, address) values ($1, $2, $3, $4)
       on conflict do nothing`,
      [this.coin, invoice.id, invoice.index, wanted],
    );
    const kept = await this.#options.db.row<{ address: string }>(
      'select address from sim.addresses where coin = $1 and invoice_id = $2',
      [this.coin, invoice.id],
    );
    const address = kept?.address ?? wanted;
    return { address, uri: paymentUri(this.coin, address, invoice.amountUnits) };
  }

  async poll(from: { cursor: string | null }): Promise<PollResult> {
    await this.#throwIfFaultArmed('poll');
    const seenHash = from.cursor?.split(':')[1] ?? null;
    const rows = await this.#options.db.rows<PollRow>(POLL, [this.coin, seenHash, FINAL_CONFIRMATIONS]);
    const tip = rows[0];
    if (!tip) throw new Error(`no simulated network for ${this.coin}`);
    return {
      cursor: `${tip.tip_height}:${tip.tip_hash}`,
      observations: rows.flatMap((row) => (row.key === null ? [] : [toObservation(row)])),
      isComplete: true,
    };
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    await this.#throwIfFaultArmed('recheck');
    const rows = await this.#options.db.rows<PaymentRow>(RECHECK, [this.coin, keys]);
    const found = new Map(rows.map((row) => [row.key, toObservation(row)]));
    return keys.map((key) => found.get(key) ?? removedObservation(key));
  }

  async checkSafety(): Promise<void> {
    await this.#throwIfFaultArmed('checkSafety');
  }

  async examine(): Promise<readonly ChainFinding[]> {
    await this.#throwIfFaultArmed('examine');
    return [];
  }

  readonly isSimulated = true;

  async health(): Promise<ChainHealth> {
    await this.#throwIfFaultArmed('health');
    const chain = await this.#options.db.row<{
      height: number;
      waiting_from: Date | null;
      mined_at: Date | null;
    }>(
      `select chain.height, waiting_from, mined_at from sim.chains chain
         left join sim.blocks tip on tip.coin = chain.coin and tip.hash = chain.hash where chain.coin = $1`,
      [this.coin],
    );
    if (!chain) return { ok: false, height: 0, tipAt: null, detail: `no simulated network for ${this.coin}` };
    const { height, mined_at: tipAt } = chain;
    return { ok: true, height, tipAt, detail: this.#describePace(chain.waiting_from) };
  }

  #describePace(waitingFrom: Date | null): string {
    if (this.#options.blockS <= 0) return 'simulated, blocks on demand';
    if (!waitingFrom) return 'simulated, no payment is waiting for a block';
    const waitedMs = this.#options.clock.now().getTime() - waitingFrom.getTime();
    return `simulated, next block in ${Math.max(0, Math.ceil(this.#options.blockS - waitedMs / 1000))} s`;
  }

  async #readSeed(): Promise<Buffer> {
    this.#seed ??= (await this.#options.db.row<{ seed: Buffer }>('select seed from sim.seed'))?.seed;
    if (!this.#seed) throw new Error('the simulated networks have no seed');
    return this.#seed;
  }

  async #throwIfFaultArmed(operation: string): Promise<void> {
    if (await this.#options.faults.consume('chain', operation)) throw new Error('simulated fault');
  }
}

function toObservation(row: PaymentRow): Observation {
  const confirmations = row.height === null ? 0 : row.tip_height - row.height + 1;
  const state: ObservationState = confirmations >= FINAL_CONFIRMATIONS ? 'final' : row.state;
  return {
    key: row.key,
    txid: row.txid,
    address: row.address,
    amountUnits: BigInt(row.amount_units),
    state,
    confirmations,
    height: row.height,
    blockHash: row.block_hash,
    blockTime: row.mined_at,
    agreed: true,
  };
}
