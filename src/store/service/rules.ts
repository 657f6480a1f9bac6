/**
 * Maintenance windows, policies and switches: few rows, read in full. Each change raises
 * `service.rules_version`.
 */
import type { Sql } from '../../kernel/sql.ts';
import type { SwitchName } from '../../spec/switches.ts';
import { isInRecovery } from './restoration.ts';

export interface WindowRow {
  readonly id: string;
  /** null: all operations. */
  readonly operation: string | null;
  readonly starts_at: Date;
  readonly ends_at: Date;
  readonly reason: string | null;
}

export interface PolicyRow {
  readonly id: string;
  readonly operation: string;
  /** ISO 3166-1 alpha-2, or `XX` for unknown. */
  readonly country: string | null;
  readonly region_id: string | null;
  readonly order_text: string;
  readonly created_at: Date;
}

export interface RulesRow {
  readonly version: bigint;
  /** Not ended by the operator; some may have expired. */
  readonly windows: readonly WindowRow[];
  /** Oldest first. */
  readonly policies: readonly PolicyRow[];
  /** Only switches that were ever set. */
  readonly switches: readonly SwitchRow[];
  /** The database was restored, or is behind its address marks. */
  readonly recovering: boolean;
}

export async function readRules(tx: Sql): Promise<RulesRow> {
  // Read the version first: rules that change meanwhile then look newer than the version and are read again.
  const version = await readRulesVersion(tx);
  const [windows, policies] = [await listWindows(tx), await listPolicies(tx)];
  const recovering = await isInRecovery(tx);
  return { version, windows, policies, switches: await listSwitches(tx), recovering };
}

export async function readRulesVersion(tx: Sql): Promise<bigint> {
  const service = await tx.row<{ rules_version: bigint }>('select rules_version from service');
  if (!service) throw new Error('the service row is missing');
  return service.rules_version;
}

/** Makes every process read the rules again. The row lock also serializes changes. */
export async function incrementRulesVersion(tx: Sql): Promise<void> {
  const updated = await tx.run('update service set rules_version = rules_version + 1');
  if (updated !== 1) throw new Error('the service row is missing');
}

async function listWindows(tx: Sql): Promise<WindowRow[]> {
  return await tx.rows<WindowRow>(
    `select id, operation, starts_at, ends_at, reason from maintenance_windows
      where ended_at is null order by starts_at, id`,
  );
}

export async function insertWindow(tx: Sql, row: WindowRow): Promise<void> {
  await tx.run(
    `insert into maintenance_windows (id, operation, starts_at, ends_at, reason) values ($1, $2, $3, $4, $5)`,
    [row.id, row.operation, row.starts_at, row.ends_at, row.reason],
  );
}

/** Ends expired windows, so that they are no longer read. */
export async function closeExpiredWindows(tx: Sql, now: Date): Promise<void> {
  await tx.run(`update maintenance_windows set ended_at = ends_at where ended_at is null and ends_at <= $1`, [
    now,
  ]);
}

/** Ends the open window, or all of them, and returns what it ended. */
export async function endWindows(tx: Sql, now: Date, id: string | null): Promise<WindowRow[]> {
  return await tx.rows<WindowRow>(
    `update maintenance_windows set ended_at = $1 where ended_at is null and ($2::uuid is null or id = $2)
     returning id, operation, starts_at, ends_at, reason`,
    [now, id],
  );
}

async function listPolicies(tx: Sql): Promise<PolicyRow[]> {
  return await tx.rows<PolicyRow>(
    `select id, operation, country, region_id, order_text, created_at from policies order by created_at, id`,
  );
}

export async function insertPolicy(tx: Sql, row: PolicyRow): Promise<void> {
  await tx.run(
    `insert into policies (id, operation, country, region_id, order_text, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [row.id, row.operation, row.country, row.region_id, row.order_text, row.created_at],
  );
}

/** Returns false when the policy does not exist. */
export async function deletePolicy(tx: Sql, id: string): Promise<boolean> {
  return (await tx.run('delete from policies where id = $1', [id])) === 1;
}

export interface SwitchRow {
  readonly name: SwitchName;
  readonly on_: boolean;
  readonly reason: string | null;
  readonly changed_at: Date;
}

/** Returns how the operator set a switch, or undefined if it was never set. */
export async function findSwitch(tx: Sql, name: SwitchName): Promise<SwitchRow | undefined> {
  return await tx.row<SwitchRow>('select name, on_, reason, changed_at from switches where name = $1', [
    name,
  ]);
}

/** Lists the switches that were ever set. */
export async function listSwitches(tx: Sql): Promise<SwitchRow[]> {
  return await tx.rows<SwitchRow>('select name, on_, reason, changed_at from switches');
}

export async function saveSwitch(tx: Sql, row: SwitchRow): Promise<void> {
  await tx.run(
    `insert into switches (name, on_, reason, changed_at) values ($1, $2, $3, $4)
     on conflict (name) do update
       set on_ = excluded.on_, reason = excluded.reason, changed_at = excluded.changed_at`,
    [row.name, row.on_, row.reason, row.changed_at],
  );
}
