/** Texts that are nearly an id. A lenient parser would accept one of them. */
import { ID_PREFIXES } from '../../../../src/kernel/ids.ts';
import type { Kind } from './cases-parts.ts';
import { storedId } from './foreign-ids-footprint.ts';

/** Get 400 in a body, because no database can store them. */
const UNSTORABLE = { 'a trailing NUL': 'invalid_format', 'a lone surrogate': 'invalid_format' };

/** Malformed ids that get 400, with their issue. All others get the response for an unknown id. */
export const BAD_REQUESTS: Readonly<Record<'path' | 'body' | 'filter', Readonly<Record<string, string>>>> = {
  path: {},
  body: UNSTORABLE,
  filter: { ...UNSTORABLE, 'very long': 'max_length' },
};

/** Other prefixes for the same opaque part. Both image prefixes share one table. */
const OTHER_PREFIXES = [ID_PREFIXES.server, ID_PREFIXES.token, ID_PREFIXES.image, ID_PREFIXES.customImage];

/** Region codes of the session surface. */
const OTHER_CODES = ['rek', 'otp'];

/** By defect. `id` is a valid one. */
export function malformed(kind: Kind, id: string): Record<string, string> {
  const ofCode = kind === 'region' ? Object.fromEntries(OTHER_CODES.map((code) => [code, code])) : {};
  return {
    'upper case': id.toUpperCase(),
    'one capital': id.charAt(0).toUpperCase() + id.slice(1),
    'truncated at the end': id.slice(0, -1),
    'truncated at the start': id.slice(1),
    'an extra letter': `${id}a`,
    'a leading space': ` ${id}`,
    'a trailing newline': `${id}\n`,
    'a letter from another script': id.replace(/[a-z]/, (letter) => LOOK_ALIKE[letter] ?? '\u0430'),
    'full width': id
      .normalize('NFKC')
      .replace(/[!-~]/g, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0)),
    'a trailing NUL': `${id}\0`,
    'a lone surrogate': `${id}\ud800`,
    'very long': id + 'a'.repeat(5_000),
    'a path': `../${id}`,
    'an encoded path': `..%2f${id}`,
    'an encoded NUL': `${id}%00`,
    'a quote': `${id}' or '1'='1`,
    ...ofCode,
    ...ofShownId(id),
  };
}

const LOOK_ALIKE: Readonly<Record<string, string>> = { s: '\u0455', p: '\u0440', k: '\u043a', c: '\u0441' };

function ofShownId(id: string): Record<string, string> {
  const [prefix = '', opaque] = id.split('_');
  if (opaque === undefined) return {};
  const others = OTHER_PREFIXES.filter((other) => other !== `${prefix}_`);
  return {
    'no prefix': opaque,
    'two prefixes': `${prefix}_${id}`,
    'an unknown prefix': `zzz_${opaque}`,
    // The last letter has two bits that ids do not use.
    'another spelling': id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) + 1),
    'the stored form': storedId(id),
    ...Object.fromEntries(others.map((other) => [`the prefix ${other}`, other + opaque])),
  };
}
