/**
 * The settings of this process: read once from the environment and `.env`, validated, and frozen.
 * src/spec/settings.ts is the table. A value has the name of its setting: `config.SKERRY_PORT`.
 */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { validateCoinSettings } from './config-coins.ts';
import { isPrivateHost } from './kernel/address-safety.ts';
import { closestMatch } from './kernel/closest-match.ts';
import { parseRecipients } from './kernel/crypt/age.ts';
import { ConfigError, parseSettingValue, type SettingValue } from './kernel/settings/values.ts';
import { BACKUP_TO_STORE } from './spec/settings/backups.ts';
import { FILE_SETTINGS_TOGETHER } from './spec/settings/files.ts';
import { CLI_SETTING_NAMES, SETTINGS, type SettingName, type SettingView } from './spec/settings.ts';

export { ConfigError };

type Environment = Readonly<Record<string, string | undefined>>;
type Row<Name extends SettingName> = (typeof SETTINGS)[Name];
type ValueOf<Name extends SettingName> = Row<Name>['type'] extends 'port' | 'whole' | 'number'
  ? number
  : Row<Name>['type'] extends 'bool'
    ? boolean
    : Row<Name> extends { readonly choices: readonly (infer Word)[] }
      ? Word
      : string;

/** The values of all settings; null if unset and without default. `SKERRY_DATA_DIR` is an absolute path. */
export type Config = {
  readonly [Name in SettingName]: Row<Name>['default'] extends null ? ValueOf<Name> | null : ValueOf<Name>;
};

const NAMES = Object.keys(SETTINGS) as SettingName[];

/** Reads every setting; the environment takes precedence over `.env`. Throws a ConfigError of one line. */
export function loadConfig(env: Environment, dotEnvText = ''): Config {
  const raw = collectSettings(env, dotEnvText);
  const mode = raw.SKERRY_MODE.text === 'live' ? 'live' : 'sandbox';
  const values: Partial<Record<SettingName, SettingValue>> = {};
  for (const name of NAMES) values[name] = parseSettingValue(name, settingText(name, raw, mode));
  values.SKERRY_DATA_DIR = resolve(String(values.SKERRY_DATA_DIR));
  const config = values as Config;
  validateCombinations(config);
  validateCoinSettings({ mode, read: (name) => raw[name].text });
  return Object.freeze(config);
}

/** Returns every setting with its value, source, and description. Secrets are shown as `[set]`. */
export function describeConfig(env: Environment, dotEnvText = ''): SettingView[] {
  const raw = collectSettings(env, dotEnvText);
  const mode = raw.SKERRY_MODE.text === 'live' ? 'live' : 'sandbox';
  return NAMES.map((name) => {
    const text = settingText(name, raw, mode);
    const secret = isSecret(SETTINGS[name].type) && text !== null;
    return {
      name,
      value: secret ? '[set]' : text,
      source: raw[name].source,
      about: SETTINGS[name].about,
    };
  });
}

function isSecret(type: Row<SettingName>['type']): boolean {
  return type === 'secret' || type === 'node';
}

/** Returns the URL for customers: the setting, or the address that the service listens on. */
export function baseUrl(config: Config, port: number = config.SKERRY_PORT): string {
  if (config.SKERRY_BASE_URL !== null) return config.SKERRY_BASE_URL;
  const host = config.SKERRY_HOST.includes(':') ? `[${config.SKERRY_HOST}]` : config.SKERRY_HOST;
  return `http://${host}:${port}`;
}

type RawSettings = Record<
  SettingName,
  { readonly text: string | null; readonly source: SettingView['source'] }
>;

function collectSettings(env: Environment, dotEnvText: string): RawSettings {
  const dotEnv: Environment = parseEnv(dotEnvText);
  rejectUnknown(env);
  rejectUnknown(dotEnv);
  const found = NAMES.map((name) => {
    // Shells and service files unset a variable with an empty value.
    if (env[name]) return [name, { text: env[name], source: 'environment' }] as const;
    if (dotEnv[name]) return [name, { text: dotEnv[name], source: '.env' }] as const;
    return [name, { text: null, source: 'default' }] as const;
  });
  return Object.fromEntries(found) as RawSettings;
}

/**
 * Rejects unknown SKERRY_ names. Allows SKERRY_TEST_ for the tests, and the variables of the customers' CLI.
 */
function rejectUnknown(env: Environment): void {
  for (const name of Object.keys(env).sort()) {
    if (!name.startsWith('SKERRY_') || name.startsWith('SKERRY_TEST_')) continue;
    if (Object.hasOwn(SETTINGS, name) || CLI_SETTING_NAMES.includes(name)) continue;
    const suggestion = closestMatch(name, NAMES);
    const fix = suggestion ? `did you mean ${suggestion}?` : 'remove it; `skerryd config` lists all settings';
    throw new ConfigError(`${name}: unknown setting; ${fix}`);
  }
}

function settingText(name: SettingName, raw: RawSettings, mode: 'sandbox' | 'live'): string | null {
  const { text } = raw[name];
  const defaultValue = SETTINGS[name].default;
  return (
    text ?? (defaultValue === null || typeof defaultValue === 'string' ? defaultValue : defaultValue[mode])
  );
}

const SETTING_PAIRS = [
  ['SKERRY_SMTP_URL', 'SKERRY_MAIL_FROM'],
  ['SKERRY_DNS_URL', 'SKERRY_DNS_KEY'],
  ['SKERRY_TICKET_ADDRESS', 'SKERRY_TICKET_AUTHSERV'],
] as const;

const SETTING_ALTERNATIVES = [
  ['SKERRY_TERMS_FILE', 'SKERRY_TERMS_URL'],
  ['SKERRY_PRIVACY_FILE', 'SKERRY_PRIVACY_URL'],
] as const;

/** Validates rules between settings. */
function validateCombinations(config: Config): void {
  for (const [one, other] of SETTING_PAIRS) {
    if ((config[one] === null) === (config[other] === null)) continue;
    const missing = config[one] === null ? one : other;
    throw new ConfigError(
      `${missing}: required, because ${one} and ${other} go together; set both or neither`,
    );
  }
  const [missing, present] = [true, false].map((isUnset) =>
    FILE_SETTINGS_TOGETHER.find((name) => (config[name] === null) === isUnset),
  );
  if (missing !== undefined && present !== undefined) {
    throw new ConfigError(
      `${missing}: required with ${present}; set ${FILE_SETTINGS_TOGETHER.join(', ')}, or none of them`,
    );
  }
  if (config.SKERRY_S3_SNAPSHOTS && config.SKERRY_S3_URL === null)
    throw new ConfigError('SKERRY_S3_SNAPSHOTS: it needs a store; set SKERRY_S3_URL, or unset it');
  for (const [one, other] of SETTING_ALTERNATIVES) {
    if (config[one] !== null && config[other] !== null)
      throw new ConfigError(`${other}: set it or ${one}, not both`);
  }
  if (!isPrivateHost(config.SKERRY_ONION_HOST)) {
    throw new ConfigError(
      'SKERRY_ONION_HOST: anyone who reaches this port can claim any circuit; set it to 127.0.0.1 or a ' +
        'private address that only Tor reaches',
    );
  }
  if (!isPrivateHost(config.SKERRY_ADMIN_HOST)) {
    throw new ConfigError(
      'SKERRY_ADMIN_HOST: the console must not be reachable without TLS; set it to 127.0.0.1 or a private ' +
        'address, and SKERRY_ADMIN_BASE_URL to the URL of a proxy or an onion service',
    );
  }
  validateDatabase(config);
  validateBackups(config);
  requirePortOfItsOwn(config, 'SKERRY_ADMIN_PORT', CUSTOMERS_PORTS);
  validateLmtp(config);
  if (config.SKERRY_MODE === 'live') {
    if (config.SKERRY_SMTP_URL !== null && config.SKERRY_BASE_URL === null) {
      throw new ConfigError(
        'SKERRY_BASE_URL: required for the links in mail; set the URL where customers reach the service',
      );
    }
    if (config.DATABASE_URL === null) {
      throw new ConfigError('DATABASE_URL: a live service needs your own PostgreSQL; set it to postgres://…');
    }
    if (config.SKERRY_COMPUTE === 'simulator') {
      throw new ConfigError('SKERRY_COMPUTE: a live service needs real machines; set it to qemu or hosts');
    }
    if (config.SKERRY_CRASH_AT !== null) {
      throw new ConfigError('SKERRY_CRASH_AT: only a sandbox can be killed at a place; unset it');
    }
  } else if (!isLoopback(config.SKERRY_HOST) && !config.SKERRY_SANDBOX_PUBLIC) {
    throw new ConfigError(
      'SKERRY_HOST: anyone can create money in a sandbox, so it listens on 127.0.0.1 or ::1 only; ' +
        'to allow others anyway, set SKERRY_SANDBOX_PUBLIC=true, and SKERRY_BASE_URL to the public URL',
    );
  }
}

function validateDatabase(config: Config): void {
  if (!config.SKERRY_DB_POOLER) {
    if (config.SKERRY_DB_DIRECT_URL === null) return;
    throw new ConfigError('SKERRY_DB_DIRECT_URL: only used behind a pooler; set SKERRY_DB_POOLER=true');
  }
  if (config.DATABASE_URL === null) {
    throw new ConfigError('DATABASE_URL: required with SKERRY_DB_POOLER; set it to the URL of the pooler');
  }
  if (config.SKERRY_DB_DIRECT_URL === null) {
    throw new ConfigError(
      'SKERRY_DB_DIRECT_URL: required with SKERRY_DB_POOLER, because a pooler in transaction mode passes ' +
        'on no notifications; set it to the URL of the PostgreSQL server',
    );
  }
}

function validateBackups(config: Config): void {
  const { SKERRY_BACKUP_RECIPIENTS: recipients, SKERRY_BACKUP_TO: to } = config;
  if (recipients !== null && parseRecipients(recipients) === null) {
    throw new ConfigError(
      'SKERRY_BACKUP_RECIPIENTS: must be public keys of age-keygen, age1…, comma-separated',
    );
  }
  if (config.SKERRY_BACKUP_WAL_DAYS > 0) validateWalArchive(config);
  if (to !== null && recipients === null) {
    throw new ConfigError(
      'SKERRY_BACKUP_RECIPIENTS: required with SKERRY_BACKUP_TO; set the public key of age-keygen',
    );
  }
  if (to === BACKUP_TO_STORE && config.SKERRY_S3_URL === null)
    throw new ConfigError('SKERRY_S3_URL: required with SKERRY_BACKUP_TO=store; set the store, or a folder');
  if (!/^(?:[01]\d|2[0-3]):[0-5]\d$/.test(config.SKERRY_BACKUP_AT))
    throw new ConfigError('SKERRY_BACKUP_AT: must be a time of day such as 02:30');
}

function validateWalArchive({ DATABASE_URL: url, SKERRY_BACKUP_TO: to }: Config): void {
  if (url !== null) {
    throw new ConfigError(
      'SKERRY_BACKUP_WAL_DAYS: only for the embedded database; archive your own with pgBackRest or Barman',
    );
  }
  if (to === null)
    throw new ConfigError('SKERRY_BACKUP_TO: required with SKERRY_BACKUP_WAL_DAYS; set a folder, or store');
}

const CUSTOMERS_PORTS = ['SKERRY_PORT', 'SKERRY_ONION_PORT'] as const;

function requirePortOfItsOwn(
  config: Config,
  wanted: 'SKERRY_ADMIN_PORT' | 'SKERRY_LMTP_PORT',
  others: readonly ('SKERRY_PORT' | 'SKERRY_ONION_PORT' | 'SKERRY_ADMIN_PORT')[],
): void {
  if (config[wanted] === null || config[wanted] === 0) return;
  for (const name of others) {
    if (config[wanted] !== config[name]) continue;
    const user = name === 'SKERRY_ADMIN_PORT' ? 'the console uses' : 'customers use';
    throw new ConfigError(`${wanted}: ${user} this port (${name}); set another one`);
  }
}

function validateLmtp(config: Config): void {
  if (config.SKERRY_LMTP_PORT === null) return;
  if (config.SKERRY_TICKET_ADDRESS === null) {
    throw new ConfigError('SKERRY_TICKET_ADDRESS: required with SKERRY_LMTP_PORT; set it, or unset the port');
  }
  if (!isPrivateHost(config.SKERRY_LMTP_HOST)) {
    throw new ConfigError(
      'SKERRY_LMTP_HOST: anyone who reaches this port can claim any sender; set it to 127.0.0.1 or a ' +
        'private address that only your mail server reaches',
    );
  }
  requirePortOfItsOwn(config, 'SKERRY_LMTP_PORT', [...CUSTOMERS_PORTS, 'SKERRY_ADMIN_PORT']);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
