/**
 * Lives of customers: whatever one does in a year (orders, pays, stops, forgets), the service's account of it is that of
 * a plain model of the rules. A failure prints the seed, the path and the commands.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { FULL, IN_FULL } from '../support/runs.ts';
import { anyCommand, deploy } from './commands.ts';
import { endLife, type Lives, startLives } from './lives-world.ts';
import * as rules from './rules.ts';

const LIVES = FULL ? 200 : 1;
const LIFE_MS = (FULL ? 365 : 75) * rules.DAY_MS;
const COMMANDS_MOST = FULL ? 80 : 24;
/** Connections of the service's that a due date may take. Measured: 57. */
const STATEMENTS_MOST = 90;

const acts = fc.array(anyCommand, {
  minLength: COMMANDS_MOST / 2,
  maxLength: COMMANDS_MOST,
  size: 'max',
});

/** Two hundred of them: ten minutes and more, by the machine. */
const LIVES_MAX_MS = 50 * 60_000;

describe('a life', { timeout: LIVES_MAX_MS + 5 * 60_000 }, () => {
  let lives: Lives;
  before(async () => {
    lives = await startLives();
  });
  after(() => lives.close());

  it('is what a plain model of the rules makes of it', { timeout: LIVES_MAX_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(acts, async (commands) => {
        const { model, real } = await lives.begin(LIFE_MS);
        await fc.asyncModelRun(() => ({ model, real }), commands);
        if (model.now < model.end) await real.pass(model, model.end - model.now);
        await endLife(model, real);
      }),
      { numRuns: LIVES, endOnFailure: !FULL },
    );
  });

  it('costs the service few statements for each of its due dates', IN_FULL, async () => {
    const { model, real } = await lives.begin(LIFE_MS);
    const small = { plan: 's1', months: 1, autoRenew: true } as const;
    for (let n = 0; n < 2; n++) {
      await deploy(model, real, small);
      await real.pass(model, rules.HOUR_MS);
    }
    const until = Math.min(...model.dueTimes());
    const nothing = lives.countStatements();
    await real.pass(model, until - model.now - rules.HOUR_MS);
    const idle = nothing();
    const something = lives.countStatements();
    await real.pass(model, 9 * rules.DAY_MS);
    // Of each server the beginning of the window and the end of the cycle.
    const each = (something() - idle) / 4;
    assert.equal(model.ledger.filter((entry) => entry.startsWith('charge')).length, 4);
    assert.ok(each < STATEMENTS_MOST, `${each} for each due date`);
    await endLife(model, real);
  });
});
