/** The account as its owner sees it. */

import { fail } from '../../kernel/fail.ts';
import { formatId } from '../../kernel/ids.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { formatRfc3339, formatSessionTime } from '../../kernel/time.ts';
import type { Account as AccountObject } from '../../spec/schemas/account.ts';
import { scopeCovers } from '../../spec/scopes.ts';
import { readAccountOfToken, readOwnAccount, readSessionAccount } from '../../store/customers/customers.ts';
import { findPendingEmail } from '../../store/customers/mail-links.ts';
import type { CustomerActor, ScopedActor, Service } from '../context.ts';
import { getToken } from '../tokens/tokens.ts';

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

/** Returns the account and the token of the request, for the REST API. */
export async function getTokenAccount(service: Service, actor: ScopedActor): Promise<AccountObject> {
  const { customerId, tokenId, scope } = actor;
  const row = (await readAccountOfToken(service.reads, customerId, tokenId)) ?? fail('auth_required');
  return {
    id: formatId('customer', customerId),
    object: 'account',
    status: row.frozen ? 'frozen' : 'active',
    email: scopeCovers(scope, 'billing') ? row.email : null,
    created_at: formatRfc3339(row.created_at),
    token: {
      id: formatId('token', row.token_id),
      name: row.token_name,
      scope,
      expires_at: row.expires_at && formatRfc3339(row.expires_at),
      limits: actor.limits ? (await getToken(service, actor, formatId('token', row.token_id))).limits : null,
    },
  };
}
