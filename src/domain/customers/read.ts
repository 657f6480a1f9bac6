/** The account as its owner sees it. */

import { fail } from '../../kernel/fail.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { formatSessionTime } from '../../kernel/time.ts';
import { readOwnAccount, readSessionAccount } from '../../store/customers/customers.ts';
import { findPendingEmail } from '../../store/customers/mail-links.ts';
import type { CustomerActor, Service } from '../context.ts';

export interface Account {
  /** The integer that the session API shows. */
  readonly publicNo: bigint;
  readonly email: string;
  readonly balanceCents: bigint;
}

/** Returns the account for the session probe; undefined if it no longer exists. */
export async function findAccount(service: Service, customerId: string): Promise<Account | undefined> {
  const row = await readSessionAccount(service.db, customerId);
  return row && { publicNo: row.public_no, email: row.email, balanceCents: row.balance_cents };
}

/** An account as its owner sees it. Times have the format of the session API. */
export interface OwnAccount {
  readonly id: number;
  readonly email: string;
  readonly email_confirmed: boolean;
  /** The address that takes effect once its link is used; null: no change is pending. */
  readonly pending_email: string | null;
  /** Uppercase hex; null without an OpenPGP key. */
  readonly openpgp_fingerprint: string | null;
  /** Whether signing in requires a one-time code. */
  readonly totp: boolean;
  /** US dollars. */
  readonly balance: number;
  readonly created_at: string;
}

export async function getOwnAccount(service: Service, { customerId }: CustomerActor): Promise<OwnAccount> {
  const row = (await readOwnAccount(service.db, customerId)) ?? fail('auth_required');
  return {
    id: Number(row.public_no),
    email: row.email,
    email_confirmed: row.email_confirmed_at !== null,
    pending_email: (await findPendingEmail(service.db, customerId, service.clock.now())) ?? null,
    openpgp_fingerprint: row.openpgp_fingerprint,
    totp: row.totp,
    balance: centsToUsd(row.balance_cents),
    created_at: formatSessionTime(row.created_at),
  };
}
