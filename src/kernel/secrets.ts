/**
 * The service's keys. A sealed value names the key that sealed it, so keys can be rotated: new values use the
 * newest key, and old values open while their key is in the list. Each purpose derives its own key, so a
 * value sealed for one purpose never opens for another. Each value is bound to its place in the database
 * (spec/sealed.ts), so write access to the database alone is not enough to swap two values.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { SealedColumn } from '../spec/sealed.ts';
import { hkdfSha256 } from './crypt/hkdf.ts';

/** The part of a sealed value between its key id and its bytes. Values without it are bound to no place. */
const BOUND = '2';

export class KeyRing {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #newest: string;
  /** Derived keys by key id and purpose. Purposes are constants, so there are few. */
  readonly #derived = new Map<string, KeyObject>();

  /** `text` is `id:base64,id:base64,…` of 32-byte keys, newest first. The RangeError shows no key. */
  constructor(text: string) {
    const keys = new Map<string, Buffer>();
    for (const part of text.split(',').map((piece) => piece.trim())) {
      const [id, encoded, ...rest] = part.split(':');
      const key = Buffer.from(encoded ?? '', 'base64');
      if (!id || !/^[a-z0-9_-]{1,16}$/i.test(id) || rest.length > 0 || key.length !== 32) {
        throw new RangeError('each key must be id:base64 of 32 bytes, separated by commas, newest first');
      }
      if (keys.has(id)) throw new RangeError(`two keys have the id ${id}`);
      keys.set(id, key);
    }
    this.#keys = keys;
    this.#newest = [...keys.keys()][0] ?? '';
  }

  /** Generates a key list with one new key. */
  static generate(): string {
    return `k1:${randomBytes(32).toString('base64')}`;
  }

  /**
   * Returns why the list must not protect real customers, or null. An older weak key may stay until its
   * values are sealed with a newer one.
   */
  weakness(): string | null {
    const keys = [...this.#keys.values()];
    const distinct = new Set(keys.map((key) => key.toString('hex')));
    if (distinct.size < keys.length) return 'two keys are the same; generate each one';
    return keys.slice(0, 1).every(isRandom) ? null : 'the newest key is not random; generate it';
  }

  get newestId(): string {
    return this.#newest;
  }

  /** Newest first. */
  get ids(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** Encrypts the value of a row. Returns `keyId.2.base64url`. */
  seal(at: SealedColumn, row: string, plain: Uint8Array | string): string {
    const sealed = sealWith(this.#derive(this.#newest, at.purpose), plain, placeOf(at, row));
    return `${this.sealedPrefix}${sealed.toString('base64url')}`;
  }

  /**
   * Decrypts the sealed value of a row. Throws if it was tampered with, or sealed for another place or by an
   * unknown key. A value of version 0.1 or earlier, `keyId.base64url`, is bound only to its purpose.
   */
  open(at: SealedColumn, row: string, sealed: string): Buffer {
    const [keyId = '', ...rest] = sealed.split('.');
    const isBound = rest.length === 2 && rest[0] === BOUND;
    if (!isBound && rest.length !== 1) throw new Error('not a sealed value');
    const bytes = Buffer.from(rest.at(-1) ?? '', 'base64url');
    return openWith(this.#derive(keyId, at.purpose), bytes, isBound ? placeOf(at, row) : undefined);
  }

  /** The beginning of a value that is sealed with the newest key and bound to its place. */
  get sealedPrefix(): string {
    return `${this.#newest}.${BOUND}.`;
  }

  /**
   * Returns a keyed hash for comparing or deriving. Pass an older `keyId` if the value outlives a rotation.
   */
  hmac(purpose: string, data: Uint8Array | string, keyId: string = this.#newest): Buffer {
    return createHmac('sha256', this.#derive(keyId, purpose)).update(data).digest();
  }

  has(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  #derive(keyId: string, purpose: string): KeyObject {
    const key = this.#keys.get(keyId);
    if (!key) throw new Error('sealed with a key that is not in SKERRY_SECRET_KEY');
    const cacheKey = `${keyId} ${purpose}`;
    const cached = this.#derived.get(cacheKey);
    if (cached) return cached;
    const derived = deriveKey(key, purpose);
    this.#derived.set(cacheKey, derived);
    return derived;
  }
}

/** Derives a 32-byte key for one purpose from other key material. */
export function deriveKey(material: Uint8Array, purpose: string): KeyObject {
  // Node is slow with keys that are bytes: each use of them throws and catches an error.
  return createSecretKey(hkdfSha256(material, Buffer.from(`skerry/${purpose}`)));
}

function placeOf({ table, column }: SealedColumn, row: string): Buffer {
  return Buffer.from(JSON.stringify([table, column, row]));
}

/** Encrypts with AES-256-GCM. Returns nonce, tag and ciphertext. `place` must be given to open it, too. */
export function sealWith(key: KeyObject, plain: Uint8Array | string, place: Uint8Array = NO_PLACE): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(place);
  const body = Buffer.concat([cipher.update(plain as Uint8Array), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

export function openWith(key: KeyObject, sealed: Uint8Array, place: Uint8Array = NO_PLACE): Buffer {
  const bytes = Buffer.from(sealed);
  // Without the tag length, a truncated value would be accepted with a truncated tag.
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 });
  decipher.setAAD(place).setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
}

const NO_PLACE = Buffer.alloc(0);

/** SHA-256: the stored form of a token or a session cookie, both of which are 256 random bits. */
export function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Compares two texts in a time that does not reveal where they differ. */
export function timingSafeEqualText(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

/**
 * Whether a key can be random bytes: not text, not a count, and not a few bytes repeated. Refuses one random
 * key of 10^13.
 */
function isRandom(key: Buffer): boolean {
  const steps = key.map((byte, index) => byte - (key[index - 1] ?? 0)).subarray(1);
  const isText = /^[\x20-\x7e]*$/.test(key.toString('latin1'));
  return !isText && new Set(key).size >= 16 && new Set(steps).size > 1;
}
