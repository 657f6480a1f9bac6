/**
 * Requests and responses of server actions, the console (DECISIONS "Console"), and metrics (DECISIONS
 * "Metrics").
 */
import { type Static, Type } from 'typebox';
import { METRICS_STEP_DEFAULT_S, METRICS_STEPS_S, type MetricsStep } from '../metrics.ts';
import { Id, nullable, PRICE_LIMITS, Time, Usd } from './parts.ts';
import { Server } from './server.ts';

export const StartBody = Type.Object({ ...PRICE_LIMITS }, { additionalProperties: false });
export type StartBody = Static<typeof StartBody>;

export const ResizeBody = Type.Object(
  {
    plan: Type.String({ examples: ['s2'] }),
    resize_disk: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Enlarges the disk to that of the plan. A disk never shrinks.',
      }),
    ),
    restart: Type.Optional(
      Type.Boolean({ default: false, description: 'Allows to restart a running server.' }),
    ),
    ...PRICE_LIMITS,
  },
  { additionalProperties: false },
);
export type ResizeBody = Static<typeof ResizeBody>;

export const IsoBody = Type.Object(
  { image: Type.String({ description: 'Id of an image that you uploaded, `custom_…`.' }) },
  { additionalProperties: false },
);
export type IsoBody = Static<typeof IsoBody>;

export const DeletedServer = Type.Object({
  ...Server.properties,
  refund_usd: { ...Usd, description: 'What came back to your balance. 0 if nothing did.' },
});
export type DeletedServer = Static<typeof DeletedServer>;

export const RebootQuery = Type.Object(
  {
    hard: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Does not ask the guest (ACPI) first.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const RebuildBody = Type.Object(
  {
    image: Type.Optional(Type.String({ description: 'Image id. Default: the current image.' })),
    ssh_keys: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: 'SSH key ids. Default: the current keys. Required if the server has none.',
      }),
    ),
    user_data_b64: Type.Optional(
      nullable(
        Type.String({
          description:
            'cloud-init user data in Base64, up to 64 KiB decoded. Earlier user data is not applied again.',
        }),
      ),
    ),
  },
  { additionalProperties: false },
);
export type RebuildBody = Static<typeof RebuildBody>;

export const RestoreBody = Type.Object(
  {
    snapshot: Type.String({
      description: 'Id of a ready snapshot in the same region whose disk is not larger.',
    }),
  },
  { additionalProperties: false },
);

export const RescuedServer = Type.Object({
  ...Server.properties,
  rescue: Type.Object({
    username: Type.Literal('root'),
    password: Type.String({ description: 'Shown only once. Valid until the next restart.' }),
  }),
});
export type RescuedServer = Static<typeof RescuedServer>;

export const Console = Type.Object({
  object: Type.Literal('console'),
  url: Type.String({
    format: 'uri',
    description:
      'A page with the screen of the server. It needs no sign-in: do not share it. Its query parameter ' +
      '`path` is the WebSocket (RFB) for other viewers. The first connection uses it up.',
    examples: ['https://skerry.example/console?path=console%2Fsocket%2F3mfq7kzd'],
  }),
  expires_at: Time,
  read_only: Type.Boolean({ description: 'Ignores keyboard and pointer input.' }),
});
export type Console = Static<typeof Console>;

export const MetricsQuery = Type.Object(
  {
    step_s: Type.Optional(
      Type.Unsafe<MetricsStep>({
        type: 'integer',
        enum: [...METRICS_STEPS_S],
        default: METRICS_STEP_DEFAULT_S,
      }),
    ),
  },
  { additionalProperties: false },
);

const point = Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: '`[unix_s, value]`' });
const series = (description: string) => Type.Array(point, { description });

export const Metrics = Type.Object({
  object: Type.Literal('metrics'),
  server: Id('srv_'),
  start: Time,
  end: Time,
  step_s: Type.Unsafe<MetricsStep>({ type: 'integer', enum: [...METRICS_STEPS_S] }),
  series: Type.Object({
    cpu_pct: series('Percent of all CPUs.'),
    ram_mb: series('MiB in use, without caches; without a virtio-balloon driver, host memory.'),
    disk_read_bps: series('Bytes/s.'),
    disk_write_bps: series('Bytes/s.'),
    net_in_bps: series('Bytes/s.'),
    net_out_bps: series('Bytes/s.'),
  }),
});
export type Metrics = Static<typeof Metrics>;
