/**
 * HMAC (RFC 2104) and HKDF (RFC 5869) with SHA-256, of whole messages. Those of `node:crypto` make objects
 * for each key, which costs as much again as the hashes.
 */
import { hash } from 'node:crypto';

const BLOCK_BYTES = 64;
export const HASH_BYTES = 32;

/** The two blocks that a key begins the hashes with. */
interface HmacKey {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

function prepareKey(key: Uint8Array): HmacKey {
  const short = key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key;
  const inner = Buffer.alloc(BLOCK_BYTES, 0x36);
  const outer = Buffer.alloc(BLOCK_BYTES, 0x5c);
  short.forEach((byte, index) => {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  });
  return { inner, outer };
}

function sign({ inner, outer }: HmacKey, message: Uint8Array): Buffer {
  const digest = hash('sha256', Buffer.concat([inner, message]), 'buffer');
  return hash('sha256', Buffer.concat([outer, digest]), 'buffer');
}

export function hmacSha256(key: Uint8Array, message: Uint8Array): Buffer {
  return sign(prepareKey(key), message);
}

/** No salt is the same as one of zeros. */
const NO_SALT = prepareKey(Buffer.alloc(HASH_BYTES));

/** Derives one block of HASH_BYTES bytes. */
export function hkdfSha256(material: Uint8Array, info: Uint8Array, salt?: Uint8Array): Buffer {
  const secret = sign(salt ? prepareKey(salt) : NO_SALT, material);
  return hmacSha256(secret, Buffer.concat([info, FIRST_BLOCK]));
}

const FIRST_BLOCK = Buffer.of(1);
