/** All scenarios, by subject. */
import type { Scenario } from '../core/explore.ts';
import { ADDRESSES } from './addresses.ts';
import { IDEMPOTENCY } from './idempotency.ts';
import { LEASES } from './leases.ts';
import { MAILS } from './mails.ts';
import { MONEY } from './money.ts';
import { TOPUPS } from './topups.ts';
import { WEBHOOKS } from './webhooks.ts';

export const SUBJECTS: Readonly<Record<string, readonly Scenario[]>> = {
  money: MONEY,
  addresses: ADDRESSES,
  leases: LEASES,
  idempotency: IDEMPOTENCY,
  webhooks: WEBHOOKS,
  mails: MAILS,
  topups: TOPUPS,
};
