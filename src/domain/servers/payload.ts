/** What an operation needs beside its server's row, sealed: none of it is readable at rest, and it goes with the row. */
import type { OperationRow } from '../../store/operations.ts';
import type { Service } from '../context.ts';

/** Of `rescue`. */
export interface RescuePayload {
  /** crypt(3) hash of root's one-time password. */
  readonly passwordHash: string;
}

/** Of `rebuild` and `restore`: what the server was before, should the driver refuse. */
export interface ReinstallPayload {
  readonly status: 'running' | 'stopped';
  readonly imageId: string;
  readonly sshKeys: readonly string[];
  readonly sshPublicKeys: readonly string[];
}

const PURPOSE = 'operation';

export function sealPayload(service: Service, payload: RescuePayload | ReinstallPayload): string {
  return service.keys.seal(PURPOSE, JSON.stringify(payload));
}

export function rescuePayload(service: Service, operation: OperationRow): RescuePayload {
  return openPayload(service, operation) as RescuePayload;
}

export function reinstallPayload(service: Service, operation: OperationRow): ReinstallPayload {
  return openPayload(service, operation) as ReinstallPayload;
}

/** The image that a rebuild or restore goes back to when it cannot be done, by the operation's sealed payload. */
export function previousImageId(service: Service, sealed: string): string {
  return (openSealed(service, sealed) as ReinstallPayload).imageId;
}

function openPayload(service: Service, operation: OperationRow): unknown {
  if (operation.payload_sealed === null) throw new Error(`a ${operation.kind} without its payload`);
  return openSealed(service, operation.payload_sealed);
}

function openSealed(service: Service, sealed: string): unknown {
  return JSON.parse(service.keys.open(PURPOSE, sealed).toString('utf8'));
}
