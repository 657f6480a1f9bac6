/** Mails to customers who gave an OpenPGP key. The library is large and slow to load: it is, when the first key is met. */
import { fail } from '../../kernel/fail.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Rendered } from './layout.ts';

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
  const key = await readOnly(armored);
  const at = thisMoment();
  if (await key.isRevoked(undefined, undefined, at)) bad('This OpenPGP key was revoked.');
  const end = await key.getExpirationTime();
  if (end instanceof Date && end <= at) bad(`This OpenPGP key expired on ${dayOf(end)}.`);
  const part = await key.getEncryptionKey(undefined, at).catch(() => undefined);
  if (!part) {
    bad(
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
export async function encryptMail(mail: Rendered, armoredKey: string): Promise<string | undefined> {
  const openpgp = await import('openpgp');
  const key = await openpgp.readKey({ armoredKey });
  const at = thisMoment();
  if (!(await key.getEncryptionKey(undefined, at).catch(() => undefined))) return undefined;
  const message = await openpgp.createMessage({ binary: Buffer.from(mimePart(mail)) });
  return await openpgp.encrypt({ message, encryptionKeys: key, format: 'armored', date: at });
}

/** Mail programs that know protected headers show the subject in here instead of the one outside. */
function mimePart({ subject, text }: Rendered): string {
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

async function readOnly(armored: string): Promise<PublicKey> {
  if (Buffer.byteLength(armored) > LIMITS.openPgpKeyMaxBytes) {
    bad(
      `An OpenPGP key has at most ${LIMITS.openPgpKeyMaxBytes / 1024} KiB; export it without others' signatures.`,
    );
  }
  const openpgp = await import('openpgp');
  const keys = await openpgp.readKeys({ armoredKeys: armored }).catch(() => []);
  const [key, ...others] = keys;
  if (!key)
    bad('This is no armored OpenPGP public key; it begins with -----BEGIN PGP PUBLIC KEY BLOCK-----.');
  if (others.length > 0) bad('These are several OpenPGP keys; give one.');
  if (key.isPrivate())
    bad('This is a private OpenPGP key, which nobody else should have; give the public one.');
  for (const packet of [key, ...key.getSubkeys()].map((part) => part.getAlgorithmInfo())) {
    // Their arithmetic takes as long as whoever made the key likes.
    if (packet.algorithm === 'dsa')
      bad('This OpenPGP key uses DSA, which is not taken; make one for Ed25519 or RSA.');
    if ((packet.bits ?? 0) > BITS_MAX) bad(`A part of this OpenPGP key has more than ${BITS_MAX} bits.`);
  }
  return key;
}

function bad(message: string): never {
  fail('bad_openpgp_key', { field: 'openpgp_key' }, message);
}

/** Our clock may be a little behind that of whoever has just made a key. */
function thisMoment(): Date {
  return new Date(Date.now() + LIMITS.clockSkewS * SECOND_MS);
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}
