/**
 * Random lives of customers: after a year of orders, payments, stops, and missed renewals, the service agrees
 * with a plain model of the rules. A failure prints the seed, the path, and the commands.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { byLevel, FULL_ONLY, IS_FULL_RUN } from '../support/runs.ts';
import { anyCommand, deploy } from './commands.ts';
import { finishCustomer, type LifecycleWorld, startLifecycleWorld } from './lifecycle-world.ts';
import * as rules from './rules.ts';

const CUSTOMERS = byLevel({ sample: 1, full: 10, soak: 200 });
const DURATION_MS = (IS_FULL_RUN ? 365 : 75) * rules.DAY_MS;
const MAX_COMMANDS = IS_FULL_RUN ? 80 : 24;
/** The most database connections that a due date may use. Measured: 57. */
const MAX_STATEMENTS = 90;

const commandLists = fc.array(anyCommand, {
  minLength: MAX_COMMANDS / 2,
  maxLength: MAX_COMMANDS,
  size: 'max',
});

/** A soak run has 200 customers and takes ten minutes or more. */
const TEST_TIMEOUT_MS = 50 * 60_000;

describe('the life of a customer', { timeout: TEST_TIMEOUT_MS + 5 * 60_000 }, () => {
  let world: LifecycleWorld;
  before(async () => {
    world = await startLifecycleWorld();
  });
  after(() => world.close());

  it('matches a plain model of the rules', { timeout: TEST_TIMEOUT_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(commandLists, async (commands) => {
        const { model, real } = await world.startCustomer(DURATION_MS);
        await fc.asyncModelRun(() => ({ model, real }), commands);
        if (model.now < model.end) await real.advance(model, model.end - model.now);
        await finishCustomer(model, real);
      }),
      { numRuns: CUSTOMERS, endOnFailure: !IS_FULL_RUN },
    );
  });

  it('takes few database statements for each due date', FULL_ONLY, async () => {
    const { model, real } = await world.startCustomer(DURATION_MS);
    const small = { plan: 's1', months: 1, autoRenew: true } as const;
    for (let n = 0; n < 2; n++) {
      await deploy(model, real, small);
      await real.advance(model, rules.HOUR_MS);
    }
    const until = Math.min(...model.dueTimes());
    const stopIdleCount = world.countStatements();
    await real.advance(model, until - model.now - rules.HOUR_MS);
    const idle = stopIdleCount();
    const stopCount = world.countStatements();
    await real.advance(model, 9 * rules.DAY_MS);
    // Two servers have two due dates each: the start of the renewal window and the end of the cycle.
    const each = (stopCount() - idle) / 4;
    assert.equal(model.ledger.filter((entry) => entry.startsWith('charge')).length, 4);
    assert.ok(each < MAX_STATEMENTS, `${each} statements per due date`);
    await finishCustomer(model, real);
  });
});
