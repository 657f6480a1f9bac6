/** Policies of backups, and the snapshots that are backups. */
import type { Sql } from '../../kernel/sql.ts';
import type { BACKUP_INTERVALS, BACKUP_STATUSES, WEEKDAYS } from '../../spec/schemas/backup-policy.ts';
import { assignmentsFor, parametersFor } from '../parameters.ts';

export interface BackupSchedule {
  readonly every: (typeof BACKUP_INTERVALS)[number];
  readonly weekday: (typeof WEEKDAYS)[number] | null;
  readonly hour_utc: number;
}

export interface BackupPolicyRow extends BackupSchedule {
  readonly server_id: string;
  readonly enabled: boolean;
  readonly keep: number;
  /** When the next backup starts; null while disabled. */
  readonly next_at: Date | null;
  /** The backup in progress. */
  readonly snapshot_id: string | null;
  readonly last_status: (typeof BACKUP_STATUSES)[number] | null;
  readonly last_at: Date | null;
  /** Consecutive backups that were missed or failed. */
  readonly misses: number;
}

const COLUMNS = `server_id, enabled, every, weekday, hour_utc, keep, next_at, snapshot_id, last_status,
  last_at, misses`;
const CHANGEABLE = `enabled, every, weekday, hour_utc, keep, next_at, snapshot_id, last_status, last_at,
  misses`;

export async function findBackupPolicy(tx: Sql, serverId: string): Promise<BackupPolicyRow | undefined> {
  return await tx.row<BackupPolicyRow>(`select ${COLUMNS} from backup_policies where server_id = $1`, [
    serverId,
  ]);
}

/** Inserts or replaces the policy. The caller holds the server's lock. */
export async function saveBackupPolicy(tx: Sql, row: BackupPolicyRow): Promise<void> {
  await tx.run(
    `insert into backup_policies (${COLUMNS}) values (${parametersFor(COLUMNS)})
     on conflict (server_id) do update set ${assignmentsFor(CHANGEABLE)}`,
    row,
  );
}

export interface BackupRow {
  readonly id: string;
  readonly status: 'creating' | 'ready' | 'error';
  readonly protect_delete: boolean;
  readonly created_at: Date;
}

/** Lists the server's backups, latest first; its policy bounds them. */
export async function listBackups(
  tx: Sql,
  { customerId, serverId }: { readonly customerId: string; readonly serverId: string },
): Promise<BackupRow[]> {
  return await tx.rows<BackupRow>(
    `select id, status, protect_delete, created_at from snapshots
      where customer_id = $1 and server_id = $2 and type = 'backup' order by created_at desc, id desc`,
    [customerId, serverId],
  );
}

/** Makes the backups of a server expire by then, unless they expire at another time. Returns their ids. */
export async function expireBackups(
  tx: Sql,
  at: { readonly customerId: string; readonly serverId: string; readonly expiresAt: Date },
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `update snapshots set expires_at = $expiresAt
      where customer_id = $customerId and server_id = $serverId and type = 'backup'
        and expires_at is null
     returning id`,
    at,
  );
  return rows.map(({ id }) => id);
}
