/** What a customer has, as the model keeps it. Times are milliseconds, money is cents. */
import type * as rules from './rules.ts';

export type Status = 'running' | 'stopped' | 'suspended' | 'gone';

export interface ModelServer {
  readonly id: string;
  readonly price: bigint;
  readonly months: rules.Months;
  autoRenew: boolean;
  anchor: number;
  paidUntil: number;
  /** `paidUntil` came from the moment at which something happened, which the model knows only nearly. */
  isApproximate: boolean;
  status: Status;
  reason: 'balance' | 'not_renewed' | null;
  resumeTo: 'running' | 'stopped';
  suspendedAt: number;
  /** Ends of the cycles whose window began, and of which the customer was told. */
  windowOpenedFor: number;
  notifiedFor: number;
  /** Days of the last warning. */
  lastWarningDays: number;
}

export interface ModelTopup {
  readonly id: string;
  readonly coin: rules.Coin;
  readonly address: string;
  readonly asked: bigint;
  readonly units: bigint;
  readonly usd: string;
  readonly expiresAt: number;
  status: 'pending' | 'credited' | 'expired';
  unitsInTime: bigint;
  lateCents: bigint;
  credited: bigint;
  bonus: bigint;
}
