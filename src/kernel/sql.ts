/** The values of `$1`, `$2` in a statement, or an object whose properties are the values of `$name`. */
export type SqlValues = readonly unknown[] | object;

/** SQL access through a connection, a pool or a transaction; the caller need not know which. */
export interface Sql {
  /** Runs one statement and returns its rows. Each distinct text is prepared once per connection. */
  rows<Row extends object>(text: string, values?: SqlValues): Promise<Row[]>;
  /** Returns the first row, or undefined. */
  row<Row extends object>(text: string, values?: SqlValues): Promise<Row | undefined>;
  /** Runs one statement and returns how many rows it changed. */
  run(text: string, values?: SqlValues): Promise<number>;
}

/** A database: each statement outside a transaction commits on its own. */
export interface Database extends Sql {
  /**
   * Runs `work` in one transaction; a throw rolls it back. A serialization failure or deadlock runs `work`
   * again (at most three times), so `work` must have no effects outside `tx`.
   */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
}
