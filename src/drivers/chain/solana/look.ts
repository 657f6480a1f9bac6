/** Looks at addresses, one after another, until it has had enough for one poll. */
import type { Observation, Watched } from '../../../ports/chain.ts';
import { NodeError } from '../node-http.ts';
import { paymentOf } from './credit.ts';
import { advanced, type Mark, markText, parseMark, REFUSED } from './mark.ts';
import type { Listed, ListOrder, SolanaNode } from './node.ts';

export interface Bounds {
  /** Of one address, in one poll. */
  readonly pageSize: number;
  /** Transactions read in one poll; one address more may be begun. */
  readonly transactions: number;
  readonly durationMs: number;
}

interface Job {
  readonly address: string;
  readonly mark: Mark;
  readonly page: readonly Listed[];
}

export class Look {
  readonly observations: Observation[] = [];
  /** The marks that hold once what was observed is kept. */
  readonly marks = new Map<string, string>();
  /** An address has more to tell than fits into one look. */
  more = false;
  /** Transactions that the node lists and does not tell. */
  untold = 0;
  readonly #node: SolanaNode;
  readonly #bounds: Bounds;
  readonly #endMs: number;
  #read = 0;
  #begun = false;

  constructor(node: SolanaNode, bounds: Bounds) {
    this.#node = node;
    this.#bounds = bounds;
    this.#endMs = performance.now() + bounds.durationMs;
  }

  /** How many of these were looked at, in their order: fewer than all where it has had enough. */
  async at(watched: readonly Watched[]): Promise<number> {
    const wanted = watched.filter(({ mark }) => mark !== REFUSED);
    const pages = await this.#node.lists(wanted.map((each) => this.#order(each)));
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
        if (this.#isEnough()) break;
        await this.#take(job);
      }
      looked += 1;
    }
    return looked;
  }

  #order({ address, mark }: Watched): ListOrder {
    const { base, gap } = parseMark(mark);
    return { address, before: gap?.before ?? null, until: base, limit: this.#bounds.pageSize };
  }

  #isEnough(): boolean {
    // However slow the node is, each poll gets one address further.
    return this.#begun && (this.#read >= this.#bounds.transactions || performance.now() > this.#endMs);
  }

  async #take({ address, mark, page }: Job): Promise<void> {
    this.#begun = true;
    const told = await this.#tell(address, page);
    // What cannot be told now is asked for again: the mark stays before it.
    if (!told) return;
    const next = (await this.#isGapLost(mark, page))
      ? { mark: { base: mark.base, gap: null }, more: true }
      : advanced(mark, page, this.#bounds.pageSize);
    if (next.more) this.more = true;
    if (markText(next.mark) !== markText(mark)) this.marks.set(address, markText(next.mark));
  }

  /** False where one of the final ones could not be read. */
  async #tell(address: string, page: readonly Listed[]): Promise<boolean> {
    const paying = page.filter(({ failed }) => !failed);
    const final = paying.filter((each) => each.final);
    const waiting = paying.filter((each) => !each.final);
    this.#read += paying.length;
    const untold = await this.#observe(address, final, true);
    await this.#observe(address, waiting, false);
    this.untold += untold;
    return untold === 0;
  }

  /** How many could not be read. */
  async #observe(address: string, listed: readonly Listed[], final: boolean): Promise<number> {
    const signatures = listed.map(({ signature }) => signature);
    const transactions = await this.#node.transactions(signatures, final ? 'finalized' : 'confirmed');
    let untold = 0;
    for (const [i, signature] of signatures.entries()) {
      const transaction = transactions[i] ?? null;
      const readable = transaction === null || transaction instanceof NodeError ? null : transaction;
      const payment = readable && paymentOf(readable, { signature, address, final });
      if (payment === null) untold += 1;
      else if (payment.amountUnits > 0n) this.observations.push(payment);
    }
    return untold;
  }

  /** A node lists nothing older than what it does not know: a gap must not be taken for read then. */
  async #isGapLost({ gap }: Mark, page: readonly Listed[]): Promise<boolean> {
    if (gap === null || page.length > 0) return false;
    const [known] = await this.#node.transactions([gap.before], 'finalized');
    return known === null;
  }
}
