/** Every mutation, by subject. */
import { ADDRESSES } from './addresses.ts';
import { CALENDAR } from './calendar.ts';
import { HOSTS } from './hosts.ts';
import { IDEMPOTENCY } from './idempotency.ts';
import { INPUT } from './input.ts';
import { ISOLATION } from './isolation.ts';
import { LEASES } from './leases.ts';
import { MONEY } from './money.ts';
import type { Mutation } from './mutation.ts';
import { RECOVERY } from './recovery.ts';
import { SETTLEMENT } from './settlement.ts';
import { WEBHOOKS } from './webhooks.ts';

export const MUTATIONS: readonly Mutation[] = [
  ...MONEY,
  ...CALENDAR,
  ...ADDRESSES,
  ...LEASES,
  ...IDEMPOTENCY,
  ...SETTLEMENT,
  ...WEBHOOKS,
  ...ISOLATION,
  ...INPUT,
  ...HOSTS,
  ...RECOVERY,
];
