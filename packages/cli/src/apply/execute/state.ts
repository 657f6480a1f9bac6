/** How far a run and its items have come. */
import { ApiError, type ErrorItem, type Skerry } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import { explain } from '../../explain.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { FetchedAccount } from '../actual.ts';
import type { PlanItem } from '../plan/plan.ts';

export type ResultStatus =
  | 'done'
  /** What went wrong is in `message`. */
  | 'failed'
  /** What it needs failed. */
  | 'skipped'
  /** Not now: nobody waited, or it was interrupted; the next run does it. */
  | 'left';

/** What the service said, for programs and for whoever asks it for help. */
export interface ErrorDetails {
  readonly code: string | null;
  readonly request_id: string | null;
  readonly errors: readonly ErrorItem[];
}

export interface ItemResult {
  readonly item: PlanItem;
  readonly status: ResultStatus;
  readonly message: string | null;
  /** Of what was made or changed, as far as it came. */
  readonly id: string | null;
  /** It failed only because it was not waited for any longer. */
  readonly timedOut: boolean;
  readonly error: ErrorDetails | null;
}

export interface RunContext {
  readonly skerry: Skerry;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** As it was compared. */
  readonly actual: FetchedAccount;
  readonly nonce: string;
  readonly noWait: boolean;
  /** For all that is waited for together. */
  readonly timeoutMs: number;
}

/** How far an item has come. */
export interface ItemState {
  readonly item: PlanItem;
  readonly status: 'open' | Exclude<ResultStatus, 'done'>;
  readonly message: string | null;
  readonly timedOut: boolean;
  readonly error: ErrorDetails | null;
}

export function failedState(error: unknown): Pick<ItemState, 'status' | 'message' | 'timedOut' | 'error'> {
  const refusal =
    error instanceof ApiError
      ? { code: error.code, request_id: error.requestId, errors: error.errors }
      : null;
  const timedOut = error instanceof Failure && error.exit === 'timeout';
  return { status: 'failed', message: formatErrorMessage(error), timedOut, error: refusal };
}

/** In one line, with what the service says beside it. */
export function formatErrorMessage(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const lines = explain(error).map((line) => line.trim());
  return lines.join('; ').replace(/^skerry: /, '');
}
