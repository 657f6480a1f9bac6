/** Converts an item from its file format: reads the files that it names and normalizes its values. */
import { createHash } from 'node:crypto';
import { USER_DATA_MAX_BYTES } from '../../limits.ts';
import { omitUndefined } from '../../lists.ts';
import type {
  Absent,
  DesiredAlert,
  DesiredBackups,
  DesiredGroup,
  DesiredKey,
  DesiredServer,
  DesiredVolume,
  Rule,
  UserData,
} from '../desired.ts';
import type { ReadAlert, ReadGroup, ReadKey, ReadServer, ReadVolume } from './fields.ts';
import type { Path } from './reader.ts';

type ReadRelative = (path: string) => { readonly bytes: Uint8Array } | { readonly fault: string };
type ReportField = (field: Path, message: string) => void;
/** Returns undefined after it reported a problem. */
export type Converter<R, T> = (read: R, report: ReportField, readRelative: ReadRelative) => T | undefined;

const DIGEST_CHARS = 12;

export const toKey: Converter<ReadKey, DesiredKey> = (read, report, readRelative) => {
  const { name, public_key: inline, public_key_file: file } = read;
  if ((inline === undefined) === (file === undefined)) {
    report([], 'requires either public_key or public_key_file');
    return undefined;
  }
  const field = file === undefined ? 'public_key' : 'public_key_file';
  const text = file === undefined ? inline : readText(file, field, report, readRelative)?.trim();
  if (text === undefined) return undefined;
  const fingerprint = computeFingerprint(text);
  if (fingerprint !== null) return { name, publicKey: text, fingerprint };
  // Never show the text: it may be a private key by mistake.
  const isPrivate = text.includes('PRIVATE KEY');
  report(
    [field],
    isPrivate ? 'is a private key; use the .pub file' : 'is not a public key as in a .pub file',
  );
  return undefined;
};

export const toServer: Converter<Absent | ReadServer, DesiredServer> = (read, report, readRelative) => {
  if (read.absent) return read;
  const userData = readUserData(read, report, readRelative);
  const backups = readBackups(read, report);
  if (userData === 'fault' || backups === 'fault') return undefined;
  return {
    name: read.name,
    absent: false,
    plan: read.plan,
    region: read.region,
    image: read.image,
    sshKeys: [...new Set(read.ssh_keys)],
    tags: read.tags && [...new Set(read.tags)],
    labels: read.labels,
    userData,
    billingMonths: read.billing_months,
    autoRenew: read.auto_renew,
    protection: read.protection && omitUndefined(read.protection),
    backups,
    start: read.start,
    volumes: read.volumes && [...new Set(read.volumes)],
    rdns: { ipv4: read.rdns?.ipv4, ipv6: read.rdns?.ipv6 },
  };
};

export const toVolume: Converter<Absent | ReadVolume, DesiredVolume> = (read) => {
  if (read.absent) return read;
  const { name, region, size_gb: sizeGb, encrypted, filesystem, server } = read;
  const protection = read.protection && omitUndefined(read.protection);
  return { name, absent: false, region, sizeGb, encrypted, filesystem, protection, server };
};

export const toGroup: Converter<Absent | ReadGroup, DesiredGroup> = (read, report) => {
  if (read.absent) return read;
  const rules = read.rules?.map((rule, at) => toRule(rule, at, report));
  if (rules?.some((rule) => rule === undefined)) return undefined;
  return {
    name: read.name,
    absent: false,
    defaultAction: read.default_action,
    rules: rules?.filter((rule) => rule !== undefined),
    servers: read.servers && [...new Set(read.servers)],
  };
};

export const toAlert: Converter<Absent | ReadAlert, DesiredAlert> = (read, report) => {
  if (read.absent) return read;
  const { name, metric, compare, value, window, servers, label_selector: labelSelector, enabled } = read;
  const faults: [field: Path, message: string][] = [];
  if (metric === 'unreachable') {
    for (const field of ['compare', 'value'] as const)
      if (read[field] !== undefined) faults.push([[field], 'is not for the metric unreachable']);
  } else if (value === undefined) faults.push([['value'], 'is required']);
  if ((servers === undefined) === (labelSelector === undefined))
    faults.push([[], 'requires either servers or label_selector']);
  for (const [field, message] of faults) report(field, message);
  if (faults.length > 0) return undefined;
  const watched = { servers: servers && [...new Set(servers)], labelSelector };
  return { name, absent: false, metric, compare, value, window, ...watched, enabled };
};

function readBackups({ backups }: ReadServer, report: ReportField): DesiredBackups | undefined | 'fault' {
  const { every, weekday } = backups ?? {};
  const isWeekly = every === 'week';
  if (isWeekly === (weekday !== undefined && weekday !== null)) return backups && omitUndefined(backups);
  report(['backups', 'weekday'], isWeekly ? 'is required for weekly backups' : 'requires every: week');
  return 'fault';
}

type ReadRule = NonNullable<ReadGroup['rules']>[number];

function toRule(rule: ReadRule, at: number, report: ReportField): Rule | undefined {
  const { direction, proto, port = null, source, action, note = null } = rule;
  const portless = proto !== 'tcp' && proto !== 'udp';
  if (!portless || port === null) return { direction, proto, port, source, action, note };
  report(['rules', at, 'port'], 'is allowed only with tcp and udp');
  return undefined;
}

function readUserData(
  read: ReadServer,
  report: ReportField,
  readRelative: ReadRelative,
): UserData | null | undefined | 'fault' {
  const { user_data: inline, user_data_file: file } = read;
  if (inline !== undefined && file !== undefined) {
    report(['user_data_file'], 'cannot be combined with user_data; use one of them');
    return 'fault';
  }
  const field = file === undefined ? 'user_data' : 'user_data_file';
  const bytes =
    file === undefined ? inline && Buffer.from(inline) : readBytes(file, field, report, readRelative);
  if (file !== undefined && bytes === undefined) return 'fault';
  if (bytes === undefined) return undefined;
  // Empty text means no user data.
  if (bytes === null || bytes.length === 0) return null;
  if (bytes.length > USER_DATA_MAX_BYTES) {
    report([field], `has ${bytes.length} bytes; at most ${USER_DATA_MAX_BYTES} are allowed`);
    return 'fault';
  }
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_CHARS);
  return { base64: Buffer.from(bytes).toString('base64'), digest };
}

function readBytes(
  path: string,
  field: string,
  report: ReportField,
  readRelative: ReadRelative,
): Uint8Array | undefined {
  const found = readRelative(path);
  if ('bytes' in found) return found.bytes;
  report([field], `"${path}" ${found.fault}`);
  return undefined;
}

function readText(
  path: string,
  field: string,
  report: ReportField,
  readRelative: ReadRelative,
): string | undefined {
  const bytes = readBytes(path, field, report, readRelative);
  return bytes && Buffer.from(bytes).toString('utf8');
}

const KEY_LINE = /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521))\s+([A-Za-z0-9+/]+={0,2})(\s.*)?$/;

/** Computes the fingerprint as `ssh-keygen -l` does; null: not a public key. */
function computeFingerprint(line: string): string | null {
  const [, type = '', base64 = ''] = KEY_LINE.exec(line) ?? [];
  const blob = Buffer.from(base64, 'base64');
  if (type === '' || blob.subarray(4, 4 + type.length).toString() !== type) return null;
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}
