/** The sandbox's controls for the simulated networks: payments, blocks, reorganizations, and time. */
import { randomInt } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.ts';
import { parseUnits } from '../../../kernel/money.ts';
import type { Database, Sql } from '../../../kernel/sql.ts';
import { type CoinCode, getCoin, isCoinCode } from '../../../spec/coins.ts';
import { SandboxInputError } from '../../sandbox-input-error.ts';
import { type Chain, lockChain, mineBlocks, mineDueBlocks, removeBlocks, saveTip } from './chain.ts';
import { canonicalAddress, newTxid } from './networks.ts';

/** Keeps a late tick short; the next one continues. */
const MAX_BLOCKS_PER_TICK = 200;

export class SimnetControl {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #blockS: number;

  /** `blockS`: seconds of business time between blocks, 0 for blocks on demand only. */
  constructor(options: { db: Database; clock: Clock; blockS: number }) {
    this.#db = options.db;
    this.#clock = options.clock;
    this.#blockS = options.blockS;
  }

  /**
   * Puts a payment to one of our addresses into the mempool. `amount` is in whole coins, decimal.
   * Throws SandboxInputError on `coin`, `address` or `amount`.
   */
  async pay(input: { coin: string; address: string; amount: string }): Promise<{ txid: string }> {
    const coin = parseCoin(input.coin);
    const units = parseAmount(coin, input.amount);
    const address = canonicalAddress(coin, input.address);
    const known = await this.#db.row('select from sim.addresses where coin = $1 and address = $2', [
      coin,
      address,
    ]);
    if (!known) throw new SandboxInputError('address', `not an address on the simulated ${coin} network`);
    const txid = newTxid(coin);
    await this.#updateChain(coin, async (tx, chain, now) => {
      // Blocks that were due before this payment must not contain it.
      const current = await mineDueBlocks(tx, chain, {
        now,
        blockS: this.#blockS,
        limit: MAX_BLOCKS_PER_TICK,
      });
      const seq = current.seq + 1n;
      await tx.run(
        `insert into sim.payments (coin, key, txid, address, amount_units, state, changed_seq)
         values ($1, $2, $3, $4, $5, 'mempool', $6)`,
        [coin, `${txid}:${randomInt(2)}`, txid, address, units, seq],
      );
      await saveTip(tx, { ...current, seq, waitingFrom: current.waitingFrom ?? now });
    });
    return { txid };
  }

  /** Mines 1–1000 blocks now; the first has the mempool. Throws SandboxInputError on `coin` or `count`. */
  async mine(input: { coin: string; count: number }): Promise<{ height: number }> {
    const count = parseBlockCount('count', input.count);
    return await this.#updateChain(parseCoin(input.coin), async (tx, chain, now) => {
      const { height } = await mineBlocks(tx, chain, Array<Date>(count).fill(now));
      return { height };
    });
  }

  /**
   * Removes the last `depth` blocks (1–1000, never the network's first). Their payments return to the mempool
   * or, with `drop`, disappear. `removed` counts blocks. Throws SandboxInputError on `coin` or `depth`.
   */
  async reorg(input: {
    coin: string;
    depth: number;
    drop?: boolean;
  }): Promise<{ height: number; removed: number }> {
    const depth = parseBlockCount('depth', input.depth);
    return await this.#updateChain(parseCoin(input.coin), async (tx, chain, now) => {
      const state = input.drop ? 'removed' : 'mempool';
      const { chain: shorter, removed } = await removeBlocks(tx, chain, { depth, state, now });
      return { height: shorter.height, removed };
    });
  }

  /**
   * Double-spends the transaction's coins: it can never be mined again. Throws SandboxInputError on `txid` if
   * it is unknown or in a block (a reorganization must remove it first).
   */
  async conflict(txid: string): Promise<void> {
    const find = 'select coin, state from sim.payments where txid = $1';
    const found = await this.#db.row<{ coin: CoinCode }>(find, [txid]);
    if (!found) throw new SandboxInputError('txid', 'transaction not found on any simulated network');
    await this.#updateChain(found.coin, async (tx, chain) => {
      const payment = await tx.row<{ state: string }>(find, [txid]);
      if (payment?.state === 'included') {
        throw new SandboxInputError('txid', 'the transaction is in a block; reorganize the chain first');
      }
      const seq = chain.seq + 1n;
      await tx.run(`update sim.payments set state = 'conflicted', changed_seq = $2 where txid = $1`, [
        txid,
        seq,
      ]);
      await saveTip(tx, { ...chain, seq });
    });
  }

  /** Mines the blocks that are due, at most 200, each at its scheduled time; returns how many. */
  async tick(): Promise<number> {
    if (this.#blockS <= 0) return 0;
    const dueBefore = new Date(this.#clock.now().getTime() - this.#blockS * 1000);
    const overdue = await this.#db.rows<{ coin: CoinCode }>(
      'select coin from sim.chains where waiting_from <= $1 order by waiting_from',
      [dueBefore],
    );
    let mined = 0;
    for (const { coin } of overdue) {
      const limit = MAX_BLOCKS_PER_TICK - mined;
      if (limit <= 0) break;
      mined += await this.#updateChain(coin, async (tx, chain, now) => {
        const current = await mineDueBlocks(tx, chain, { now, blockS: this.#blockS, limit });
        return current.height - chain.height;
      });
    }
    return mined;
  }

  /** Returns when the next block is due (business time); null without payments, or if mined on demand. */
  async nextBlockDue(): Promise<Date | null> {
    if (this.#blockS <= 0) return null;
    const first = await this.#db.row<{ waiting_from: Date | null }>(
      'select min(waiting_from) as waiting_from from sim.chains',
    );
    return first?.waiting_from ? new Date(first.waiting_from.getTime() + this.#blockS * 1000) : null;
  }

  /**
   * Changes one chain under its lock. Reads `now` after locking, so that times follow the order of changes.
   */
  async #updateChain<T>(coin: CoinCode, work: (tx: Sql, chain: Chain, now: Date) => Promise<T>): Promise<T> {
    return await this.#db.transaction(async (tx) => work(tx, await lockChain(tx, coin), this.#clock.now()));
  }
}

/** Keeps a payment's value, in cents, within 64 bits. */
const MAX_COINS = 1_000_000_000n;

/** Each block is a row: a typo in the count must not fill the disk. */
const MAX_BLOCKS = 1_000;

export function parseCoin(code: string): CoinCode {
  if (!isCoinCode(code)) throw new SandboxInputError('coin', `unknown coin ${JSON.stringify(code)}`);
  return code;
}

/** Parses a decimal amount into the coin's smallest unit. */
export function parseAmount(code: CoinCode, text: string): bigint {
  const { decimals } = getCoin(code);
  const units = parseUnits(text, decimals);
  if (units === undefined) {
    throw new SandboxInputError('amount', `must be a decimal number with at most ${decimals} decimal places`);
  }
  if (units <= 0n) throw new SandboxInputError('amount', 'must be greater than 0');
  if (units >= MAX_COINS * 10n ** BigInt(decimals)) {
    throw new SandboxInputError('amount', `must be less than ${MAX_COINS}`);
  }
  return units;
}

export function parseBlockCount(field: 'count' | 'depth', value: number): number {
  if (!Number.isSafeInteger(value) || value < 1 || value > MAX_BLOCKS) {
    throw new SandboxInputError(field, `must be a whole number from 1 to ${MAX_BLOCKS}`);
  }
  return value;
}
