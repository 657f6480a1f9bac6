/**
 * Mutual TLS with pinned certificates. Each side accepts one certificate, and TLS proves that the peer has
 * its key. No authority can issue another one, so chains and names are not checked.
 */
import { createHash, X509Certificate } from 'node:crypto';
import type { SecureContextOptions, TLSSocket } from 'node:tls';

export interface TlsIdentity {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

/** Options of both sides. The caller checks `peerProblem` before it sends or handles anything. */
export function pinnedTlsOptions({ certificate, key }: TlsIdentity): SecureContextOptions & {
  readonly rejectUnauthorized: false;
} {
  return { cert: certificate, key, minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', rejectUnauthorized: false };
}

export type PeerProblem = 'other certificate' | 'expired certificate';

/** SHA-256 in hex of a certificate in PEM. */
export function fingerprintOf(certificate: string): string {
  return digest(new X509Certificate(certificate));
}

/** Returns why the peer is not the one with the pinned fingerprint, or null. */
export function peerProblem(
  socket: Pick<TLSSocket, 'getPeerX509Certificate'>,
  pinned: string,
): PeerProblem | null {
  const peer = socket.getPeerX509Certificate();
  if (peer === undefined || digest(peer) !== pinned) return 'other certificate';
  const now = Date.now();
  const isValid = now >= peer.validFromDate.getTime() && now <= peer.validToDate.getTime();
  return isValid ? null : 'expired certificate';
}

/** SHA-256 in hex of the peer's certificate, or null if it sent none. */
export function peerFingerprint(socket: Pick<TLSSocket, 'getPeerX509Certificate'>): string | null {
  const peer = socket.getPeerX509Certificate();
  return peer === undefined ? null : digest(peer);
}

function digest(certificate: X509Certificate): string {
  return createHash('sha256').update(certificate.raw).digest('hex');
}
