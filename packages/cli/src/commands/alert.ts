import type { Alert, CreateAlert, Skerry } from '@skerry/sdk';
import { type Command, command } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { FIND_ALERT, FIND_SERVER, findAlert, resolveServerId } from '../find.ts';
import { ALERT_COMPARISONS, ALERT_METRICS, ALERT_WINDOWS } from '../limits.ts';
import { listCommand, omitUndefined, requireChanges } from '../lists.ts';
import { arg, booleanOption, decimal, flag, listOf, pairs, requiredText, text } from '../options.ts';
import { type Column, fields, hidden, times } from '../output/format.ts';
import { deleteCommand, describeCommand } from '../resources.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../terminal/create-once.ts';
import { formatSelector } from './label-options.ts';

const ALERT_COLUMNS: readonly Column<Alert>[] = [
  ...fields<Alert>('id', 'name', 'metric', 'compare', 'value', 'window', 'enabled'),
  { name: 'firing', value: ({ firing }) => firing.map(({ server }) => server) },
  ...hidden<Alert>([
    { name: 'servers', value: ({ servers }) => servers },
    { name: 'labels', value: ({ label_selector }) => label_selector },
  ]),
  ...hidden(times<Alert>('created_at')),
];

const ALERT = { word: 'alert', about: 'Name or ID', find: findAlert, calls: FIND_ALERT };

const CONDITION = {
  compare: text('gt|lt', 'Fire above (gt) or below (lt) the value (default: gt)', {
    choices: ALERT_COMPARISONS,
  }),
  value: decimal('number', 'Value: percent, or bytes per second', { min: 0 }),
  window: text('time', 'How long the condition must be met (default: 5m)', { choices: ALERT_WINDOWS }),
};
const SELECTION = {
  server: listOf('server', 'Name or ID of a server to watch', { completionKind: 'server' }),
  label: pairs('Watch the servers with this label; repeat it for labels that must all match'),
  allServers: flag('Watch all servers'),
};

interface Selection {
  readonly server: readonly string[] | undefined;
  readonly label: Readonly<Record<string, string>> | undefined;
  readonly allServers: boolean;
}

async function selectionOf(
  skerry: Skerry,
  { server, label, allServers }: Selection,
): Promise<Pick<CreateAlert, 'servers' | 'label_selector'>> {
  if ([server !== undefined, label !== undefined, allServers].filter(Boolean).length > 1) {
    throw new Failure('usage', 'use only one of --server, --label, and --all-servers');
  }
  if (server) return { servers: await Promise.all(server.map((one) => resolveServerId(skerry, one))) };
  if (label) return { label_selector: formatSelector(label) };
  return allServers ? { label_selector: '' } : {};
}

const list = listCommand({
  name: 'alert list',
  about: 'List alerts, and the servers for which they fire',
  operations: ['alerts.list'],
  options: {
    metric: text('metric', 'Filter by metric', { choices: ALERT_METRICS }),
    enabled: booleanOption('Filter by whether the alert is enabled'),
    name: text('name', 'Filter by name'),
  },
  columns: ALERT_COLUMNS,
  example: 'skerry alert list --metric cpu_pct',
  list: (skerry, query) => skerry.alerts.list(query),
  filter: ({ enabled, ...given }) => ({
    ...given,
    enabled: enabled === undefined ? undefined : String(enabled),
  }),
});

const describe = describeCommand(ALERT, {
  about: 'Show an alert',
  columns: ALERT_COLUMNS,
  example: 'skerry alert describe busy',
});

const create = command({
  name: 'alert create',
  about: 'Create an alert on a metric of servers',
  help:
    'Watch servers by name, by label, or all of them. An alert sends an event and an email when every\n' +
    'minute of its window meets the condition. unreachable needs no value.',
  operations: ['alerts.create', ...FIND_SERVER],
  options: {
    name: requiredText('name', 'Name'),
    metric: requiredText('metric', 'Metric', { choices: ALERT_METRICS }),
    ...CONDITION,
    ...SELECTION,
    disabled: flag('Do not evaluate the alert yet'),
    ...IDEMPOTENCY_OPTIONS,
  },
  columns: ALERT_COLUMNS,
  example: 'skerry alert create --name hot --metric cpu_pct --value 90 --window 10m --label env=prod',
  run: async (context, { name, metric, compare, value, window, disabled, idempotencyKey: key, ...rest }) => {
    const { skerry, output } = context;
    const selection = await selectionOf(skerry, rest);
    if (Object.keys(selection).length === 0) {
      throw new Failure('usage', 'specify --server, --label, or --all-servers');
    }
    const rule = omitUndefined({ compare, value, window });
    const body = {
      name,
      metric,
      ...rule,
      ...selection,
      ...(disabled ? { enabled: false } : {}),
    } as CreateAlert;
    const asked = { key, subject: `alert ${name}`, lookupCommand: ['skerry', 'alert', 'list'] };
    const created = await createOnce(context, asked, (once) => skerry.alerts.create(body, once));
    output.show(created, ALERT_COLUMNS);
  },
});

const update = command({
  name: 'alert update',
  about: 'Change an alert, or enable or disable it',
  operations: ['alerts.update', ...FIND_ALERT, ...FIND_SERVER],
  args: { alert: arg('Name or ID', { completionKind: 'alert' }) },
  options: {
    name: text('name', 'New name'),
    metric: text('metric', 'Metric', { choices: ALERT_METRICS }),
    ...CONDITION,
    ...SELECTION,
    enabled: booleanOption('Set to false to stop the evaluation'),
  },
  columns: ALERT_COLUMNS,
  example: 'skerry alert update busy --value 95',
  run: async ({ skerry, output }, { alert, name, metric, compare, value, window, enabled, ...rest }) => {
    const selection = await selectionOf(skerry, rest);
    const changes = { name, metric, compare, value, window, enabled };
    const body = Object.keys(selection).length > 0 ? omitUndefined(changes) : requireChanges(changes);
    const { id } = await findAlert(skerry, alert);
    output.show(await skerry.alerts.update(id, { ...body, ...selection } as CreateAlert), ALERT_COLUMNS);
  },
});

const remove = deleteCommand(ALERT, {
  noun: 'alert',
  operation: 'alerts.delete',
  delete: (skerry, id) => skerry.alerts.delete(id),
  about: 'Delete an alert',
  example: 'skerry alert delete busy --yes',
});

export const ALERT_COMMANDS: readonly Command[] = [list, describe, create, update, remove];
