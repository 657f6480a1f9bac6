/** The fields of a file and their values. */
import {
  ALERT_COMPARISONS,
  ALERT_METRICS,
  ALERT_WINDOWS,
  BACKUPS_KEPT_MAX,
  VOLUME_MAX_GB,
  VOLUME_MIN_GB,
  WEEKDAYS,
} from '../../limits.ts';
import { type Absent, BILLING_MONTHS } from '../desired.ts';
import { OWN_LABELS } from '../labels.ts';
import { findPortFault, parseCidr } from './cidr.ts';
import {
  type AnyFields,
  bool,
  type Field,
  type Fields,
  integer,
  isMap,
  listOf,
  mapOf,
  multilineText,
  oneOf,
  optional,
  orNull,
  type Path,
  positiveNumber,
  type Reader,
  type Report,
  record,
  required,
  text,
} from './reader.ts';

/** Items per list. The service allows fewer of most kinds and reports that. */
export const ITEMS_MAX = 500;
const RULES_MAX = 100;
const TAGS_MAX = 32;
const VOLUMES_MAX = 16;
const ALERT_SERVERS_MAX = 100;
const SELECTOR_MAX = 1_000;
/** The service allows 32 labels, and `apply` needs three of them. */
const LABELS_MAX = 29;
const NAME_MAX = 63;
const VALUE_MAX = 255;
const HOST_MAX = 253;
const KEY_MAX = 8_192;
const CIDR_MAX = 64;
const LAST_HOUR = 23;

const nameText = text({ max: NAME_MAX, pattern: /\S/, description: 'a name' });
const shortText = text({ max: VALUE_MAX });
const serverName = text({
  max: NAME_MAX,
  pattern: /^[a-z][a-z0-9-]*$/,
  description: 'a name of a-z, 0-9, and -, starting with a letter',
});
const hostName = text({
  max: HOST_MAX,
  pattern:
    /^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*(?!\d+$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/,
  description: 'a host name',
});
const labels = mapOf(text({ max: VALUE_MAX, min: 0 }), {
  max: LABELS_MAX,
  key: (key) => {
    if (OWN_LABELS.includes(key)) return 'is a label that apply manages';
    return /^[a-z0-9_-]{1,63}$/.test(key) ? null : 'is not a key of 1 to 63 characters: a-z, 0-9, _, and -';
  },
});
const PORT = /^[1-9][0-9]{0,4}(-[1-9][0-9]{0,4}|(,[1-9][0-9]{0,4})*)$/;
const portSyntax = text({
  max: VALUE_MAX,
  pattern: PORT,
  description: 'a port, a list such as "80,443", or a range such as "8000-8999"',
});
const portField: Reader<string> = (value, path, report) => {
  const read = portSyntax(value, path, report);
  const fault = read === undefined ? null : findPortFault(read);
  if (fault === null) return read;
  report(path, fault);
  return undefined;
};

const SELECTOR = /^ *$|^ *[a-z0-9_-]{1,63}==?[^,]*(, *[a-z0-9_-]{1,63}==?[^,]*)*$/;

const cidrText = text({ max: CIDR_MAX });
const cidrField: Reader<string> = (value, path, report) => {
  const read = cidrText(value, path, report);
  const found = read === undefined ? undefined : parseCidr(read);
  if (found === undefined) return undefined;
  if ('text' in found) return found.text;
  report(path, found.fault);
  return undefined;
};

/** An absent item needs only its name; other fields may stay in the file. */
function unlessAbsent<F extends AnyFields & { readonly name: Field<string> }>(fields: F) {
  const optionalFields = Object.entries(fields).map(([key, field]) => [
    key,
    { ...field, required: key === 'name' },
  ]);
  const absent = { absent: optional(bool) };
  const readWanted: Reader<Fields<F>> = record({ ...fields, ...absent }) as never;
  const readAbsent: Reader<{ readonly name: string }> = record({
    ...Object.fromEntries(optionalFields),
    ...absent,
  }) as never;
  return (
    value: unknown,
    path: Path,
    tell: Report,
  ): Absent | (Fields<F> & { readonly absent?: false }) | undefined => {
    if (!isMap(value) || value.absent !== true) return readWanted(value, path, tell) as never;
    const read = readAbsent(value, path, tell);
    return read && { name: read.name, absent: true };
  };
}

const SSH_KEY = record({
  name: required(nameText),
  public_key: optional(text({ max: KEY_MAX })),
  public_key_file: optional(shortText),
});

const SERVER = unlessAbsent({
  name: required(serverName),
  plan: required(shortText),
  region: required(shortText),
  image: required(shortText),
  ssh_keys: required(listOf(shortText, { min: 1, max: ITEMS_MAX })),
  tags: optional(listOf(text({ max: NAME_MAX }), { max: TAGS_MAX })),
  labels: optional(labels),
  user_data: optional(orNull(multilineText)),
  user_data_file: optional(shortText),
  billing_months: optional(oneOf(...BILLING_MONTHS)),
  auto_renew: optional(bool),
  protection: optional(record({ delete: optional(bool), rebuild: optional(bool) })),
  backups: optional(
    record({
      enabled: optional(bool),
      every: optional(oneOf('day', 'week')),
      weekday: optional(orNull(oneOf(...WEEKDAYS))),
      hour_utc: optional(integer(0, LAST_HOUR)),
      keep: optional(integer(1, BACKUPS_KEPT_MAX)),
    }),
  ),
  start: optional(bool),
  volumes: optional(listOf(nameText, { max: VOLUMES_MAX })),
  rdns: optional(record({ ipv4: optional(orNull(hostName)), ipv6: optional(orNull(hostName)) })),
});

const VOLUME = unlessAbsent({
  name: required(nameText),
  region: required(shortText),
  size_gb: required(integer(VOLUME_MIN_GB, VOLUME_MAX_GB)),
  encrypted: optional(bool),
  filesystem: optional(orNull(text({ max: NAME_MAX }))),
  protection: optional(record({ delete: optional(bool) })),
  server: optional(orNull(serverName)),
});

const RULE = record({
  direction: required(oneOf('in', 'out')),
  proto: required(oneOf('tcp', 'udp', 'icmp', 'any')),
  // `port: 443` is a number in YAML.
  port: optional<string | null>((value, path, tell) =>
    value === null ? null : portField(typeof value === 'number' ? String(value) : value, path, tell),
  ),
  source: required(cidrField),
  action: required(oneOf('accept', 'drop', 'reject')),
  note: optional(orNull(text({ max: VALUE_MAX, min: 0 }))),
});

const GROUP = unlessAbsent({
  name: required(nameText),
  default_action: required(oneOf('drop', 'accept')),
  rules: optional(listOf(RULE, { max: RULES_MAX })),
  servers: optional(listOf(serverName, { max: ITEMS_MAX })),
});

const ALERT = unlessAbsent({
  name: required(nameText),
  metric: required(oneOf(...ALERT_METRICS)),
  compare: optional(oneOf(...ALERT_COMPARISONS)),
  value: optional(positiveNumber),
  window: optional(oneOf(...ALERT_WINDOWS)),
  servers: optional(listOf(serverName, { min: 1, max: ALERT_SERVERS_MAX })),
  label_selector: optional(
    text({ max: SELECTOR_MAX, min: 0, pattern: SELECTOR, description: 'pairs such as env=prod,team=web' }),
  ),
  enabled: optional(bool),
});

export const ITEM_READERS = {
  ssh_keys: SSH_KEY,
  servers: SERVER,
  volumes: VOLUME,
  firewall_groups: GROUP,
  alerts: ALERT,
};
export const projectName = text({
  max: NAME_MAX,
  pattern: /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/,
  description: 'a project name of a-z, 0-9, ".", "_", and "-"',
});

export type ReadKey = Read<typeof SSH_KEY>;
export type ReadServer = Exclude<Read<typeof SERVER>, Absent>;
export type ReadVolume = Exclude<Read<typeof VOLUME>, Absent>;
export type ReadGroup = Exclude<Read<typeof GROUP>, Absent>;
export type ReadAlert = Exclude<Read<typeof ALERT>, Absent>;
type Read<R> = R extends (...given: never[]) => infer T ? Exclude<T, undefined> : never;
