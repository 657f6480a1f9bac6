/** How staff filter top-ups and payments. */

/** Top-ups that need the operator, or had a special end. */
export const TOPUP_NOTES = ['withheld', 'refund_pending', 'reversed', 'canceled'] as const;
export type TopupNote = (typeof TOPUP_NOTES)[number];

/** The result of a payment. */
export const DEPOSIT_OUTCOMES = ['credited', 'not_credited', 'withheld', 'refunded'] as const;
export type DepositOutcome = (typeof DEPOSIT_OUTCOMES)[number];

/** As their chains have them. */
export const DEPOSIT_STATES = ['mempool', 'included', 'final', 'removed', 'conflicted'] as const;
