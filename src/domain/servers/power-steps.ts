/**
 * Power, step by step. Every step may run twice; each says what is wanted, then looks until it is so.
 *
 *   stop          shut_down ─→ wait_off ── off ──→ done         (asked again and again; at the deadline switched off)
 *   reboot        shut_down ─→ wait_off ── off ──→ wait_on ── runs ──→ done
 *   hard reboot   reset ─→ wait_on                              (one that is off is switched on)
 *   start         wait_on
 *   rescue        enter_rescue ─→ wait_on
 *   suspend       like stop, and never given up while the machine is there
 *
 * A host that is silent is waited for: the machine is there and nowhere else. A driver that refuses ends the operation.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import type { MachineState, PowerAction } from '../../ports/compute.ts';
import type { OperationRow } from '../../store/operations.ts';
import { hasLeavingVolume } from '../../store/volume-changes.ts';
import type { Service } from '../context.ts';
import { ask, type Fault } from './ask.ts';
import { complete, fallThrough } from './complete.ts';
import { LOOK_EVERY_MS, lookAt } from './look.ts';
import { rescuePayload } from './payload.ts';
import { advance, type StepResult, soonAgain } from './step.ts';
import { ANSWER_MAX_MS } from './within.ts';

/** How soon a guest that still runs is asked again to shut down. */
const ASK_EVERY_MS = 5 * SECOND_MS;

/** How long a machine that is off waits for a volume that leaves it, before it is switched on. */
const VOLUME_LEAVES_MS = 15 * SECOND_MS;

const ABSENT = 'the host has no such machine';

export async function shutDown(service: Service, operation: OperationRow): Promise<void> {
  const fault = await setPower(service, operation, 'acpi');
  const next = { step: 'wait_off', inMs: LOOK_EVERY_MS, placedAt: service.clock.now() } as const;
  await goOn(service, operation, fault, next);
}

export async function resetMachine(service: Service, operation: OperationRow): Promise<void> {
  const fault = await setPower(service, operation, 'reset');
  await goOn(service, operation, fault, { step: 'wait_on' });
}

export async function enterRescue(service: Service, operation: OperationRow): Promise<void> {
  const fault = await ask(service, operation, {
    ms: ANSWER_MAX_MS,
    call: () => service.compute.rescue(operation.server_id, rescuePayload(service, operation)),
    failed: 'machine could not be rescued',
  });
  await goOn(service, operation, fault, { step: 'wait_on' });
}

export async function waitOff(service: Service, operations: OperationRow[]): Promise<void> {
  await lookAt(service, operations, whetherOff);
}

export async function waitOn(service: Service, operations: OperationRow[]): Promise<void> {
  await lookAt(service, operations, whetherOn);
}

/** Null once the driver has done it. */
export async function setPower(
  service: Service,
  operation: OperationRow,
  action: PowerAction,
): Promise<Fault | null> {
  return await ask(service, operation, {
    ms: ANSWER_MAX_MS,
    call: () => service.compute.power(operation.server_id, action),
    failed: POWER_FAILED[action],
  });
}

const POWER_FAILED: Record<PowerAction, string> = {
  on: 'machine could not be switched on',
  off: 'machine could not be switched off',
  acpi: 'machine could not be asked to shut down',
  reset: 'machine could not be reset',
};

async function whetherOff(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  switch (seen?.state) {
    case 'stopped':
      if (operation.kind === 'stop' || operation.kind === 'suspend')
        return await complete(service, operation);
      return await advance(service.db, service, operation, { step: 'wait_on' });
    case 'running':
    case 'installing': {
      const sinceMs = service.clock.now().getTime() - operation.placed_at.getTime();
      const leftMs = service.settings.shutdownDeadlineS * SECOND_MS - sinceMs;
      if (leftMs > 0) {
        if (seen.state === 'running') await askAgain(service, operation);
        const inMs = Math.min(LOOK_EVERY_MS, leftMs);
        return await advance(service.db, service, operation, { inMs });
      }
      const fault = await setPower(service, operation, 'off');
      return await goOn(service, operation, fault, { inMs: LOOK_EVERY_MS });
    }
    default:
      await notThere(service, operation, seen);
  }
}

/**
 * A guest that is still booting does not hear the button, and one that shuts down does not mind it. Asked again when a
 * round has passed since the look before; whether it was heard is seen by looking.
 */
async function askAgain(service: Service, operation: OperationRow): Promise<void> {
  const rounds = (atMs: number) => Math.floor((atMs - operation.placed_at.getTime()) / ASK_EVERY_MS);
  const lookedMs = operation.due_at.getTime() - LOOK_EVERY_MS;
  if (rounds(service.clock.now().getTime()) > rounds(lookedMs)) await setPower(service, operation, 'acpi');
}

async function whetherOn(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  const rescue = operation.kind === 'rescue';
  if (seen?.state === 'running' && seen.rescue === rescue) return await complete(service, operation);
  switch (seen?.state) {
    case 'stopped': {
      if (rescue) return await advance(service.db, service, operation, { step: 'enter_rescue' });
      if (await waitsForVolume(service, operation)) return;
      const fault = await setPower(service, operation, 'on');
      return await goOn(service, operation, fault, { inMs: LOOK_EVERY_MS });
    }
    case 'running':
      // Not the system that was asked for: the act is repeated, a little later each time.
      return await advance(service.db, service, operation, {
        ...soonAgain(service, operation),
        step: rescue ? 'enter_rescue' : 'reset',
      });
    case 'installing':
      return await advance(service.db, service, operation, { inMs: LOOK_EVERY_MS });
    default:
      await notThere(service, operation, seen);
  }
}

/**
 * Whether the step was put off because a volume is to be taken from the machine first: switched on now, it would have in use
 * what its customer was told is detached. A driver that does not manage that keeps nobody waiting for long.
 */
async function waitsForVolume(service: Service, operation: OperationRow): Promise<boolean> {
  const sinceMs = service.clock.now().getTime() - operation.placed_at.getTime();
  if (sinceMs >= VOLUME_LEAVES_MS || !(await hasLeavingVolume(service.db, operation.server_id))) return false;
  await advance(service.db, service, operation, { inMs: LOOK_EVERY_MS });
  return true;
}

async function notThere(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  if (seen?.state === 'absent') return await fallThrough(service, operation, ABSENT);
  await advance(service.db, service, operation, soonAgain(service, operation));
}

/** The next step when the driver did it; the same one again when it may do it later. */
async function goOn(
  service: Service,
  operation: OperationRow,
  fault: Fault | null,
  next: StepResult,
): Promise<void> {
  crashPoint('operation.asked');
  if (fault?.fault === 'refused') {
    if (operation.kind === 'suspend') return await insist(service, operation, fault);
    return await fallThrough(service, operation, fault.message);
  }
  await advance(
    service.db,
    service,
    operation,
    fault ? { ...soonAgain(service, operation), fault: fault.message } : next,
  );
  crashPoint('operation.recorded');
}

/** A server that is suspended must not go on for free: what the driver refuses is tried again, with its power off next. */
async function insist(service: Service, operation: OperationRow, fault: Fault): Promise<void> {
  await advance(service.db, service, operation, {
    ...soonAgain(service, operation),
    step: 'wait_off',
    fault: fault.message,
  });
}
