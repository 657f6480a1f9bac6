/** Makes every call of a driver two steps: its effect, and its answer. */
import { currentTask, runUndivided } from './context.ts';
import type { Fate, Scheduler, Task } from './scheduler.ts';

export class LostAnswer extends Error {
  override readonly message = 'the driver did not answer';
}

/** `createFault` makes the error of a call that fails or whose answer is lost, as the driver would throw it. */
export function interleaveDriver<Driver extends object>(
  name: string,
  driver: Driver,
  scheduler: () => Scheduler | null,
  createFault: () => Error = () => new LostAnswer(),
): Driver {
  const call = async (current: Scheduler, task: Task, label: string, effect: () => unknown) => {
    const fates: readonly Fate[] = ['run', 'fail', 'lose', 'die'];
    const fate = await current.park(task, { label, fates });
    if (fate === 'fail') throw createFault();
    const operation = current.begin(task, label);
    const outcome = await settled(effect);
    await new Promise<void>((deliver) =>
      operation.end(fate === 'die' ? () => void current.kill(task) : deliver),
    );
    await current.park(task, { label: `${label} answers`, fates: ['run'] });
    if (fate === 'lose') throw createFault();
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  };
  return new Proxy(driver, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      const method = member as (...values: unknown[]) => unknown;
      return (...values: unknown[]) => {
        const task = currentTask() as Task | null;
        const current = scheduler();
        const effect = () => method.apply(target, values);
        if (!task || !current) return effect();
        if (method.constructor.name !== 'AsyncFunction') return runUndivided(effect);
        return call(current, task, `${name}.${String(key)}`, effect);
      };
    },
  });
}

async function settled(effect: () => unknown): Promise<{ value: unknown } | { error: unknown }> {
  try {
    return { value: await runUndivided(effect) };
  } catch (error) {
    return { error };
  }
}
