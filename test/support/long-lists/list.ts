/** The description of a list that the long-list tests use, and the parts that several lists share. */
import { createHash } from 'node:crypto';
import { formatId } from '../../../src/kernel/ids.ts';
import type { Sql } from '../../../src/kernel/sql.ts';
import type { PageRequest } from '../../../src/spec/lists.ts';
import type { Operation } from '../../../src/spec/operations.ts';
import type { Page } from '../../../src/store/page.ts';
import { FIRST_IMAGE_NO, idSql, type TableFixture } from './rows.ts';

export type Filter = Readonly<Record<string, string>>;

export interface LongList {
  readonly route: Operation;
  /** The quota per customer; `all`: the list is unbounded, and one customer owns nearly all rows. */
  readonly perCustomer: number | 'all';
  readonly fixtures: readonly TableFixture[];
  readonly read: (sql: Sql, page: PageRequest) => Promise<Page<object>>;
  readonly sorts: readonly string[];
  /** Values to try for each filter: the first matches a single row, the second matches the older rows. */
  readonly filters: Readonly<Record<string, readonly string[]>>;
  /** Filters to try together. */
  readonly combinations?: readonly Filter[];
  /** Filters of an unbounded list that have no index: they scan the customer's rows, up to this quota. */
  readonly scanning?: Pick<LongList, 'filters' | 'combinations'> & { readonly perCustomer: number };
}

/** The list with its scanning filters in place of the others. */
export function scanningList(list: LongList): LongList | undefined {
  return list.scanning && { ...list, ...list.scanning };
}

export const BY_AGE = ['created_at'];
export const BY_AGE_OR_NAME = ['created_at', 'name'];
export const NAME_VALUES = ['once', 'old'];
export const LABELS_SQL = `jsonb_build_object('word', word, 'all', 'yes')`;
export const LABEL_VALUES = ['word:once', 'word:old'];
export const TWO_LABELS = 'all:yes\nword:old';
export const CUSTOMER_COLUMNS = { id: 'id', customer_id: 'customer', created_at: 'at' };
export const NAMED_COLUMNS = { ...CUSTOMER_COLUMNS, name: 'name' };

/** Returns the public form of the id that `idSql` makes of a number. */
export function publicIdOf(kind: 'image' | 'server', i: number): string {
  const digits = createHash('md5').update(`${i}`).digest('hex').slice(0, 20);
  return formatId(kind, i.toString(16).padStart(12, '0') + digits);
}
export const IMAGE_ID_SQL = idSql(`${FIRST_IMAGE_NO} + i % 2`);
