/**
 * Task `backup`: takes the backups of a server on schedule. The task exists while backups are enabled or one
 * is in progress, so a schedule is only its due time. The snapshot's own task creates it with the driver, and
 * requests this one when it ends.
 */
import { Failure } from '../../../kernel/fail.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { HOUR_MS, MINUTE_MS } from '../../../kernel/time.ts';
import type { ServerStatus } from '../../../spec/states.ts';
import {
  type BackupPolicyRow,
  type BackupRow,
  findBackupPolicy,
  listBackups,
  saveBackupPolicy,
} from '../../../store/servers/backups.ts';
import { lockServer, type ServerRow } from '../../../store/servers/servers.ts';
import { findCopyToKeep } from '../../../store/servers/snapshot-copies.ts';
import { isBeingRestored, lockSnapshot } from '../../../store/snapshots.ts';
import type { TaskResult } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { recordEvent, systemActor } from '../../record.ts';
import { requireReadyFor } from '../../servers/lock-server.ts';
import { auditServer } from '../../servers/transition.ts';
import { beginSnapshot, dropSnapshot } from '../change.ts';
import { backupPolicyObject } from './policy.ts';
import { backupWindow, countMissed, nextBackupAt } from './schedule.ts';

/** Consecutive misses that the customer learns about. */
const MISSES_TO_TELL = 2;
/** A server that has no guest, or is being deleted, is not backed up, and misses nothing. */
const PAUSING_STATUSES: readonly ServerStatus[] = ['suspended', 'destroying'];

interface Run {
  readonly service: Service;
  readonly tx: Sql;
  readonly server: ServerRow;
  readonly now: Date;
}

export async function ensureBackup(service: Service, serverId: string): Promise<TaskResult> {
  const result = await service.db.transaction(async (tx): Promise<TaskResult> => {
    const server = await lockServer(tx, serverId);
    const policy = server && (await findBackupPolicy(tx, serverId));
    if (!policy) return 'done';
    return await continueBackups({ service, tx, server, now: service.clock.now() }, policy);
  });
  service.wake();
  return result;
}

async function continueBackups(run: Run, policy: BackupPolicyRow): Promise<TaskResult> {
  const { tx, now } = run;
  const settled = policy.snapshot_id === null ? policy : await settle(run, policy);
  // Its end requests the task again.
  if (settled === null) return { againMs: HOUR_MS };
  const { next_at: nextAt } = settled;
  if (nextAt === null) return 'done';
  if (now < nextAt) return { againMs: nextAt.getTime() - now.getTime() };
  const next = await beginOrSkip(run, settled, nextAt);
  if (next === null) return { againMs: MINUTE_MS };
  await saveBackupPolicy(tx, next);
  return { againMs: 0 };
}

/** Records the end of the backup in progress, and returns the policy with it; null if it still is. */
async function settle(run: Run, policy: BackupPolicyRow): Promise<BackupPolicyRow | null> {
  const { tx, server, now } = run;
  const backups = await listBackups(tx, { customerId: server.customer_id, serverId: server.id });
  const backup = backups.find(({ id }) => id === policy.snapshot_id);
  if (backup?.status === 'creating') return null;
  const ended = { ...policy, snapshot_id: null };
  if (backup?.status !== 'ready') return await saved(run, await recordMisses(run, ended, 'error', 1));
  await deleteSurplus(run, backups, policy.keep);
  return await saved(run, { ...ended, last_status: 'success', last_at: now, misses: 0 });
}

async function saved({ tx }: Run, policy: BackupPolicyRow): Promise<BackupPolicyRow> {
  await saveBackupPolicy(tx, policy);
  return policy;
}

/** Begins the backup that is due, or notes that it is missed. Null: try again within its hour. */
async function beginOrSkip(run: Run, policy: BackupPolicyRow, dueAt: Date): Promise<BackupPolicyRow | null> {
  const { tx, server, now } = run;
  const later = { ...policy, next_at: nextBackupAt(server.id, policy, now) };
  // The disk of a server that was never started is only its image.
  if (PAUSING_STATUSES.includes(server.status) || server.never_started) return later;
  if (now >= backupWindow(dueAt).end) {
    return await recordMisses(run, later, 'missed', countMissed(policy, dueAt, now));
  }
  const backups = await listBackups(tx, { customerId: server.customer_id, serverId: server.id });
  // Each new backup would be the next one to delete.
  const isFull = backups.filter((backup) => backup.protect_delete).length >= policy.keep;
  if (isFull) return await recordMisses(run, later, 'missed', 1);
  if (!(await isReadyForSnapshot(run))) return null;
  for (const backup of backups) if (backup.status === 'error') await drop(run, backup);
  const { row } = await beginSnapshot(tx, server, {
    actor: systemActor(now),
    type: 'backup',
    name: `backup-${now.toISOString().slice(0, 16).replaceAll(/[-:]/g, '').replace('T', '-')}`,
    labels: {},
    protect_delete: false,
    expires_at: null,
    now,
  });
  return { ...later, snapshot_id: row.id };
}

async function isReadyForSnapshot({ tx, server }: Run): Promise<boolean> {
  try {
    await requireReadyFor(tx, server, 'snapshot');
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

async function recordMisses(
  run: Run,
  policy: BackupPolicyRow,
  status: 'error' | 'missed',
  count: number,
): Promise<BackupPolicyRow> {
  const { tx, server, now } = run;
  const missed = { ...policy, last_status: status, last_at: now, misses: policy.misses + count };
  await auditServer(tx, server, 'backup.miss', now, 'error');
  if (policy.misses < MISSES_TO_TELL && missed.misses >= MISSES_TO_TELL) await tellCustomer(run, missed);
  return missed;
}

async function tellCustomer(
  { service, tx, server, now }: Run,
  policy: BackupPolicyRow & { readonly last_at: Date },
): Promise<void> {
  const { customer_id: customerId, id, name } = server;
  const object = await backupPolicyObject(tx, server, policy, now);
  await recordEvent(tx, { customerId, type: 'backup.failed', object }, now);
  const backups = await listBackups(tx, { customerId, serverId: id });
  const lastReadyAt = backups.find(({ status }) => status === 'ready')?.created_at ?? null;
  const data = { server: name, failedAt: now, lastReadyAt };
  const cause = `backup:${id}:${now.toISOString()}`;
  await enqueueMail(tx, { customerId, kind: 'backups_failed', cause, data }, now, service.keys);
}

/**
 * Deletes the oldest backups above `keep` that are not protected. The latest one always stays, and so does
 * the latest one in the file store while newer ones are on their way there.
 */
async function deleteSurplus(run: Run, backups: readonly BackupRow[], keep: number): Promise<void> {
  const ready = backups.filter(({ status }) => status === 'ready');
  const surplus = Math.max(0, ready.length - keep);
  const oldestFirst = ready.slice(1).toReversed();
  const ids = ready.map(({ id }) => id);
  const stored = await findCopyToKeep(run.tx, ids);
  const deletable = oldestFirst.filter((each) => !each.protect_delete && each.id !== stored);
  for (const backup of deletable.slice(0, surplus)) {
    await drop(run, backup);
  }
}

/** Deletes a backup. A restore under way still needs it, and the next run deletes it. */
async function drop({ tx, server, now }: Run, { id }: BackupRow): Promise<void> {
  const snapshot = await lockSnapshot(tx, server.customer_id, id);
  if (!snapshot || snapshot.protect_delete || (await isBeingRestored(tx, id))) return;
  await dropSnapshot(tx, snapshot, systemActor(now), now);
}
