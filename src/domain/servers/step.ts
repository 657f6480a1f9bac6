/** What a step of an operation says about the next one, and what the operator is told of it. */
import { formatId } from '../../kernel/ids.ts';
import { describeError } from '../../kernel/logger.ts';
import type { Sql } from '../../kernel/sql.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import {
  advanceOperation,
  type OperationRow,
  type OperationStep,
  releaseServerLease,
} from '../../store/operations.ts';
import type { Service } from '../context.ts';

export interface StepResult {
  /** The same step again when left out. */
  readonly step?: OperationStep;
  /** 0 when left out. */
  readonly attempts?: number;
  readonly triedHosts?: readonly string[];
  /** When what comes next begins to have its time. */
  readonly placedAt?: Date;
  /** Why it could not be done; the last one told stays. */
  readonly fault?: string;
  /** Milliseconds of business time until it is due; at once when left out. */
  readonly inMs?: number;
}

/** Writes the next step, in `tx`; throws LostLease when the operation is no longer ours. */
export async function advance(
  tx: Sql,
  service: Service,
  operation: OperationRow,
  result: StepResult,
): Promise<void> {
  const isUpdated = await advanceOperation(tx, {
    ...operation,
    step: result.step ?? operation.step,
    attempts: result.attempts ?? 0,
    tried_hosts: result.triedHosts ? [...result.triedHosts] : operation.tried_hosts,
    placed_at: result.placedAt ?? operation.placed_at,
    last_fault: result.fault ?? operation.last_fault,
    due_at: new Date(service.clock.now().getTime() + (result.inMs ?? 0)),
  });
  if (!isUpdated) throwLeaseLost();
}

const BACKOFF_MAX_MS = 30 * SECOND_MS;

/** The same step again, a little later each time: 1, 2, 4 … 30 seconds. Tells the operator when it lasts. */
export function retryWithBackoff(service: Service, operation: OperationRow): StepResult {
  const attempts = operation.attempts + 1;
  if (attempts % 10 === 0) {
    service.log.error({ ...operationLogFields(operation), attempts }, 'operation does not get on');
  }
  return { attempts, inMs: Math.min(SECOND_MS * 2 ** Math.min(operation.attempts, 10), BACKOFF_MAX_MS) };
}

/**
 * Runs a step for each operation by itself: an error that nobody foresaw delays that one only. One that was taken over
 * while the driver worked is given back at once, for its successor waits until this call has ended.
 */
export async function forEachIsolated(
  service: Service,
  operations: readonly OperationRow[],
  step: (operation: OperationRow) => Promise<void>,
): Promise<void> {
  await Promise.all(
    operations.map(async (operation) => {
      try {
        await step(operation);
      } catch (error) {
        if (error instanceof OperationLeaseLost) await releaseOperation(service, operation);
        else await postpone(service, operation, error);
      }
    }),
  );
}

async function releaseOperation(service: Service, operation: OperationRow): Promise<void> {
  try {
    await releaseServerLease(service.db, operation);
  } catch (failure) {
    const shown = operationLogFields(operation);
    service.log.warn({ err: failure, ...shown }, 'operation could not be given back; its lease will end');
  }
}

/** An error that nobody foresaw: the same step in five seconds, so that it neither blocks nor spins. */
async function postpone(service: Service, operation: OperationRow, error: unknown): Promise<void> {
  const shown = operationLogFields(operation);
  service.log.error({ err: error, ...shown }, 'operation step failed');
  const dueAt = new Date(service.clock.now().getTime() + 5 * SECOND_MS);
  try {
    await advanceOperation(service.db, { ...operation, due_at: dueAt });
  } catch (failure) {
    service.log.warn({ err: failure, ...shown }, 'operation could not be put off; its lease will end');
  }
}

/** What the log shows of an operation: the server by the id its customer sees, and where it is. */
export function operationLogFields(operation: OperationRow): {
  server: string;
  host: string | null;
  step: string;
} {
  return { server: formatId('server', operation.server_id), host: operation.host, step: operation.step };
}

/** What an error said, as the log would show it: short, without addresses or secrets. */
export function describeFault(error: unknown): string {
  const { message } = describeError(error) as { message?: string };
  return message ?? 'unknown error';
}

/** Somebody else holds the operation by now: what we found is not ours to write, and the transaction is undone. */
export function throwLeaseLost(): never {
  throw new OperationLeaseLost();
}

export class OperationLeaseLost extends Error {}
