/** Alerts on metrics of servers (decision 35). */
import { type Static, Type } from 'typebox';
import { ALERT_COMPARISONS, ALERT_METRIC_NAMES, ALERT_WINDOW_NAMES } from '../alerts.ts';
import { LIMITS } from '../limits.ts';
import { DisplayName, Id, LabelSelector, nullable, oneOf, Time } from './parts.ts';

const METRIC = oneOf(ALERT_METRIC_NAMES, {
  description:
    '`cpu_pct`, `ram_pct`: percent of CPUs and memory. `disk_write_bps`, `net_out_bps`: bytes per second. ' +
    '`transfer_pct`: percent of the plan’s monthly transfer. `unreachable`: the server should run, and we ' +
    'do not see its machine running.',
});
const COMPARE = oneOf(ALERT_COMPARISONS, { description: 'Above (`gt`) or below (`lt`) the value.' });
const VALUE = 'In the unit of the metric.';
const WINDOW = oneOf(ALERT_WINDOW_NAMES, {
  description: 'The alert fires when every minute of the last 5, 10, 30, or 60 minutes meets the condition.',
});
const SERVERS = 'Ids of servers.';
const SELECTOR = 'Labels that a server must have, all of them: `env=prod,team=web`. Empty: all servers.';

export const Alert = Type.Object({
  id: Id('alr_'),
  object: Type.Literal('alert'),
  name: DisplayName,
  metric: METRIC,
  compare: nullable(oneOf(ALERT_COMPARISONS, { description: 'Null for `unreachable`.' })),
  value: nullable(Type.Number({ description: `${VALUE} Null for \`unreachable\`.` })),
  window: WINDOW,
  servers: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description: `${SERVERS} A deleted server is removed. Null if labels select the servers.`,
  }),
  label_selector: nullable(
    Type.String({
      description: 'The labels of the servers, empty for all; null if `servers` lists them.',
      examples: ['env=prod'],
    }),
  ),
  enabled: Type.Boolean(),
  firing: Type.Array(Type.Object({ server: Id('srv_'), since: Time }), {
    description: 'The servers for which the alert fires now.',
  }),
  created_at: Time,
});
export type Alert = Static<typeof Alert>;

const fields = {
  name: DisplayName,
  metric: METRIC,
  compare: COMPARE,
  value: Type.Number({ minimum: 0, description: `${VALUE} Not for \`unreachable\`.` }),
  window: WINDOW,
  servers: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: LIMITS.alertServersMax,
    description: `${SERVERS} Not together with \`label_selector\`.`,
  }),
  label_selector: { ...LabelSelector, description: `${SELECTOR} Not together with \`servers\`.` },
  enabled: Type.Boolean(),
};

export const CreateAlert = Type.Object(
  {
    name: fields.name,
    metric: fields.metric,
    compare: Type.Optional({ ...fields.compare, default: 'gt' }),
    value: Type.Optional(fields.value),
    window: Type.Optional({ ...fields.window, default: '5m' }),
    servers: Type.Optional(fields.servers),
    label_selector: Type.Optional(fields.label_selector),
    enabled: Type.Optional(Type.Boolean({ default: true })),
  },
  { additionalProperties: false },
);
export type CreateAlert = Static<typeof CreateAlert>;

export const UpdateAlert = Type.Object(
  {
    name: Type.Optional(fields.name),
    metric: Type.Optional(fields.metric),
    compare: Type.Optional(fields.compare),
    value: Type.Optional(fields.value),
    window: Type.Optional(fields.window),
    servers: Type.Optional(fields.servers),
    label_selector: Type.Optional(fields.label_selector),
    enabled: Type.Optional(fields.enabled),
  },
  { additionalProperties: false },
);
export type UpdateAlert = Static<typeof UpdateAlert>;
