/** All scenarios, by subject. */
import type { Scenario } from '../core/explore.ts';
import { ADDRESSES } from './addresses.ts';
import { IDEMPOTENCY } from './idempotency.ts';
import { LEASES } from './leases.ts';
import { LIMITS } from './limits.ts';
import { MAILS } from './mails.ts';
import { MONEY } from './money.ts';
import { MOVES } from './moves.ts';
import { TOPUPS } from './topups.ts';
import { WEBHOOKS } from './webhooks.ts';

export const SUBJECTS: Readonly<Record<string, readonly Scenario[]>> = {
  money: MONEY,
  addresses: ADDRESSES,
  leases: LEASES,
  moves: MOVES,
  limits: LIMITS,
  idempotency: IDEMPOTENCY,
  webhooks: WEBHOOKS,
  mails: MAILS,
  topups: TOPUPS,
};
