/** Backups of a server on a schedule. */
import type { BackupPolicy, SetBackupPolicy } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { FIND_SERVER, findServer } from '../../find.ts';
import { arg, flag, integer, text } from '../../options.ts';
import { type Column, fields, formatTime } from '../../output/format.ts';

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
const KEPT_MAX = 30;

const COLUMNS: readonly Column<BackupPolicy>[] = [
  ...fields<BackupPolicy>('server', 'enabled', 'every', 'weekday', 'hour_utc', 'keep'),
  { name: 'next', value: ({ window }) => formatTime(window?.start) },
  { name: 'last', value: ({ last }) => last?.status ?? null },
  { name: 'last_at', value: ({ last }) => formatTime(last?.at) },
];

const show = command({
  name: 'server backups',
  about: 'Show the backup schedule of a server',
  help: 'List the backups themselves with `skerry snapshot list --server SERVER --type backup`.',
  operations: ['backup_policies.get', ...FIND_SERVER],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: {},
  columns: COLUMNS,
  example: 'skerry server backups web-1',
  run: async ({ skerry, output }, { server }) => {
    const { id } = await findServer(skerry, server);
    output.show(await skerry.backupPolicies.get(id), COLUMNS);
  },
});

const set = command({
  name: 'server set-backups',
  about: 'Back up a server every day or week, or stop',
  help:
    'Options that you omit keep their value. Restore a backup with `skerry server restore`.\n' +
    'Backups that exist are kept when you turn them off.',
  operations: ['backup_policies.replace', 'backup_policies.get', ...FIND_SERVER],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: {
    daily: flag('Back up every day'),
    weekly: text('day', 'Back up every week on this day', { choices: WEEKDAYS }),
    hour: integer('hour', 'Hour of the day in UTC in which a backup starts', { min: 0, max: 23 }),
    keep: integer('number', 'Number of backups to keep', { min: 1, max: KEPT_MAX }),
    off: flag('Stop backing up'),
  },
  columns: COLUMNS,
  example: 'skerry server set-backups web-1 --weekly sunday --hour 3 --keep 4',
  run: async ({ skerry, output }, { server, daily, weekly, hour, keep, off }) => {
    if (daily && weekly !== undefined) throw new Failure('usage', '--daily cannot be combined with --weekly');
    const { id } = await findServer(skerry, server);
    const before = await skerry.backupPolicies.get(id);
    const body = {
      enabled: !off,
      ...readSchedule(before, { daily, weekly }),
      hour_utc: hour ?? before.hour_utc,
      keep: keep ?? before.keep,
    };
    output.show(await skerry.backupPolicies.replace(id, body), COLUMNS);
  },
});

function readSchedule(
  { every, weekday }: BackupPolicy,
  { daily, weekly }: { readonly daily: boolean; readonly weekly: string | undefined },
): Pick<SetBackupPolicy, 'every' | 'weekday'> {
  const day = WEEKDAYS.find((each) => each === weekly);
  if (day) return { every: 'week', weekday: day };
  return daily ? { every: 'day' } : { every, weekday };
}

export const SERVER_BACKUPS: readonly Command[] = [show, set];
