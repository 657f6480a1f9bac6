/** Reads and replaces the policy of a server's backups. */
import { fail, invalidRequest, notFound } from '../../../kernel/fail.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import type { BackupPolicy, BackupPolicyBody } from '../../../spec/schemas/backup-policy.ts';
import {
  type BackupPolicyRow,
  type BackupSchedule,
  findBackupPolicy,
  saveBackupPolicy,
} from '../../../store/servers/backups.ts';
import { findOwnServer } from '../../../store/servers/servers.ts';
import { enqueueTask } from '../../../store/tasks.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';
import { serverCapabilities } from '../../servers/hardware.ts';
import { lockServerFor } from '../../servers/lock-server.ts';
import { backupWindow, nextBackupAt } from './schedule.ts';

/** Reads the policy; a server without one has backups disabled. Refuses with `not_found`. */
export async function getBackupPolicy(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<BackupPolicy> {
  const id = parseId('server', shownId) ?? notFound('server');
  if (!(await findOwnServer(service.db, actor.customerId, id))) notFound('server');
  return backupPolicyObject((await findBackupPolicy(service.db, id)) ?? withoutBackups(id));
}

/**
 * Replaces the policy. Fields that are missing get their default. Refuses with `not_found`, `conflict_state`,
 * `unavailable` (hardware without snapshots), and with 400 for a weekday that does not fit the interval.
 */
export async function replaceBackupPolicy(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  body: BackupPolicyBody,
): Promise<BackupPolicy> {
  const schedule = readSchedule(body);
  const policy = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const server = await lockServerFor(tx, actor.customerId, shownId, 'update');
    const { enabled, keep = LIMITS.backupsKept } = body;
    if (enabled && !(await serverCapabilities(service, tx, server)).snapshots) {
      fail('unavailable', { field: 'enabled' }, 'Backups are not available on the hardware of this server.');
    }
    const before = (await findBackupPolicy(tx, server.id)) ?? withoutBackups(server.id);
    const row: BackupPolicyRow = {
      ...before,
      ...schedule,
      enabled,
      keep,
      next_at: enabled ? nextBackupAt(server.id, schedule, now) : null,
      misses: before.enabled ? before.misses : 0,
    };
    await saveBackupPolicy(tx, row);
    // The task knows when the next backup starts.
    await enqueueTask(tx, { kind: 'backup', subject: server.id, now });
    await recordAudit(tx, { actor, action: 'backup_policy.replace', resource: shownId }, now);
    return backupPolicyObject(row);
  });
  service.wake();
  return policy;
}

function readSchedule({ every = 'day', weekday = null, hour_utc = 0 }: BackupPolicyBody): BackupSchedule {
  if (every === 'week' && weekday === null) invalidRequest([{ field: 'weekday', issue: 'required' }]);
  if (every === 'day' && weekday !== null) {
    invalidRequest(
      [{ field: 'weekday', issue: 'invalid_value' }],
      'Daily backups have no weekday. Set `every` to `week`, or omit `weekday`.',
    );
  }
  return { every, weekday, hour_utc };
}

function withoutBackups(serverId: string): BackupPolicyRow {
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

/** A policy as the REST contract shows it. */
export function backupPolicyObject(row: BackupPolicyRow): BackupPolicy {
  const { next_at: nextAt, last_status: status, last_at: at } = row;
  const window = nextAt && backupWindow(nextAt);
  return {
    object: 'backup_policy',
    server: formatId('server', row.server_id),
    enabled: row.enabled,
    every: row.every,
    weekday: row.weekday,
    hour_utc: row.hour_utc,
    keep: row.keep,
    window: window && { start: formatRfc3339(window.start), end: formatRfc3339(window.end) },
    price_usd_cycle: 0,
    last: status && at && { status, at: formatRfc3339(at) },
  };
}
