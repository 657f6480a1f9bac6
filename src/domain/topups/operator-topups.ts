/** How the operator finds top-ups: by what they have in common, or by whatever a customer can tell of one. */
import { parseId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { CoinCode } from '../../spec/coins.ts';
import type { TopupStatus } from '../../spec/states.ts';
import { type DepositRow, listDeposits } from '../../store/deposits.ts';
import {
  findOperatorTopups,
  listOperatorTopups,
  type OperatorTopupRow,
} from '../../store/operator-topups.ts';
import { listRefunds, type RefundRow } from '../../store/refunds.ts';
import type { Service } from '../context.ts';
import { requireCustomer } from '../customers/by-email.ts';

type Deps = Pick<Service, 'db'>;

export interface TopupQuery {
  /** His e-mail address. */
  readonly customer?: string;
  readonly status?: TopupStatus;
  readonly coin?: CoinCode;
  readonly limit: number;
}

/** The newest `limit` of them, and whether there are more. Refuses a customer who does not exist. */
export async function listTopupsForOperator(
  { db }: Deps,
  { customer, limit, ...query }: TopupQuery,
): Promise<{ readonly topups: readonly OperatorTopupRow[]; readonly more: boolean }> {
  const owner = customer === undefined ? {} : { customerId: (await requireCustomer(db, customer)).id };
  const found = await listOperatorTopups(db, { ...query, ...owner }, limit + 1);
  return { topups: found.slice(0, limit), more: found.length > limit };
}

export interface OperatorTopup {
  readonly topup: OperatorTopupRow;
  /** All that was ever seen for it, oldest first. */
  readonly payments: readonly DepositRow[];
  /** What was noted of payments that are given back, oldest first. */
  readonly refunds: readonly RefundRow[];
}

/** The one that this names: an order_ref, a `top_…`, the address that was to be paid, or a transaction that paid. */
export async function findTopupForOperator({ db }: Deps, name: string): Promise<OperatorTopup> {
  const [topup, another] = await findOperatorTopups(
    db,
    { id: parseId('topup', name) ?? null, text: name },
    2,
  );
  if (!topup)
    throw new OperatorError('there is no such top-up: give its order_ref, top_…, address or transaction');
  if (another) throw new OperatorError('more than one top-up was paid by this transaction: give the address');
  return { topup, payments: await listDeposits(db, topup.id), refunds: await listRefunds(db, topup.id) };
}
