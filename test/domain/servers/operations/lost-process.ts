/** Runs single steps of operations, and simulates a process that dies during a driver call. */
import type { Service } from '../../../../src/domain/context.ts';
import { giveUp, leaveHost } from '../../../../src/domain/servers/deploy/give-up.ts';
import { ensureMachine, observeInstalls } from '../../../../src/domain/servers/deploy/provision.ts';
import { changeIso, emptyDrive } from '../../../../src/domain/servers/iso/steps.ts';
import { placeElsewhere, replaceMachine, waitReplaced } from '../../../../src/domain/servers/lost/place.ts';
import { copyMachine, keepMachine, takeOverMachine } from '../../../../src/domain/servers/moves/steps.ts';
import {
  enterRescue,
  resetMachine,
  shutDown,
  waitOff,
  waitOn,
} from '../../../../src/domain/servers/operations/power-steps.ts';
import {
  reinstall,
  rollBack,
  waitInstalled,
} from '../../../../src/domain/servers/operations/reinstall-steps.ts';
import { removeMachine } from '../../../../src/domain/servers/operations/remove.ts';
import { resizeMachine, undoResize } from '../../../../src/domain/servers/resize/steps.ts';
import type { ComputeDriver } from '../../../../src/ports/compute.ts';
import type { OperationRow, OperationStep } from '../../../../src/store/servers/operations.ts';

const STEPS: Record<OperationStep, (service: Service, operation: OperationRow) => Promise<void>> = {
  ensure: ensureMachine,
  observe: (service, operation) => observeInstalls(service, [operation]),
  leave_host: leaveHost,
  give_up: giveUp,
  remove: removeMachine,
  shut_down: shutDown,
  wait_off: (service, operation) => waitOff(service, [operation]),
  reset: resetMachine,
  enter_rescue: enterRescue,
  wait_on: (service, operation) => waitOn(service, [operation]),
  reinstall,
  wait_installed: (service, operation) => waitInstalled(service, [operation]),
  go_back: (service, operation) => rollBack(service, [operation]),
  copy: copyMachine,
  take_over: takeOverMachine,
  keep: keepMachine,
  place: placeElsewhere,
  replace: replaceMachine,
  resize: resizeMachine,
  undo_resize: undoResize,
  change_iso: changeIso,
  empty_drive: emptyDrive,
  wait_replaced: (service, operation) => waitReplaced(service, [operation]),
};

export async function runStep(service: Service, operation: OperationRow): Promise<void> {
  await STEPS[operation.step](service, operation);
}

export type Verb = 'ensure' | 'observe' | 'remove' | 'power' | 'rescue' | 'rebuild' | 'resize' | 'setIso';

/** Returns the service with a hook that runs as soon as the driver call has succeeded. */
export function serviceWithHook(
  service: Service,
  verb: Verb,
  afterCall: () => Promise<unknown> | undefined,
  db = service.db,
): Service {
  const compute = new Proxy(service.compute, {
    get: (driver, name: keyof ComputeDriver) => {
      const member = driver[name];
      if (typeof member !== 'function') return member;
      const call = member.bind(driver) as (...given: unknown[]) => Promise<unknown>;
      if (name !== verb) return call;
      return async (...given: unknown[]) => {
        const result = await call(...given);
        await afterCall();
        return result;
      };
    },
  });
  return { ...service, compute, db };
}

/** Returns the service of a process that dies right after the driver call: it writes nothing more. */
export function crashingService(service: Service, verb: Verb): Service {
  let isDead = false;
  const db = new Proxy(service.db, {
    get: (target, name) => (isDead ? () => Promise.reject(new Error('killed')) : Reflect.get(target, name)),
  });
  const die = () => {
    isDead = true;
    return undefined;
  };
  return serviceWithHook(service, verb, die, db);
}
