/**
 * Solana, over the RPC of the operator's own node. Its keys have no public derivation, so addresses come from
 * a pool that the operator created offline and imported. No request covers many addresses, so each is queried
 * separately.
 *
 * Each poll scans the addresses assigned in the last week and some of the older ones in rotation, so a
 * payment that comes years later is found within one rotation. Each address has a mark, up to which
 * everything was reported. Because the process may die between a poll and saving its result, marks are part
 * of the poll's result and are saved after everything else. Without them the addresses are read again from
 * their old marks; repeated observations change nothing. The position of the next poll is in the cursor, not
 * in memory.
 *
 * Only finalized transactions count. A confirmed one is reported as unconfirmed, so that payers see it within
 * seconds.
 *
 * An address that was used before its assignment is rejected: transfers to it are not payments of an invoice.
 *
 * Written against the documented calls of Agave and tested with a stub node; never tested on a live network.
 */
import { formatUnits } from '../../../kernel/money.ts';
import { DAY_MS, SECOND_MS } from '../../../kernel/time.ts';
import type {
  AddressPool,
  ChainDriver,
  ChainFinding,
  ChainHealth,
  Deposit,
  Observation,
  PollResult,
} from '../../../ports/chain.ts';
import { getCoin as coinOf } from '../../../spec/coins.ts';
import { NodeBehind } from '../cursor.ts';
import { type NodeEndpoint, NodeError } from '../node-http.ts';
import { removedObservation } from '../payment-keys.ts';
import { SafetyCheck } from '../safety-check.ts';
import { AddressScan, type ScanLimits } from './address-scan.ts';
import { examineSolana, RECENT_DAYS } from './examine.ts';
import { type FinalizedBlock, SolanaNode } from './node.ts';
import { parsePayment } from './payments.ts';
import {
  formatMark,
  formatPosition,
  type Position,
  parsePosition,
  REFUSED_MARK,
  UNREAD_MARK,
} from './position.ts';
import { checkSolanaNode, solanaHealth } from './safety.ts';

export interface SolanaLimits extends ScanLimits {
  /** Recently assigned addresses scanned in one poll. */
  readonly recentAddresses: number;
  /** Older addresses scanned in one poll. */
  readonly olderAddresses: number;
}

export interface SolanaOptions {
  readonly node: NodeEndpoint;
  readonly pool: AddressPool;
  /** Whether test networks are allowed. */
  readonly allowTest: boolean;
  readonly limits?: Partial<SolanaLimits>;
  /** Business time, like the pool's assignment times. */
  readonly now?: () => Date;
}

/** Well below a poll's timeout. */
const DEFAULT_LIMITS: SolanaLimits = {
  pageSize: 100,
  maxTransactions: 300,
  durationMs: 8 * SECOND_MS,
  recentAddresses: 1_000,
  olderAddresses: 50,
};
const PAGE_SIZE = 50;
/** How many used addresses in a row are skipped for one invoice. */
const MAX_ATTEMPTS = 10;

export class SolanaChain implements ChainDriver {
  readonly coin = 'SOL';
  readonly #node: SolanaNode;
  readonly #pool: AddressPool;
  readonly #safetyCheck: SafetyCheck;
  readonly #limits: SolanaLimits;
  readonly #now: () => Date;
  #unreadableCount = 0;
  #highestSlot = 0;

  constructor({ node, pool, allowTest, limits = {}, now = () => new Date() }: SolanaOptions) {
    this.#node = new SolanaNode(node);
    this.#pool = pool;
    this.#safetyCheck = new SafetyCheck(() => checkSolanaNode(this.#node, allowTest));
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#now = now;
  }

  async checkSafety(): Promise<void> {
    await this.#safetyCheck.rerun();
  }

  async allocate({ id, amountUnits }: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    await this.#safetyCheck.ensure();
    for (let i = 0; i < MAX_ATTEMPTS; i++) {
      const assigned = await this.#pool.allocate(id);
      if (assigned === null) throw new Error('the Solana address pool is empty; import more addresses');
      const { address, mark } = assigned;
      if (await this.#isUnused(address, mark)) {
        return {
          address,
          uri: `solana:${address}?amount=${formatUnits(amountUnits, coinOf('SOL').decimals)}`,
        };
      }
      await this.#pool.saveMark(address, REFUSED_MARK);
      await this.#pool.reject(address);
    }
    throw new Error(`the next ${MAX_ATTEMPTS} Solana addresses were used before; import unused addresses`);
  }

  async poll(from: { cursor: string | null }): Promise<PollResult> {
    await this.#safetyCheck.ensure();
    const position = parsePosition(from.cursor);
    const { slot, blockhash } = await this.#tipAtLeast(position?.slot ?? 0);
    const scan = new AddressScan(this.#node, this.#limits);
    const { resume, turn, whole } = await this.#scanPool(scan, position);
    const cursor = formatPosition({ slot, blockhash, resume, turn });
    this.#unreadableCount = scan.unreadable;
    return {
      cursor,
      observations: scan.observations,
      isComplete: whole && !scan.hasMore,
      commit: async () => {
        for (const [address, mark] of scan.marks) await this.#pool.saveMark(address, mark);
      },
    };
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    await this.#safetyCheck.ensure();
    await this.#tipAtLeast(0);
    const final = await this.#findPayments(keys, true);
    const unconfirmed = await this.#findPayments(
      keys.filter((key) => !final.has(key)),
      false,
    );
    // A node may have pruned old transactions, and a finalized one can't be undone: so a missing one is not
    // agreed.
    return keys.map(
      (key) => final.get(key) ?? unconfirmed.get(key) ?? { ...removedObservation(key), agreed: false },
    );
  }

  async health(): Promise<ChainHealth> {
    const health = await solanaHealth(this.#node);
    if (this.#unreadableCount === 0) return health;
    const detail = `${health.detail}; ${this.#unreadableCount} listed transactions cannot be read`;
    return { ...health, ok: false, detail };
  }

  async examine(): Promise<readonly ChainFinding[]> {
    return await examineSolana(this.#node, this.#pool, this.#recentSince());
  }

  /** A restored node doesn't know recent payments: wait until it has caught up. */
  async #tipAtLeast(minSlot: number): Promise<FinalizedBlock> {
    const tip = await this.#node.latestFinalized();
    const requiredSlot = Math.max(minSlot, this.#highestSlot);
    if (tip.slot < requiredSlot) throw new NodeBehind(tip.slot, requiredSlot);
    this.#highestSlot = tip.slot;
    return tip;
  }

  async #scanPool(
    scan: AddressScan,
    position: Position | null,
  ): Promise<Pick<Position, 'resume' | 'turn'> & { readonly whole: boolean }> {
    const turn = position?.turn ?? null;
    const recent = await this.#scanRecent(scan, position?.resume ?? null);
    if (!recent.whole) return { resume: recent.last, turn, whole: false };
    const page = await this.#pool.listWatched({
      after: turn ?? recent.last,
      limit: this.#limits.olderAddresses,
    });
    const scanned = await scan.scan(page);
    const isLastPage = scanned === page.length && page.length < this.#limits.olderAddresses;
    return { resume: null, turn: isLastPage ? null : (page[scanned - 1]?.address ?? turn), whole: true };
  }

  /** Returns the last scanned address as `last`. */
  async #scanRecent(
    scan: AddressScan,
    resume: string | null,
  ): Promise<{ whole: boolean; last: string | null }> {
    const since = this.#recentSince();
    let last = resume;
    for (let scanned = 0; scanned < this.#limits.recentAddresses; ) {
      const page = await this.#pool.listWatched({ after: last, limit: PAGE_SIZE });
      const recent = page.filter(({ takenAt }) => takenAt >= since);
      const done = await scan.scan(recent);
      last = recent[done - 1]?.address ?? last;
      scanned += done;
      if (done < recent.length) return { whole: false, last };
      if (recent.length < PAGE_SIZE) return { whole: true, last };
    }
    return { whole: false, last };
  }

  /** Whether it has no transactions, or was already checked when it was assigned to the same invoice. */
  async #isUnused(address: string, mark: string | null): Promise<boolean> {
    if (mark !== null) return mark !== REFUSED_MARK;
    const query = { address, before: null, until: null, limit: 1 };
    const [used = []] = await this.#node.listTransactions([query]);
    if (used.length > 0 || (await this.#node.accountExists(address))) return false;
    await this.#pool.saveMark(address, formatMark(UNREAD_MARK));
    return true;
  }

  async #findPayments(keys: readonly string[], final: boolean): Promise<ReadonlyMap<string, Observation>> {
    const parts = keys.map((key) => key.split(':'));
    const commitment = final ? 'finalized' : 'confirmed';
    const answers = await this.#node.transactions(
      parts.map(([signature = '']) => signature),
      commitment,
    );
    const found = new Map<string, Observation>();
    for (const [i, [signature = '', address = '']] of parts.entries()) {
      const answer = answers[i] ?? null;
      if (answer instanceof NodeError) throw answer;
      if (answer === null) continue;
      const payment = parsePayment(answer, { signature, address, final });
      if (payment === null) throw new Error('the node returned a transaction without its balances');
      if (payment.amountUnits > 0n) found.set(payment.key, payment);
    }
    return found;
  }

  #recentSince(): Date {
    return new Date(this.#now().getTime() - RECENT_DAYS * DAY_MS);
  }
}
