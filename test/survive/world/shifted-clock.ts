/**
 * Preloaded into a process of the service: its wall clock is off by the milliseconds in the file that
 * SURVIVE_CLOCK_FILE names. Timers and `performance` are not, as after a step of the system's clock.
 */
import { readFileSync } from 'node:fs';

const READ_EVERY_MS = 100;
const RealDate = Date;
const file = process.env.SURVIVE_CLOCK_FILE ?? '';
let offsetMs = 0;

function readOffset(): void {
  try {
    offsetMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // Without the file, the clock is right.
  }
}

if (file !== '') {
  readOffset();
  setInterval(readOffset, READ_EVERY_MS).unref();
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args) =>
      args.length === 0 ? new target(target.now() + offsetMs) : Reflect.construct(target, args),
    apply: (target) => new target(target.now() + offsetMs).toString(),
    get: (target, key) => {
      if (key === 'now') return () => target.now() + offsetMs;
      return Reflect.get(target, key) as unknown;
    },
  });
}
