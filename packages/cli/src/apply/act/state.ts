/** How far a run and its items have come. */
import { ApiError, type ErrorItem, type Skerry } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import { explain } from '../../explain.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { Fetched } from '../actual.ts';
import type { Item } from '../plan/plan.ts';

export type Status =
  | 'done'
  /** What went wrong is in `message`. */
  | 'failed'
  /** What it needs failed. */
  | 'skipped'
  /** Not now: nobody waited, or it was interrupted; the next run does it. */
  | 'left';

/** What the service said, for programs and for whoever asks it for help. */
export interface Refusal {
  readonly code: string | null;
  readonly request_id: string | null;
  readonly errors: readonly ErrorItem[];
}

export interface Result {
  readonly item: Item;
  readonly status: Status;
  readonly message: string | null;
  /** Of what was made or changed, as far as it came. */
  readonly id: string | null;
  /** It failed only because it was not waited for any longer. */
  readonly timedOut: boolean;
  readonly error: Refusal | null;
}

export interface Run {
  readonly skerry: Skerry;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** As it was compared. */
  readonly actual: Fetched;
  readonly nonce: string;
  readonly noWait: boolean;
  /** For all that is waited for together. */
  readonly timeoutMs: number;
}

/** How far an item has come. */
export interface State {
  readonly item: Item;
  readonly status: 'open' | Exclude<Status, 'done'>;
  readonly message: string | null;
  readonly timedOut: boolean;
  readonly error: Refusal | null;
}

export function failure(error: unknown): Pick<State, 'status' | 'message' | 'timedOut' | 'error'> {
  const refusal =
    error instanceof ApiError
      ? { code: error.code, request_id: error.requestId, errors: error.errors }
      : null;
  const timedOut = error instanceof Failure && error.exit === 'timeout';
  return { status: 'failed', message: messageOf(error), timedOut, error: refusal };
}

/** In one line, with what the service says beside it. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const lines = explain(error).map((line) => line.trim());
  return lines.join('; ').replace(/^skerry: /, '');
}
