/**
 * Hosts on other machines. Each is a backend of its own, known by the fingerprint of its certificate, and
 * knows the control plane by the fingerprint of ours.
 */
import { newId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import { SEALED } from '../../spec/sealed.ts';
import {
  deleteBackend,
  findControlPlane,
  hasPlacedResources,
  insertBackend,
  insertControlPlane,
  lockBackend,
  setBackendState,
} from '../../store/inventory/backends.ts';
import { deleteHost, isHostInUse, lockHost, setHostDraining } from '../../store/inventory/hosts.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { createHosts, type NewHost, requireNewHosts } from './hosts.ts';

const ADDRESS = /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}$/;

/** A certificate and its key, both PEM. */
export interface ControlPlaneIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** Returns the identity of the control plane, or null before the first host was invited. */
export async function readControlPlane({
  db,
  keys,
}: Pick<Service, 'db' | 'keys'>): Promise<ControlPlaneIdentity | null> {
  const row = await findControlPlane(db);
  if (row === undefined) return null;
  const { id, certificate, key_sealed: sealed } = row;
  return { certificate, key: keys.open(SEALED.controlPlaneKey, id, sealed).toString() };
}

/** Stores `created()` unless there is an identity. Of two at once, both callers get the same. */
export async function ensureControlPlane(
  service: Pick<Service, 'db' | 'keys' | 'clock'>,
  create: () => ControlPlaneIdentity,
): Promise<ControlPlaneIdentity> {
  const known = await readControlPlane(service);
  if (known !== null) return known;
  const now = service.clock.now();
  const id = newId(now);
  const { certificate, key } = create();
  const sealed = service.keys.seal(SEALED.controlPlaneKey, id, key);
  await insertControlPlane(service.db, { id, certificate, key_sealed: sealed, created_at: now });
  return (await readControlPlane(service)) ?? { certificate, key };
}

export interface Invitation extends NewHost {
  /** Host name or IP address, and port, at which the control plane reaches it. */
  readonly address: string;
}

/** Refuses an invitation that could not be completed, before the operator goes to the machine. */
export async function checkInvitation(
  { db, compute }: Pick<Service, 'db' | 'compute'>,
  host: Invitation,
): Promise<void> {
  if (compute.hosts === null) {
    throw new OperatorError('simulated machines need no hosts: set SKERRY_COMPUTE=qemu to use real ones');
  }
  if (!ADDRESS.test(host.address)) {
    throw new OperatorError(
      '--address: enter a host name or IP address and a port, such as par-2.example:7443',
    );
  }
  if (host.name === LOCAL_BACKEND)
    throw new OperatorError(`${LOCAL_BACKEND} is reserved: choose another name`);
  await requireNewHosts(db, [host]);
}

/** Adds a host that has proved who it is. Servers may be placed on it at once. */
export async function addInvitedHost(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  host: Invitation,
  fingerprint: string,
): Promise<void> {
  const { name, regionId, address } = host;
  const now = clock.now();
  await db.transaction(async (tx) => {
    const row = { name, kind: 'host', address, fingerprint, region_id: regionId, state: 'active' } as const;
    await insertBackend(tx, { ...row, created_at: now });
    await createHosts(tx, [{ ...host, backend: name }], now);
  });
}

/** Removes an empty host, with its backend. */
export async function removeHost({ db, clock }: Pick<Service, 'db' | 'clock'>, name: string): Promise<void> {
  const now = clock.now();
  await db.transaction(async (tx) => {
    const host = await lockHost(tx, name);
    if (host === undefined) throw new OperatorError(`host ${name} not found: see \`skerryd hosts list\``);
    const { backend } = host;
    if (await isHostInUse(tx, name)) {
      throw new OperatorError(`host ${name} has servers or volumes: remove them, or keep the host drained`);
    }
    if (backend !== null) {
      await lockBackend(tx, backend);
      if (await hasPlacedResources(tx, backend)) {
        throw new OperatorError(`host ${name} has snapshots, or resources that are being removed`);
      }
    }
    await deleteHost(tx, name);
    if (backend !== null) await deleteBackend(tx, backend);
    await recordAudit(tx, { actor: systemActor(now), action: 'host.remove', resource: name }, now);
  });
}

/**
 * Ends all calls to the host and drains it. Processes notice within two seconds. The state of its machines is
 * unknown from then on, and they keep running.
 */
export async function revokeHost({ db, clock }: Pick<Service, 'db' | 'clock'>, name: string): Promise<void> {
  const now = clock.now();
  await db.transaction(async (tx) => {
    const host = await lockHost(tx, name);
    if (host === undefined) throw new OperatorError(`host ${name} not found: see \`skerryd hosts list\``);
    if (host.backend === null) throw new OperatorError(`host ${name} is this machine: it cannot be revoked`);
    await setHostDraining(tx, name, true);
    await setBackendState(tx, host.backend, 'revoked');
    await recordAudit(tx, { actor: systemActor(now), action: 'host.revoke', resource: name }, now);
  });
}
