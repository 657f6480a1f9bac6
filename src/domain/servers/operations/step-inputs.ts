/** The inputs of an operation's steps besides its row: its sealed payload, and the machine specification. */
import type { MachineSize, MachineSpec } from '../../../ports/compute.ts';
import { SEALED, type SealedColumn } from '../../../spec/sealed.ts';
import type { SealedPayload } from '../../../store/images/images.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import type { BuildDetails } from '../../../store/servers/placements.ts';
import type { Service } from '../../context.ts';
import { isoForImage } from '../../images/installable.ts';
import { serverIpv6 } from '../object.ts';

/** Payload of `rescue`. */
export interface RescuePayload {
  /** crypt(3) hash of root's one-time password. */
  readonly passwordHash: string;
}

/** Payload of `rebuild` and `restore`: the server's previous state, for a rollback. */
export interface ReinstallPayload {
  readonly status: 'running' | 'stopped';
  readonly imageId: string;
  /** IDs of the keys. Stored operations contain this name. */
  readonly sshKeys: readonly string[];
  readonly sshPublicKeys: readonly string[];
}

/** Payload of `resize`. Amounts are decimal text, and times RFC 3339 with milliseconds. */
export interface ResizePayload {
  /** In the facts of its entries. */
  readonly id: string;
  /** It is powered on again. */
  readonly wasRunning: boolean;
  readonly size: MachineSize;
  readonly description: string;
  /** Above 0: charged. Below: comes back at the end. */
  readonly dueCents: string;
  /** For going back. */
  readonly previous: MachineSize & {
    readonly planId: string;
    readonly monthCents: string;
    readonly cycleCents: string;
    /** Absent in operations that began before backups had a price. */
    readonly backupCents?: string;
    readonly backupPercent?: number | null;
    readonly pricedAt: string | null;
    readonly paid: { readonly from: string; readonly cents: string } | null;
    readonly paidUntil: string;
  };
}

export type OperationPayload = RescuePayload | ReinstallPayload | ResizePayload;

/** `id` is the id of the operation. */
export function sealPayload(service: Service, id: string, payload: OperationPayload): string {
  return service.keys.seal(SEALED.operation, id, JSON.stringify(payload));
}

export function rescuePayload(service: Service, operation: OperationRow): RescuePayload {
  return openPayload(service, operation) as RescuePayload;
}

export function reinstallPayload(service: Service, operation: OperationRow): ReinstallPayload {
  return openPayload(service, operation) as ReinstallPayload;
}

/**
 * Returns the image that a rebuild or restore rolls back to if it fails, from the operation's sealed payload.
 */
export function previousImageId(service: Service, { id, sealed }: SealedPayload): string {
  return (openSealed(service, id, sealed) as ReinstallPayload).imageId;
}

export function resizePayload(
  service: Service,
  operation: Pick<OperationRow, 'id' | 'kind' | 'payload_sealed'>,
): ResizePayload {
  return openPayload(service, operation) as ResizePayload;
}

function openPayload(
  service: Service,
  operation: Pick<OperationRow, 'id' | 'kind' | 'payload_sealed'>,
): unknown {
  if (operation.payload_sealed === null) throw new Error(`a ${operation.kind} operation without its payload`);
  return openSealed(service, operation.id, operation.payload_sealed);
}

function openSealed(service: Service, id: string, sealed: string): unknown {
  return JSON.parse(service.keys.open(SEALED.operation, id, sealed).toString('utf8'));
}

/** Builds the machine specification for the driver. `generation` is the number of the disk to install on. */
export function buildMachineSpec(
  service: Service,
  machine: { readonly id: string; readonly host: string; readonly generation: number },
  facts: BuildDetails,
): MachineSpec {
  const open = (at: SealedColumn, sealed: string | null) =>
    sealed === null ? null : service.keys.open(at, machine.id, sealed);
  return {
    ...machine,
    hostname: facts.hostname,
    cpu: facts.cpu,
    ramMb: facts.ram_mb,
    diskGb: facts.disk_gb,
    ...(facts.shared_disk ? { sharedDisk: true } : {}),
    image: {
      id: facts.image_id,
      family: facts.family,
      version: facts.version,
      cloudInit: facts.cloud_init,
      iso: isoForImage(service, facts),
      base: facts.base_sha256,
    },
    ipv4: { address: facts.ipv4, gateway: facts.gateway },
    ipv6: { address: serverIpv6(facts.ipv6_prefix), prefix: facts.ipv6_prefix },
    sshKeys: facts.ssh_public_keys,
    rootPasswordHash: open(SEALED.rootPassword, facts.root_password_sealed)?.toString('utf8') ?? null,
    userData: open(SEALED.userData, facts.user_data_sealed),
  };
}
