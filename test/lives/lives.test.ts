/**
 * Lives of customers: whatever one does in a year (orders, pays, stops, forgets), the service's account of it is that of
 * a plain model of the rules. A failure prints the seed, the path and the commands.
 */
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FULL } from '../support/runs.ts';
import { anyCommand } from './commands.ts';
import { endLife, startLives } from './lives-world.ts';
import * as rules from './rules.ts';

const LIVES = FULL ? 200 : 2;
const LIFE_MS = (FULL ? 365 : 60) * rules.DAY_MS;
const COMMANDS_MOST = FULL ? 80 : 20;

const acts = fc.array(anyCommand, {
  minLength: COMMANDS_MOST / 2,
  maxLength: COMMANDS_MOST,
  size: 'max',
});

describe('a life', () => {
  it('is what a plain model of the rules makes of it', { timeout: 50 * 60_000 }, async () => {
    const lives = await startLives();
    try {
      await fc.assert(
        fc.asyncProperty(acts, async (commands) => {
          const { model, real } = await lives.begin(LIFE_MS);
          await fc.asyncModelRun(() => ({ model, real }), commands);
          if (model.now < model.end) await real.pass(model, model.end - model.now);
          await endLife(model, real);
        }),
        { numRuns: LIVES, endOnFailure: !FULL },
      );
    } finally {
      await lives.close();
    }
  });
});
