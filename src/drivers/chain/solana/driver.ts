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
  ChainHealth,
  ChainNote,
  Deposit,
  Observation,
  Polled,
} from '../../../ports/chain.ts';
import { coin as coinOf } from '../../../spec/coins.ts';
import { NodeBehind } from '../node-behind.ts';
import { type NodeAddress, NodeError } from '../node-http.ts';
import { removed } from '../observed.ts';
import { Proof } from '../proven.ts';
import { paymentOf } from './credit.ts';
import { examineSolana, RECENT_DAYS } from './examine.ts';
import { type Bounds, Look } from './look.ts';
import { markText, REFUSED, UNREAD } from './mark.ts';
import { type Finalized, SolanaNode } from './node.ts';
import { type Position, parsePosition, positionText } from './position.ts';
import { proveSolana, solanaHealth } from './proof.ts';

export interface SolanaLimits extends Bounds {
  /** Addresses of the last days looked at in one poll. */
  readonly recent: number;
  /** Older ones looked at in one poll. */
  readonly turn: number;
}

export interface SolanaOptions {
  readonly node: NodeAddress;
  readonly pool: AddressPool;
  /** Networks whose coins are worth nothing are allowed. */
  readonly allowTest: boolean;
  readonly limits?: Partial<SolanaLimits>;
  /** Business time, which the pool notes as well. */
  readonly now?: () => Date;
}

/** Well below the time that a poll may take. */
const LIMITS: SolanaLimits = {
  pageSize: 100,
  transactions: 300,
  durationMs: 8 * SECOND_MS,
  recent: 1_000,
  turn: 50,
};
const PAGE = 50;
/** How many used addresses in a row are passed over for one invoice. */
const TRIES = 10;

export class SolanaChain implements ChainDriver {
  readonly coin = 'SOL';
  readonly #node: SolanaNode;
  readonly #pool: AddressPool;
  readonly #proof: Proof;
  readonly #limits: SolanaLimits;
  readonly #now: () => Date;
  #untold = 0;
  #slot = 0;

  constructor({ node, pool, allowTest, limits = {}, now = () => new Date() }: SolanaOptions) {
    this.#node = new SolanaNode(node);
    this.#pool = pool;
    this.#proof = new Proof(() => proveSolana(this.#node, allowTest));
    this.#limits = { ...LIMITS, ...limits };
    this.#now = now;
  }

  async prove(): Promise<void> {
    await this.#proof.renew();
  }

  async allocate({ id, amountUnits }: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    await this.#proof.ensure();
    for (let i = 0; i < TRIES; i++) {
      const taken = await this.#pool.take(id);
      if (taken === null) throw new Error('no address of Solana is left: import some');
      const { address, mark } = taken;
      if (await this.#isFit(address, mark)) {
        return {
          address,
          uri: `solana:${address}?amount=${formatUnits(amountUnits, coinOf('SOL').decimals)}`,
        };
      }
      await this.#pool.keep(address, REFUSED);
      await this.#pool.refuse(address);
    }
    throw new Error(`${TRIES} addresses of Solana in a row were used before: import fresh ones`);
  }

  async poll(from: { cursor: string | null }): Promise<Polled> {
    await this.#proof.ensure();
    const position = parsePosition(from.cursor);
    const { slot, blockhash } = await this.#tip(position?.slot ?? 0);
    const look = new Look(this.#node, this.#limits);
    const { resume, turn, whole } = await this.#lookAround(look, position);
    const cursor = positionText({ slot, blockhash, resume, turn });
    this.#untold = look.untold;
    return {
      cursor,
      observations: look.observations,
      whole: whole && !look.more,
      keep: () => this.#keep(look.marks),
    };
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    await this.#proof.ensure();
    await this.#tip(0);
    const final = await this.#found(keys, true);
    const waiting = await this.#found(
      keys.filter((key) => !final.has(key)),
      false,
    );
    // It may have dropped the oldest of its ledger, and what is final cannot go: who saw that is not told otherwise.
    return keys.map((key) => final.get(key) ?? waiting.get(key) ?? { ...removed(key), agreed: false });
  }

  async health(): Promise<ChainHealth> {
    const health = await solanaHealth(this.#node);
    if (this.#untold === 0) return health;
    const detail = `${health.detail}; ${this.#untold} transactions are listed and cannot be read`;
    return { ...health, ok: false, detail };
  }

  async examine(): Promise<readonly ChainNote[]> {
    return await examineSolana(this.#node, this.#pool, this.#recentSince());
  }

  /** A node that was put back knows nothing of what was told: it is waited for. */
  async #tip(readTo: number): Promise<Finalized> {
    const tip = await this.#node.finalized();
    const least = Math.max(readTo, this.#slot);
    if (tip.slot < least) throw new NodeBehind(tip.slot, least);
    this.#slot = tip.slot;
    return tip;
  }

  async #keep(marks: ReadonlyMap<string, string>): Promise<void> {
    for (const [address, mark] of marks) await this.#pool.keep(address, mark);
  }

  async #lookAround(
    look: Look,
    position: Position | null,
  ): Promise<Pick<Position, 'resume' | 'turn'> & { readonly whole: boolean }> {
    const turn = position?.turn ?? null;
    const recent = await this.#lookAtRecent(look, position?.resume ?? null);
    if (!recent.whole) return { resume: recent.last, turn, whole: false };
    const page = await this.#pool.watched({ after: turn ?? recent.last, limit: this.#limits.turn });
    const looked = await look.at(page);
    const isRound = looked === page.length && page.length < this.#limits.turn;
    return { resume: null, turn: isRound ? null : (page[looked - 1]?.address ?? turn), whole: true };
  }

  /** `last`: the last one that was looked at. */
  async #lookAtRecent(look: Look, resume: string | null): Promise<{ whole: boolean; last: string | null }> {
    const since = this.#recentSince();
    let last = resume;
    for (let looked = 0; looked < this.#limits.recent; ) {
      const page = await this.#pool.watched({ after: last, limit: PAGE });
      const recent = page.filter(({ takenAt }) => takenAt >= since);
      const done = await look.at(recent);
      last = recent[done - 1]?.address ?? last;
      looked += done;
      if (done < recent.length) return { whole: false, last };
      if (recent.length < PAGE) return { whole: true, last };
    }
    return { whole: false, last };
  }

  /** It has no past, or its past was looked at when it was given to the same invoice before. */
  async #isFit(address: string, mark: string | null): Promise<boolean> {
    if (mark !== null) return mark !== REFUSED;
    const order = { address, before: null, until: null, limit: 1 };
    const [used = []] = await this.#node.lists([order]);
    if (used.length > 0 || (await this.#node.exists(address))) return false;
    await this.#pool.keep(address, markText(UNREAD));
    return true;
  }

  async #found(keys: readonly string[], final: boolean): Promise<ReadonlyMap<string, Observation>> {
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
      const payment = paymentOf(answer, { signature, address, final });
      if (payment === null) throw new Error('the node does not tell what a transaction did');
      if (payment.amountUnits > 0n) found.set(payment.key, payment);
    }
    return found;
  }

  #recentSince(): Date {
    return new Date(this.#now().getTime() - RECENT_DAYS * DAY_MS);
  }
}
