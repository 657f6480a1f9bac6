/** Looks at addresses, one after another, until it has had enough for one poll. */
import type { Observation, WatchedAddress } from '../../../ports/chain.ts';
import { NodeError } from '../node-http.ts';
import { advanceMark, formatMark, type Mark, parseMark, REFUSED_MARK } from './mark.ts';
import type { ListedTransaction, ListQuery, SolanaNode } from './node.ts';
import { parsePayment } from './payments.ts';

export interface ScanLimits {
  /** Of one address, in one poll. */
  readonly pageSize: number;
  /** Transactions read in one poll; one address more may be begun. */
  readonly maxTransactions: number;
  readonly durationMs: number;
}

interface ListedAddress {
  readonly address: string;
  readonly mark: Mark;
  readonly page: readonly ListedTransaction[];
}

export class AddressScan {
  readonly observations: Observation[] = [];
  /** The marks that hold once what was observed is kept. */
  readonly marks = new Map<string, string>();
  /** An address has more to tell than fits into one look. */
  hasMore = false;
  /** Transactions that the node lists and does not tell. */
  unreadable = 0;
  readonly #node: SolanaNode;
  readonly #limits: ScanLimits;
  readonly #endMs: number;
  #transactionsRead = 0;
  #hasStarted = false;

  constructor(node: SolanaNode, bounds: ScanLimits) {
    this.#node = node;
    this.#limits = bounds;
    this.#endMs = performance.now() + bounds.durationMs;
  }

  /** How many of these were looked at, in their order: fewer than all where it has had enough. */
  async scan(watched: readonly WatchedAddress[]): Promise<number> {
    const wanted = watched.filter(({ mark }) => mark !== REFUSED_MARK);
    const pages = await this.#node.listTransactions(wanted.map((each) => this.#listQuery(each)));
    const jobs = new Map(
      wanted.map(({ address, mark }, i) => [
        address,
        { address, mark: parseMark(mark), page: pages[i] ?? [] },
      ]),
    );
    let looked = 0;
    for (const { address } of watched) {
      const job = jobs.get(address);
      if (job !== undefined) {
        if (this.#isOverBudget()) break;
        await this.#scanAddress(job);
      }
      looked += 1;
    }
    return looked;
  }

  #listQuery({ address, mark }: WatchedAddress): ListQuery {
    const { base, gap } = parseMark(mark);
    return { address, before: gap?.before ?? null, until: base, limit: this.#limits.pageSize };
  }

  #isOverBudget(): boolean {
    // However slow the node is, each poll gets one address further.
    return (
      this.#hasStarted &&
      (this.#transactionsRead >= this.#limits.maxTransactions || performance.now() > this.#endMs)
    );
  }

  async #scanAddress({ address, mark, page }: ListedAddress): Promise<void> {
    this.#hasStarted = true;
    const told = await this.#readPage(address, page);
    // What cannot be told now is asked for again: the mark stays before it.
    if (!told) return;
    const next = (await this.#isGapLost(mark, page))
      ? { mark: { base: mark.base, gap: null }, more: true }
      : advanceMark(mark, page, this.#limits.pageSize);
    if (next.more) this.hasMore = true;
    if (formatMark(next.mark) !== formatMark(mark)) this.marks.set(address, formatMark(next.mark));
  }

  /** False where one of the final ones could not be read. */
  async #readPage(address: string, page: readonly ListedTransaction[]): Promise<boolean> {
    const paying = page.filter(({ failed }) => !failed);
    const final = paying.filter((each) => each.final);
    const waiting = paying.filter((each) => !each.final);
    this.#transactionsRead += paying.length;
    const untold = await this.#observe(address, final, true);
    await this.#observe(address, waiting, false);
    this.unreadable += untold;
    return untold === 0;
  }

  /** How many could not be read. */
  async #observe(address: string, listed: readonly ListedTransaction[], final: boolean): Promise<number> {
    const signatures = listed.map(({ signature }) => signature);
    const transactions = await this.#node.transactions(signatures, final ? 'finalized' : 'confirmed');
    let untold = 0;
    for (const [i, signature] of signatures.entries()) {
      const transaction = transactions[i] ?? null;
      const readable = transaction === null || transaction instanceof NodeError ? null : transaction;
      const payment = readable && parsePayment(readable, { signature, address, final });
      if (payment === null) untold += 1;
      else if (payment.amountUnits > 0n) this.observations.push(payment);
    }
    return untold;
  }

  /** A node lists nothing older than what it does not know: a gap must not be taken for read then. */
  async #isGapLost({ gap }: Mark, page: readonly ListedTransaction[]): Promise<boolean> {
    if (gap === null || page.length > 0) return false;
    const [known] = await this.#node.transactions([gap.before], 'finalized');
    return known === null;
  }
}
