/** A customer uses a coupon: the amount is credited, and the use counted, in one commit. */
import { fail } from '../../../kernel/fail.ts';
import { centsToUsd } from '../../../kernel/money.ts';
import { DAY_MS } from '../../../kernel/time.ts';
import { normalizeCouponCode } from '../../../spec/staff/coupons.ts';
import {
  type CouponRow,
  countUse,
  insertRedemption,
  lockCouponByCode,
} from '../../../store/billing/coupons.ts';
import { type CustomerRow, lockCustomer } from '../../../store/customers/customers.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { credit } from '../../ledger/transfer.ts';
import { recordAudit } from '../../record.ts';

export interface RedeemedCoupon {
  readonly amount_usd: number;
}

/**
 * Each customer uses a coupon once. Fails with `bad_coupon`, whose message says why. Customers share
 * no lock but that of the coupon, which keeps the uses within their maximum.
 */
export async function redeemCoupon(
  service: Pick<Service, 'db' | 'clock' | 'wake'>,
  actor: CustomerActor,
  typed: string,
): Promise<RedeemedCoupon> {
  const code = normalizeCouponCode(typed) ?? unknownCode();
  const { customerId } = actor;
  const now = service.clock.now();
  const redeemed = await service.db.transaction(async (tx) => {
    const customer = await lockCustomer(tx, customerId);
    if (!customer || customer.deleting_at !== null) fail('auth_required');
    const coupon = (await lockCouponByCode(tx, code)) ?? unknownCode();
    if (!(await insertRedemption(tx, { couponId: coupon.id, customerId, now }))) {
      fail('bad_coupon', {}, 'You have already used this coupon.');
    }
    requireUsable(coupon, customer, now);
    await countUse(tx, coupon.id);
    const amountCents = coupon.amount_cents;
    const movement = {
      ...({ customerId, account: 'adjustments', amountCents, type: 'adjustment' } as const),
      description: `Coupon ${coupon.code}`,
      fact: `coupon:${coupon.id}:${customerId}`,
    };
    await credit(tx, movement, now);
    await recordAudit(tx, { actor, action: 'coupon.redeem', resource: null }, now);
    const answer = { amount_usd: centsToUsd(coupon.amount_cents) };
    await actor.saveResponse?.(tx, answer);
    return answer;
  });
  service.wake();
  return redeemed;
}

function unknownCode(): never {
  return fail('bad_coupon');
}

function requireUsable(coupon: CouponRow, customer: CustomerRow, now: Date): void {
  if (coupon.ended_at !== null) fail('bad_coupon', {}, 'This coupon is no longer valid.');
  if (coupon.expires_at !== null && coupon.expires_at <= now) {
    fail('bad_coupon', {}, 'This coupon has expired.');
  }
  if (coupon.uses >= coupon.max_uses) fail('bad_coupon', {}, 'This coupon has been used up.');
  const days = coupon.account_days;
  if (days === null || now.getTime() - customer.created_at.getTime() < days * DAY_MS) return;
  fail('bad_coupon', {}, `This coupon is only for accounts younger than ${days} days.`);
}
