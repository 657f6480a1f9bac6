/** A property that always holds in the books and the inventory, as a query for its violations. */
export interface Invariant {
  readonly name: string;
  readonly description: string;
  /** The rows checked: the text after `from`. */
  readonly source: string;
  /** A select of one column: the ids of the violations. */
  readonly violations: string;
}

/** Returns SQL for the public id (`srv_…`) of a uuid column, like kernel/ids.ts. */
export function shownIdSql(prefix: string, column: string): string {
  const bits = `(('x' || replace(${column}::text, '-', ''))::bit(128) || B'00')`;
  const letter =
    `substr('abcdefghijklmnopqrstuvwxyz234567', ` +
    `substring(${bits} from i * 5 + 1 for 5)::bit(5)::int + 1, 1)`;
  return `'${prefix}' || (select string_agg(${letter}, '' order by i) from generate_series(0, 25) as i)`;
}
