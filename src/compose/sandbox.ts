/** The sandbox's hands on the simulated world and on the clock. */
import type { SandboxControl } from '../http/sandbox/control.ts';
import { fail } from '../kernel/fail.ts';
import { moveClock, notifyWorkers } from '../store/clock.ts';
import type { Runner } from '../workers/runner.ts';
import type { Opened } from './service.ts';
import type { Simulation } from './simulation.ts';

/** How long a sandbox call may wait for the work it caused: receivers that never answer cost a time-out for each attempt. */
const WAIT_MAX_MS = 240_000;

export function sandboxControl(
  opened: Pick<Opened, 'db' | 'clock' | 'service'> & { readonly simulation: Simulation },
  runner: Runner,
): SandboxControl {
  const { simulation, service } = opened;
  /** What a simulated part refuses, it refuses with the field at fault. */
  async function refusing<T>(work: Promise<T>): Promise<T> {
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
    pay: (input) => refusing(simulation.chains.pay(input)),
    mine: (input) => refusing(simulation.chains.mine(input)),
    reorg: (input) => refusing(simulation.chains.reorg(input)),
    setRate: ({ coin, usd }) => refusing(simulation.rates.set(coin, usd)),
    setFault: (input) => refusing(simulation.faults.set(input)),
    readMails: async (to) => ({ mails: await simulation.mails.read(to) }),
    settle: async () => {
      await settle(runner, Date.now() + WAIT_MAX_MS);
    },
    advanceClock: serialized((ms: number) => runner.alone(() => advanceClock(opened, runner, ms))),
  };
}

async function settle(runner: Runner, deadline: number): Promise<void> {
  if (!(await runner.settle(deadline - Date.now()))) await stillUnderWay(runner);
}

/**
 * Due date by due date, the work of each to rest before the next: a year passes as it would have, not in one leap over
 * everything that was due in it. What is in flight to somebody outside (a webhook, a mail) is waited for, so that
 * what follows from its answer is planned from the time at which it was sent.
 */
async function advanceClock(opened: Pick<Opened, 'db' | 'clock'>, runner: Runner, ms: number): Promise<Date> {
  const { clock, db } = opened;
  const target = clock.now().getTime() + ms;
  const deadline = Date.now() + WAIT_MAX_MS;
  const jump = async (to: number): Promise<void> => {
    const by = to - clock.now().getTime();
    if (by <= 0) return;
    clock.offsetMs = await moveClock(db, by);
    await notifyWorkers(db);
  };
  for (let stood = 0; ; ) {
    const due = await restHere(runner, deadline);
    if (due === null || due >= target) break;
    // Somebody else holds what is due there.
    if (due === stood) await runner.pause();
    stood = due;
    await jump(due);
  }
  await jump(target);
  await settle(runner, deadline);
  return clock.now();
}

/** Runs what is due now to rest; when the next work is due, or null. */
async function restHere(runner: Runner, deadline: number): Promise<number | null> {
  while (Date.now() < deadline && (await runner.runDue(deadline, { passing: true }))) {
    const { due, inFlight } = await runner.ahead();
    if (!inFlight) return due?.getTime() ?? null;
    await runner.pause();
  }
  return await stillUnderWay(runner);
}

async function stillUnderWay(runner: Runner): Promise<never> {
  const names = await runner.busyNames();
  const which = names.length > 0 ? `: ${names.join(', ')}` : '';
  return fail('maintenance', { retry_after_s: 5 }, `Work is still under way${which}.`);
}

/** One call at a time, in order: two leaps at once would each measure from the other's middle. */
function serialized<A, R>(work: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
  let last: Promise<unknown> = Promise.resolve();
  return (argument) => {
    const mine = last.then(() => work(argument));
    last = mine.catch(() => undefined);
    return mine;
  };
}
