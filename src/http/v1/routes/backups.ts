/** Backups of a server on a schedule. */
import { getBackupPolicy, replaceBackupPolicy } from '../../../domain/snapshots/backups/policy.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { BackupPolicy, BackupPolicyBody } from '../../../spec/schemas/backup-policy.ts';
import { type Route, route } from '../route.ts';

export const BACKUP_ROUTES: readonly Route[] = [
  route({
    id: 'backup_policies.get',
    method: 'GET',
    path: '/servers/{id}/backup-policy',
    scope: 'read',
    summary: 'Retrieve the backup policy of a server',
    reply: BackupPolicy,
    run: ({ service, actor, params }) => getBackupPolicy(service, actor, params.id),
  }),
  route({
    id: 'backup_policies.replace',
    method: 'PUT',
    path: '/servers/{id}/backup-policy',
    scope: 'write',
    summary: 'Set the backup policy of a server',
    description:
      'Turns backups on or off, and replaces their schedule. A backup is a snapshot of `type` `backup`: ' +
      'list, restore, and delete it like any other. Backups do not count as snapshots of the quotas. When ' +
      'a new one is ready, we delete the oldest above `keep`, except protected ones. After two in a row ' +
      `that failed or were missed, we send \`backup.failed\`. Backups of a deleted server expire after ` +
      `${LIMITS.backupsOfDeletedServerDays} days.\n\nBackups are a part of the price of the server. ` +
      'Enabling them charges the rest of the cycle, and disabling them returns it to your balance.',
    errorStatuses: [409, 422],
    audit: 'backup_policy.replace',
    body: BackupPolicyBody,
    example: { enabled: true, every: 'week', weekday: 'sunday', hour_utc: 3, keep: 4 },
    reply: BackupPolicy,
    run: ({ service, actor, params, body }) => replaceBackupPolicy(service, actor, params.id, body),
  }),
];
