/** Hosts on other machines. Each is a backend of its own, with a certificate of our authority. */
import { OperatorError } from '../../kernel/operator-error.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import { deleteBackendFiles } from '../../store/inventory/backend-files.ts';
import {
  type BackendCertificateRow,
  deleteBackend,
  hasPlacedResources,
  insertBackend,
  lockBackend,
  setBackendState,
} from '../../store/inventory/backends.ts';
import { deleteHost, isHostInUse, lockHost, setHostDraining } from '../../store/inventory/hosts.ts';
import { passSharedStorage } from '../../store/inventory/shared-storage.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { createHosts, type NewHost, requireNewHosts } from './hosts.ts';

const ADDRESS = /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}$/;

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
    throw new OperatorError(
      'simulated machines need no hosts: set SKERRY_COMPUTE to qemu or hosts to use real ones',
    );
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

/** Adds a host that has its certificate. Servers may be placed on it at once. */
export async function addInvitedHost(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  host: Invitation,
  certificate: BackendCertificateRow,
): Promise<void> {
  const { name, regionId, address } = host;
  const now = clock.now();
  await db.transaction(async (tx) => {
    const row = { name, kind: 'host', address, region_id: regionId, state: 'active' } as const;
    await insertBackend(tx, { ...row, ...certificate, created_at: now });
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
      throw new OperatorError(
        host.lost_at === null
          ? `host ${name} has servers, volumes, or snapshots: move or remove them, or keep the host drained`
          : `host ${name} is lost and has servers, storage, or held addresses: see \`skerryd status\``,
      );
    }
    if (backend !== null) {
      await lockBackend(tx, backend);
      await passSharedStorage(tx, backend);
      if (await hasPlacedResources(tx, backend)) {
        throw new OperatorError(
          `host ${name} has resources that are being removed, or shared storage in use`,
        );
      }
    }
    await deleteHost(tx, name);
    if (backend !== null) {
      await deleteBackendFiles(tx, backend);
      await deleteBackend(tx, backend);
    }
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
