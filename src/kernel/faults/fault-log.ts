/**
 * Logs a fault that repeats at growing intervals, with how often it happened. An outage would otherwise fill
 * the log with the same line.
 */
import { BACKOFF, backoffMs } from '../backoff.ts';
import { BoundedMap } from '../bounded-map.ts';
import type { Logger } from '../logger.ts';
import { MINUTE_MS } from '../time.ts';

const FAULTS_MAX = 1_000;
/** A fault that was silent for longer is new. */
const FORGET_MS = 10 * MINUTE_MS;

interface Repeated {
  /** Since the last line. */
  count: number;
  lines: number;
  lineAtMs: number;
  lastMs: number;
}

export class FaultLog {
  readonly #faults = new BoundedMap<string, Repeated>(FAULTS_MAX);
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Calls `tell` unless the log has a recent line about this fault. `count`: how often since that line. */
  report(fault: string, tell: (count: number) => void): void {
    const now = this.#now();
    const known = this.#faults.get(fault);
    const isNew = known === undefined || now - known.lastMs > FORGET_MS;
    const repeated = isNew ? { count: 0, lines: 0, lineAtMs: now, lastMs: now } : known;
    this.#faults.set(fault, repeated);
    repeated.count += 1;
    repeated.lastMs = now;
    if (repeated.lines > 0 && now - repeated.lineAtMs < backoffMs(BACKOFF.faultLog, repeated.lines)) return;
    const { count } = repeated;
    Object.assign(repeated, { count: 0, lines: repeated.lines + 1, lineAtMs: now });
    tell(count);
  }
}

const ofLoggers = new WeakMap<Logger, FaultLog>();

/** Writes a line about an error unless a recent one has this message, place, and kind of error. */
export function logFault(
  log: Logger,
  level: 'warn' | 'error',
  message: string,
  fields: { readonly err: unknown; readonly place?: string; readonly [name: string]: unknown },
): void {
  const faults = ofLoggers.get(log) ?? new FaultLog();
  ofLoggers.set(log, faults);
  const { err, place = '', ...others } = fields;
  const { code, name } = (err ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  faults.report(`${message} ${place} ${String(code ?? name)}`, (count) =>
    log[level]({ err, ...others, ...(count > 1 ? { count } : {}) }, message),
  );
}
