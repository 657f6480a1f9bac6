import assert from 'node:assert/strict';
import { createHmac, hkdfSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { HASH_BYTES, hkdfSha256, hmacSha256 } from '../../../src/kernel/crypt/hkdf.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';

const hex = (text: string) => Buffer.from(text, 'hex');
const text = (value: string) => Buffer.from(value);
const bytes = fc.uint8Array({ maxLength: 300 });

/** RFC 4231, sections 4.2 to 4.8; 4.6 truncates the digest. */
const HMAC_VECTORS: readonly [key: Buffer, message: Buffer, digest: string][] = [
  [
    Buffer.alloc(20, 0x0b),
    text('Hi There'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  ],
  [
    text('Jefe'),
    text('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    Buffer.alloc(20, 0xaa),
    Buffer.alloc(50, 0xdd),
    '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
  ],
  [
    hex('0102030405060708090a0b0c0d0e0f10111213141516171819'),
    Buffer.alloc(50, 0xcd),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  ],
  [
    Buffer.alloc(131, 0xaa),
    text('Test Using Larger Than Block-Size Key - Hash Key First'),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    Buffer.alloc(131, 0xaa),
    text(
      'This is a test using a larger than block-size key and a larger than block-size data. The key needs ' +
        'to be hashed before being used by the HMAC algorithm.',
    ),
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  ],
];

/** RFC 5869, appendix A.1 to A.3: the first block of each output. */
const HKDF_VECTORS: readonly [material: Buffer, salt: Buffer | undefined, info: Buffer, output: string][] = [
  [
    Buffer.alloc(22, 0x0b),
    hex('000102030405060708090a0b0c'),
    hex('f0f1f2f3f4f5f6f7f8f9'),
    '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf',
  ],
  [
    Buffer.from(Array.from({ length: 80 }, (_, n) => n)),
    Buffer.from(Array.from({ length: 80 }, (_, n) => 0x60 + n)),
    Buffer.from(Array.from({ length: 80 }, (_, n) => 0xb0 + n)),
    'b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c',
  ],
  [
    Buffer.alloc(22, 0x0b),
    undefined,
    Buffer.alloc(0),
    '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d',
  ],
];

test('HMAC-SHA-256 gives the digests of RFC 4231', () => {
  for (const [key, message, digest] of HMAC_VECTORS)
    assert.equal(hmacSha256(key, message).toString('hex'), digest);
});

test('HKDF-SHA-256 gives the outputs of RFC 5869', () => {
  for (const [material, salt, info, output] of HKDF_VECTORS)
    assert.equal(hkdfSha256(material, info, salt).toString('hex'), output);
});

test('HMAC and HKDF give what node:crypto gives, for any input', () => {
  fc.assert(
    fc.property(bytes, bytes, bytes, (key, message, salt) => {
      assert.deepEqual(hmacSha256(key, message), createHmac('sha256', key).update(message).digest());
      const theirs = Buffer.from(hkdfSync('sha256', key, salt, message, HASH_BYTES));
      assert.deepEqual(hkdfSha256(key, message, salt), theirs);
    }),
    { numRuns: PROPERTY_RUNS },
  );
});
