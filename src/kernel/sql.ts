/** What a piece of code needs to speak SQL: a connection, a pool or a transaction, it need not know which. */
export interface Sql {
  /** Runs one statement and returns its rows. Each distinct text is prepared once per connection. */
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** The first row, or undefined. */
  row<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row | undefined>;
  /** Runs one statement and returns how many rows it changed. */
  run(text: string, values?: readonly unknown[]): Promise<number>;
}

/** A database: statements outside a transaction commit by themselves. */
export interface Database extends Sql {
  /**
   * Runs `work` in one transaction; a throw rolls it back. A serialization failure or deadlock runs `work`
   * again (three times at most), so `work` must touch nothing but `tx`.
   */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
}
