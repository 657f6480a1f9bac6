/** Data that an operation needs besides its server's row: sealed at rest, deleted with the operation. */
import type { OperationRow } from '../../store/servers/operations.ts';
import type { Service } from '../context.ts';

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

/**
 * Returns the image that a rebuild or restore rolls back to if it fails, from the operation's sealed payload.
 */
export function previousImageId(service: Service, sealed: string): string {
  return (openSealed(service, sealed) as ReinstallPayload).imageId;
}

function openPayload(service: Service, operation: OperationRow): unknown {
  if (operation.payload_sealed === null) throw new Error(`a ${operation.kind} operation without its payload`);
  return openSealed(service, operation.payload_sealed);
}

function openSealed(service: Service, sealed: string): unknown {
  return JSON.parse(service.keys.open(PURPOSE, sealed).toString('utf8'));
}
