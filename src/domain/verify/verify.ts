/** `skerryd verify`: asks the database for anything that breaks what must always hold. */
import type { Sql } from '../../kernel/sql.ts';
import type { Service } from '../context.ts';
import { CALENDAR } from './calendar.ts';
import { FIREWALL } from './firewall.ts';
import type { Invariant } from './invariant.ts';
import { INVENTORY } from './inventory.ts';
import { MONEY } from './money.ts';
import { RECORDS } from './records.ts';
import { SERVERS } from './servers.ts';
import { TOPUPS } from './topups.ts';
import { VOLUMES } from './volumes.ts';
import { WEBHOOKS } from './webhooks.ts';

export const INVARIANTS: readonly Invariant[] = [
  ...MONEY,
  ...TOPUPS,
  ...SERVERS,
  ...CALENDAR,
  ...INVENTORY,
  ...VOLUMES,
  ...FIREWALL,
  ...WEBHOOKS,
  ...RECORDS,
];

export interface Finding {
  readonly invariant: Invariant;
  /** How many rows were looked at. */
  readonly checked: bigint;
  /** How many break it; 0 is well. */
  readonly broken: bigint;
  /** Some of their ids, ten at most. */
  readonly examples: readonly string[];
}

/** Checks every invariant, in order, in one view of the database: a running service does not disturb it. */
export async function verify(service: Pick<Service, 'db'>): Promise<Finding[]> {
  return await service.db.transaction(async (tx) => {
    await tx.run('set transaction isolation level repeatable read read only');
    // A large database takes its time.
    await tx.run('set local statement_timeout = 0');
    return await checkInvariants(tx);
  });
}

/** The same in the caller's transaction. */
export async function checkInvariants(tx: Sql): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const invariant of INVARIANTS) findings.push(await check(tx, invariant));
  return findings;
}

async function check(tx: Sql, invariant: Invariant): Promise<Finding> {
  const counted = await tx.row<{ n: bigint }>(`select count(*) as n from ${invariant.checks}`);
  const broken = await tx.rows<{ id: string; total: bigint }>(
    `select id::text as id, count(*) over () as total from (${invariant.broken}) as found (id) order by 1 limit 10`,
  );
  return {
    invariant,
    checked: counted?.n ?? 0n,
    broken: broken[0]?.total ?? 0n,
    examples: broken.map((row) => row.id),
  };
}
