/** What a step of an operation says about the next one. */
import { SECOND_MS } from '../../kernel/time.ts';
import { advanceOperation, type OperationRow, type OperationStep } from '../../store/operations.ts';
import type { Service } from '../context.ts';

export interface StepResult {
  /** The same step again when left out. */
  readonly step?: OperationStep;
  /** 0 when left out. */
  readonly attempts?: number;
  readonly triedHosts?: readonly string[];
  /** Milliseconds of business time until it is due; at once when left out. */
  readonly inMs?: number;
}

const LONGEST_WAIT_MS = 30 * SECOND_MS;

/** The same step again, a little later each time: 1, 2, 4 … 30 seconds. Tells the operator when it lasts. */
export function soonAgain(service: Service, operation: OperationRow): StepResult {
  const attempts = operation.attempts + 1;
  if (attempts % 10 === 0) {
    service.log.error(
      { step: operation.step, attempts, server: operation.server_id },
      'operation does not get on',
    );
  }
  return { attempts, inMs: Math.min(SECOND_MS * 2 ** Math.min(operation.attempts, 10), LONGEST_WAIT_MS) };
}

/** After an error that nobody foresaw: the same step in five seconds, so that it neither blocks nor spins. */
export async function postpone(service: Service, operation: OperationRow): Promise<void> {
  const dueAt = new Date(service.clock.now().getTime() + 5 * SECOND_MS);
  await advanceOperation(service.db, { ...operation, due_at: dueAt });
}

/** Somebody else holds the operation by now: what we found is not ours to write, and the transaction is undone. */
export function lostLease(): never {
  throw new LostLease();
}

export class LostLease extends Error {}
