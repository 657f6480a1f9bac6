/** Mails to customers who gave an OpenPGP key. The library is large and slow to load: it is, when the first key is met. */
import { fail } from '../../kernel/fail.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { RenderedMail } from './layout.ts';

type OpenPgp = typeof import('openpgp');
type PublicKey = Awaited<ReturnType<OpenPgp['readKey']>>;

const BITS_MAX = 16_384;

/** A key that mails can be encrypted to. */
export interface OpenPgpKey {
  /** 40 or 64 hex digits in upper case. */
  readonly fingerprint: string;
  /** The key as it is to be stored: its public part alone, without whatever stood around it. */
  readonly armored: string;
  /** From then on nothing can be encrypted to it; null: never. */
  readonly expiresAt: Date | null;
}

/**
 * Reads an armored public key of at most 64 KiB that can be encrypted to now. Refuses with `bad_openpgp_key`, and says what
 * is wrong with it. Real time counts: keys are made outside.
 */
export async function checkOpenPgpKey(armored: string): Promise<OpenPgpKey> {
  const key = await readSingleKey(armored);
  const at = nowWithSkew();
  if (await key.isRevoked(undefined, undefined, at)) failBadKey('This OpenPGP key was revoked.');
  const end = await key.getExpirationTime();
  if (end instanceof Date && end <= at) failBadKey(`This OpenPGP key expired on ${formatDay(end)}.`);
  const part = await key.getEncryptionKey(undefined, at).catch(() => undefined);
  if (!part) {
    failBadKey(
      'Nothing can be encrypted to this OpenPGP key: it has no part for that, or that part has expired, was revoked or is ' +
        'too weak (RSA needs 2048 bits; ElGamal is not taken).',
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
 * The mail as an armored OpenPGP message around a MIME part (RFC 3156), with its true subject inside; undefined when
 * nothing can be encrypted to the key any more.
 */
export async function encryptMail(mail: RenderedMail, armoredKey: string): Promise<string | undefined> {
  const openpgp = await import('openpgp');
  const key = await openpgp.readKey({ armoredKey });
  const at = nowWithSkew();
  if (!(await key.getEncryptionKey(undefined, at).catch(() => undefined))) return undefined;
  const message = await openpgp.createMessage({ binary: Buffer.from(mimePart(mail)) });
  return await openpgp.encrypt({ message, encryptionKeys: key, format: 'armored', date: at });
}

/** Mail programs that know protected headers show the subject in here instead of the one outside. */
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
      `An OpenPGP key has at most ${LIMITS.openPgpKeyMaxBytes / 1024} KiB; export it without others' signatures.`,
    );
  }
  const openpgp = await import('openpgp');
  const keys = await openpgp.readKeys({ armoredKeys: armored }).catch(() => []);
  const [key, ...others] = keys;
  if (!key)
    failBadKey('This is no armored OpenPGP public key; it begins with -----BEGIN PGP PUBLIC KEY BLOCK-----.');
  if (others.length > 0) failBadKey('These are several OpenPGP keys; give one.');
  if (key.isPrivate())
    failBadKey('This is a private OpenPGP key, which nobody else should have; give the public one.');
  for (const packet of [key, ...key.getSubkeys()].map((part) => part.getAlgorithmInfo())) {
    // Their arithmetic takes as long as whoever made the key likes.
    if (packet.algorithm === 'dsa')
      failBadKey('This OpenPGP key uses DSA, which is not taken; make one for Ed25519 or RSA.');
    if ((packet.bits ?? 0) > BITS_MAX)
      failBadKey(`A part of this OpenPGP key has more than ${BITS_MAX} bits.`);
  }
  return key;
}

function failBadKey(message: string): never {
  fail('bad_openpgp_key', { field: 'openpgp_key' }, message);
}

/** Our clock may be a little behind that of whoever has just made a key. */
function nowWithSkew(): Date {
  return new Date(Date.now() + LIMITS.clockSkewS * SECOND_MS);
}

function formatDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}
