/** Carries servers' operations on, step by step: claim, act on the driver outside any transaction, record. */
import type { Service } from '../domain/context.ts';
import { giveUp } from '../domain/servers/give-up.ts';
import { leaveHost } from '../domain/servers/leave-host.ts';
import { observeInstalls } from '../domain/servers/observe.ts';
import { enterRescue, resetMachine, shutDown, waitOff, waitOn } from '../domain/servers/power-steps.ts';
import { ensureMachine } from '../domain/servers/provision.ts';
import { goBack, reinstall, waitInstalled } from '../domain/servers/reinstall-steps.ts';
import { removeMachine } from '../domain/servers/remove.ts';
import { eachAlone } from '../domain/servers/step.ts';
import { crashPoint } from '../kernel/crash.ts';
import { SECOND_MS } from '../kernel/time.ts';
import {
  nextOperationDue,
  type OperationRow,
  type OperationStep,
  operationsUnderWay,
} from '../store/operations.ts';
import { workAbreast } from './abreast.ts';
import { claimed } from './claim.ts';
import type { Duty } from './duty.ts';

const BATCH = 8;
/** A running install or shutdown is looked at every half second: what is due this soon is under way, not planned. */
const SOON_MS = 1.5 * SECOND_MS;

const STEPS: Record<OperationStep, (service: Service, operations: OperationRow[]) => Promise<void>> = {
  ensure: eachOf(ensureMachine),
  observe: observeInstalls,
  leave_host: eachOf(leaveHost),
  give_up: eachOf(giveUp),
  remove: eachOf(removeMachine),
  shut_down: eachOf(shutDown),
  wait_off: waitOff,
  reset: eachOf(resetMachine),
  enter_rescue: eachOf(enterRescue),
  wait_on: waitOn,
  reinstall: eachOf(reinstall),
  wait_installed: waitInstalled,
  go_back: goBack,
};

export function operateDuty(service: Service): Duty {
  return {
    name: 'operate',
    run: () => workAbreast(() => claimed(service, BATCH, (operations) => takeSteps(service, operations))),
    nextDue: () => nextOperationDue(service.db),
    busy: () => operationsUnderWay(service.db, new Date(service.clock.now().getTime() + SOON_MS)),
  };
}

async function takeSteps(service: Service, operations: OperationRow[]): Promise<void> {
  crashPoint('provision.claimed');
  const steps = Object.keys(STEPS) as OperationStep[];
  await Promise.all(
    steps.map((step) => {
      const mine = operations.filter((operation) => operation.step === step);
      return mine.length > 0 ? STEPS[step](service, mine) : undefined;
    }),
  );
}

function eachOf(step: (service: Service, operation: OperationRow) => Promise<void>) {
  return (service: Service, operations: OperationRow[]): Promise<void> =>
    eachAlone(service, operations, (operation) => step(service, operation));
}
