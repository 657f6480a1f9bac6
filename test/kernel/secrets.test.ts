import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  deriveKey,
  digest,
  KeyRing,
  openWith,
  sealWith,
  timingSafeEqualText,
} from '../../src/kernel/secrets.ts';
import type { SealedColumn } from '../../src/spec/sealed.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const OLD = `old:${key(1)}`;
const NEW = `new:${key(2)}`;
const plain = fc.uint8Array({ maxLength: 200 });
const AT: SealedColumn = { purpose: 'x', table: 't', column: 'c', row: 'id' };
const ROW = '1';

test('a sealed value opens for the same purpose', () => {
  const ring = new KeyRing(KeyRing.generate());
  fc.assert(
    fc.property(plain, fc.string(), (bytes, purpose) => {
      assert.deepEqual(
        ring.open({ ...AT, purpose }, ROW, ring.seal({ ...AT, purpose }, ROW, bytes)),
        Buffer.from(bytes),
      );
    }),
    { numRuns: PROPERTY_RUNS },
  );
  assert.equal(ring.open(AT, ROW, ring.seal(AT, ROW, 'größer')).toString('utf8'), 'größer');
});

test('a sealed value does not reveal its content, and no two are equal', () => {
  const ring = new KeyRing(OLD);
  const sealed = ring.seal(AT, ROW, 'correct horse');
  assert.match(sealed, /^old\.2\.[A-Za-z0-9_-]+$/);
  assert.ok(!Buffer.from(sealed.slice(6), 'base64url').includes('horse'));
  assert.notEqual(sealed, ring.seal(AT, ROW, 'correct horse'));
});

test('a value sealed for one purpose does not open for another', () => {
  const ring = new KeyRing(OLD);
  assert.throws(() => ring.open({ ...AT, purpose: 'y' }, ROW, ring.seal(AT, ROW, 'x')));
});

test('a sealed value with a changed bit or a missing part does not open', () => {
  const ring = new KeyRing(OLD);
  fc.assert(
    fc.property(plain, fc.nat(), fc.integer({ min: 0, max: 7 }), fc.nat(), (bytes, at, bit, length) => {
      const sealed = Buffer.from(ring.seal(AT, ROW, bytes).slice(6), 'base64url');
      const changed = Buffer.from(sealed);
      const offset = at % changed.length;
      changed.writeUInt8(changed.readUInt8(offset) ^ (1 << bit), offset);
      assert.throws(() => ring.open(AT, ROW, `old.2.${changed.toString('base64url')}`));
      const cut = sealed.subarray(0, length % sealed.length);
      assert.throws(() => ring.open(AT, ROW, `old.2.${cut.toString('base64url')}`), 'cut');
    }),
    { numRuns: PROPERTY_RUNS * 10 },
  );
});

test('the tag of an empty secret cannot be shortened', () => {
  const made = deriveKey(Buffer.alloc(32), 'x');
  const sealed = sealWith(made, '');
  assert.equal(openWith(made, sealed).length, 0);
  for (let length = 0; length < sealed.length; length++) {
    assert.throws(() => openWith(made, sealed.subarray(0, length)), `${length} bytes`);
  }
});

test('a text that was never sealed does not open', () => {
  const ring = new KeyRing(OLD);
  for (const text of [
    '',
    '.',
    'old',
    'old.',
    'old.AAAA',
    'old.2.AAAA',
    'old.3.AAAA',
    'old.2.AAAA.',
    'unknown.AAAA',
    '__proto__.AAAA',
    'plain text',
  ]) {
    assert.throws(() => ring.open(AT, ROW, text), JSON.stringify(text));
  }
});

test('after a key rotation, the newest key seals, old keys open, and removed keys do not', () => {
  const before = new KeyRing(OLD);
  const during = new KeyRing(`${NEW},${OLD}`);
  const after = new KeyRing(NEW);
  const sealed = before.seal(AT, ROW, 'kept');
  assert.equal(during.open(AT, ROW, sealed).toString(), 'kept');
  assert.equal(during.newestId, 'new');
  assert.equal(after.open(AT, ROW, during.seal(AT, ROW, 'kept')).toString(), 'kept');
  assert.throws(() => after.open(AT, ROW, sealed), /SKERRY_SECRET_KEY/);
  assert.deepEqual([after.has('new'), after.has('old')], [true, false]);
});

test('a sealed value does not open with another key of the same id', () => {
  const sealed = new KeyRing(`a:${key(1)}`).seal(AT, ROW, 'kept');
  assert.throws(() => new KeyRing(`a:${key(2)}`).open(AT, ROW, sealed));
});

test('a keyed hash depends on its key and purpose, and can use an older key', () => {
  const before = new KeyRing(OLD);
  const during = new KeyRing(`${NEW},${OLD}`);
  assert.deepEqual(during.hmac('x', 'data', 'old'), before.hmac('x', 'data'));
  assert.notDeepEqual(during.hmac('x', 'data'), before.hmac('x', 'data'));
  assert.notDeepEqual(during.hmac('y', 'data'), during.hmac('x', 'data'));
});

test('a key list may have spaces around its commas', () => {
  assert.equal(new KeyRing(` ${NEW} , ${OLD} `).newestId, 'new');
});

for (const [fault, list] of Object.entries({
  'no keys': '',
  'a key without an id': key(1),
  'an empty id': `:${key(1)}`,
  'an id with other characters': `a b:${key(1)}`,
  'an id that is too long': `${'a'.repeat(17)}:${key(1)}`,
  'a key that is too short': `a:${Buffer.alloc(31, 1).toString('base64')}`,
  'a key that is too long': `a:${Buffer.alloc(33, 1).toString('base64')}`,
  'a third part': `a:${key(1)}:b`,
  'a comma at the end': `a:${key(1)},`,
  'two keys with one id': `a:${key(1)},a:${key(2)}`,
})) {
  test(`a key list with ${fault} is rejected, and the error shows no key`, () => {
    assert.throws(
      () => new KeyRing(list),
      (error: unknown) => {
        assert.ok(error instanceof RangeError);
        assert.doesNotMatch(error.message, /AQEB|AgIC/);
        return true;
      },
    );
  });
}

test('a generated key list has one key, different each time', () => {
  const [one, other] = [KeyRing.generate(), KeyRing.generate()];
  assert.notEqual(one, other);
  assert.throws(() => new KeyRing(one).open(AT, ROW, new KeyRing(other).seal(AT, ROW, 'y')));
});

test('timingSafeEqualText compares texts of any length', () => {
  assert.ok(timingSafeEqualText('', ''));
  assert.ok(timingSafeEqualText('abc', 'abc'));
  assert.ok(!timingSafeEqualText('abc', 'abd'));
  assert.ok(!timingSafeEqualText('abc', 'abcd'));
  assert.equal(digest('abc').toString('hex').slice(0, 8), 'ba7816bf');
});
