/** Alerts: conditions on metrics of servers. */
import type { Alert, CreateAlert, UpdateAlert } from '@skerry/sdk';
import type { CheckFailure } from '../rpc/protocol.ts';
import type { Value, Values } from '../rpc/values.ts';
import { bodyOf, FLAG, findOrNull, NAME, type Resource, TEXT, TEXTS } from './resource.ts';

const FIELDS = ['name', 'metric', 'compare', 'value', 'window', 'servers', 'labelSelector', 'enabled'];

export const alert: Resource = {
  type: 'skerry:index:Alert',
  about: 'A condition on a metric of servers. When it is met, you get an event and a mail.',
  inputs: {
    name: NAME,
    metric: {
      shape: TEXT,
      about:
        '`cpu_pct`, `ram_pct`, `disk_write_bps`, `net_out_bps`, `transfer_pct`, or `unreachable`, ' +
        'which has neither `compare` nor `value`.',
      required: true,
      change: 'update',
    },
    compare: {
      shape: TEXT,
      about: 'Above (`gt`) or below (`lt`) the value. Default: `gt`.',
      change: 'update',
    },
    value: { shape: { type: 'number' }, about: 'Percent, or bytes per second.', change: 'update' },
    window: {
      shape: TEXT,
      about: 'How long the condition must be met: `5m`, `10m`, `30m`, or `1h`. Default: `5m`.',
      change: 'update',
    },
    servers: {
      shape: TEXTS,
      about: 'IDs of servers. Set this or `labelSelector`.',
      change: 'update',
      compare: 'set',
    },
    labelSelector: {
      shape: TEXT,
      about: 'Labels that a server must have, all of them: `env=prod,team=web`. Empty: all servers.',
      change: 'update',
    },
    enabled: { shape: FLAG, about: 'Whether the alert is evaluated. Default: true.', change: 'update' },
  },
  outputs: {},
  check: checkSelection,
  create: async ({ skerry, signal }, inputs) => {
    const made = await skerry.alerts.create(bodyOf<CreateAlert>(inputs, FIELDS), { signal });
    return { id: made.id, state: alertValues(made, inputs) };
  },
  read: async ({ skerry, signal }, id, state) => {
    const found = await findOrNull(skerry.alerts.get(id, { signal }));
    return found && alertValues(found, state);
  },
  update: async ({ skerry, signal }, id, { changed, inputs }) => {
    // A value of another metric has another unit, so the service wants it again.
    const value = changed.metric === undefined || inputs.value === undefined ? {} : { value: inputs.value };
    const body = bodyOf<UpdateAlert>({ ...changed, ...value }, FIELDS);
    if (Object.keys(body).length > 0) await skerry.alerts.update(id, body, { signal });
  },
  delete: async ({ skerry, signal }, id) => {
    await findOrNull(skerry.alerts.delete(id, { signal }));
  },
};

function checkSelection({ servers, labelSelector }: Values): readonly CheckFailure[] {
  const given = [servers, labelSelector].filter((one) => one !== undefined && one !== null);
  if (given.length === 1) return [];
  const reason =
    given.length === 0 ? 'set servers or labelSelector' : 'set only one of servers and labelSelector';
  return [{ property: 'servers', reason }];
}

function alertValues(found: Alert, { labelSelector: given }: Values): Values {
  const { name, metric, compare, value, window, servers, label_selector, enabled } = found;
  // The same labels in another notation are not a change.
  const isSame =
    typeof given === 'string' && label_selector !== null && isSameSelector(given, label_selector);
  const labelSelector: Value = isSame ? given : label_selector;
  return { name, metric, compare, value, window, servers, labelSelector, enabled };
}

function isSameSelector(one: string, other: string): boolean {
  const [first, second] = [one, other].map((selector) => {
    const pairs = selector.split(',').map((pair) => pair.trim().replace('==', '='));
    return pairs.sort().join(',');
  });
  return first === second;
}
