/** Backups of an order: `backups` in POST /servers. Its commit writes the policy, and its charge pays it. */
import { fail } from '../../../kernel/fail.ts';
import { formatId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { BackupSettings } from '../../../spec/schemas/backup-policy.ts';
import { saveBackupPolicy } from '../../../store/servers/backups.ts';
import { enqueueTask } from '../../../store/tasks.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';
import {
  changedPolicy,
  readWantedBackups,
  type WantedBackups,
  withoutBackups,
} from '../../snapshots/backups/wanted.ts';
import { requireOperation } from '../../tokens/limits/active.ts';
import { driverCapabilities } from '../hardware.ts';

/**
 * Refuses with 400 a weekday that does not fit the interval, with 403 a token that may not set policies, and
 * with `unavailable` hardware without snapshots.
 */
export function readOrderedBackups(
  { compute }: Pick<Service, 'compute'>,
  actor: CustomerActor,
  backups: BackupSettings | undefined,
  category: 'vps' | 'dedicated',
): WantedBackups | undefined {
  if (backups === undefined) return undefined;
  const wanted = readWantedBackups(backups, 'backups.');
  requireOperation(actor.limits, 'backup_policies.replace');
  if (wanted.enabled && !driverCapabilities(compute, category).snapshots)
    fail('unavailable', { field: 'backups' }, 'Backups are not available for this plan.');
  return wanted;
}

/** Writes the policy of a server that the transaction has just created. */
export async function beginBackups(
  tx: Sql,
  actor: CustomerActor,
  { id, now }: { readonly id: string; readonly now: Date },
  wanted: WantedBackups,
): Promise<void> {
  await saveBackupPolicy(tx, changedPolicy(withoutBackups(id), wanted, now));
  await enqueueTask(tx, { kind: 'backup', subject: id, now });
  const resource = formatId('server', id);
  await recordAudit(tx, { actor, action: 'backup_policy.replace', resource }, now);
}
