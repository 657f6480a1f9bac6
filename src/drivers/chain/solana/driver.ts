/**
 * Solana, over the RPC of one's own node. Its keys have no public derivation, so addresses come from a pool that the operator made
 * offline and imported; and nothing on a server can watch many addresses by one question, so each is asked for by itself.
 *
 * Each poll looks at the addresses that were given out in the last week, and at some of the older ones, which have turns: a payment
 * that comes years later is found within one round. An address has a mark, up to which all was told. A mark must not move before
 * what was told is kept: a process may die between the poll and the end of its work. So the marks go along with the poll, and are
 * kept when all else is. Whoever dies before forgets them, and the addresses are read again from their old marks; what is told
 * twice changes nothing. Where the next poll goes on stands in the cursor, not in memory.
 *
 * Only final transactions count. One that is confirmed and not yet final is told as waiting, so that payers see it a few
 * seconds after they paid.
 *
 * An address that was used before it was given out is not given out: what others send there is nobody's payment.
 *
 * Written against the documented calls of Agave and tried with a stand-in node that speaks them; it was never tried on a live
 * network.
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
import { NodeBehind } from '../node-behind.ts';
import { type NodeEndpoint, NodeError } from '../node-http.ts';
import { removedObservation } from '../removed-observation.ts';
import { SafetyCheck } from '../safety-check.ts';
import { AddressScan, type ScanLimits } from './address-scan.ts';
import { examineSolana, RECENT_DAYS } from './examine.ts';
import { formatMark, REFUSED_MARK, UNREAD_MARK } from './mark.ts';
import { type FinalizedBlock, SolanaNode } from './node.ts';
import { parsePayment } from './payments.ts';
import { formatPosition, type Position, parsePosition } from './position.ts';
import { checkSolanaNode, solanaHealth } from './safety.ts';

export interface SolanaLimits extends ScanLimits {
  /** Addresses of the last days looked at in one poll. */
  readonly recentAddresses: number;
  /** Older ones looked at in one poll. */
  readonly olderAddresses: number;
}

export interface SolanaOptions {
  readonly node: NodeEndpoint;
  readonly pool: AddressPool;
  /** Networks whose coins are worth nothing are allowed. */
  readonly allowTest: boolean;
  readonly limits?: Partial<SolanaLimits>;
  /** Business time, which the pool notes as well. */
  readonly now?: () => Date;
}

/** Well below the time that a poll may take. */
const DEFAULT_LIMITS: SolanaLimits = {
  pageSize: 100,
  maxTransactions: 300,
  durationMs: 8 * SECOND_MS,
  recentAddresses: 1_000,
  olderAddresses: 50,
};
const PAGE_SIZE = 50;
/** How many used addresses in a row are passed over for one invoice. */
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
      const taken = await this.#pool.allocate(id);
      if (taken === null) throw new Error('no address of Solana is left: import some');
      const { address, mark } = taken;
      if (await this.#isUnused(address, mark)) {
        return {
          address,
          uri: `solana:${address}?amount=${formatUnits(amountUnits, coinOf('SOL').decimals)}`,
        };
      }
      await this.#pool.saveMark(address, REFUSED_MARK);
      await this.#pool.reject(address);
    }
    throw new Error(`${MAX_ATTEMPTS} addresses of Solana in a row were used before: import fresh ones`);
  }

  async poll(from: { cursor: string | null }): Promise<PollResult> {
    await this.#safetyCheck.ensure();
    const position = parsePosition(from.cursor);
    const { slot, blockhash } = await this.#tipAtLeast(position?.slot ?? 0);
    const look = new AddressScan(this.#node, this.#limits);
    const { resume, turn, whole } = await this.#scanPool(look, position);
    const cursor = formatPosition({ slot, blockhash, resume, turn });
    this.#unreadableCount = look.unreadable;
    return {
      cursor,
      observations: look.observations,
      isComplete: whole && !look.hasMore,
      commit: () => this.#saveMarks(look.marks),
    };
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    await this.#safetyCheck.ensure();
    await this.#tipAtLeast(0);
    const final = await this.#findPayments(keys, true);
    const waiting = await this.#findPayments(
      keys.filter((key) => !final.has(key)),
      false,
    );
    // It may have dropped the oldest of its ledger, and what is final cannot go: who saw that is not told otherwise.
    return keys.map(
      (key) => final.get(key) ?? waiting.get(key) ?? { ...removedObservation(key), agreed: false },
    );
  }

  async health(): Promise<ChainHealth> {
    const health = await solanaHealth(this.#node);
    if (this.#unreadableCount === 0) return health;
    const detail = `${health.detail}; ${this.#unreadableCount} transactions are listed and cannot be read`;
    return { ...health, ok: false, detail };
  }

  async examine(): Promise<readonly ChainFinding[]> {
    return await examineSolana(this.#node, this.#pool, this.#recentSince());
  }

  /** A node that was put back knows nothing of what was told: it is waited for. */
  async #tipAtLeast(minSlot: number): Promise<FinalizedBlock> {
    const tip = await this.#node.latestFinalized();
    const least = Math.max(minSlot, this.#highestSlot);
    if (tip.slot < least) throw new NodeBehind(tip.slot, least);
    this.#highestSlot = tip.slot;
    return tip;
  }

  async #saveMarks(marks: ReadonlyMap<string, string>): Promise<void> {
    for (const [address, mark] of marks) await this.#pool.saveMark(address, mark);
  }

  async #scanPool(
    look: AddressScan,
    position: Position | null,
  ): Promise<Pick<Position, 'resume' | 'turn'> & { readonly whole: boolean }> {
    const turn = position?.turn ?? null;
    const recent = await this.#scanRecent(look, position?.resume ?? null);
    if (!recent.whole) return { resume: recent.last, turn, whole: false };
    const page = await this.#pool.listWatched({
      after: turn ?? recent.last,
      limit: this.#limits.olderAddresses,
    });
    const looked = await look.scan(page);
    const isRound = looked === page.length && page.length < this.#limits.olderAddresses;
    return { resume: null, turn: isRound ? null : (page[looked - 1]?.address ?? turn), whole: true };
  }

  /** `last`: the last one that was looked at. */
  async #scanRecent(
    look: AddressScan,
    resume: string | null,
  ): Promise<{ whole: boolean; last: string | null }> {
    const since = this.#recentSince();
    let last = resume;
    for (let looked = 0; looked < this.#limits.recentAddresses; ) {
      const page = await this.#pool.listWatched({ after: last, limit: PAGE_SIZE });
      const recent = page.filter(({ takenAt }) => takenAt >= since);
      const done = await look.scan(recent);
      last = recent[done - 1]?.address ?? last;
      looked += done;
      if (done < recent.length) return { whole: false, last };
      if (recent.length < PAGE_SIZE) return { whole: true, last };
    }
    return { whole: false, last };
  }

  /** It has no past, or its past was looked at when it was given to the same invoice before. */
  async #isUnused(address: string, mark: string | null): Promise<boolean> {
    if (mark !== null) return mark !== REFUSED_MARK;
    const order = { address, before: null, until: null, limit: 1 };
    const [used = []] = await this.#node.listTransactions([order]);
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
      if (payment === null) throw new Error('the node does not tell what a transaction did');
      if (payment.amountUnits > 0n) found.set(payment.key, payment);
    }
    return found;
  }

  #recentSince(): Date {
    return new Date(this.#now().getTime() - RECENT_DAYS * DAY_MS);
  }
}
