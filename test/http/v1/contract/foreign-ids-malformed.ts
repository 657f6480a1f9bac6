/** Texts that are nearly an id: a reader that is lenient anywhere would take one of them for it. */
import { ID_PREFIXES } from '../../../../src/kernel/ids.ts';
import type { Kind } from './cases-parts.ts';
import { storedId } from './foreign-ids-footprint.ts';

/** Refused by 400 where they stand in a body: no database keeps them. */
const UNSTORABLE = { 'a NUL at its end': 'invalid_format', 'half a surrogate pair': 'invalid_format' };

/** Which of them are answered 400 instead of like a missing id, and with which issue; what is not here never is. */
export const BAD_REQUESTS: Readonly<Record<'path' | 'body' | 'filter', Readonly<Record<string, string>>>> = {
  path: {},
  body: UNSTORABLE,
  filter: { ...UNSTORABLE, 'very long': 'max_length' },
};

/** The same opaque letters behind these are another thing; the two of images stand for one table. */
const OTHER_PREFIXES = [ID_PREFIXES.server, ID_PREFIXES.token, ID_PREFIXES.image, ID_PREFIXES.customImage];

/** Codes that the session surface has for regions. */
const OTHER_CODES = ['rek', 'otp'];

/** By what is wrong with them. `id` is a right one. */
export function malformed(kind: Kind, id: string): Record<string, string> {
  const ofCode = kind === 'region' ? Object.fromEntries(OTHER_CODES.map((code) => [code, code])) : {};
  return {
    'upper case': id.toUpperCase(),
    'one capital': id.charAt(0).toUpperCase() + id.slice(1),
    'cut at its end': id.slice(0, -1),
    'cut at its beginning': id.slice(1),
    'a letter too many': `${id}a`,
    'a space before it': ` ${id}`,
    'a line end after it': `${id}\n`,
    'a letter of another script': id.replace(/[a-z]/, (letter) => LOOK_ALIKE[letter] ?? '\u0430'),
    'full width': id
      .normalize('NFKC')
      .replace(/[!-~]/g, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0)),
    'a NUL at its end': `${id}\0`,
    'half a surrogate pair': `${id}\ud800`,
    'very long': id + 'a'.repeat(5_000),
    'a path': `../${id}`,
    'a coded path': `..%2f${id}`,
    'a coded NUL': `${id}%00`,
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
    // The last letter has two bits that no id uses.
    'another spelling': id.slice(0, -1) + String.fromCharCode(id.charCodeAt(id.length - 1) + 1),
    'as it is stored': storedId(id),
    ...Object.fromEntries(others.map((other) => [`the prefix ${other}`, other + opaque])),
  };
}
