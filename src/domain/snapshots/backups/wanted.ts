/** The backups that a request asks for: the body of PUT backup-policy, and `backups` of an order. */
import { invalidRequest } from '../../../kernel/fail.ts';
import { LIMITS } from '../../../spec/limits.ts';
import type { BackupSettings } from '../../../spec/schemas/backup-policy.ts';
import type { BackupPolicyRow, BackupSchedule } from '../../../store/servers/backups.ts';
import { nextBackupAt } from './schedule.ts';

export interface WantedBackups extends BackupSchedule {
  readonly enabled: boolean;
  readonly keep: number;
}

/** Refuses with 400 a weekday that does not fit the interval. `place`: where the fields are in the body. */
export function readWantedBackups(
  { enabled = true, every = 'day', weekday = null, hour_utc = 0, keep = LIMITS.backupsKept }: BackupSettings,
  place: '' | 'backups.' = '',
): WantedBackups {
  const field = `${place}weekday`;
  if (every === 'week' && weekday === null) invalidRequest([{ field, issue: 'required' }]);
  if (every === 'day' && weekday !== null) {
    invalidRequest(
      [{ field, issue: 'invalid_value' }],
      'Daily backups have no weekday. Set `every` to `week`, or omit `weekday`.',
    );
  }
  return { enabled, every, weekday, hour_utc, keep };
}

/** The policy of a server that has none: backups are disabled. */
export function withoutBackups(serverId: string): BackupPolicyRow {
  return {
    server_id: serverId,
    enabled: false,
    every: 'day',
    weekday: null,
    hour_utc: 0,
    keep: LIMITS.backupsKept,
    next_at: null,
    snapshot_id: null,
    last_status: null,
    last_at: null,
    misses: 0,
  };
}

export function changedPolicy(before: BackupPolicyRow, wanted: WantedBackups, now: Date): BackupPolicyRow {
  return {
    ...before,
    ...wanted,
    next_at: wanted.enabled ? nextBackupAt(before.server_id, wanted, now) : null,
    misses: before.enabled ? before.misses : 0,
  };
}
