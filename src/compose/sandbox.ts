/** Sandbox controls of the simulated world and the clock. */
import pLimit from 'p-limit';
import { SandboxInputError } from '../drivers/sandbox-input-error.ts';
import type { SandboxControl } from '../http/sandbox/control.ts';
import { fail } from '../kernel/fail.ts';
import { moveClock, notifyWorkers } from '../store/service/service.ts';
import type { JobRunner } from '../workers/job-runner.ts';
import type { OpenedService } from './service.ts';
import type { Simulation } from './simulation.ts';

/**
 * Limit of a sandbox call that waits for work: each attempt at a receiver that never responds takes a
 * timeout.
 */
const MAX_WAIT_MS = 240_000;
/**
 * A long jump does work up to so much after its due date, so that work due in the same seconds is done in one
 * batch, as a busy service does it: this part of the jump, at most the tolerance of SPEC for clocks.
 */
const LATE_PART = 1 / 100_000;
const LATE_MAX_MS = 30_000;

export function createSandboxControl(
  opened: Pick<OpenedService, 'db' | 'clock' | 'service'> & { readonly simulation: Simulation },
  runner: JobRunner,
): SandboxControl {
  const { simulation, service } = opened;
  /** Turns an error of a simulated part into a 400 that names the invalid field. */
  async function mapFieldErrors<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof SandboxInputError)) throw error;
      return fail('bad_request', { field: error.field }, error.message);
    } finally {
      service.wake();
    }
  }
  // Concurrent jumps would each measure from the middle of the other.
  const oneJumpAtATime = pLimit(1);
  return {
    pay: (input) => mapFieldErrors(simulation.chains.pay(input)),
    mine: (input) => mapFieldErrors(simulation.chains.mine(input)),
    reorg: (input) => mapFieldErrors(simulation.chains.reorg(input)),
    setRate: ({ coin, usd }) => mapFieldErrors(simulation.rates.set(coin, usd)),
    setFault: (input) => mapFieldErrors(simulation.faults.set(input)),
    readMails: async (to) => ({ mails: await simulation.mails.read(to) }),
    settle: async () => {
      await settle(runner, performance.now() + MAX_WAIT_MS);
    },
    advanceClock: (ms) => oneJumpAtATime(() => runner.runExclusively(() => advanceClock(opened, runner, ms))),
  };
}

async function settle(runner: JobRunner, deadline: number): Promise<void> {
  if (!(await runner.runUntilIdle(deadline - performance.now()))) await failStillRunning(runner);
}

/**
 * Advances due date by due date, and finishes the work of each before the next. A year then passes as it
 * would in reality, not in one jump over everything due. Waits for webhooks and mails in flight, so that
 * retries are scheduled from the time at which they were sent. Metrics are stored at the end of the jump.
 */
async function advanceClock(
  opened: Pick<OpenedService, 'db' | 'clock'>,
  runner: JobRunner,
  ms: number,
): Promise<Date> {
  const { clock, db } = opened;
  const target = clock.now().getTime() + ms;
  const deadline = performance.now() + MAX_WAIT_MS;
  const lateMs = Math.floor(Math.min(ms * LATE_PART, LATE_MAX_MS));
  const moveTo = async (to: number): Promise<void> => {
    const by = to - clock.now().getTime();
    if (by <= 0) return;
    clock.offsetMs = await moveClock(db, by);
    await notifyWorkers(db);
  };
  for (let previousDue = 0; ; ) {
    const due = await runUntilIdle(runner, deadline);
    if (due === null || due >= target) break;
    // Another process holds the work that is due then.
    if (due === previousDue) await runner.pause();
    previousDue = due;
    await moveTo(Math.min(due + lateMs, target));
  }
  await moveTo(target);
  await settle(runner, deadline);
  return clock.now();
}

/** Runs all due work. Returns the time of the next planned work, or null. */
async function runUntilIdle(runner: JobRunner, deadline: number): Promise<number | null> {
  while (performance.now() < deadline && (await runner.runDue(deadline, { skipHousekeeping: true }))) {
    const { dueAt, isClockBlocked } = await runner.nextPlannedWork();
    if (!isClockBlocked) return dueAt?.getTime() ?? null;
    await runner.pause();
  }
  return await failStillRunning(runner);
}

async function failStillRunning(runner: JobRunner): Promise<never> {
  const names = await runner.busyJobNames();
  const detail = names.length > 0 ? `: ${names.join(', ')}` : '';
  return fail('maintenance', { retry_after_s: 5 }, `Work is still in progress${detail}. Try again.`);
}
