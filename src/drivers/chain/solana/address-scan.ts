/** Scans addresses one after another, until the poll's budget is used up. */
import type { Observation, WatchedAddress } from '../../../ports/chain.ts';
import { NodeError } from '../node-http.ts';
import type { ListedTransaction, ListQuery, SolanaNode } from './node.ts';
import { parsePayment } from './payments.ts';
import { advanceMark, formatMark, type Mark, parseMark, REFUSED_MARK } from './position.ts';

export interface ScanLimits {
  /** Transactions per address and poll. */
  readonly pageSize: number;
  /** Transactions per poll; one more address may still be started. */
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
  /** The marks to save once the observations are saved. */
  readonly marks = new Map<string, string>();
  /** Whether an address has more transactions than one page. */
  hasMore = false;
  /** Transactions that the node lists but can't return. */
  unreadable = 0;
  readonly #node: SolanaNode;
  readonly #limits: ScanLimits;
  readonly #endMs: number;
  #transactionsRead = 0;
  #hasStarted = false;

  constructor(node: SolanaNode, limits: ScanLimits) {
    this.#node = node;
    this.#limits = limits;
    this.#endMs = performance.now() + limits.durationMs;
  }

  /** Scans the addresses in order and returns how many were scanned; fewer than all if the budget ran out. */
  async scan(watched: readonly WatchedAddress[]): Promise<number> {
    const wanted = watched.filter(({ mark }) => mark !== REFUSED_MARK);
    const pages = await this.#node.listTransactions(wanted.map((each) => this.#listQuery(each)));
    const listed = new Map(
      wanted.map(({ address, mark }, i) => [
        address,
        { address, mark: parseMark(mark), page: pages[i] ?? [] },
      ]),
    );
    let scanned = 0;
    for (const { address } of watched) {
      const entry = listed.get(address);
      if (entry !== undefined) {
        if (this.#isOverBudget()) break;
        await this.#scanAddress(entry);
      }
      scanned += 1;
    }
    return scanned;
  }

  #listQuery({ address, mark }: WatchedAddress): ListQuery {
    const { base, gap } = parseMark(mark);
    return { address, before: gap?.before ?? null, until: base, limit: this.#limits.pageSize };
  }

  #isOverBudget(): boolean {
    // Even with a slow node, each poll advances by at least one address.
    return (
      this.#hasStarted &&
      (this.#transactionsRead >= this.#limits.maxTransactions || performance.now() > this.#endMs)
    );
  }

  async #scanAddress({ address, mark, page }: ListedAddress): Promise<void> {
    this.#hasStarted = true;
    const isRead = await this.#readPage(address, page);
    // Keep the mark in front of transactions that can't be read now, so that they are read again.
    if (!isRead) return;
    const next = (await this.#isGapLost(mark, page))
      ? { mark: { base: mark.base, gap: null }, more: true }
      : advanceMark(mark, page, this.#limits.pageSize);
    if (next.more) this.hasMore = true;
    if (formatMark(next.mark) !== formatMark(mark)) this.marks.set(address, formatMark(next.mark));
  }

  /** Returns false if a final transaction could not be read. */
  async #readPage(address: string, page: readonly ListedTransaction[]): Promise<boolean> {
    const paying = page.filter(({ failed }) => !failed);
    const final = paying.filter((each) => each.final);
    const unconfirmed = paying.filter((each) => !each.final);
    this.#transactionsRead += paying.length;
    const unreadable = await this.#observe(address, final, true);
    await this.#observe(address, unconfirmed, false);
    this.unreadable += unreadable;
    return unreadable === 0;
  }

  /** Returns how many transactions could not be read. */
  async #observe(address: string, listed: readonly ListedTransaction[], final: boolean): Promise<number> {
    const signatures = listed.map(({ signature }) => signature);
    const transactions = await this.#node.transactions(signatures, final ? 'finalized' : 'confirmed');
    let unreadable = 0;
    for (const [i, signature] of signatures.entries()) {
      const transaction = transactions[i] ?? null;
      const readable = transaction === null || transaction instanceof NodeError ? null : transaction;
      const payment = readable && parsePayment(readable, { signature, address, final });
      if (payment === null) unreadable += 1;
      else if (payment.amountUnits > 0n) this.observations.push(payment);
    }
    return unreadable;
  }

  /** A node that doesn't know the `before` transaction returns an empty list; that must not close the gap. */
  async #isGapLost({ gap }: Mark, page: readonly ListedTransaction[]): Promise<boolean> {
    if (gap === null || page.length > 0) return false;
    const [known] = await this.#node.transactions([gap.before], 'finalized');
    return known === null;
  }
}
