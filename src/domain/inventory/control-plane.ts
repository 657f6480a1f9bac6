/**
 * The control plane's certificates: its authority, and its own certificate, which any process renews when it
 * needs it. Certificates live by real time, as the hosts do.
 */
import { X509Certificate } from 'node:crypto';
import {
  CONTROL_PLANE,
  createAuthority,
  issueIdentity,
  renewalTime,
  type TlsIdentity,
} from '../../kernel/certificates.ts';
import { newId } from '../../kernel/ids.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { ControlPlaneCredentials } from '../../ports/backends.ts';
import { SEALED } from '../../spec/sealed.ts';
import {
  type ControlPlaneRow,
  deleteControlPlaneBefore,
  insertControlPlane,
  listControlPlane,
} from '../../store/inventory/control-plane.ts';
import type { Service } from '../context.ts';

type Deps = Pick<Service, 'db' | 'keys'>;

/** Longer than a certificate is valid. */
const KEPT_MS = 60 * DAY_MS;

export interface ControlPlane {
  readonly authority: TlsIdentity;
  readonly credentials: ControlPlaneCredentials;
}

/** Makes the authority on first use, and renews the control plane's own certificate when it is due. */
export async function ensureControlPlane(service: Deps, now = new Date()): Promise<ControlPlane> {
  const known = await listControlPlane(service.db);
  const authority = read(service, known, 'authority') ?? (await addAuthority(service, now));
  const latest = read(service, known, 'control plane');
  const isDue = latest === null || renewalTime(new X509Certificate(latest.certificate)) <= now;
  const issued = isDue ? await addOwn(service, authority, now) : latest;
  const selfSigned = read(service, known, 'self-signed');
  return { authority, credentials: { authority: authority.certificate, issued, selfSigned } };
}

/** Of two processes at once, both get the first authority. */
async function addAuthority(service: Deps, now: Date): Promise<TlsIdentity> {
  await add(service, 'authority', await createAuthority(now), now);
  const stored = read(service, await listControlPlane(service.db), 'authority');
  if (stored === null) throw new Error('the authority was not stored');
  return stored;
}

/** Of two processes at once, each uses its own, and later both use the newer one. */
async function addOwn(service: Deps, authority: TlsIdentity, now: Date): Promise<TlsIdentity> {
  const issued = await issueIdentity(authority, {
    name: 'Skerry control plane',
    subject: CONTROL_PLANE,
    now,
  });
  await add(service, 'control plane', issued, now);
  await deleteControlPlaneBefore(service.db, new Date(now.getTime() - KEPT_MS));
  return issued;
}

async function add(
  { db, keys }: Deps,
  role: ControlPlaneRow['role'],
  { certificate, key }: TlsIdentity,
  now: Date,
): Promise<void> {
  const id = newId(now);
  const sealed = keys.seal(SEALED.controlPlaneKey, id, key);
  await insertControlPlane(db, { id, role, certificate, key_sealed: sealed, created_at: now });
}

function read(
  { keys }: Deps,
  rows: readonly ControlPlaneRow[],
  wanted: ControlPlaneRow['role'],
): TlsIdentity | null {
  const row = rows.find(({ role }) => role === wanted);
  if (row === undefined) return null;
  const { id, certificate, key_sealed: sealed } = row;
  return { certificate, key: keys.open(SEALED.controlPlaneKey, id, sealed).toString() };
}
