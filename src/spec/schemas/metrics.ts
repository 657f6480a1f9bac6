/** Metrics of a server (DECISIONS "Metrics"). */
import { type Static, Type } from 'typebox';
import { Id, Time } from './parts.ts';

export const METRICS_STEP_S = 3_600;

const point = Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: '`[unix_s, value]`' });
const series = (description: string) => Type.Array(point, { description });

export const Metrics = Type.Object({
  object: Type.Literal('metrics'),
  server: Id('srv_'),
  start: Time,
  end: Time,
  step_s: Type.Literal(METRICS_STEP_S),
  series: Type.Object({
    cpu_pct: series('Percent of all CPUs.'),
    ram_mb: series('MiB in use.'),
    disk_read_bps: series('Bytes per second.'),
    disk_write_bps: series('Bytes per second.'),
    net_in_bps: series('Bytes per second.'),
    net_out_bps: series('Bytes per second.'),
  }),
});
export type Metrics = Static<typeof Metrics>;
