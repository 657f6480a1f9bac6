/**
 * A service whose database and process are broken on purpose, and requests that count how they were answered.
 * A request without an answer fails the test, unless the test killed the process meanwhile.
 */
import assert, { AssertionError } from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { OUTCOME_UNKNOWN_MESSAGE } from '../../src/spec/error-messages.ts';
import { findEmbedded } from '../../src/store/embedded/index.ts';
import { listServerPids } from '../../src/store/embedded/process.ts';
import { withTimeout } from '../cli/support/with-timeout.ts';
import { findHome, readPostmasterPid, waitUntil } from '../store/embedded/support.ts';
import type { Answer } from '../support/answers.ts';
import { byLevel } from '../support/runs.ts';
import {
  type Environment,
  type ProcessExit,
  type SkerrydProcess,
  startSkerryd,
} from '../support/skerryd-process.ts';

/** Longer than any request may take: a wait for an idempotency key, and then a write. */
const ANSWER_TIMEOUT_MS = 60_000;
const REFUSED_TIMEOUT_MS = 120_000;
const RETRY_MS = 100;
const RECOVERY_TIMEOUT_MS = 60_000;
/** The service is ready so long after its database, on a machine of its own. */
const READY_MAX_MS = byLevel({ sample: 20_000, full: 20_000, soak: 5_000 });

/** An answer that is not a 503, after any number of attempts. */
export interface Definite {
  readonly answer: Answer;
  /** Whether an earlier attempt may have made the change: it had no answer, or an answer that says so. */
  readonly mayBeRepeated: boolean;
}

/** The signals that end the server. After SIGTERM it refuses new connections, and waits for the open ones. */
const END_SIGNALS = {
  killed: ['SIGKILL'],
  'shut down': ['SIGINT'],
  'shut down slowly': ['SIGTERM', 'SIGINT'],
} as const;
/** Between two signals. */
const SIGNAL_DELAY_MS = 500;

export const DATABASE_FAULTS = ['killed', 'shut down', 'shut down slowly', 'frozen'] as const;
export type DatabaseFault = (typeof DATABASE_FAULTS)[number];

export class ShakenService {
  readonly settings: Environment;
  /** How processes ended that the test did not end. */
  readonly deaths: ProcessExit[] = [];
  readonly figures = {
    attempts: 0,
    done: 0,
    refused: 0,
    unavailable: 0,
    unknown: 0,
    none: 0,
    slowestMs: 0,
    slowestReadyMs: 0,
  };
  #serving: SkerrydProcess | null = null;
  #up = Promise.withResolvers<void>();
  #kills = 0;

  constructor(settings: Environment) {
    this.settings = settings;
  }

  async start(): Promise<void> {
    const serving = await startSkerryd(this.settings);
    this.#serving = serving;
    serving.ended.then((exit) => {
      if (this.#serving === serving) this.deaths.push(exit);
    });
    this.#up.resolve();
  }

  get url(): string {
    return this.#serving?.url ?? assert.fail('the service is not running');
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<ProcessExit> {
    const serving = this.#serving ?? assert.fail('the service is not running');
    this.#kills += 1;
    this.#up = Promise.withResolvers();
    this.#serving = null;
    return await serving.stop(signal);
  }

  async killProcess(): Promise<void> {
    await this.stop('SIGKILL');
    await this.start();
  }

  /** Breaks the database, and waits until the service is ready again. */
  async breakDatabase(fault: DatabaseFault, frozenMs: number): Promise<void> {
    const dataDir = String(this.settings.SKERRY_DATA_DIR);
    const postmaster = await readPostmasterPid(dataDir);
    if (fault === 'frozen') {
      await freeze(postmaster, join(await findHome(dataDir), 'cluster'), frozenMs);
    } else {
      for (const signal of END_SIGNALS[fault]) {
        signalIfRunning(postmaster, signal);
        await pause(SIGNAL_DELAY_MS);
      }
      const isReplaced = async () =>
        (await readPostmasterPid(dataDir).catch(() => postmaster)) !== postmaster;
      await waitUntil(`another database after it was ${fault}`, isReplaced, RECOVERY_TIMEOUT_MS);
    }
    const isUp = async () => (await findEmbedded({ dataDir })) !== null;
    await waitUntil(`a database that accepts connections`, isUp, RECOVERY_TIMEOUT_MS);
    const upMs = performance.now();
    const isReady = async () => (await fetch(`${this.url}/readyz`)).status === 200;
    await waitUntil(`the service is ready after its database was ${fault}`, isReady, RECOVERY_TIMEOUT_MS);
    const readyMs = Math.round(performance.now() - upMs);
    this.figures.slowestReadyMs = Math.max(this.figures.slowestReadyMs, readyMs);
    assert.ok(readyMs <= READY_MAX_MS, `ready ${readyMs} ms after the database that was ${fault}`);
  }

  /** Repeats a request until its answer is not a 503. Without a key, only what may happen twice. */
  async ask(what: string, send: (url: string) => Promise<Answer>): Promise<Definite> {
    const deadlineMs = performance.now() + REFUSED_TIMEOUT_MS;
    let mayBeRepeated = false;
    for (;;) {
      const answer = await this.attempt(what, send);
      if (answer !== null && answer.status !== 503) return { answer, mayBeRepeated };
      mayBeRepeated ||= answer === null || messageOf(answer) === OUTCOME_UNKNOWN_MESSAGE;
      assert.ok(performance.now() < deadlineMs, `${what} was not answered: ${answer?.text}`);
      await pause(RETRY_MS);
    }
  }

  /** Sends a request once. Null: the process was killed before it answered. */
  async attempt(what: string, send: (url: string) => Promise<Answer>): Promise<Answer | null> {
    await this.#up.promise;
    const kills = this.#kills;
    const startedMs = performance.now();
    this.figures.attempts += 1;
    try {
      const answer = await withTimeout(send(this.url), what, ANSWER_TIMEOUT_MS);
      this.#count(what, answer);
      return answer;
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      const waitedMs = Math.round(performance.now() - startedMs);
      const cause = { cause: error };
      if (kills === this.#kills) throw new Error(`no answer to ${what} after ${waitedMs} ms`, cause);
      this.figures.none += 1;
      return null;
    } finally {
      this.figures.slowestMs = Math.max(this.figures.slowestMs, Math.round(performance.now() - startedMs));
    }
  }

  #count(what: string, answer: Answer): void {
    const context = `${what}: ${answer.status} ${answer.text.slice(0, 500)}`;
    const isSuccess = answer.status < 300 && answer.body?.ok !== false;
    if (!isSuccess) assert.equal(typeof messageOf(answer), 'string', context);
    if (answer.status === 503) {
      const isUnknown = messageOf(answer) === OUTCOME_UNKNOWN_MESSAGE;
      this.figures[isUnknown ? 'unknown' : 'unavailable'] += 1;
    } else {
      assert.ok(answer.status < 500, context);
      this.figures[isSuccess ? 'done' : 'refused'] += 1;
    }
  }
}

/** The message of a refusal, from the envelope of either surface. */
function messageOf({ body }: Answer): unknown {
  return body?.ok === false && typeof body.error === 'string' ? body.msg : body?.error?.message;
}

/** Stops every process of the server, the first one first, so that none is added. */
async function freeze(postmaster: number, cluster: string, ms: number): Promise<void> {
  process.kill(postmaster, 'SIGSTOP');
  const sessions = (await listServerPids(cluster)).filter((pid) => pid !== postmaster);
  try {
    for (const pid of sessions) signalIfRunning(pid, 'SIGSTOP');
    await pause(ms);
  } finally {
    for (const pid of [...sessions, postmaster]) signalIfRunning(pid, 'SIGCONT');
  }
}

function signalIfRunning(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has exited meanwhile.
  }
}
