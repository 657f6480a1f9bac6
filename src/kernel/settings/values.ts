/**
 * Parses and validates setting values. No message repeats the input: it may be a secret in the wrong place.
 */
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { SETTINGS, type SettingName } from '../../spec/settings.ts';
import { isPrivateHost } from '../address-safety.ts';
import { isCrashPlace } from '../faults/crash.ts';
import { OperatorError } from '../operator-error.ts';
import { isPrintable } from '../printable.ts';
import { KeyRing } from '../secrets.ts';
import { parseDatabaseUrl } from './database-url.ts';
import {
  parseCidrBlocks,
  parseExplorers,
  parseFixedPrices,
  parseQuotas,
  parseQuoteSources,
  parseTrustedProxies,
  validateFeedUrl,
} from './lists.ts';
import { colorProblem, footerTextProblem, pageUrlProblem, parseFooterLinks } from './site.ts';
import { isTicketAddress, parseSender, parseSmtpUrl } from './smtp-url.ts';

/** A setting is invalid. The message is one line that names the setting and the valid values. */
export class ConfigError extends OperatorError {
  constructor(line: string) {
    super(line);
    this.name = 'ConfigError';
  }
}

export type SettingValue = string | number | boolean | null;

/** Returns the typed value of one setting. */
export function parseSettingValue(name: SettingName, text: string | null): SettingValue {
  if (text === null) return null;
  const reject = (rule: string): never => {
    throw new ConfigError(`${name}: ${rule}`);
  };
  const row: (typeof SETTINGS)[SettingName] & { choices?: readonly string[] } = SETTINGS[name];
  if (row.choices && !row.choices.includes(text)) reject(`must be one of ${row.choices.join(', ')}`);
  const problem = row.type === 'node' ? nodeUrlProblem(text) : VALIDATORS[name]?.(text);
  if (problem) reject(problem);
  if (row.type === 'bool') return text === 'true' || (text !== 'false' && reject('must be true or false'));
  if (row.type === 'url')
    return parseOrigin(text) ?? reject('must be http:// or https:// and a host, without a path');
  if (row.type === 'text' || row.type === 'secret' || row.type === 'node') return text;
  const { min, max } = row.type === 'port' ? { min: 0, max: 65_535 } : row;
  const number = /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN;
  const isValid = number >= min && number <= max && (row.type === 'number' || /^\d+$/.test(text));
  const kind = row.type === 'number' ? 'a number' : 'an integer';
  return isValid ? number : reject(`must be ${kind} from ${min} to ${max}`);
}

const CONTACT_MAX_CHARS = 500;
/** Base 58 leaves out characters that are easily confused. */
const MONERO_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{95}$/;
const TRON_ADDRESS = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;

function databaseUrlProblem(text: string): string | undefined {
  if (parseDatabaseUrl(text)) return undefined;
  return (
    'must look like postgres://user:password@host:5432/database; separate several hosts with commas, and ' +
    'leave target_session_attrs out, or set it to read-write'
  );
}

/** Validators beyond the type of a setting. Each returns the rule that the value violates. */
const VALIDATORS: Partial<Record<SettingName, (text: string) => string | undefined>> = {
  DATABASE_URL: databaseUrlProblem,
  SKERRY_DB_DIRECT_URL: databaseUrlProblem,
  SKERRY_DB_REPLICA_URL: (text) =>
    parseDatabaseUrl(text)?.isWritable === false
      ? undefined
      : 'must look like postgres://user:password@host:5432/database, with one host',
  SKERRY_HOST: (text) =>
    isIP(text) > 0 || /^[a-z0-9.-]{1,253}$/i.test(text)
      ? undefined
      : 'must be an IP address or a host name to listen on',
  SKERRY_TOKEN_PREFIX: (text) =>
    /^[a-z][a-z0-9]{0,19}$/.test(text)
      ? undefined
      : 'must be 1 to 20 lowercase letters and digits, starting with a letter',
  SKERRY_SECRET_KEY: (text) => {
    try {
      new KeyRing(text);
      return undefined;
    } catch {
      return 'must be id:base64 of 32 random bytes; separate several keys with commas, newest first';
    }
  },
  SKERRY_SMTP_URL: (text) =>
    parseSmtpUrl(text)
      ? undefined
      : 'must look like smtp://user:password@host:587 or smtps://user:password@host:465; ' +
        'percent-encode % and @ in the user and password',
  SKERRY_MAIL_FROM: (text) =>
    parseSender(text) ? undefined : 'must be an email address, or Name <name@host.example>',
  SKERRY_TICKET_ADDRESS: (text) =>
    isTicketAddress(text)
      ? undefined
      : 'must look like support@skerry.example, with at most 19 letters, digits, and ._- before @',
  SKERRY_TICKET_AUTHSERV: (text) =>
    /^[\w.-]{1,253}$/.test(text) ? undefined : 'must be one name, such as mail.skerry.example',
  SKERRY_CONTACT: (text) =>
    text.length <= CONTACT_MAX_CHARS && isPrintable(text)
      ? undefined
      : `must be one line of at most ${CONTACT_MAX_CHARS} printable characters`,
  SKERRY_ACCENT_COLOR: colorProblem,
  SKERRY_FOOTER_TEXT: footerTextProblem,
  SKERRY_FOOTER_LINKS: (text) => parseProblem(parseFooterLinks, text),
  SKERRY_TERMS_URL: pageUrlProblem,
  SKERRY_PRIVACY_URL: pageUrlProblem,
  // Every request contains the key.
  SKERRY_DNS_URL: (text) =>
    URL.canParse(text) && new URL(text).protocol === 'http:' && !isPrivateHost(new URL(text).hostname)
      ? 'must be https://, or http:// with localhost or a private address, ' +
        'so that no one can read the key in transit'
      : undefined,
  SKERRY_DNS_KEY: (text) =>
    /^[!-~]{1,512}$/.test(text) ? undefined : 'must be 1 to 512 printable ASCII characters without spaces',
  // Signed requests keep the key secret, but customers' files would be readable in transit.
  SKERRY_S3_URL: (text) =>
    URL.canParse(text) && new URL(text).protocol === 'http:' && !isPrivateHost(new URL(text).hostname)
      ? 'must be https://, or http:// with localhost or a private address, ' +
        'so that no one can read files in transit'
      : undefined,
  SKERRY_S3_BUCKET: (text) =>
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text)
      ? undefined
      : 'must be 3 to 63 lowercase letters, digits, dots, and hyphens',
  SKERRY_S3_REGION: (text) =>
    /^[A-Za-z0-9-]{1,64}$/.test(text) ? undefined : 'must be 1 to 64 letters, digits, and hyphens',
  SKERRY_S3_ACCESS_KEY: (text) =>
    /^[!-~]{1,256}$/.test(text) ? undefined : 'must be 1 to 256 printable ASCII characters without spaces',
  SKERRY_S3_SECRET_KEY: (text) =>
    /^[!-~]{1,256}$/.test(text) ? undefined : 'must be 1 to 256 printable ASCII characters without spaces',
  SKERRY_XMR_ADDRESS: (text) =>
    MONERO_ADDRESS.test(text) ? undefined : 'must be the primary address of a wallet, 95 letters and digits',
  SKERRY_ETH_USDT: (text) =>
    /^0x[0-9a-fA-F]{40}$/.test(text) ? undefined : 'must be a contract address, 0x and 40 hexadecimal digits',
  SKERRY_TRON_USDT: (text) =>
    TRON_ADDRESS.test(text) ? undefined : 'must be a contract address, T and 33 letters and digits',
  SKERRY_QUOTE_SOURCES: (text) => parseProblem(parseQuoteSources, text),
  SKERRY_FIXED_RATES: (text) => parseProblem(parseFixedPrices, text),
  SKERRY_EURO_URL: validateFeedUrl,
  SKERRY_EXPLORERS: (text) => parseProblem(parseExplorers, text),
  SKERRY_QUOTAS: (text) => parseProblem(parseQuotas, text),
  SKERRY_TRUSTED_PROXIES: (text) => parseProblem(parseTrustedProxies, text),
  SKERRY_QEMU_ALLOW_PRIVATE: (text) => parseProblem(parseCidrBlocks, text),
  SKERRY_QEMU_ROUTE_COMMAND: (text) =>
    isAbsolute(text) ? undefined : 'must be the absolute path of a program',
  SKERRY_CRASH_AT: (text) =>
    isCrashPlace(text) ? undefined : 'not a place where the process can be killed; unset it',
};

function parseProblem(parse: (text: string) => unknown, text: string): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A node's responses become money, so no one may change them in transit, or read the node's password. */
function nodeUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hash || !hasEncodedCredentials(url)) {
    return (
      'must look like http://user:password@127.0.0.1:8332 or https://…, without #; ' +
      'percent-encode % and @ in the user and password'
    );
  }
  if (url.protocol === 'https:' || isPrivateHost(url.hostname)) return undefined;
  return (
    'must be https://, or http:// with localhost or a private address, ' +
    "so that no one can change the node's responses in transit"
  );
}

function hasEncodedCredentials({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Returns the origin without a trailing slash, or undefined when the text is not a bare http(s) origin. */
function parseOrigin(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined;
  return url.pathname === '/' && !url.search && !url.hash ? url.origin : undefined;
}
