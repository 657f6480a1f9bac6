/** What the text of a setting may be. No message repeats what was typed: it may be a secret in the wrong place. */
import { isIP } from 'node:net';
import { SETTINGS, type SettingName } from '../spec/settings.ts';
import { closestMatch } from './closest-match.ts';
import { CRASH_POINTS } from './crash.ts';
import { OperatorError } from './operator-error.ts';
import { isPrintable } from './printable.ts';
import { isPrivateHost } from './private-host.ts';
import { parseQuotas } from './quotas.ts';
import { parseQuoteSources, validateFeedUrl } from './quote-sources.ts';
import { KeyRing } from './secrets.ts';
import { parseSender, parseSmtpUrl } from './smtp-url.ts';
import { parseTrustedProxies } from './trusted-proxies.ts';

/** A setting is wrong; the message is one line that names it and says how to mend it. */
export class ConfigError extends OperatorError {
  constructor(line: string) {
    super(line);
    this.name = 'ConfigError';
  }
}

export type SettingValue = string | number | boolean | null;

/** The typed value of one setting. */
export function parseSettingValue(name: SettingName, text: string | null): SettingValue {
  if (text === null) return null;
  const reject = (fix: string): never => {
    throw new ConfigError(`${name}: ${fix}`);
  };
  const row: (typeof SETTINGS)[SettingName] & { choices?: readonly string[] } = SETTINGS[name];
  if (row.choices && !row.choices.includes(text)) reject(`give one of ${row.choices.join(', ')}`);
  const problem = row.type === 'node' ? nodeUrlProblem(text) : VALIDATORS[name]?.(text);
  if (problem) reject(problem);
  if (row.type === 'bool') return text === 'true' || (text !== 'false' && reject('give true or false'));
  if (row.type === 'url')
    return parseOrigin(text) ?? reject('give http:// or https:// and a host, without a path');
  if (row.type === 'text' || row.type === 'secret' || row.type === 'node') return text;
  const { min, max } = row.type === 'port' ? { min: 0, max: 65_535 } : row;
  const number = /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN;
  const fits = number >= min && number <= max && (row.type === 'number' || /^\d+$/.test(text));
  const kind = row.type === 'number' ? 'a number' : 'a whole number';
  return fits ? number : reject(`give ${kind} from ${min} to ${max}`);
}

const CONTACT_MAX_CHARS = 500;
/** Base 58 leaves out what is easily mistaken. */
const MONERO_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{95}$/;
const TRON_ADDRESS = /^T[1-9A-HJ-NP-Za-km-z]{33}$/;

/** What a single value must be beyond its type; the answer is the cure. */
const VALIDATORS: Partial<Record<SettingName, (text: string) => string | undefined>> = {
  DATABASE_URL: (text) =>
    /^postgres(ql)?:\/\//.test(text) && URL.canParse(text)
      ? undefined
      : 'give postgres://user:password@host:5432/database',
  SKERRY_HOST: (text) =>
    isIP(text) > 0 || /^[a-z0-9.-]{1,253}$/i.test(text)
      ? undefined
      : 'give an address or a host name to listen on',
  SKERRY_TOKEN_PREFIX: (text) =>
    /^[a-z][a-z0-9]{0,19}$/.test(text)
      ? undefined
      : 'give 1 to 20 lower-case letters and digits, a letter first',
  SKERRY_SECRET_KEY: (text) => {
    try {
      new KeyRing(text);
      return undefined;
    } catch {
      return 'give id:base64 of 32 random bytes, several separated by commas, newest first';
    }
  },
  SKERRY_SMTP_URL: (text) =>
    parseSmtpUrl(text)
      ? undefined
      : 'give smtp://user:password@host:587 or smtps://user:password@host:465, with % and @ in them encoded',
  SKERRY_MAIL_FROM: (text) =>
    parseSender(text) ? undefined : 'give an e-mail address, or Name <name@host.example>',
  SKERRY_CONTACT: (text) =>
    text.length <= CONTACT_MAX_CHARS && isPrintable(text)
      ? undefined
      : `give one line of at most ${CONTACT_MAX_CHARS} printable characters`,
  // Its key goes along with every request.
  SKERRY_DNS_URL: (text) =>
    URL.canParse(text) && new URL(text).protocol === 'http:' && !isPrivateHost(new URL(text).hostname)
      ? 'give https://, or http:// and localhost or a private address: the key must not be read on the way'
      : undefined,
  SKERRY_DNS_KEY: (text) =>
    /^[!-~]{1,512}$/.test(text) ? undefined : 'give 1 to 512 letters, digits and signs without spaces',
  SKERRY_XMR_ADDRESS: (text) =>
    MONERO_ADDRESS.test(text) ? undefined : 'give the primary address of a wallet, 95 letters and digits',
  SKERRY_ETH_USDT: (text) =>
    /^0x[0-9a-fA-F]{40}$/.test(text) ? undefined : 'give the address of a contract, 0x and 40 digits',
  SKERRY_TRON_USDT: (text) =>
    TRON_ADDRESS.test(text) ? undefined : 'give the address of a contract, T and 33 letters and digits',
  SKERRY_QUOTE_SOURCES: (text) => parseProblem(parseQuoteSources, text),
  SKERRY_EURO_URL: validateFeedUrl,
  SKERRY_QUOTAS: (text) => parseProblem(parseQuotas, text),
  SKERRY_TRUSTED_PROXIES: (text) => parseProblem(parseTrustedProxies, text),
  SKERRY_CRASH_AT: (text) => {
    if (CRASH_POINTS.some((point) => point === text)) return undefined;
    const meant = closestMatch(text, CRASH_POINTS);
    return meant
      ? `there is no such crash point; did you mean ${meant}?`
      : 'there is no such crash point; unset it';
  },
};

function parseProblem(parse: (text: string) => unknown, text: string): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** What a node says becomes money: nobody on the way may change it, nor read its password. */
function nodeUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hash || !hasEncodedCredentials(url)) {
    return 'give http://user:password@127.0.0.1:8332 or https://…, without #, and with % and @ in user and password encoded';
  }
  if (url.protocol === 'https:' || isPrivateHost(url.hostname)) return undefined;
  return 'give https://, or http:// and localhost or a private address: nobody may change what a node says on the way';
}

function hasEncodedCredentials({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** The address without its trailing slash, or undefined when it is not a bare http(s) origin. */
function parseOrigin(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined;
  return url.pathname === '/' && !url.search && !url.hash ? url.origin : undefined;
}
