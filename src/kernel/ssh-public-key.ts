/**
 * OpenSSH public keys in the format of a `.pub` file: `type base64 comment`. Parses the key itself, because a
 * key that SSH servers reject would lock its owner out of a paid machine.
 */
import { createHash, createPublicKey } from 'node:crypto';
import type { V1Issue } from '../spec/errors.ts';
import { RSA_MAX_BITS, RSA_MIN_BITS, SSH_KEY_TYPES, type SshKeyType } from '../spec/schemas/ssh-key.ts';
import { isPrintable } from './printable.ts';

export interface SshPublicKey {
  readonly type: SshKeyType;
  /** `SHA256:…`, as `ssh-keygen -lf` prints it. */
  readonly fingerprint: string;
  /** One line: `type base64`, and the comment if there is one, separated by single spaces. */
  readonly text: string;
}

/** Why a text is not an accepted key. The message never repeats any of it: it may be a private key. */
export class SshKeyError extends Error {
  readonly issue: V1Issue;
  readonly extras: Readonly<Record<string, number | readonly string[]>>;
  constructor(
    message: string,
    issue: V1Issue = 'invalid_format',
    extras: Readonly<Record<string, number | readonly string[]>> = {},
  ) {
    super(message);
    this.name = 'SshKeyError';
    this.issue = issue;
    this.extras = extras;
  }
}

/** Parses one public key. Throws an SshKeyError that says what to send instead. */
export function parseSshPublicKey(input: string): SshPublicKey {
  const line = input.trim();
  rejectOtherFormats(line);
  const [word = '', encoded = '', comment = ''] = splitKeyLine(line);
  const type = SSH_KEY_TYPES.find((known) => known === word) ?? rejectType(word, line);
  const blob = Buffer.from(encoded, 'base64');
  if (encoded === '' || blob.toString('base64') !== encoded) {
    throw new SshKeyError('The key data is not valid Base64. Send the complete line of the .pub file.');
  }
  if (!isPrintable(comment))
    throw new SshKeyError('The comment of the key contains unprintable characters. Remove them.');
  const reader = new BlobReader(blob);
  if (reader.text() !== type) {
    throw new SshKeyError(
      'The key data does not match the key type. Send the .pub file unchanged.',
      'invalid_value',
    );
  }
  READERS[type](reader);
  if (!reader.atEnd)
    throw new SshKeyError('The key has extra data at its end. Send the .pub file unchanged.');
  const digest = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
  const text = comment === '' ? `${type} ${encoded}` : `${type} ${encoded} ${comment}`;
  return { type, fingerprint: `SHA256:${digest}`, text };
}

/** Splits a line into `type`, `base64`, and the rest. */
function splitKeyLine(line: string): string[] {
  return /^(\S+)[ \t]+(\S+)(?:[ \t]+(.*))?$/u.exec(line)?.slice(1) ?? [line.split(/\s/, 1)[0] ?? ''];
}

function rejectOtherFormats(line: string): void {
  if (/PRIVATE KEY|^PuTTY-User-Key-File/.test(line)) {
    throw new SshKeyError(
      'This is a private key. Keep it secret, and send the .pub file next to it instead.',
    );
  }
  if (/BEGIN (SSH2|RSA)? ?PUBLIC KEY/.test(line)) {
    throw new SshKeyError(
      'This public key has another format. Convert it to OpenSSH with `ssh-keygen -i -f FILE`.',
    );
  }
  if (/[\r\n]/.test(line)) throw new SshKeyError('A key must be one line. Add several keys one by one.');
}

function rejectType(word: string, line: string): never {
  if (word.includes('-cert-v0')) {
    throw new SshKeyError(
      'Certificates are not supported. Send the public key that was certified.',
      'invalid_value',
      { allowed: SSH_KEY_TYPES },
    );
  }
  if (SSH_KEY_TYPES.some((type) => line.includes(`${type} `))) {
    throw new SshKeyError('Options before the key are not supported. Start with the key type.');
  }
  throw new SshKeyError(
    `A public key must start with its type: ${SSH_KEY_TYPES.join(', ')}.`,
    'invalid_value',
    { allowed: SSH_KEY_TYPES },
  );
}

/** Reads the fields of a key, each preceded by its length (RFC 4251). */
class BlobReader {
  readonly #blob: Buffer;
  #offset = 0;

  constructor(blob: Buffer) {
    this.#blob = blob;
  }

  get atEnd(): boolean {
    return this.#offset === this.#blob.length;
  }

  bytes(): Buffer {
    const from = this.#offset + 4;
    const length = from <= this.#blob.length ? this.#blob.readUInt32BE(this.#offset) : Number.NaN;
    if (!(from + length <= this.#blob.length))
      throw new SshKeyError('The key is incomplete. Send the complete line of the .pub file.');
    this.#offset = from + length;
    return this.#blob.subarray(from, this.#offset);
  }

  text(): string {
    return this.bytes().toString('latin1');
  }

  /** Reads a positive number in its only valid encoding: no leading zero except a required sign byte. */
  mpint(): Buffer {
    const bytes = this.bytes();
    const [first = 0x80, second = 0x80] = bytes;
    const negative = (first & 0x80) !== 0;
    const padded = first === 0 && (second & 0x80) === 0;
    if (negative || padded || (first === 0 && bytes.length === 1)) throw unusableKey();
    return first === 0 ? bytes.subarray(1) : bytes;
  }
}

const READERS: Readonly<Record<SshKeyType, (reader: BlobReader) => void>> = {
  'ssh-ed25519': (reader) => {
    if (reader.bytes().length !== 32) throw unusableKey();
  },
  'ssh-rsa': readRsa,
  'ecdsa-sha2-nistp256': (reader) => readEcdsa(reader, 'nistp256', 'P-256', 32),
  'ecdsa-sha2-nistp384': (reader) => readEcdsa(reader, 'nistp384', 'P-384', 48),
  'ecdsa-sha2-nistp521': (reader) => readEcdsa(reader, 'nistp521', 'P-521', 66),
};

function readRsa(reader: BlobReader): void {
  const exponent = reader.mpint();
  const modulus = reader.mpint();
  const bits = bitLength(modulus);
  if (bits < RSA_MIN_BITS || bits > RSA_MAX_BITS) {
    throw new SshKeyError(
      `An RSA key must have ${RSA_MIN_BITS} to ${RSA_MAX_BITS} bits; this one has ${bits}.`,
      'invalid_value',
      { min: RSA_MIN_BITS, max: RSA_MAX_BITS },
    );
  }
  const odd = (number: Buffer) => ((number.at(-1) ?? 0) & 1) === 1;
  if (!odd(exponent) || !odd(modulus) || bitLength(exponent) < 2 || bitLength(exponent) >= bits)
    throw unusableKey();
}

/** Checks that the point is on the curve: OpenSSL does so when it creates a key from it. */
function readEcdsa(reader: BlobReader, curve: string, crv: string, bytes: number): void {
  if (reader.text() !== curve) throw unusableKey();
  const point = reader.bytes();
  if (point.length !== 1 + 2 * bytes || point[0] !== 4) throw unusableKey();
  const x = point.subarray(1, 1 + bytes).toString('base64url');
  const y = point.subarray(1 + bytes).toString('base64url');
  try {
    createPublicKey({ key: { kty: 'EC', crv, x, y }, format: 'jwk' });
  } catch {
    throw unusableKey();
  }
}

function bitLength(number: Buffer): number {
  return number.length * 8 - Math.clz32(number[0] ?? 0) + 24;
}

function unusableKey(): SshKeyError {
  return new SshKeyError(
    'SSH servers would reject this key. Create a new one with ssh-keygen.',
    'invalid_value',
  );
}
