/** Ends a change of the drive for ISO images or of the boot order: it is made, or the drive is empty. */
import type { EventType } from '../../../spec/events.ts';
import type { OperationKind, OperationRow } from '../../../store/servers/operations.ts';
import { failure } from '../../actions/end.ts';
import type { Service } from '../../context.ts';
import { endOperation, operationLogFields } from '../operations/step.ts';
import { applyFreeze } from '../operator/apply-freeze.ts';
import { auditServer, recordServerEvent } from '../transition.ts';
import { EMPTY_DRIVE, setIso } from './drive.ts';

/** The events that tell of it. The response to an update tells of the boot order. */
const EVENTS = {
  insert_iso: 'server.iso_inserted',
  eject_iso: 'server.iso_ejected',
  set_boot: null,
} as const satisfies Partial<Record<OperationKind, EventType | null>>;
type IsoKind = keyof typeof EVENTS;

export function isIsoKind(kind: OperationKind): kind is IsoKind {
  return Object.hasOwn(EVENTS, kind);
}

export async function completeIsoChange(
  service: Service,
  operation: OperationRow,
  kind: IsoKind,
): Promise<void> {
  await endOperation(service, operation, async (tx, server, now) => {
    const event = EVENTS[kind];
    if (event !== null) await recordServerEvent(tx, server, event, now);
    await applyFreeze(tx, service, server.id, now);
  });
}

/** Its drive is empty in any case, so that the server shows what is true. */
export async function failIsoChange(service: Service, operation: OperationRow): Promise<void> {
  const { kind } = operation;
  if (!isIsoKind(kind)) throw new Error(`a ${kind} changes no drive`);
  await endOperation(
    service,
    operation,
    async (tx, server, now) => {
      await setIso(tx, server, EMPTY_DRIVE, now);
      await auditServer(tx, server, `server.${kind}`, now, 'error');
      if (server.iso_image_id !== null || kind === 'eject_iso')
        await recordServerEvent(tx, server, 'server.iso_ejected', now);
      await applyFreeze(tx, service, server.id, now);
    },
    failure(operation.cause ?? 'host_failed'),
  );
  service.log.error(
    { ...operationLogFields(operation), reason: operation.last_fault },
    'the ISO image of a server could not be changed, and its drive is empty',
  );
}
