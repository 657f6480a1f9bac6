/** Resources of a customer in the model. Times are milliseconds, money is cents. */
import type * as rules from './rules.ts';

export type Status = 'running' | 'stopped' | 'suspended' | 'destroyed';

export interface ModelServer {
  readonly id: string;
  readonly price: bigint;
  readonly months: rules.Months;
  autoRenew: boolean;
  anchor: number;
  paidUntil: number;
  /** `paidUntil` depends on the moment of a command, which the model knows only approximately. */
  isApproximate: boolean;
  status: Status;
  reason: 'balance' | 'not_renewed' | null;
  resumeTo: 'running' | 'stopped';
  suspendedAt: number;
  /** The cycle ends whose window has opened, and for which the customer was notified. */
  windowOpenedFor: number;
  notifiedFor: number;
  /** The number of days in the last warning. */
  lastWarningDays: number;
}

export interface ModelTopup {
  readonly id: string;
  readonly coin: rules.Coin;
  readonly address: string;
  readonly requested: bigint;
  readonly units: bigint;
  readonly usd: string;
  readonly expiresAt: number;
  status: 'pending' | 'credited' | 'expired';
  unitsInTime: bigint;
  lateCents: bigint;
  credited: bigint;
  bonus: bigint;
}
