/** Coupons: what staff can do with them, their limits, and the form of a code. */
import { act, MONEY, read } from './roles.ts';

export const COUPON_LIMITS = {
  codeMinChars: 3,
  codeMaxChars: 32,
  /** A larger amount is a typing error. */
  amountMaxCents: 10_000_00n,
  usesMax: 1_000_000,
  accountDaysMax: 3_650,
  noteMaxChars: 200,
  /** The uses that the page of a coupon shows. */
  redemptionsShown: 50,
} as const;

export const COUPON_STATES = ['active', 'used_up', 'expired', 'ended'] as const;
export type CouponState = (typeof COUPON_STATES)[number];

export const COUPON_OPERATIONS = {
  'coupons.list': read('coupons list', 'List coupons', MONEY),
  'coupons.get': read('coupons show', 'Show a coupon, and who used it', MONEY),
  'coupons.create': act('coupons create', 'Create a coupon', MONEY),
  'coupons.end': act('coupons end', 'End a coupon', MONEY),
} as const;

/** Returns the code as it is stored; undefined: no coupon can have it. Case does not matter. */
export function normalizeCouponCode(text: string): string | undefined {
  const code = text.trim().toUpperCase();
  const { codeMinChars: min, codeMaxChars: max } = COUPON_LIMITS;
  const isCode = /^[A-Z0-9][A-Z0-9-]*$/.test(code) && code.length >= min && code.length <= max;
  return isCode ? code : undefined;
}
