/** The sandbox's hands on the simulated world and on the clock. */
import type { SandboxControl } from '../http/sandbox/control.ts';
import { fail } from '../kernel/fail.ts';
import { moveClock, notifyWorkers } from '../store/clock.ts';
import type { JobRunner } from '../workers/job-runner.ts';
import type { OpenedService } from './service.ts';
import type { Simulation } from './simulation.ts';

/** How long a sandbox call may wait for the work it caused: receivers that never answer cost a time-out for each attempt. */
const MAX_WAIT_MS = 240_000;

export function createSandboxControl(
  opened: Pick<OpenedService, 'db' | 'clock' | 'service'> & { readonly simulation: Simulation },
  runner: JobRunner,
): SandboxControl {
  const { simulation, service } = opened;
  /** What a simulated part refuses, it refuses with the field at fault. */
  async function mapFieldErrors<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      const { field } = error as { field?: unknown };
      if (typeof field !== 'string' || !(error instanceof Error)) throw error;
      return fail('bad_request', { field }, error.message);
    } finally {
      service.wake();
    }
  }
  return {
    pay: (input) => mapFieldErrors(simulation.chains.pay(input)),
    mine: (input) => mapFieldErrors(simulation.chains.mine(input)),
    reorg: (input) => mapFieldErrors(simulation.chains.reorg(input)),
    setRate: ({ coin, usd }) => mapFieldErrors(simulation.rates.set(coin, usd)),
    setFault: (input) => mapFieldErrors(simulation.faults.set(input)),
    readMails: async (to) => ({ mails: await simulation.mails.read(to) }),
    settle: async () => {
      await settle(runner, Date.now() + MAX_WAIT_MS);
    },
    advanceClock: serialize((ms: number) => runner.runExclusively(() => advanceClock(opened, runner, ms))),
  };
}

async function settle(runner: JobRunner, deadline: number): Promise<void> {
  if (!(await runner.runUntilIdle(deadline - Date.now()))) await failStillRunning(runner);
}

/**
 * Due date by due date, the work of each to rest before the next: a year passes as it would have, not in one leap over
 * everything that was due in it. What is in flight to somebody outside (a webhook, a mail) is waited for, so that
 * what follows from its answer is planned from the time at which it was sent.
 */
async function advanceClock(
  opened: Pick<OpenedService, 'db' | 'clock'>,
  runner: JobRunner,
  ms: number,
): Promise<Date> {
  const { clock, db } = opened;
  const target = clock.now().getTime() + ms;
  const deadline = Date.now() + MAX_WAIT_MS;
  const moveTo = async (to: number): Promise<void> => {
    const by = to - clock.now().getTime();
    if (by <= 0) return;
    clock.offsetMs = await moveClock(db, by);
    await notifyWorkers(db);
  };
  for (let previousDue = 0; ; ) {
    const due = await runUntilIdle(runner, deadline);
    if (due === null || due >= target) break;
    // Somebody else holds what is due there.
    if (due === previousDue) await runner.pause();
    previousDue = due;
    await moveTo(due);
  }
  await moveTo(target);
  await settle(runner, deadline);
  return clock.now();
}

/** Runs what is due now to rest; when the next work is due, or null. */
async function runUntilIdle(runner: JobRunner, deadline: number): Promise<number | null> {
  while (Date.now() < deadline && (await runner.runDue(deadline, { skipHousekeeping: true }))) {
    const { dueAt, isClockBlocked } = await runner.nextPlannedWork();
    if (!isClockBlocked) return dueAt?.getTime() ?? null;
    await runner.pause();
  }
  return await failStillRunning(runner);
}

async function failStillRunning(runner: JobRunner): Promise<never> {
  const names = await runner.busyJobNames();
  const detail = names.length > 0 ? `: ${names.join(', ')}` : '';
  return fail('maintenance', { retry_after_s: 5 }, `Work is still under way${detail}.`);
}

/** One call at a time, in order: two leaps at once would each measure from the other's middle. */
function serialize<A, R>(work: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
  let last: Promise<unknown> = Promise.resolve();
  return (argument) => {
    const result = last.then(() => work(argument));
    last = result.catch(() => undefined);
    return result;
  };
}
