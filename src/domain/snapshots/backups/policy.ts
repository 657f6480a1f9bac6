/** Reads and replaces the policy of a server's backups. */
import { fail, notFound } from '../../../kernel/fail.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import { centsToUsd } from '../../../kernel/money.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import type { BackupPolicy, BackupPolicyBody } from '../../../spec/schemas/backup-policy.ts';
import { type BackupPolicyRow, findBackupPolicy, saveBackupPolicy } from '../../../store/servers/backups.ts';
import { findOwnServer, type ServerRow } from '../../../store/servers/servers.ts';
import { enqueueTask } from '../../../store/tasks.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';
import { serverCapabilities } from '../../servers/hardware.ts';
import { lockServerFor } from '../../servers/lock-server.ts';
import { payBackups, priceBackupsNow } from './pay.ts';
import { backupWindow } from './schedule.ts';
import { changedPolicy, readWantedBackups, withoutBackups } from './wanted.ts';

/** Reads the policy; a server without one has backups disabled. Refuses with `not_found`. */
export async function getBackupPolicy(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<BackupPolicy> {
  const id = parseId('server', shownId) ?? notFound('server');
  const server = (await findOwnServer(service.db, actor.customerId, id)) ?? notFound('server');
  const policy = (await findBackupPolicy(service.db, id)) ?? withoutBackups(id);
  return await backupPolicyObject(service.db, server, policy, service.clock.now());
}

/**
 * Replaces the policy. Fields that are missing get their default. Refuses with `not_found`, `conflict_state`,
 * `unavailable` (hardware without snapshots), with 400 for a weekday that does not fit the interval, and as
 * `payBackups` does.
 */
export async function replaceBackupPolicy(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  body: BackupPolicyBody,
): Promise<BackupPolicy> {
  const wanted = readWantedBackups(body);
  const { enabled } = wanted;
  const policy = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const server = await lockServerFor(tx, actor.customerId, shownId, 'update');
    if (enabled && !(await serverCapabilities(service, tx, server)).snapshots) {
      fail('unavailable', { field: 'enabled' }, 'Backups are not available on the hardware of this server.');
    }
    const before = (await findBackupPolicy(tx, server.id)) ?? withoutBackups(server.id);
    const row = changedPolicy(before, wanted, now);
    const maxUsd = body.max_price_usd;
    const paid = await payBackups(tx, actor, server, { enabled, maxUsd }, now);
    await saveBackupPolicy(tx, row);
    // The task knows when the next backup starts.
    await enqueueTask(tx, { kind: 'backup', subject: server.id, now });
    await recordAudit(tx, { actor, action: 'backup_policy.replace', resource: shownId }, now);
    return await backupPolicyObject(tx, paid, row, now);
  });
  service.wake();
  return policy;
}

/** A policy as the REST contract shows it. */
export async function backupPolicyObject(
  tx: Sql,
  server: ServerRow,
  row: BackupPolicyRow,
  now: Date,
): Promise<BackupPolicy> {
  const price = await priceBackupsNow(tx, server, true, now);
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
    price_usd_cycle: centsToUsd(price.backupCents),
    price_usd_now: centsToUsd(price.dueCents > 0n ? price.dueCents : 0n),
    last: status && at && { status, at: formatRfc3339(at) },
  };
}
