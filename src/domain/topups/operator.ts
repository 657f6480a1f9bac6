/** Finds top-ups for the operator: by filter, or by any detail that a customer may know. */
import { parseId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { COIN_CODES, type CoinCode } from '../../spec/coins.ts';
import type { TopupNote } from '../../spec/staff/payments.ts';
import type { TopupStatus } from '../../spec/states.ts';
import { type DepositRow, listDeposits } from '../../store/topups/deposits.ts';
import {
  findOperatorTopups,
  listOperatorTopups,
  type OperatorTopupRow,
} from '../../store/topups/operator.ts';
import {
  listOperatorDeposits,
  type OperatorDepositFilter,
  type OperatorDepositRow,
} from '../../store/topups/operator-deposits.ts';
import { listRefunds, type RefundRow } from '../../store/topups/refunds.ts';
import type { Service } from '../context.ts';
import { requireCustomer } from '../customers/operator.ts';

type Deps = Pick<Service, 'db'>;

export interface TopupQuery {
  /** The customer's email address. */
  readonly customer?: string;
  readonly status?: TopupStatus;
  readonly coin?: CoinCode;
  readonly note?: TopupNote;
  /** `top_…`: only older top-ups. */
  readonly before?: string;
  readonly limit: number;
}

/** Returns the newest `limit` top-ups, and whether there are more. Fails for an unknown customer. */
export async function listTopupsForOperator(
  { db }: Deps,
  { customer, before, limit, ...query }: TopupQuery,
): Promise<{ readonly topups: readonly OperatorTopupRow[]; readonly more: boolean }> {
  const owner = customer === undefined ? {} : { customerId: (await requireCustomer(db, customer)).id };
  const found = await listOperatorTopups(db, { ...query, ...owner, ...olderThan(before) }, limit + 1);
  return { topups: found.slice(0, limit), more: found.length > limit };
}

function olderThan(before: string | undefined): { readonly beforeId?: string } {
  if (before === undefined) return {};
  const id = parseId('topup', before);
  if (id === undefined) throw new OperatorError('before must be the id of a top-up, top_…');
  return { beforeId: id };
}

export interface OperatorTopup {
  readonly topup: OperatorTopupRow;
  /** All payments ever seen for it, oldest first. */
  readonly payments: readonly DepositRow[];
  /** Its recorded refunds, oldest first. */
  readonly refunds: readonly RefundRow[];
}

/** Finds a top-up by its order_ref, `top_…` id, deposit address, or a paying transaction. */
export async function findTopupForOperator({ db }: Deps, name: string): Promise<OperatorTopup> {
  const [topup, another] = await findOperatorTopups(
    db,
    { id: parseId('topup', name) ?? null, text: name },
    2,
  );
  if (!topup)
    throw new OperatorError('top-up not found: use its order_ref, top_…, deposit address, or transaction');
  if (another)
    throw new OperatorError('this transaction paid more than one top-up: use the deposit address instead');
  return { topup, payments: await listDeposits(db, topup.id), refunds: await listRefunds(db, topup.id) };
}

export interface DepositQuery extends Pick<OperatorDepositFilter, 'coin' | 'state' | 'outcome'> {
  /** The id of a payment: only payments after it in the list. */
  readonly before?: string;
  readonly limit: number;
}

/** Returns the newest `limit` payments, and whether there are more. */
export async function listDepositsForOperator(
  { db }: Deps,
  { before, limit, ...filter }: DepositQuery,
): Promise<{ readonly deposits: readonly OperatorDepositRow[]; readonly more: boolean }> {
  const place = before === undefined ? {} : parseDepositId(before);
  const found = await listOperatorDeposits(db, { ...filter, ...place }, limit + 1);
  return { deposits: found.slice(0, limit), more: found.length > limit };
}

/** The id of a payment in lists: its coin, and its key on the chain. */
export function depositId({ coin, key }: Pick<DepositRow, 'coin' | 'key'>): string {
  return `${coin}:${key}`;
}

function parseDepositId(id: string): { readonly beforeCoin: CoinCode; readonly beforeKey: string } {
  const at = id.indexOf(':');
  const coin = COIN_CODES.find((code) => code === id.slice(0, at));
  if (coin === undefined) throw new OperatorError('before must be the id of a payment');
  return { beforeCoin: coin, beforeKey: id.slice(at + 1) };
}
