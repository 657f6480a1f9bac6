/** Coupons, and which customers used them. */
import type { Sql } from '../../kernel/sql.ts';
import { parametersFor } from '../parameters.ts';

export interface CouponRow {
  readonly id: string;
  /** Uppercase. */
  readonly code: string;
  readonly amount_cents: bigint;
  readonly max_uses: number;
  readonly uses: number;
  readonly expires_at: Date | null;
  /** Only for accounts younger than this; null: for all. */
  readonly account_days: number | null;
  readonly note: string;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

export interface RedemptionRow {
  readonly customer_id: string;
  readonly email: string;
  readonly redeemed_at: Date;
}

const COLUMNS = `id, code, amount_cents, max_uses, uses, expires_at, account_days, note, created_at,
  ended_at`;

/** Returns false if there is a coupon with this code. */
export async function insertCoupon(tx: Sql, row: CouponRow): Promise<boolean> {
  const inserted = await tx.run(
    `insert into coupons (${COLUMNS}) values (${parametersFor(COLUMNS)}) on conflict (code) do nothing`,
    row,
  );
  return inserted === 1;
}

/** Newest first. `beforeId` null: from the newest. */
export async function listCoupons(
  tx: Sql,
  { beforeId, limit }: { readonly beforeId: string | null; readonly limit: number },
): Promise<CouponRow[]> {
  return await tx.rows<CouponRow>(
    `select ${COLUMNS} from coupons where $1::uuid is null or id < $1 order by id desc limit $2`,
    [beforeId, limit],
  );
}

export async function findCoupon(tx: Sql, id: string): Promise<CouponRow | undefined> {
  return await tx.row<CouponRow>(`select ${COLUMNS} from coupons where id = $1`, [id]);
}

export async function findCouponByCode(tx: Sql, code: string): Promise<CouponRow | undefined> {
  return await tx.row<CouponRow>(`select ${COLUMNS} from coupons where code = $1`, [code]);
}

/** Returns the newest uses. */
export async function listRedemptions(tx: Sql, couponId: string, limit: number): Promise<RedemptionRow[]> {
  return await tx.rows<RedemptionRow>(
    `select r.customer_id, c.email, r.redeemed_at
       from coupon_redemptions r join customers c on c.id = r.customer_id
      where r.coupon_id = $1 order by r.redeemed_at desc, r.customer_id limit $2`,
    [couponId, limit],
  );
}

/** Returns false if it has ended before. */
export async function endCoupon(tx: Sql, id: string, now: Date): Promise<boolean> {
  return (
    (await tx.run('update coupons set ended_at = $2 where id = $1 and ended_at is null', [id, now])) === 1
  );
}

/** Locks the coupon, so that its uses are counted one after another. */
export async function lockCouponByCode(tx: Sql, code: string): Promise<CouponRow | undefined> {
  return await tx.row<CouponRow>(`select ${COLUMNS} from coupons where code = $1 for update`, [code]);
}

/** Under the lock of the coupon. Returns false if the customer used it before. */
export async function insertRedemption(
  tx: Sql,
  row: { readonly couponId: string; readonly customerId: string; readonly now: Date },
): Promise<boolean> {
  const inserted = await tx.run(
    `insert into coupon_redemptions (coupon_id, customer_id, redeemed_at)
     values ($couponId, $customerId, $now) on conflict do nothing`,
    row,
  );
  return inserted === 1;
}

export async function countUse(tx: Sql, couponId: string): Promise<void> {
  await tx.run('update coupons set uses = uses + 1 where id = $1', [couponId]);
}
