/** The result of an operation's step, and how steps retry and report faults. */
import { BACKOFF, backoffMs } from '../../../kernel/backoff.ts';
import { LeaseLost } from '../../../kernel/fail.ts';
import { formatId } from '../../../kernel/ids.ts';
import { describeError } from '../../../kernel/logger.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import { type ActionErrorCode, actionPosition } from '../../../spec/action-commands.ts';
import type { ActionEnd } from '../../../store/actions.ts';
import {
  advanceOperation,
  finishOperation,
  type OperationRow,
  type OperationStep,
  releaseServerLease,
} from '../../../store/servers/operations.ts';
import { lockServer, type ServerRow } from '../../../store/servers/servers.ts';
import { endAction, SUCCESS } from '../../actions/end.ts';
import { commandOf } from '../../actions/operations.ts';
import type { Service } from '../../context.ts';

export interface StepResult {
  /** The same step again if omitted. */
  readonly step?: OperationStep;
  /** 0 if omitted. */
  readonly attempts?: number;
  readonly triedHosts?: readonly string[];
  /** When the deadline of the next step starts. */
  readonly placedAt?: Date;
  /** Why the step failed; the last fault is kept. */
  readonly fault?: string;
  /** The same as a code for the customer; the last one is kept. */
  readonly cause?: ActionErrorCode;
  /** Milliseconds of business time until the step is due; at once if omitted. */
  readonly inMs?: number;
}

/** Writes the next step; throws LeaseLost if another worker holds the operation now. */
export async function advance(
  service: Service,
  operation: OperationRow,
  result: StepResult,
  tx: Sql = service.db,
): Promise<void> {
  const now = service.clock.now();
  const step = result.step ?? operation.step;
  const next = {
    ...operation,
    step,
    attempts: result.attempts ?? 0,
    tried_hosts: result.triedHosts ? [...result.triedHosts] : operation.tried_hosts,
    placed_at: result.placedAt ?? operation.placed_at,
    last_fault: result.fault ?? operation.last_fault,
    cause: result.cause ?? operation.cause,
    due_at: new Date(now.getTime() + (result.inMs ?? 0)),
  };
  const position = step === operation.step ? null : actionPosition(commandOf(operation.kind), step);
  if (!(await advanceOperation(tx, next, position && { ...position, at: now }))) throw new LeaseLost();
}

/**
 * Deletes the operation, ends its action, and makes the change that ends it, in one commit; nothing if its
 * server is gone.
 */
export async function endOperation(
  service: Service,
  operation: OperationRow,
  change: (tx: Sql, server: ServerRow, now: Date) => Promise<void>,
  end: ActionEnd | ((server: ServerRow) => ActionEnd) = SUCCESS,
): Promise<void> {
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) return;
    if (!(await finishOperation(tx, operation))) throw new LeaseLost();
    // First, so that events of the change show no action that has ended.
    const ended = typeof end === 'function' ? end(server) : end;
    await endAction(tx, operation.action_id, ended, now);
    await change(tx, server, now);
  });
}

/** Retries the same step after 1, 2, 4 … 30 seconds. Logs an error for every tenth attempt. */
export function retryWithBackoff(service: Service, operation: OperationRow): StepResult {
  const attempts = operation.attempts + 1;
  if (attempts % 10 === 0) {
    service.log.error({ ...operationLogFields(operation), attempts }, 'operation is not progressing');
  }
  return { attempts, inMs: backoffMs(BACKOFF.step, attempts) };
}

/**
 * Runs a step for each operation in isolation: an unexpected error delays only that operation. An operation
 * that another worker took over during the driver call is released at once, because the successor waits for
 * this call to end.
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
        if (error instanceof LeaseLost) await releaseOperation(service, operation);
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
    service.log.warn({ err: failure, ...shown }, 'operation could not be released; its lease will expire');
  }
}

/** Retries a step after an unexpected error in five seconds, so that it neither blocks nor spins. */
async function postpone(service: Service, operation: OperationRow, error: unknown): Promise<void> {
  const shown = operationLogFields(operation);
  service.log.error({ err: error, ...shown }, 'operation step failed');
  const dueAt = new Date(service.clock.now().getTime() + 5 * SECOND_MS);
  try {
    await advanceOperation(service.db, { ...operation, due_at: dueAt });
  } catch (failure) {
    service.log.warn({ err: failure, ...shown }, 'operation could not be postponed; its lease will expire');
  }
}

/** Returns the log fields of an operation: the public id of the server, its host, and its step. */
export function operationLogFields(operation: OperationRow): {
  server: string;
  host: string | null;
  step: string;
} {
  return { server: formatId('server', operation.server_id), host: operation.host, step: operation.step };
}

/** Returns an error's message as the log shows it: short, without addresses or secrets. */
export function describeFault(error: unknown): string {
  const { message } = describeError(error) as { message?: string };
  return message ?? 'unknown error';
}
