/**
 * Certificates of hosts. The authority issues each for the identity of one invitation, and a worker renews it
 * at two thirds of its life. A host from before there was an authority gets its first certificate that way.
 */
import { randomUUID, X509Certificate } from 'node:crypto';
import { BACKOFF, backoffMs } from '../../kernel/backoff.ts';
import {
  fingerprintOf,
  hostSubject,
  issueForRequest,
  renewalTime,
  type TlsIdentity,
} from '../../kernel/certificates.ts';
import { logFault } from '../../kernel/faults/fault-log.ts';
import type { Backend } from '../../ports/backends.ts';
import {
  type BackendCertificateRow,
  ensureBackendIdentity,
  listRenewals,
  recordRenewalFailure,
  setBackendCertificate,
} from '../../store/inventory/backends.ts';
import type { Service } from '../context.ts';
import { ensureControlPlane } from './control-plane.ts';

type Deps = Pick<Service, 'db' | 'keys' | 'log' | 'fleet'>;

export interface NamedRequest {
  readonly name: string;
  readonly identity: string;
  /** A certificate request, PEM. */
  readonly request: string;
}

/** Throws a RangeError if the request is not valid. */
export async function issueHostCertificate(
  authority: TlsIdentity,
  { name, identity, request }: NamedRequest,
  now = new Date(),
): Promise<string> {
  return await issueForRequest(authority, request, { name, subject: hostSubject(identity), now });
}

/** Returns what the inventory records about a certificate. */
export function describeCertificate(identity: string, text: string): BackendCertificateRow {
  const certificate = new X509Certificate(text);
  return {
    identity,
    fingerprint: fingerprintOf(certificate),
    certificate_from: certificate.validFromDate,
    certificate_until: certificate.validToDate,
    renew_at: renewalTime(certificate),
  };
}

/** Renews the certificates that are due, side by side. Failures are recorded and tried again. */
export async function renewCertificates(service: Deps, now = new Date()): Promise<void> {
  const due = await listRenewals(service.db, now);
  if (due.length === 0) return;
  const { authority } = await ensureControlPlane(service, now);
  await Promise.all(
    due.map(async (backend) => {
      try {
        await renew(service, authority, backend, now);
      } catch (error) {
        const fields = { err: error, place: backend.name, backend: backend.name };
        logFault(service.log, 'warn', 'certificate of a host could not be renewed; trying again', fields);
        const waitMs = backoffMs(BACKOFF.certificate, backend.renewal_failures + 1);
        await recordRenewalFailure(service.db, backend.name, new Date(now.getTime() + waitMs));
      }
    }),
  );
}

async function renew(
  { db, fleet, log }: Deps,
  authority: TlsIdentity,
  backend: Backend,
  now: Date,
): Promise<void> {
  const { name } = backend;
  // Recorded first: from the moment on that the host has the certificate, it must be known.
  const identity = backend.identity ?? (await ensureBackendIdentity(db, name, randomUUID()));
  let certificate = '';
  await fleet.renew({ ...backend, identity }, async (request) => {
    certificate = await issueHostCertificate(authority, { name, identity, request }, now);
    return certificate;
  });
  await setBackendCertificate(db, name, describeCertificate(identity, certificate));
  log.info({ backend: name }, 'certificate of a host renewed');
}
