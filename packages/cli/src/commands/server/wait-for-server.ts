/** Waits until a server is as it should be, or can no longer become so. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isApiError, mayPass, type Server, type Skerry } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import type { PollOptions } from '../../terminal/wait.ts';

/** Much is done at once, and what is not takes a minute: the first looks are close together. */
const FIRST_PAUSES_MS = [300, 700, 1_000];
const POLL_MS = 2_000;
const TIMEOUT_MS = 10 * 60_000;
/** The third look asks the audit log, too, and each fifth one after it. */
const AUDIT_CHECKS = { first: 2, every: 5 };

/** What the audit log calls that which may be given up. */
export type Operation = 'start' | 'stop' | 'reboot' | 'rescue' | 'rebuild' | 'restore';

export interface WaitGoal {
  /** Null: the server is gone. */
  readonly isDone: (seen: Server | null) => boolean;
  readonly operation?: Operation;
  /** Says why it ended otherwise, where more is known than its status. */
  readonly explain?: () => Promise<string>;
}

/** The server as it is then; as it was last seen, if it is gone. */
export async function waitForServer(
  skerry: Skerry,
  started: Server,
  goal: WaitGoal,
  { signal, timeoutMs = TIMEOUT_MS, onLook }: PollOptions,
): Promise<Server> {
  const deadlineMs = Date.now() + timeoutMs;
  let last = started;
  for (let polls = 0; ; polls += 1) {
    await sleep(FIRST_PAUSES_MS[polls] ?? POLL_MS, undefined, { signal });
    const isPastDeadline = Date.now() > deadlineMs;
    try {
      const seen = await getServerOrNull(skerry, started.id, signal);
      last = seen ?? last;
      onLook(last);
      if (goal.isDone(seen)) return last;
      const end = describeFinalState(started, seen);
      if (end !== null) throw new Failure('failed', (await goal.explain?.()) ?? `${started.name} ${end}`);
      if (goal.operation && polls % AUDIT_CHECKS.every === AUDIT_CHECKS.first) {
        await failIfGivenUp(skerry, last, goal.operation);
      }
    } catch (error) {
      // What was begun goes on, whether we can look at it or not.
      if (isPastDeadline || signal.aborted || !mayPass(error)) throw error;
      onLook({ status: `not to be seen right now (${error.message})` });
    }
    if (isPastDeadline) {
      const passedS = Math.round(timeoutMs / 1_000);
      throw new Failure('timeout', `${started.name} is still ${last.status} after ${passedS} s; it goes on`);
    }
  }
}

/** Fails when the service has begun the operation and given it up: only its audit log says so. */
export async function failIfGivenUp(skerry: Skerry, server: Server, operation: Operation): Promise<void> {
  const filter = { resource: server.id, action: `server.${operation}` } as const;
  const { data } = await skerry.auditEvents.list({ filter, page_size: 1 }).first();
  const [last] = data;
  const isByService = last?.actor_token === null && last.actor_session === null;
  if (!isByService || last.result !== 'error') return;
  throw new Failure(
    'failed',
    `the service could not ${operation} ${server.name}: it is as it was, and ${server.status}`,
  );
}

async function getServerOrNull(skerry: Skerry, id: string, signal: AbortSignal): Promise<Server | null> {
  try {
    return await skerry.servers.get(id, { signal });
  } catch (error) {
    if (isApiError(error, 'not_found')) return null;
    throw error;
  }
}

/** From where nothing else comes by itself. */
function describeFinalState(started: Server, seen: Server | null): string | null {
  if (seen === null) return 'is gone';
  // What was asked for, where it began so.
  if (seen.status === 'destroying') return started.status === 'destroying' ? null : 'is being destroyed';
  // One that is being started is suspended until it runs.
  return seen.status === 'suspended' && started.status !== 'suspended' ? 'was suspended' : null;
}
