/** Lists and finds customers for the operator, by anything that a customer may mention. */
import { isIP } from 'node:net';
import { fail } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { readCustomerOverview } from '../../store/customers/customers.ts';
import { listTags } from '../../store/customers/notes.ts';
import {
  findCustomerIdOf,
  listOperatorCustomers,
  type OperatorCustomerRow,
} from '../../store/customers/operator.ts';
import { listPasskeys } from '../../store/customers/passkeys.ts';
import { findServerIdByAddress } from '../../store/servers/operator.ts';
import type { Service } from '../context.ts';
import { readReportCounts } from '../staff/abuse/counts.ts';
import { toCustomerObject } from '../staff/objects.ts';
import { requireCustomer } from './operator.ts';

export interface CustomerQuery {
  /** The beginning of an email address, an id, an address of a server, an order_ref, or a transaction. */
  readonly search?: string;
  readonly frozen?: true;
  readonly tag?: string;
  /** `cus_…`: only older customers. */
  readonly before?: string;
  readonly limit: number;
}

export interface CustomerListItem {
  readonly object: 'customer';
  readonly id: string;
  readonly email: string;
  readonly created_at: string;
  readonly frozen: boolean;
  readonly deleting: boolean;
  readonly balance_usd: number;
  readonly servers: number;
  readonly tags: readonly string[];
}

/** Newest first, and whether there are more. A search without a match returns no customer. */
export async function listCustomersForOperator(
  { db }: Pick<Service, 'db'>,
  { search = '', frozen, tag, before, limit }: CustomerQuery,
): Promise<{ readonly customers: readonly CustomerListItem[]; readonly hasMore: boolean }> {
  const beforeId = before ? parseId('customer', before) : undefined;
  if (before && !beforeId) return { customers: [], hasMore: false };
  const text = search.trim();
  const id = text === '' ? undefined : await findNamed(db, text);
  const filter = {
    ...(frozen && { frozen }),
    ...(tag && { tag }),
    ...(beforeId && { beforeId }),
    ...(id !== undefined && { id }),
    ...(id === undefined && text !== '' && { emailPattern: `${escapeLike(text.toLowerCase())}%` }),
  };
  const rows = await listOperatorCustomers(db, filter, limit + 1);
  return { customers: rows.slice(0, limit).map(toItem), hasMore: rows.length > limit };
}

/** Returns the id of the customer whom the text names; undefined: it may begin an email address. */
async function findNamed(db: Sql, text: string): Promise<string | undefined> {
  const named = parseId('customer', text);
  if (named !== undefined) return named;
  const isAddress = isIP(text) !== 0 && !text.includes('%');
  const serverId = isAddress ? await findServerIdByAddress(db, text) : parseId('server', text);
  return await findCustomerIdOf(db, {
    serverId: serverId ?? null,
    topupId: parseId('topup', text) ?? null,
    text,
  });
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

function toItem(row: OperatorCustomerRow): CustomerListItem {
  return {
    object: 'customer',
    id: formatId('customer', row.id),
    email: row.email,
    created_at: formatRfc3339(row.created_at),
    frozen: row.frozen_at !== null,
    deleting: row.deleting_at !== null,
    balance_usd: centsToUsd(row.balance_cents),
    servers: Number(row.servers),
    tags: row.tags,
  };
}

/** Finds a customer by email address or by `cus_…`. Throws an OperatorError for an unknown one. */
export async function readCustomerForOperator(service: Pick<Service, 'db' | 'clock'>, name: string) {
  const { db } = service;
  const { id } = await requireCustomer(db, name);
  const overview = (await readCustomerOverview(db, id)) ?? fail('not_found');
  const [passkeys, tags] = await Promise.all([listPasskeys(db, id), listTags(db, id)]);
  const reports = await readReportCounts(service, { customerId: id });
  return toCustomerObject(overview, { passkeys: passkeys.length, tags, reports });
}
