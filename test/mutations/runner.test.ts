/** Two mutations of the table, which rotate from run to run, are caught. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { judge } from '../../scripts/mutations/run-tests.ts';
import { mutate } from '../../scripts/mutations/scratch-copy.ts';
import { FULL_ONLY, ROTATION } from '../support/runs.ts';
import { MONEY } from './money.ts';

const BUDGET_S = 40;
/** This file is in one of nine full runs (`test-files.ts`). The quotient gives each other mutations. */
const SEED = Math.floor(ROTATION / 9);

describe('the runner of mutations', () => {
  const [any] = MONEY;
  assert.ok(any);

  it('a mutation replaces its text, which must occur exactly once', () => {
    const mutation = { ...any, find: 'a > b', replace: '$&' };
    assert.equal(mutate('if (a > b) c();', mutation), 'if ($&) c();');
    for (const text of ['', 'a > b && a > b'])
      assert.throws(() => mutate(text, mutation), /does not occur exactly once/);
  });

  it('a mutation is caught only by a failure of the named test', () => {
    const outcome = { passed: false, timedOut: false, failed: ['a charge above the balance is rejected'] };
    assert.equal(judge(outcome, 'above the balance'), 'ok');
    assert.equal(judge(outcome, 'a credit'), 'UNSOUND');
    assert.equal(judge({ ...outcome, failed: [], timedOut: true }, 'a credit'), 'LATE');
    assert.equal(judge({ ...outcome, failed: [], passed: true }, 'a credit'), 'SURVIVED');
  });

  it(`two mutations are caught (seed ${SEED})`, FULL_ONLY, async () => {
    const options = ['--seed', String(SEED), '--count', '2', '--within', String(BUDGET_S)];
    const child = spawn(process.execPath, ['scripts/mutations.ts', ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
    const [code] = await once(child, 'close');
    const output = Buffer.concat(chunks).toString('utf8');
    assert.equal(code, 0, output);
    assert.match(output, /^2 of 2 mutations caught$/m);
  });
});
