/** The simulated chains as they are: what was paid, whether or not the service knows. */
import type { OpenDatabase } from '../../../src/store/db.ts';
import type { ModelTopup } from '../model/model.ts';

export interface Deposit {
  readonly coin: string;
  readonly address: string;
  readonly state: 'mempool' | 'included' | 'removed' | 'conflicted';
  /** Blocks from its own to the tip. */
  readonly confirmations: number;
}

export class Chains {
  readonly #db: OpenDatabase;

  constructor(db: OpenDatabase) {
    this.#db = db;
  }

  async isPaid({ coin, address }: ModelTopup): Promise<boolean> {
    const sql = 'select count(*) as n from sim.payments where coin = $1 and address = $2';
    return ((await this.#db.row<{ n: bigint }>(sql, [coin, address]))?.n ?? 0n) > 0n;
  }

  async deposits(): Promise<Deposit[]> {
    return await this.#db.rows<Deposit>(
      `select p.coin, p.address, p.state, coalesce(c.height - p.height + 1, 0) as confirmations
       from sim.payments p join sim.chains c on c.coin = p.coin`,
    );
  }
}
