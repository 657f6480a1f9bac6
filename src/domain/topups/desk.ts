/** How the operator finds top-ups: by what they have in common, or by whatever a customer can tell of one. */
import { readId } from '../../kernel/ids.ts';
import { Refusal } from '../../kernel/refusal.ts';
import type { CoinCode } from '../../spec/coins.ts';
import type { TopupStatus } from '../../spec/states.ts';
import { type DepositRow, depositsOf } from '../../store/deposits.ts';
import { type DeskTopupRow, findDeskTopups, listDeskTopups } from '../../store/desk-topups.ts';
import { type RefundRow, refundsOf } from '../../store/refunds.ts';
import type { Service } from '../context.ts';
import { requireCustomer } from '../customers/by-email.ts';

type Parts = Pick<Service, 'db'>;

export interface TopupQuery {
  /** His e-mail address. */
  readonly customer?: string;
  readonly status?: TopupStatus;
  readonly coin?: CoinCode;
  readonly limit: number;
}

/** The newest `limit` of them, and whether there are more. Refuses a customer who does not exist. */
export async function listTopupsForOperator(
  { db }: Parts,
  { customer, limit, ...query }: TopupQuery,
): Promise<{ readonly topups: readonly DeskTopupRow[]; readonly more: boolean }> {
  const owner = customer === undefined ? {} : { customerId: (await requireCustomer(db, customer)).id };
  const found = await listDeskTopups(db, { ...query, ...owner }, limit + 1);
  return { topups: found.slice(0, limit), more: found.length > limit };
}

export interface TopupForOperator {
  readonly topup: DeskTopupRow;
  /** All that was ever seen for it, oldest first. */
  readonly payments: readonly DepositRow[];
  /** What was noted of payments that are given back, oldest first. */
  readonly refunds: readonly RefundRow[];
}

/** The one that this names: an order_ref, a `top_…`, the address that was to be paid, or a transaction that paid. */
export async function findTopupForOperator({ db }: Parts, name: string): Promise<TopupForOperator> {
  const [topup, another] = await findDeskTopups(db, { id: readId('topup', name) ?? null, text: name }, 2);
  if (!topup) throw new Refusal('there is no such top-up: give its order_ref, top_…, address or transaction');
  if (another) throw new Refusal('more than one top-up was paid by this transaction: give the address');
  return { topup, payments: await depositsOf(db, topup.id), refunds: await refundsOf(db, topup.id) };
}
