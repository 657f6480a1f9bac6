/** The grace period: how long a suspended server is kept, and when its customer is warned. */
import { DAY_MS } from '../../kernel/time.ts';
import { DESTRUCTION_WARNING_DAYS } from '../../spec/limits.ts';

/** Counts from the suspension, or from the end of the paid time if that is later. */
export function graceEnd(
  server: { readonly suspendedAt: Date; readonly paidUntil: Date },
  graceDays: number,
): Date {
  const from = Math.max(server.suspendedAt.getTime(), server.paidUntil.getTime());
  return new Date(from + graceDays * DAY_MS);
}

/** The end of a suspended server's grace period and the last warning sent. */
export interface Grace {
  readonly suspendedAt: Date;
  readonly destroyAt: Date;
  readonly warnedDays: number | null;
}

/** Returns the warnings still to send, earliest first: those that fit between the suspension and the end. */
export function remainingWarnings({ suspendedAt, destroyAt, warnedDays }: Grace): number[] {
  const graceMs = destroyAt.getTime() - suspendedAt.getTime();
  return DESTRUCTION_WARNING_DAYS.filter(
    (days) => days * DAY_MS <= graceMs && (warnedDays === null || days < warnedDays),
  );
}

/** Returns the time of the next warning, or of the end. */
export function nextGraceCheck(grace: Grace): Date {
  const [days = 0] = remainingWarnings(grace);
  return new Date(grace.destroyAt.getTime() - days * DAY_MS);
}
