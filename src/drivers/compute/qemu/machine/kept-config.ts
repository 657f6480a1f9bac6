/**
 * The part of the customer's user data that the host keeps after the install. User data may contain secrets,
 * so it is deleted, but cloud-init acts on some options at every boot: without them it would give the guest
 * back its first host name, rewrite /etc/hosts, or grow a partition that the customer wanted to stay small.
 * Only these options are kept, and only values that cannot be a secret.
 */
import { parse } from 'yaml';

type Check = (value: unknown) => boolean;

const isBoolean: Check = (value) => typeof value === 'boolean';
const isHostName: Check = (value) =>
  typeof value === 'string' && value.length <= 253 && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(value);
const isDevice: Check = (value) => typeof value === 'string' && /^\/[\w./-]{0,63}$/.test(value);
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);

const GROWPART: Readonly<Record<string, Check>> = {
  mode: oneOf('auto', 'growpart', 'gpart', 'off', false),
  devices: (value) => Array.isArray(value) && value.length <= 16 && value.every(isDevice),
  ignore_growroot_disabled: isBoolean,
};
const KEPT: Readonly<Record<string, Check>> = {
  hostname: isHostName,
  fqdn: isHostName,
  preserve_hostname: isBoolean,
  prefer_fqdn_over_hostname: isBoolean,
  create_hostname_file: isBoolean,
  manage_etc_hosts: oneOf(true, false, 'template', 'localhost'),
  resize_rootfs: oneOf(true, false, 'noblock'),
  growpart: (value) => isObject(value) && Object.keys(value).every((name) => GROWPART[name]?.(value[name])),
};

/**
 * Returns the options to keep as a cloud-config, '' for none. Null if the user data is not one readable
 * cloud-config: a script, an archive, or a template.
 */
export function keptConfig(userData: Uint8Array): string | null {
  const config = readCloudConfig(userData);
  if (config === null) return null;
  const kept = Object.entries(config).filter(
    ([name, value]) => Object.hasOwn(KEPT, name) && KEPT[name]?.(value),
  );
  // JSON is valid YAML.
  return kept.length === 0 ? '' : `#cloud-config\n${JSON.stringify(Object.fromEntries(kept))}\n`;
}

function readCloudConfig(userData: Uint8Array): Readonly<Record<string, unknown>> | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(userData);
    if (!/^#cloud-config\s*$/m.test(text.split('\n', 1)[0] ?? '')) return null;
    // cloud-init reads YAML 1.1, in which `yes` is true.
    const config: unknown = parse(text, { version: '1.1', logLevel: 'silent' });
    return isObject(config) ? config : null;
  } catch {
    // Also cloud-init cannot read it.
    return null;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
