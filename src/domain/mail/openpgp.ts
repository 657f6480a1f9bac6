/**
 * Encrypts mail to customers with an OpenPGP key. The library is large, so the first key loads it on
 * demand.
 */
import { fail } from '../../kernel/fail.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { RenderedMail } from './templates/format.ts';

type OpenPgp = typeof import('openpgp');
type PublicKey = Awaited<ReturnType<OpenPgp['readKey']>>;

const BITS_MAX = 16_384;

/** A public key that mail can be encrypted to. */
export interface OpenPgpKey {
  /** 40 or 64 hex digits in upper case. */
  readonly fingerprint: string;
  /** The key to store: its public part only, without surrounding text. */
  readonly armored: string;
  /** When encryption to the key stops working; null: never. */
  readonly expiresAt: Date | null;
}

/**
 * Reads an armored public key of at most 64 KiB and checks that it can encrypt now. Fails with
 * `bad_openpgp_key` and the reason. Uses real time, because keys are created outside the service.
 */
export async function checkOpenPgpKey(armored: string): Promise<OpenPgpKey> {
  const key = await readSingleKey(armored);
  const at = nowWithSkew();
  if (await key.isRevoked(undefined, undefined, at)) failBadKey('This OpenPGP key has been revoked.');
  const end = await key.getExpirationTime();
  if (end instanceof Date && end <= at) failBadKey(`This OpenPGP key expired on ${formatDay(end)}.`);
  const part = await key.getEncryptionKey(undefined, at).catch(() => undefined);
  if (!part) {
    failBadKey(
      'This OpenPGP key cannot encrypt: its encryption subkey is missing, expired, revoked, or too ' +
        'weak. RSA needs at least 2048 bits; ElGamal is not supported.',
    );
  }
  const ends = [end, await part.getExpirationTime()].filter((time) => time instanceof Date);
  return {
    fingerprint: key.getFingerprint().toUpperCase(),
    armored: key.toPublic().armor(),
    expiresAt: ends.length === 0 ? null : new Date(Math.min(...ends.map((time) => time.getTime()))),
  };
}

/**
 * Returns the mail as an armored OpenPGP message around a MIME part (RFC 3156) that contains the real
 * subject. Returns undefined if the key can no longer encrypt.
 */
export async function encryptMail(mail: RenderedMail, armoredKey: string): Promise<string | undefined> {
  const openpgp = await import('openpgp');
  const key = await openpgp.readKey({ armoredKey });
  const at = nowWithSkew();
  if (!(await key.getEncryptionKey(undefined, at).catch(() => undefined))) return undefined;
  const message = await openpgp.createMessage({ binary: Buffer.from(mimePart(mail)) });
  return await openpgp.encrypt({ message, encryptionKeys: key, format: 'armored', date: at });
}

/** Mail clients that support protected headers show this subject instead of the outer one. */
function mimePart({ subject, text }: RenderedMail): string {
  const head = [
    'Content-Type: text/plain; charset=utf-8; protected-headers="v1"',
    'Content-Transfer-Encoding: 8bit',
    `Subject: ${headerText(subject)}`,
  ];
  return [...head, '', ...text.split('\n')].join('\r\n');
}

function headerText(text: string): string {
  return /^[ -~]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
}

async function readSingleKey(armored: string): Promise<PublicKey> {
  if (Buffer.byteLength(armored) > LIMITS.openPgpKeyMaxBytes) {
    failBadKey(
      `The OpenPGP key must be at most ${LIMITS.openPgpKeyMaxBytes / 1024} KiB. Export it without ` +
        'third-party signatures.',
    );
  }
  const openpgp = await import('openpgp');
  const keys = await openpgp.readKeys({ armoredKeys: armored }).catch(() => []);
  const [key, ...others] = keys;
  if (!key)
    failBadKey('Not an armored OpenPGP public key. It must begin with -----BEGIN PGP PUBLIC KEY BLOCK-----.');
  if (others.length > 0) failBadKey('The text contains several OpenPGP keys. Enter one.');
  if (key.isPrivate()) failBadKey('This is a private OpenPGP key. Keep it secret and enter the public key.');
  for (const packet of [key, ...key.getSubkeys()].map((part) => part.getAlgorithmInfo())) {
    // Bound the cost of the arithmetic, which the creator of the key controls.
    if (packet.algorithm === 'dsa')
      failBadKey('This OpenPGP key uses DSA, which is not supported. Create an Ed25519 or RSA key.');
    if ((packet.bits ?? 0) > BITS_MAX)
      failBadKey(`A part of this OpenPGP key has more than ${BITS_MAX} bits. Use a smaller key.`);
  }
  return key;
}

function failBadKey(message: string): never {
  fail('bad_openpgp_key', { field: 'openpgp_key' }, message);
}

/** Allows for clock skew: a key may have been created on a machine whose clock is slightly ahead. */
function nowWithSkew(): Date {
  return new Date(Date.now() + LIMITS.clockSkewS * SECOND_MS);
}

function formatDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}
