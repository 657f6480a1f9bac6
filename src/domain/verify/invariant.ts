/** What always holds in the books and the inventory, written so that the database can be asked for what breaks it. */
export interface Invariant {
  readonly name: string;
  readonly description: string;
  /** What is looked at, as it stands after `from`. */
  readonly source: string;
  /** A select of one column: the ids of what breaks it. */
  readonly violations: string;
}

/** SQL for the id that a reader is shown (`srv_…`) of a uuid column: kernel/ids.ts in the database's words. */
export function shownIdSql(prefix: string, column: string): string {
  const bits = `(('x' || replace(${column}::text, '-', ''))::bit(128) || B'00')`;
  const letter = `substr('abcdefghijklmnopqrstuvwxyz234567', substring(${bits} from i * 5 + 1 for 5)::bit(5)::int + 1, 1)`;
  return `'${prefix}' || (select string_agg(${letter}, '' order by i) from generate_series(0, 25) as i)`;
}
