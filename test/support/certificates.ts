/**
 * Certificates for receivers on this machine: a test authority and the certificates that it issues. Writes
 * only as much X.509 DER as TLS requires. Keys are P-256.
 */
import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';

export interface Certificate {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  /** Issues a certificate for these names and addresses. */
  issue(names: readonly string[], options?: { readonly expired?: boolean }): Certificate;
}

const DAY_MS = 86_400_000;

export function createAuthority(name = 'Test CA'): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const constraints = extension('551d13', sequence(boolean(true)), true);
  const caCertificate = createCertificate(
    { issuer: name, subject: name, publicKey, extensions: [constraints] },
    privateKey,
  );
  return {
    cert: caCertificate,
    key: pem(privateKey),
    issue: (names, { expired = false } = {}) => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const alternatives = extension('551d11', sequence(...names.map(generalName)));
      const notAfter = new Date(Date.now() + (expired ? -1 : 30) * DAY_MS);
      const cert = createCertificate(
        {
          issuer: name,
          subject: names[0] ?? 'none',
          publicKey: pair.publicKey,
          extensions: [alternatives],
          notAfter,
        },
        privateKey,
      );
      return { cert, key: pem(pair.privateKey) };
    },
  };
}

interface CertificateOptions {
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly notAfter?: Date;
}

function createCertificate(options: CertificateOptions, issuerKey: KeyObject): string {
  const { issuer, subject, publicKey, extensions, notAfter = new Date(Date.now() + 30 * DAY_MS) } = options;
  const ecdsaSha256 = sequence(objectIdentifier('2a8648ce3d040302'));
  const signed = sequence(
    encodeTagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaSha256,
    distinguishedName(issuer),
    sequence(generalizedTime(new Date(Date.now() - 2 * DAY_MS)), generalizedTime(notAfter)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeTagged(0xa3, sequence(...extensions)),
  );
  const signature = createSign('sha256').update(signed).sign(issuerKey);
  const der = sequence(signed, ecdsaSha256, encodeTagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const text = der.toString('base64').replace(/(.{64})/g, '$1\n');
  return `-----BEGIN CERTIFICATE-----\n${text.trimEnd()}\n-----END CERTIFICATE-----\n`;
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function encodeTagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const lengthBytes =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return encodeTagged(0x30, Buffer.concat(parts));
}

function integer(bytes: Buffer): Buffer {
  return encodeTagged(0x02, bytes);
}

function boolean(value: boolean): Buffer {
  return encodeTagged(0x01, Buffer.from([value ? 0xff : 0]));
}

function objectIdentifier(hex: string): Buffer {
  return encodeTagged(0x06, Buffer.from(hex, 'hex'));
}

function distinguishedName(commonName: string): Buffer {
  const attribute = sequence(objectIdentifier('550403'), encodeTagged(0x0c, Buffer.from(commonName)));
  return sequence(encodeTagged(0x31, attribute));
}

function generalizedTime(at: Date): Buffer {
  const text = at.toISOString().replace(/[-:T]|\.\d+/g, '');
  return encodeTagged(0x18, Buffer.from(text));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(objectIdentifier(id), ...(critical ? [boolean(true)] : []), encodeTagged(0x04, value));
}

function generalName(name: string): Buffer {
  if (isIP(name) === 4) return encodeTagged(0x87, Buffer.from(name.split('.').map(Number)));
  if (name === '::1') return encodeTagged(0x87, Buffer.concat([Buffer.alloc(15), Buffer.from([1])]));
  return encodeTagged(0x82, Buffer.from(name));
}
