/** `skerryd verify`: queries the database for violations of its invariants. */
import type { Sql } from '../../kernel/sql.ts';
import type { Service } from '../context.ts';
import { ACTION_INVARIANTS } from './actions.ts';
import { AUDIT_INVARIANTS } from './audit-chain.ts';
import { CALENDAR_INVARIANTS } from './calendar.ts';
import type { Invariant } from './invariant.ts';
import {
  FIREWALL_INVARIANTS,
  INVENTORY_INVARIANTS,
  MOVE_INVARIANTS,
  VOLUME_INVARIANTS,
} from './inventory.ts';
import { LOST_HOST_INVARIANTS } from './lost-hosts.ts';
import { MONEY_INVARIANTS, TOPUP_INVARIANTS } from './money.ts';
import { ALERT_INVARIANTS, RECORD_INVARIANTS, WEBHOOK_INVARIANTS } from './records.ts';
import { SERVER_INVARIANTS } from './servers.ts';

export const INVARIANTS: readonly Invariant[] = [
  ...MONEY_INVARIANTS,
  ...TOPUP_INVARIANTS,
  ...SERVER_INVARIANTS,
  ...ACTION_INVARIANTS,
  ...CALENDAR_INVARIANTS,
  ...INVENTORY_INVARIANTS,
  ...MOVE_INVARIANTS,
  ...LOST_HOST_INVARIANTS,
  ...VOLUME_INVARIANTS,
  ...FIREWALL_INVARIANTS,
  ...WEBHOOK_INVARIANTS,
  ...ALERT_INVARIANTS,
  ...RECORD_INVARIANTS,
  ...AUDIT_INVARIANTS,
];

export interface InvariantResult {
  readonly invariant: Invariant;
  /** Number of rows checked. */
  readonly checked: bigint;
  /** Number of violations. */
  readonly broken: bigint;
  /** Up to ten ids of violations. */
  readonly examples: readonly string[];
}

/** Checks all invariants in one snapshot of the database, so that a running service does not interfere. */
export async function verify(service: Pick<Service, 'db'>): Promise<InvariantResult[]> {
  return await service.db.transaction(async (tx) => {
    await tx.run('set transaction isolation level repeatable read read only');
    // Large databases take longer than the normal timeout.
    await tx.run('set local statement_timeout = 0');
    return await checkInvariants(tx);
  });
}

/** Checks all invariants in the caller's transaction. */
export async function checkInvariants(tx: Sql): Promise<InvariantResult[]> {
  const results: InvariantResult[] = [];
  for (const invariant of INVARIANTS) results.push(await checkInvariant(tx, invariant));
  return results;
}

async function checkInvariant(tx: Sql, invariant: Invariant): Promise<InvariantResult> {
  const counted = await tx.row<{ n: bigint }>(`select count(*) as n from ${invariant.source}`);
  const broken = await tx.rows<{ id: string; total: bigint }>(
    `select id::text as id, count(*) over () as total
       from (${invariant.violations}) as found (id) order by 1 limit 10`,
  );
  return {
    invariant,
    checked: counted?.n ?? 0n,
    broken: broken[0]?.total ?? 0n,
    examples: broken.map((row) => row.id),
  };
}
