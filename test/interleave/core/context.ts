/**
 * Makes time and chance of the running interleaving virtual, for the code of a task and all that it awaits.
 * Everything else, such as the driver of the database, keeps the real ones.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { newId } from '../../../src/kernel/ids.ts';
import type { Random } from './random.ts';
import type { Timer, VirtualTime } from './time.ts';

/** The surroundings of an interleaving's code. Without a task: of its preparation and its checks. */
export interface Context {
  readonly random: Random;
  readonly time: VirtualTime;
  readonly task: object | null;
}

const contexts = new AsyncLocalStorage<Context>();

export function runIn<T>(context: Context, work: () => T): T {
  return contexts.run(context, work);
}

/** Runs work of the test itself, with real time and chance. */
export function runOutside<T>(work: () => T): T {
  return contexts.exit(work);
}

/** Runs what no choice interrupts, such as the effect of a driver. */
export function runUndivided<T>(work: () => T): T {
  const context = contexts.getStore();
  return context ? contexts.run({ ...context, task: null }, work) : work();
}

export function currentTask(): object | null {
  return contexts.getStore()?.task ?? null;
}

/** Ids are drawn from a pool of random bytes: its rest would not follow from the seed. */
export function emptyIdPool(): void {
  const before = fills;
  for (let drawn = 0; drawn <= 256 && fills === before; drawn++) newId(new Date(0));
}

let fills = 0;
let isInstalled = false;

/** Replaces the timers and the sources of chance of this process, once. */
export function installContext(): void {
  if (isInstalled) return;
  isInstalled = true;
  installTimers();
  installChance();
  syncBuiltinESMExports();
}

/** A timer of this interval checks the limits of all statements (kernel/faults/time-limits.ts). */
const LIMITS_CHECK_MS = 100;

function installTimers(): void {
  const realNow = performance.now.bind(performance);
  performance.now = () => {
    const context = contexts.getStore();
    return context?.task ? context.time.monotonicMs() : realNow();
  };
  const realPause = timers.setTimeout;
  timers.setTimeout = (async (afterMs?: number, value?: unknown, options?: object) => {
    const context = contexts.getStore();
    if (!context?.task) return await realPause(afterMs, value, options);
    const { task, time } = context;
    await new Promise<void>((rise) => time.add(task, { afterMs: afterMs ?? 0, everyMs: null, rise }));
    return value;
  }) as typeof timers.setTimeout;
  globalThis.setInterval = virtualTimer(globalThis.setInterval, true) as typeof setInterval;
  globalThis.setTimeout = virtualTimer(globalThis.setTimeout, false) as typeof setTimeout;
  globalThis.clearInterval = virtualClear(globalThis.clearInterval) as typeof clearInterval;
  globalThis.clearTimeout = virtualClear(globalThis.clearTimeout) as typeof clearTimeout;
}

type SetTimer = (rise: () => void, afterMs?: number, ...rest: unknown[]) => unknown;
type ClearTimer = (handle?: unknown) => void;

const handles = new WeakMap<object, { readonly time: VirtualTime; readonly timer: Timer }>();

function virtualTimer(real: unknown, repeats: boolean): SetTimer {
  return (rise, afterMs = 0, ...rest) => {
    const context = contexts.getStore();
    if (!context?.task) return (real as SetTimer)(rise, afterMs, ...rest);
    if (afterMs === LIMITS_CHECK_MS) return runOutside(() => (real as SetTimer)(rise, afterMs, ...rest));
    const { task, time } = context;
    const everyMs = repeats ? afterMs : null;
    const timer = time.add(task, { afterMs, everyMs, rise: () => runIn(context, rise) });
    const handle = { unref: () => handle, ref: () => handle };
    handles.set(handle, { time, timer });
    return handle;
  };
}

function virtualClear(real: unknown): ClearTimer {
  return (handle) => {
    const ours = typeof handle === 'object' && handle !== null ? handles.get(handle) : undefined;
    if (ours) ours.time.remove(ours.timer);
    else (real as ClearTimer)(handle);
  };
}

function installChance(): void {
  const real = { randomBytes: crypto.randomBytes, randomFillSync: crypto.randomFillSync };
  const realRandom = Math.random;
  Math.random = () => contexts.getStore()?.random.next() ?? realRandom();
  crypto.randomBytes = ((size: number) => {
    const context = contexts.getStore();
    if (!context) return real.randomBytes(size);
    const bytes = Buffer.alloc(size);
    context.random.fill(bytes);
    return bytes;
  }) as typeof crypto.randomBytes;
  crypto.randomFillSync = ((bytes: Uint8Array) => {
    fills += 1;
    const context = contexts.getStore();
    if (!context) return real.randomFillSync(bytes);
    context.random.fill(bytes);
    return bytes;
  }) as typeof crypto.randomFillSync;
}
