/**
 * Ids: 48 bits of time and 80 random bits in a `uuid` column; shown as a type prefix and 26 base32
 * characters. The time keeps index inserts at the right edge; the random part makes ids unguessable. No
 * counter is exposed.
 */
import { randomBytes, randomFillSync } from 'node:crypto';

export const ID_PREFIXES = {
  server: 'srv_',
  image: 'img_',
  customImage: 'custom_',
  sshKey: 'k_',
  token: 'tok_',
  volume: 'vol_',
  snapshot: 'snap_',
  firewallGroup: 'fwg_',
  firewallRule: 'fwr_',
  webhook: 'whk_',
  audit: 'audit_',
  event: 'evt_',
  delivery: 'del_',
  topup: 'top_',
  ledgerEntry: 'led_',
  request: 'req_',
  session: 'sess_',
  policy: 'pol_',
  maintenanceWindow: 'mwn_',
  priceChange: 'prc_',
  mail: 'mail_',
  customer: 'cus_',
  customerNote: 'cnt_',
  passkey: 'pkey_',
  quote: 'quo_',
  action: 'act_',
  alert: 'alr_',
  incident: 'inc_',
  savedFilter: 'flt_',
  orderDraft: 'ord_',
  ticket: 'tkt_',
  ticketMessage: 'tme_',
  ticketFile: 'tfl_',
  staff: 'stf_',
  staffToken: 'stk_',
  staffLog: 'slg_',
  approval: 'apr_',
  coupon: 'cpn_',
  announcement: 'ann_',
  mailing: 'mlg_',
  abuseReport: 'abr_',
  abuseFile: 'abf_',
  flood: 'fld_',
  legalOrder: 'lgl_',
  legalDocument: 'lgd_',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

const RANDOM_BYTES = 10;
/** Drawn in advance: a system call for each id would cost more than the id. */
const randomPool = Buffer.alloc(RANDOM_BYTES * 256);
let randomPoolOffset = randomPool.length;

/** Creates an id in the form of PostgreSQL's `uuid`. */
export function newId(now: Date): string {
  if (randomPoolOffset === randomPool.length) {
    randomFillSync(randomPool);
    randomPoolOffset = 0;
  }
  const bytes = Buffer.allocUnsafe(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  randomPool.copy(bytes, 6, randomPoolOffset, randomPoolOffset + RANDOM_BYTES);
  randomPoolOffset += RANDOM_BYTES;
  return formatUuid(bytes);
}

/** Returns a lower bound of the ids of that millisecond, above all older ids. */
export function firstIdAt(time: Date): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.max(time.getTime(), 0), 0, 6);
  return formatUuid(bytes);
}

/** Returns when the id was created, to the millisecond. */
export function idTimestamp(uuid: string): Date {
  return new Date(Number.parseInt(uuid.replace('-', '').slice(0, 12), 16));
}

/** Encodes in lowercase base32 (RFC 4648) without padding. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let buffer = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET.charAt((buffer >>> bits) & 31);
    }
    buffer &= (1 << bits) - 1;
  }
  return bits > 0 ? text + ALPHABET.charAt((buffer << (5 - bits)) & 31) : text;
}

/** Two letters for each ten bits. */
const LETTER_PAIRS = Array.from(
  { length: 1_024 },
  (_, n) => ALPHABET.charAt(n >> 5) + ALPHABET.charAt(n & 31),
);
const HEX_DIGITS = '0123456789abcdef';
const HEX_VALUES = valuesByCharCode(HEX_DIGITS);
const LETTER_VALUES = valuesByCharCode(ALPHABET);
/** The lengths at which the text of a `uuid` has a hyphen. */
const HYPHENS_AFTER = new Set([8, 13, 18, 23]);

/** Returns the value of each digit at its character code. */
function valuesByCharCode(digits: string): readonly (number | undefined)[] {
  return Array.from({ length: 128 }, (_, code) => {
    const value = digits.indexOf(String.fromCharCode(code));
    return value < 0 ? undefined : value;
  });
}

/** Returns the shown form of a stored id. */
export function formatId(kind: IdKind, uuid: string): string {
  let text: string = ID_PREFIXES[kind];
  let bits = 0;
  let buffer = 0;
  for (let i = 0; i < uuid.length; i++) {
    const value = HEX_VALUES[uuid.charCodeAt(i)];
    if (value === undefined) continue;
    buffer = (buffer << 4) | value;
    bits += 4;
    if (bits < 10) continue;
    bits -= 10;
    text += LETTER_PAIRS[buffer >>> bits];
    buffer &= (1 << bits) - 1;
  }
  // 128 bits leave eight, so the last letter ends with two bits that are zero.
  return text + LETTER_PAIRS[buffer << 2];
}

/** Returns the stored id of a shown one, or undefined when the text is not an id of this kind. */
export function parseId(kind: IdKind, text: string): string | undefined {
  const prefix = ID_PREFIXES[kind];
  if (!text.startsWith(prefix) || text.length !== prefix.length + 26) return undefined;
  let uuid = '';
  let bits = 0;
  let buffer = 0;
  for (let i = prefix.length; i < text.length; i++) {
    const value = LETTER_VALUES[text.charCodeAt(i)];
    if (value === undefined) return undefined;
    buffer = (buffer << 5) | value;
    bits += 5;
    while (bits >= 4) {
      bits -= 4;
      uuid += HEX_DIGITS.charAt(buffer >>> bits);
      if (HYPHENS_AFTER.has(uuid.length)) uuid += '-';
      buffer &= (1 << bits) - 1;
    }
  }
  // 26 characters hold 130 bits: the last two must be zero, so that an id has only one spelling.
  return buffer === 0 ? uuid : undefined;
}

/** Returns a random integer from 1 to 2^53 − 1, for surface A's ids: JSON numbers that reveal no order. */
export function newPublicNumber(): bigint {
  const value = randomBytes(8).readBigUInt64BE() & ((1n << 53n) - 1n);
  return value === 0n ? 1n : value;
}

/** Returns an unguessable text of 26 characters, for order references and similar uses. */
export function newSecretToken(bytes = 16): string {
  return base32(randomBytes(bytes));
}

function formatUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const CODE = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** Returns a plan's or region's code as typed; undefined if malformed. */
export function readCode(text: string): string | undefined {
  return CODE.test(text) ? text : undefined;
}
