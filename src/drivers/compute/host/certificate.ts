/**
 * Self-signed certificates for mutual TLS. Peers pin their fingerprint and read nothing else in them, so this
 * writes the few fields of X.509 that TLS requires. Keys are P-256.
 */
import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { TlsIdentity } from './pinned-tls.ts';

const VALID_YEARS = 20;
/** A host whose clock is behind accepts it, too. */
const BACKDATED_MS = 86_400_000;

const ECDSA_SHA256 = sequence(tagged(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
const COMMON_NAME = tagged(0x06, Buffer.from('550403', 'hex'));

/** `name` is only for people who look at the certificate. */
export function createIdentity(name: string, now = new Date()): TlsIdentity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const until = new Date(now);
  until.setUTCFullYear(until.getUTCFullYear() + VALID_YEARS);
  const subject = sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(name)))));
  const signed = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    // A leading 1 keeps the number positive.
    tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_SHA256,
    subject,
    sequence(time(new Date(now.getTime() - BACKDATED_MS)), time(until)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = createSign('sha256').update(signed).sign(privateKey);
  const der = sequence(signed, ECDSA_SHA256, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    certificate: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** DER: a tag, the length in one to three bytes, and the content. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...(length < 0x80 ? [length] : long)]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

/** GeneralizedTime: X.509 requires the other form of time until 2049, but no TLS library refuses this one. */
function time(at: Date): Buffer {
  return tagged(0x18, Buffer.from(at.toISOString().replace(/[-:T]|\.\d+/g, '')));
}
