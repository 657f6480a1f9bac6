/** Carries servers' operations on, step by step: claim, act on the driver outside any transaction, record. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../domain/context.ts';
import { giveUp } from '../domain/servers/give-up.ts';
import { leaveHost } from '../domain/servers/leave-host.ts';
import { observeInstalls } from '../domain/servers/observe.ts';
import { ensureMachine } from '../domain/servers/provision.ts';
import { removeMachine } from '../domain/servers/remove.ts';
import { LostLease, postpone } from '../domain/servers/step.ts';
import { crashPoint } from '../kernel/crash.ts';
import { SECOND_MS } from '../kernel/time.ts';
import {
  nextOperationDue,
  type OperationRow,
  type OperationStep,
  operationsUnderWay,
} from '../store/operations.ts';
import { claimed } from './claim.ts';
import type { Duty } from './duty.ts';

const BATCH = 8;
/** Batches at once, and how soon another one begins beside those that take long. */
const BATCHES_MAX = 4;
const BESIDE_MS = 250;
/** A running install is looked at every half second: what is due this soon is under way, not planned. */
const SOON_MS = 1.5 * SECOND_MS;

const STEPS: Record<OperationStep, (service: Service, operations: OperationRow[]) => Promise<void>> = {
  ensure: eachOf(ensureMachine),
  observe: observeInstalls,
  leave_host: eachOf(leaveHost),
  give_up: eachOf(giveUp),
  remove: eachOf(removeMachine),
};

export function operateDuty(service: Service): Duty {
  return {
    name: 'operate',
    run: () => workAbreast(() => claimed(service, BATCH, (operations) => takeSteps(service, operations))),
    nextDue: () => nextOperationDue(service.db),
    busy: () => operationsUnderWay(service.db, new Date(service.clock.now().getTime() + SOON_MS)),
  };
}

/**
 * Works on a batch, and for as long as that takes begins others beside it: a host that is slow to answer holds up
 * little but what is on it. All of them have ended when it returns, so that nothing outlives the service.
 */
async function workAbreast(batch: () => Promise<number>): Promise<number> {
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let did = 0;
  function begin(): Promise<void> {
    const work = batch()
      .then(
        (count) => {
          did += count;
        },
        (error: unknown) => {
          failures.push(error);
        },
      )
      .finally(() => underWay.delete(work));
    underWay.add(work);
    return work;
  }
  const first = begin();
  while (underWay.has(first)) {
    await Promise.race([first, pause(BESIDE_MS, undefined, { ref: false })]);
    if (underWay.has(first) && underWay.size < BATCHES_MAX) begin();
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
  return did;
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

/** Runs a step for each operation by itself; an unforeseen error delays that one only. */
function eachOf(step: (service: Service, operation: OperationRow) => Promise<void>) {
  return async (service: Service, operations: OperationRow[]): Promise<void> => {
    await Promise.all(
      operations.map(async (operation) => {
        try {
          await step(service, operation);
        } catch (error) {
          if (error instanceof LostLease) return;
          await postpone(service, operation, error);
        }
      }),
    );
  };
}
