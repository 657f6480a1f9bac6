import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../src/kernel/logger.ts';
import type { Duty } from '../../src/workers/duty.ts';
import { Runner } from '../../src/workers/runner.ts';

/** A duty that does what it is told to, once, and otherwise nothing. */
class Idle implements Duty {
  readonly name = 'idle';
  follows?: true;
  runs = 0;
  work = 0;
  /** What its first run waits for. */
  held: Promise<void> | undefined;

  async run(): Promise<number> {
    this.runs += 1;
    await this.held;
    const did = this.work;
    this.work = 0;
    return did;
  }
  async nextDue(): Promise<null> {
    return null;
  }
  async busy(): Promise<boolean> {
    return false;
  }
}

const runnerOf = (...duties: Duty[]) =>
  new Runner({ duties, pollMs: 3_600_000, log: createLogger('silent') });
async function turns(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}

test('a duty that follows others looks when one of them has done something', async () => {
  const [first, follower, third] = [new Idle(), new Idle(), new Idle()];
  follower.follows = true;
  const { promise, resolve } = Promise.withResolvers<void>();
  first.held = promise;
  first.work = 1;
  const runner = runnerOf(first, follower, third);
  runner.start();
  await turns();
  assert.deepEqual([follower.runs, third.runs], [1, 1]);
  resolve();
  await turns();
  assert.deepEqual([follower.runs, third.runs], [2, 1]);
  await runner.stop();
});

test('duties are told when the runner is woken and when it stops', async () => {
  const told: string[] = [];
  const duty = Object.assign(new Idle(), {
    wake: () => void told.push('wake'),
    stop: async () => void told.push('stop'),
  });
  const runner = runnerOf(duty);
  runner.start();
  runner.wake();
  await runner.stop();
  assert.deepEqual(told, ['wake', 'wake', 'stop']);
});
