/** The backups of a server on a schedule. */
import { type Static, Type } from 'typebox';
import { LIMITS } from '../limits.ts';
import { nullable, oneOf, PRICE_LIMITS, Time, Usd } from './parts.ts';

export const BACKUP_INTERVALS = ['day', 'week'] as const;
/** In the order of `Date.getUTCDay`. */
export const WEEKDAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const;
export const BACKUP_STATUSES = ['success', 'error', 'missed'] as const;

const Weekday = oneOf(WEEKDAYS, { description: 'Only for weekly backups.' });
const HOUR_ABOUT = 'A backup starts within this hour of the day, in UTC.';
const KEEP_ABOUT = 'Number of backups. The oldest is deleted when a new one is ready.';
const hourUtc = (description: string) => Type.Integer({ minimum: 0, maximum: 23, description });
const keep = (description: string) =>
  Type.Integer({ minimum: 1, maximum: LIMITS.backupsKeptMax, description });

export const BackupPolicy = Type.Object({
  object: Type.Literal('backup_policy'),
  server: Type.String({ description: 'Id of the server.' }),
  enabled: Type.Boolean(),
  every: oneOf(BACKUP_INTERVALS),
  weekday: nullable(Weekday),
  hour_utc: hourUtc(HOUR_ABOUT),
  keep: keep(KEEP_ABOUT),
  window: nullable({
    ...Type.Object({ start: Time, end: Time }),
    description: 'The hour in which the next backup starts; null while disabled.',
  }),
  price_usd_cycle: {
    ...Usd,
    description:
      'Price of backups per cycle, a part of `price_usd_cycle` of the server. While disabled, the price ' +
      'that they would have. 0: they are free.',
  },
  price_usd_now: {
    ...Usd,
    description:
      'The amount that enabling them now would charge, for the rest of the cycle. 0 while enabled. ' +
      'Rounding may raise it by a cent from one moment to the next.',
  },
  last: nullable({
    ...Type.Object({ status: oneOf(BACKUP_STATUSES), at: Time }),
    description: 'How the last backup ended. `missed`: it could not start in its hour.',
  }),
});
export type BackupPolicy = Static<typeof BackupPolicy>;

const SETTINGS = {
  every: Type.Optional(oneOf(BACKUP_INTERVALS, { description: 'Default: `day`.' })),
  weekday: Type.Optional(nullable(oneOf(WEEKDAYS, { description: 'Required for weekly backups.' }))),
  hour_utc: Type.Optional(hourUtc(`${HOUR_ABOUT} Default: 0.`)),
  keep: Type.Optional(keep(`${KEEP_ABOUT} Default: ${LIMITS.backupsKept}.`)),
};

/** Of a new server. */
export const OrderedBackups = Type.Object(
  { enabled: Type.Optional(Type.Boolean({ description: 'Default: true.' })), ...SETTINGS },
  { additionalProperties: false, description: 'Its backup policy. Default: no backups.' },
);
export type BackupSettings = Static<typeof OrderedBackups>;

export const BackupPolicyBody = Type.Object(
  { enabled: Type.Boolean(), ...SETTINGS, max_price_usd: PRICE_LIMITS.max_price_usd },
  { additionalProperties: false },
);
export type BackupPolicyBody = Static<typeof BackupPolicyBody>;
