/** Waits until a server reaches a state, or can no longer reach it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { mayPass, type Server, type Skerry } from '@skerry/sdk';
import type { Context } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { nullIf } from '../../find.ts';
import { type PollOptions, type WaitFlags, waitAndShow } from '../../terminal/wait.ts';
import { SERVER_COLUMNS } from './show.ts';

/** Many operations finish at once and the others take a minute: the first polls are close together. */
const FIRST_PAUSES_MS = [300, 700, 1_000];
const POLL_MS = 2_000;
const TIMEOUT_MS = 10 * 60_000;
/** The third poll also reads the audit log, and every fifth one after it. */
const AUDIT_CHECKS = { first: 2, every: 5 };

/** Operations that the service may give up, by their names in the audit log. */
export type Operation = 'start' | 'stop' | 'reboot' | 'rescue' | 'rebuild' | 'restore';

interface WaitGoal {
  /** Null: the server is deleted. */
  readonly isDone: (seen: Server | null) => boolean;
  readonly operation?: Operation;
  /** Returns the reason for another outcome, if more is known than the status. */
  readonly explain?: () => Promise<string>;
}

/** Returns the server in that state, or its last observed state if it is deleted. */
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
      const seen = await nullIf('not_found', skerry.servers.get(started.id, { signal }));
      last = seen ?? last;
      onLook(last);
      if (goal.isDone(seen)) return last;
      const end = describeFinalState(started, seen);
      if (end !== null) throw new Failure('failed', (await goal.explain?.()) ?? `${started.name} ${end}`);
      if (goal.operation && polls % AUDIT_CHECKS.every === AUDIT_CHECKS.first) {
        await failIfGivenUp(skerry, last, goal.operation);
      }
    } catch (error) {
      // The operation continues even if we cannot reach the service.
      if (isPastDeadline || signal.aborted || !mayPass(error)) throw error;
      onLook({ status: `unreachable at the moment (${error.message})` });
    }
    if (isPastDeadline) {
      const passedS = Math.round(timeoutMs / 1_000);
      throw new Failure(
        'timeout',
        `${started.name} is still ${last.status} after ${passedS} s; the operation continues`,
      );
    }
  }
}

/** Waits and shows the server: in that state, or as it was observed last if the wait ends early. */
export async function waitAndShowServer(
  context: Context,
  waits: WaitFlags,
  started: Server,
  wait: (options: PollOptions) => Promise<Server>,
): Promise<void> {
  const show = (seen: Server) => context.output.showRow(seen, SERVER_COLUMNS);
  await waitAndShow(context, waits, started.name, started, wait, show);
}

/** Fails if the service started the operation and gave it up; only the audit log shows that. */
export async function failIfGivenUp(skerry: Skerry, server: Server, operation: Operation): Promise<void> {
  const filter = { resource: server.id, action: `server.${operation}` } as const;
  const { data } = await skerry.auditEvents.list({ filter, page_size: 1 }).first();
  const [last] = data;
  const isByService = last?.actor_token === null && last.actor_session === null;
  if (!isByService || last.result !== 'error') return;
  throw new Failure(
    'failed',
    `could not ${operation} ${server.name}; the server is unchanged and ${server.status}`,
  );
}

/** Describes a state that the server does not leave without another request. */
function describeFinalState(started: Server, seen: Server | null): string | null {
  if (seen === null) return 'was deleted';
  // Expected if the deletion was requested.
  if (seen.status === 'destroying') return started.status === 'destroying' ? null : 'is being deleted';
  // A server that resumes stays suspended until it is running.
  return seen.status === 'suspended' && started.status !== 'suspended' ? 'was suspended' : null;
}
