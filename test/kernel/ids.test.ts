import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  base32,
  formatId,
  ID_PREFIXES,
  type IdKind,
  newId,
  newPublicNumber,
  newSecretToken,
  parseId,
} from '../../src/kernel/ids.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';

const NOW = new Date('2030-01-31T12:00:00Z');
const KINDS = Object.keys(ID_PREFIXES) as IdKind[];
const runs = { numRuns: PROPERTY_RUNS * 20 };
const uuid = fc.uuid();
const kind = fc.constantFrom(...KINDS);

test('an id is shown as its prefix and 26 characters, and is parsed back unchanged', () => {
  fc.assert(
    fc.property(uuid, kind, (id, idKind) => {
      const shown = formatId(idKind, id);
      assert.match(shown, new RegExp(`^${ID_PREFIXES[idKind]}[a-z2-7]{26}$`));
      assert.equal(parseId(idKind, shown), id);
    }),
    runs,
  );
});

test('an id has only one spelling', () => {
  const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567');
  const text = fc.array(letter, { minLength: 26, maxLength: 26 }).map((letters) => letters.join(''));
  fc.assert(
    fc.property(text, (letters) => {
      const shown = `srv_${letters}`;
      const id = parseId('server', shown);
      if (id !== undefined) assert.equal(formatId('server', id), shown);
      // The last character holds three bits of the id, so 8 of its 32 values are valid.
      assert.equal(id !== undefined, 'aeimquy4'.includes(letters.charAt(25)));
    }),
    runs,
  );
});

test('parseId rejects texts that are almost an id', () => {
  const shown = formatId('server', newId(NOW));
  const letters = shown.slice(4);
  for (const text of [
    '',
    'srv_',
    letters,
    `srv-${letters}`,
    `${shown}a`,
    shown.slice(0, -1),
    shown.toUpperCase(),
    `srv_${letters.toUpperCase()}`,
    `SRV_${letters}`,
    ` ${shown}`,
    `${shown.slice(0, -1)}\n`,
    `srv_1${letters.slice(1)}`,
    `srv_é${letters.slice(1)}`,
    `top_${letters}`,
    '__proto__',
  ]) {
    assert.equal(parseId('server', text), undefined, JSON.stringify(text));
  }
});

test('an id of one kind is not valid as any other kind', () => {
  const id = newId(NOW);
  for (const one of KINDS) {
    for (const other of KINDS) {
      assert.equal(parseId(other, formatId(one, id)), one === other ? id : undefined, `${one} as ${other}`);
    }
  }
});

test('a later id sorts after an earlier one', () => {
  const time = fc.date({ min: new Date('2020-01-01'), max: new Date('2500-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(time, fc.integer({ min: 1, max: 10 ** 11 }), (earlier, laterMs) => {
      const [first, second] = [newId(earlier), newId(new Date(earlier.getTime() + laterMs))];
      assert.ok(first < second);
    }),
    runs,
  );
});

test('ids of the same millisecond differ in all their random bits', () => {
  const ids = Array.from({ length: 200 }, () => BigInt(`0x${newId(NOW).replaceAll('-', '')}`));
  assert.equal(new Set(ids).size, ids.length);
  const [first = 0n, ...others] = ids;
  const differingBits = others.reduce((bits, id) => bits | (id ^ first), 0n);
  assert.equal(differingBits, (1n << 80n) - 1n);
});

test('base32 follows RFC 4648, in lowercase and without padding', () => {
  const vectors = {
    '': '',
    f: 'my',
    fo: 'mzxq',
    foo: 'mzxw6',
    foob: 'mzxw6yq',
    fooba: 'mzxw6ytb',
    foobar: 'mzxw6ytboi',
  };
  for (const [plain, text] of Object.entries(vectors)) assert.equal(base32(Buffer.from(plain)), text);
  assert.match(base32(randomBytes(32)), /^[a-z2-7]{52}$/);
});

test('public numbers are positive JSON numbers without a visible order', () => {
  const numbers = Array.from({ length: 200 }, newPublicNumber);
  for (const number of numbers) {
    assert.ok(number > 0n && number < 1n << 53n);
    assert.equal(BigInt(JSON.stringify(Number(number))), number);
  }
  assert.equal(new Set(numbers).size, numbers.length);
  assert.notDeepEqual(
    numbers,
    numbers.toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

test('an order reference has 128 random bits', () => {
  const texts = Array.from({ length: 100 }, () => newSecretToken());
  for (const text of texts) assert.match(text, /^[a-z2-7]{26}$/);
  assert.equal(new Set(texts).size, texts.length);
});
