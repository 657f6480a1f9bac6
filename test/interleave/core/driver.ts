/**
 * Makes every call of a driver two steps: its effect, and its answer. As on a real host, a call has a number,
 * its lease is checked once it has one, and the host refuses numbers below the last of that machine.
 */
import { requireLeaseHeld } from '../../../src/kernel/faults/lease-context.ts';
import { currentTask, runUndivided } from './context.ts';
import type { Fate } from './events.ts';
import type { Scheduler, Task } from './scheduler.ts';

export interface DriverOptions {
  readonly name: string;
  readonly scheduler: () => Scheduler | null;
  /** The error of a call that fails or whose answer is lost, as the driver would throw it. */
  readonly createFault: () => Error;
  /** Told when a call takes effect, and when its task has the answer. */
  readonly onCall?: (call: Call) => () => void;
}

export interface Call {
  readonly task: Task;
  readonly method: string;
  readonly values: readonly unknown[];
}

const FATES: readonly Fate[] = ['run', 'fail', 'lose', 'die'];
/** They change nothing, so they have no number. */
const QUESTIONS = /^(?:observe|list|read|sample|health|poll|recheck|examine|usdPerCoin|eurPerUsd)/;

export function interleaveDriver<Driver extends object>(driver: Driver, options: DriverOptions): Driver {
  const { name, scheduler } = options;
  const numbers = new Numbers();
  return new Proxy(driver, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key, target);
      // The calls of a part, such as of moves between hosts, are steps, too.
      if (key === 'moves' && typeof member === 'object' && member !== null)
        return interleaveDriver(member, { ...options, name: `${name}.${key}` });
      if (typeof member !== 'function') return member;
      const act = member as (...values: unknown[]) => unknown;
      return (...values: unknown[]) => {
        const task = currentTask() as Task | null;
        const current = scheduler();
        const effect = () => act.apply(target, values);
        if (!task || !current) return effect();
        if (act.constructor.name !== 'AsyncFunction') return runUndivided(effect);
        const method = String(key);
        const call = { task, method, values, label: `${name}.${method}` };
        return answer(current, call, { options, numbers, effect });
      };
    },
  });
}

async function answer(
  scheduler: Scheduler,
  call: Call & { readonly label: string },
  { options, numbers, effect }: { options: DriverOptions; numbers: Numbers; effect: () => unknown },
): Promise<unknown> {
  const { task, label, method, values } = call;
  const number = numbers.issue();
  const changes = !QUESTIONS.test(method);
  if (changes) await requireLeaseHeld();
  const fate = await scheduler.park(task, { label, fates: FATES });
  if (fate === 'fail' || (changes && !numbers.accept(values[0], number))) throw options.createFault();
  const onAnswer = options.onCall?.(call);
  const operation = scheduler.begin(task, label);
  const outcome = await settled(effect);
  const dies = () => {
    onAnswer?.();
    void scheduler.kill(task);
  };
  await new Promise<void>((deliver) => operation.end(fate === 'die' ? dies : deliver));
  await scheduler.park(task, { label: `${label} answers`, fates: ['run'] });
  onAnswer?.();
  if (fate === 'lose') throw options.createFault();
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

/** The numbers of calls, and the last of each machine. */
class Numbers {
  #issued = 0;
  readonly #last = new Map<string, number>();

  issue(): number {
    return ++this.#issued;
  }

  accept(subject: unknown, number: number): boolean {
    const key =
      typeof subject === 'string' ? subject : JSON.stringify((subject as { id?: unknown })?.id ?? null);
    if (number < (this.#last.get(key) ?? 0)) return false;
    this.#last.set(key, number);
    return true;
  }
}

async function settled(effect: () => unknown): Promise<{ value: unknown } | { error: unknown }> {
  try {
    return { value: await runUndivided(effect) };
  } catch (error) {
    return { error };
  }
}
