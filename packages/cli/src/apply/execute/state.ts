/** The progress of a run and of its items. */
import { ApiError, type ErrorItem, type Skerry } from '@skerry/sdk';
import { explain, Failure } from '../../exit-codes.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { FetchedAccount } from '../actual.ts';
import { KIND_NAMES, type Kind, type KnownIds, type PlanItem } from '../plan/plan.ts';

export type ResultStatus =
  | 'done'
  /** `message` has the reason. */
  | 'failed'
  /** Something that it needs failed. */
  | 'skipped'
  /** Not done in this run, with --no-wait or after an interruption; the next run does it. */
  | 'left';

/** The service's error, for programs and for support requests. */
interface ErrorDetails {
  readonly code: string | null;
  readonly request_id: string | null;
  readonly errors: readonly ErrorItem[];
}

export interface ItemResult {
  readonly item: PlanItem;
  readonly status: ResultStatus;
  readonly message: string | null;
  /** Of the created or changed resource, if known. */
  readonly id: string | null;
  /** Failed only because the wait timed out. */
  readonly timedOut: boolean;
  readonly error: ErrorDetails | null;
}

export interface RunContext {
  readonly skerry: Skerry;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** The account as it was compared. */
  readonly actual: FetchedAccount;
  /** Unique per run: a retry within the run takes effect once; a later run makes a new request. */
  readonly nonce: string;
  readonly noWait: boolean;
  /** For all waits of the run together. */
  readonly timeoutMs: number;
}

/** The progress of an item. */
export interface ItemState extends Omit<ItemResult, 'status' | 'id'> {
  readonly status: 'open' | Exclude<ResultStatus, 'done'>;
}

export function failedState(error: unknown): Pick<ItemState, 'status' | 'message' | 'timedOut' | 'error'> {
  const refusal =
    error instanceof ApiError
      ? { code: error.code, request_id: error.requestId, errors: error.errors }
      : null;
  const timedOut = error instanceof Failure && error.exit === 'timeout';
  return { status: 'failed', message: formatErrorMessage(error), timedOut, error: refusal };
}

/** Formats an error in one line, with the details that the service sent. */
export function formatErrorMessage(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const lines = explain(error).map((line) => line.trim());
  return lines.join('; ').replace(/^skerry: /, '');
}

/** Resource IDs by the names in actions: known ones, and those created during the run. */
export class ResourceIds {
  readonly #ids: Readonly<Record<Kind, Map<string, string>>>;

  constructor(known: KnownIds) {
    const copies = Object.entries(known).map(([kind, ids]) => [kind, new Map(ids)]);
    this.#ids = Object.fromEntries(copies);
  }

  set(kind: Kind, name: string, id: string): void {
    this.#ids[kind].set(name, id);
  }

  find(kind: Kind, name: string): string | undefined {
    return this.#ids[kind].get(name);
  }

  /** Fails if the step that should have created the resource did not. */
  get(kind: Kind, name: string): string {
    const id = this.find(kind, name);
    if (id === undefined) throw new Error(`${KIND_NAMES[kind]} "${name}" was not created`);
    return id;
  }
}
