/**
 * X.509 certificates between the control plane and its hosts. The control plane has an authority. It issues
 * short-lived certificates: one for itself, and one per host. The role is in the extended key usage, and the
 * alternative name says for whom a certificate was issued, so none works in another one's place. P-256 keys.
 */
import { createHash, createPrivateKey, createPublicKey, webcrypto, X509Certificate } from 'node:crypto';
import type { Extension, JsonName, PublicKeyType } from '@peculiar/x509';
import { DAY_MS } from './time.ts';

/** Both PEM. The certificates of its issuers may follow the first one. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
}

export type CertificateRole = 'control plane' | 'host';

/** For whom a certificate is: a URI, and the role. */
export interface CertificateSubject {
  readonly uri: string;
  readonly role: CertificateRole;
}

export const CONTROL_PLANE: CertificateSubject = { uri: 'urn:skerry:control-plane', role: 'control plane' };

/** `identity` is the id of one invitation: a host that is invited again is another subject. */
export function hostSubject(identity: string): CertificateSubject {
  return { uri: `urn:skerry:host:${identity}`, role: 'host' };
}

/** The control plane connects, and hosts are connected to. */
export const ROLE_USAGE: Readonly<Record<CertificateRole, string>> = {
  'control plane': '1.3.6.1.5.5.7.3.2',
  host: '1.3.6.1.5.5.7.3.1',
};

const VALID_DAYS = 30;
const AUTHORITY_VALID_DAYS = 20 * 365;
/** A peer whose clock is behind accepts it, too. */
const BACKDATED_MS = DAY_MS;
const REQUEST_MAX_CHARACTERS = 4_096;

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Loaded on first use: it takes a quarter of a second, and most processes never issue a certificate. */
async function loadX509(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto as never);
  return x509;
}

export async function createAuthority(now = new Date()): Promise<TlsIdentity> {
  const { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension } = await loadX509();
  const extensions = [
    new BasicConstraintsExtension(true, 0, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
  ];
  return await selfSign(await createKey(), {
    name: 'Skerry authority',
    days: AUTHORITY_VALID_DAYS,
    extensions,
    now,
  });
}

/** A certificate for the time until the authority has issued one. */
export async function createTemporary(key: string, now = new Date()): Promise<TlsIdentity> {
  return await selfSign(key, { name: 'Skerry host that joins', days: 1, extensions: [], now });
}

/** Makes a key and, for its certificate, a request. The key never leaves the machine. */
export async function createRequest(
  name: string,
): Promise<{ readonly key: string; readonly request: string }> {
  const { Pkcs10CertificateRequestGenerator } = await loadX509();
  const key = await createKey();
  const keys = await cryptoKeys(key);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: commonName(name),
    keys,
    signingAlgorithm: ALGORITHM,
  });
  return { key, request: request.toString('pem') };
}

/** Returns the name in a request. Throws a RangeError unless its P-256 key signed it. */
export async function checkRequest(request: string): Promise<string> {
  const { name } = await parseRequest(request);
  return name;
}

/** Issues a certificate for the key of a request. Nothing else of the request counts. */
export async function issueForRequest(
  authority: TlsIdentity,
  request: string,
  {
    name,
    subject,
    now = new Date(),
  }: { readonly name: string; readonly subject: CertificateSubject; readonly now?: Date },
): Promise<string> {
  const { publicKey } = await parseRequest(request);
  return await issue(authority, publicKey, { name, subject, now });
}

/** Makes a key and its certificate. The authority's follows, for peers that know only its fingerprint. */
export async function issueIdentity(
  authority: TlsIdentity,
  {
    name,
    subject,
    now = new Date(),
  }: { readonly name: string; readonly subject: CertificateSubject; readonly now?: Date },
): Promise<TlsIdentity> {
  const key = await createKey();
  const { publicKey } = await cryptoKeys(key);
  const certificate = await issue(authority, publicKey, { name, subject, now });
  return { certificate: `${certificate}\n${authority.certificate}`, key };
}

/** SHA-256 in hex of a certificate, or of the first one in a PEM text. */
export function fingerprintOf(certificate: string | X509Certificate): string {
  const { raw } = typeof certificate === 'string' ? new X509Certificate(certificate) : certificate;
  return createHash('sha256').update(raw).digest('hex');
}

/** From when on a certificate is renewed: two thirds of its life. */
export function renewalTime({ validFromDate: from, validToDate: until }: X509Certificate): Date {
  return new Date(from.getTime() + ((until.getTime() - from.getTime()) * 2) / 3);
}

/** Whether a certificate is for this private key. */
export function isCertificateOf(certificate: X509Certificate, key: string): boolean {
  return certificate.checkPrivateKey(createPrivateKey(key));
}

async function createKey(): Promise<string> {
  const { privateKey } = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString();
}

async function cryptoKeys(key: string): Promise<webcrypto.CryptoKeyPair> {
  const privateKey = createPrivateKey(key).toCryptoKey(ALGORITHM, false, ['sign']);
  const publicKey = createPublicKey(key).toCryptoKey(ALGORITHM, true, ['verify']);
  return { privateKey, publicKey } as webcrypto.CryptoKeyPair;
}

async function selfSign(
  key: string,
  {
    name,
    days,
    extensions,
    now,
  }: { readonly name: string; readonly days: number; readonly extensions: Extension[]; readonly now: Date },
): Promise<TlsIdentity> {
  const { X509CertificateGenerator } = await loadX509();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: commonName(name),
    keys: await cryptoKeys(key),
    signingAlgorithm: ALGORITHM,
    extensions,
    ...validity(now, days),
  });
  return { certificate: certificate.toString('pem'), key };
}

async function issue(
  authority: TlsIdentity,
  publicKey: PublicKeyType,
  { name, subject, now }: { readonly name: string; readonly subject: CertificateSubject; readonly now: Date },
): Promise<string> {
  const x509 = await loadX509();
  const { privateKey: signingKey } = await cryptoKeys(authority.key);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: commonName(name),
    issuer: new x509.X509Certificate(authority.certificate).subjectName,
    publicKey,
    signingKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([ROLE_USAGE[subject.role]], true),
      new x509.SubjectAlternativeNameExtension([{ type: 'url', value: subject.uri }]),
    ],
    ...validity(now, VALID_DAYS),
  });
  return certificate.toString('pem');
}

async function parseRequest(
  text: string,
): Promise<{ readonly name: string; readonly publicKey: PublicKeyType }> {
  const { Pkcs10CertificateRequest } = await loadX509();
  if (text.length > REQUEST_MAX_CHARACTERS) throw new RangeError('the certificate request is too long');
  try {
    const request = new Pkcs10CertificateRequest(text);
    const key = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' });
    const isSigned = key.asymmetricKeyDetails?.namedCurve === 'prime256v1' && (await request.verify());
    if (isSigned) return { name: request.subjectName.getField('CN')[0] ?? '', publicKey: request.publicKey };
  } catch {
    // Not a request: told below.
  }
  throw new RangeError('the certificate request is not valid');
}

function validity(now: Date, days: number): { readonly notBefore: Date; readonly notAfter: Date } {
  return {
    notBefore: new Date(now.getTime() - BACKDATED_MS),
    notAfter: new Date(now.getTime() + days * DAY_MS),
  };
}

function commonName(name: string): JsonName {
  return [{ CN: [name] }];
}
