/** Advances servers' operations step by step: claims, calls the driver outside any transaction, records. */

import type { Service } from '../domain/context.ts';
import { giveUp, leaveHost } from '../domain/servers/deploy/give-up.ts';
import { ensureMachine, observeInstalls } from '../domain/servers/deploy/provision.ts';
import { changeIso, emptyDrive } from '../domain/servers/iso/steps.ts';
import { placeElsewhere, replaceMachine, waitReplaced } from '../domain/servers/lost/place.ts';
import { copyMachine, keepMachine, takeOverMachine } from '../domain/servers/moves/steps.ts';
import {
  enterRescue,
  resetMachine,
  shutDown,
  waitOff,
  waitOn,
} from '../domain/servers/operations/power-steps.ts';
import { reinstall, rollBack, waitInstalled } from '../domain/servers/operations/reinstall-steps.ts';
import { removeMachine } from '../domain/servers/operations/remove.ts';
import { forEachIsolated } from '../domain/servers/operations/step.ts';
import { resizeMachine, undoResize } from '../domain/servers/resize/steps.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { nextDue } from '../store/leases.ts';
import { hasPendingOperations, type OperationRow, type OperationStep } from '../store/servers/operations.ts';
import { OPERATIONS, processClaimed, runBatchesConcurrently } from './claim.ts';
import type { Job } from './job.ts';

const BATCH_SIZE = 8;
/** Installs and shutdowns are polled every half second: a step due this soon is in progress, not planned. */
const IN_PROGRESS_WINDOW_MS = 1.5 * SECOND_MS;

const STEPS: Record<OperationStep, (service: Service, operations: OperationRow[]) => Promise<void>> = {
  ensure: forEachOperation(ensureMachine),
  observe: observeInstalls,
  leave_host: forEachOperation(leaveHost),
  give_up: forEachOperation(giveUp),
  remove: forEachOperation(removeMachine),
  shut_down: forEachOperation(shutDown),
  wait_off: waitOff,
  reset: forEachOperation(resetMachine),
  enter_rescue: forEachOperation(enterRescue),
  wait_on: waitOn,
  reinstall: forEachOperation(reinstall),
  wait_installed: waitInstalled,
  go_back: rollBack,
  place: forEachOperation(placeElsewhere),
  replace: forEachOperation(replaceMachine),
  wait_replaced: waitReplaced,
  copy: forEachOperation(copyMachine),
  take_over: forEachOperation(takeOverMachine),
  keep: forEachOperation(keepMachine),
  resize: forEachOperation(resizeMachine),
  undo_resize: forEachOperation(undoResize),
  change_iso: forEachOperation(changeIso),
  empty_drive: forEachOperation(emptyDrive),
};

export function operateJob(service: Service): Job {
  return {
    name: 'operate',
    run: () =>
      runBatchesConcurrently(() =>
        processClaimed(OPERATIONS, service, BATCH_SIZE, (operations) => runSteps(service, operations)),
      ),
    nextDue: () => nextDue(service.db, 'operations'),
    busy: () =>
      hasPendingOperations(service.db, new Date(service.clock.now().getTime() + IN_PROGRESS_WINDOW_MS)),
  };
}

async function runSteps(service: Service, operations: OperationRow[]): Promise<void> {
  const steps = Object.keys(STEPS) as OperationStep[];
  await Promise.all(
    steps.map((step) => {
      const matching = operations.filter((operation) => operation.step === step);
      return matching.length > 0 ? STEPS[step](service, matching) : undefined;
    }),
  );
}

function forEachOperation(step: (service: Service, operation: OperationRow) => Promise<void>) {
  return (service: Service, operations: OperationRow[]): Promise<void> =>
    forEachIsolated(service, operations, (operation) => step(service, operation));
}
