/** Backups of a server on a schedule. */
import type { BackupPolicy, SetBackupPolicy } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { FIND_SERVER, findServer } from '../../find.ts';
import { BACKUPS_KEPT_MAX, ROUNDING_USD, WEEKDAYS } from '../../limits.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, decimal, flag, integer, text } from '../../options.ts';
import { type Column, fields, formatTime, formatUsd } from '../../output/format.ts';
import { confirm, YES_OPTION } from '../../terminal/terminal.ts';

const COLUMNS: readonly Column<BackupPolicy>[] = [
  ...fields<BackupPolicy>('server', 'enabled', 'every', 'weekday', 'hour_utc', 'keep'),
  { name: 'price', value: ({ price_usd_cycle }) => formatUsd(price_usd_cycle) },
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
    'Backups that exist are kept when you turn them off. If backups have a price, it is a part of that\n' +
    'of the server: the command asks first and shows the charge for the rest of the billing cycle, and\n' +
    '--off returns it to the balance.',
  operations: ['backup_policies.replace', 'backup_policies.get', ...FIND_SERVER],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: {
    daily: flag('Back up every day'),
    weekly: text('day', 'Back up every week on this day', { choices: WEEKDAYS }),
    hour: integer('hour', 'Hour of the day in UTC in which a backup starts', { min: 0, max: 23 }),
    keep: integer('number', 'Number of backups to keep', { min: 1, max: BACKUPS_KEPT_MAX }),
    off: flag('Stop backing up'),
    maxPrice: decimal('usd', 'Charge nothing if turning backups on costs more now, in US dollars', {
      min: 0,
    }),
    yes: YES_OPTION,
  },
  columns: COLUMNS,
  example: 'skerry server set-backups web-1 --weekly sunday --hour 3 --keep 4',
  run: async ({ skerry, output, terminal }, { server, daily, weekly, hour, keep, off, maxPrice, yes }) => {
    if (daily && weekly !== undefined) throw new Failure('usage', '--daily cannot be combined with --weekly');
    const { id, name } = await findServer(skerry, server);
    const before = await skerry.backupPolicies.get(id);
    const { price_usd_now: nowUsd, price_usd_cycle: cycleUsd } = before;
    const costs = !off && !before.enabled && cycleUsd > 0;
    if (costs) await confirm(terminal, yes, describePrice({ name, id, nowUsd, cycleUsd }));
    const max_price_usd = maxPrice ?? (off ? undefined : nowUsd + ROUNDING_USD);
    const body = {
      enabled: !off,
      ...omitUndefined({ max_price_usd }),
      ...readSchedule(before, { daily, weekly }),
      hour_utc: hour ?? before.hour_utc,
      keep: keep ?? before.keep,
    };
    output.show(await skerry.backupPolicies.replace(id, body), COLUMNS);
  },
});

function describePrice(about: {
  readonly name: string;
  readonly id: string;
  readonly nowUsd: number;
  readonly cycleUsd: number;
}): string {
  const { name, id, nowUsd, cycleUsd } = about;
  const prices = `${formatUsd(nowUsd)} USD are charged now, and ${formatUsd(cycleUsd)} USD with each renewal`;
  return `turn on backups of server ${name} (${id}): ${prices}`;
}

function readSchedule(
  { every, weekday }: BackupPolicy,
  { daily, weekly }: { readonly daily: boolean; readonly weekly: string | undefined },
): Pick<SetBackupPolicy, 'every' | 'weekday'> {
  const day = WEEKDAYS.find((each) => each === weekly);
  if (day) return { every: 'week', weekday: day };
  return daily ? { every: 'day' } : { every, weekday };
}

export const SERVER_BACKUPS: readonly Command[] = [show, set];
