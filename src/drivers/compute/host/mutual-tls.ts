/**
 * Mutual TLS 1.3. TLS proves that the peer has the key of its certificate; what certificate it must be is
 * decided here, for both sides. A certificate is accepted because our authority issued it to exactly this
 * subject. Hosts that joined before there was an authority are known by the fingerprint of theirs.
 */
import { X509Certificate } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import {
  type CertificateSubject,
  CONTROL_PLANE,
  fingerprintOf,
  hostSubject,
  ROLE_USAGE,
  type TlsIdentity,
} from '../../../kernel/certificates.ts';
import type { Backend, ControlPlaneCredentials } from '../../../ports/backends.ts';

export type PeerProblem =
  | 'no certificate'
  | 'other certificate'
  | 'other authority'
  | 'other subject'
  | 'future certificate'
  | 'expired certificate';

/** The certificate of the peer. Read it once per connection: Node finds its issuer only the first time. */
export type PeerCertificate = X509Certificate | undefined;

/** Options of both sides. The caller checks the peer before it sends or handles anything. */
export function tlsOptions({ certificate, key }: TlsIdentity): SecureContextOptions & {
  readonly rejectUnauthorized: false;
} {
  return { cert: certificate, key, minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', rejectUnauthorized: false };
}

/** Returns why the peer is not this host, or null. Every other reason comes before `expired certificate`. */
export function hostProblem(
  peer: PeerCertificate,
  backend: Pick<Backend, 'fingerprint' | 'identity' | 'isIssued'>,
  { authority }: Pick<ControlPlaneCredentials, 'authority'>,
): PeerProblem | null {
  if (peer === undefined) return 'no certificate';
  if (!backend.isIssued && fingerprintOf(peer) === backend.fingerprint) return timeProblem(peer);
  if (backend.identity === null) return 'other certificate';
  return issuedProblem(peer, new X509Certificate(authority), hostSubject(backend.identity));
}

/** Whom a host accepts as its control plane. */
export interface KnownControlPlane {
  /** PEM. Null: none is known yet. */
  readonly authority: string | null;
  /** Fingerprint of a self-signed certificate. */
  readonly former: string | null;
}

/** Returns why the peer is not the control plane, or null. */
export function controlPlaneProblem(
  peer: PeerCertificate,
  { authority, former }: KnownControlPlane,
): PeerProblem | null {
  if (peer === undefined) return 'no certificate';
  if (former !== null && fingerprintOf(peer) === former) return timeProblem(peer);
  if (authority === null) return 'other certificate';
  return issuedProblem(peer, new X509Certificate(authority), CONTROL_PLANE);
}

/**
 * Returns the authority (PEM) that the control plane sends with its certificate, if it is the one with the
 * fingerprint and has issued that certificate; otherwise null.
 */
export function findAuthority(peer: PeerCertificate, fingerprint: string): string | null {
  const authority = peer?.issuerCertificate;
  if (peer === undefined || authority === undefined || fingerprintOf(authority) !== fingerprint) return null;
  return issuedProblem(peer, authority, CONTROL_PLANE) === null ? authority.toString() : null;
}

/** Returns why the authority did not issue the certificate to the subject for this time, or null. */
export function issuedProblem(
  certificate: X509Certificate,
  authority: X509Certificate,
  { uri, role }: CertificateSubject,
): PeerProblem | null {
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey))
    return 'other authority';
  const usages = certificate.keyUsage?.join();
  if (certificate.ca || usages !== ROLE_USAGE[role] || certificate.subjectAltName !== `URI:${uri}`) {
    return 'other subject';
  }
  return timeProblem(certificate);
}

function timeProblem({ validFromDate: from, validToDate: until }: X509Certificate): PeerProblem | null {
  const now = Date.now();
  if (now < from.getTime()) return 'future certificate';
  return now > until.getTime() ? 'expired certificate' : null;
}
