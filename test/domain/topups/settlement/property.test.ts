/**
 * Compares chain scripts with a plain model: for any behavior of chains and nodes, exactly the valid
 * payments are credited. A failure prints its seed, which SKERRY_TEST_SEED accepts.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { verify } from '../../../../src/domain/verify/verify.ts';
import { chainScript } from '../../../support/chain-script.ts';
import { PROPERTY_RUNS } from '../../../support/runs.ts';
import { seededRuns } from '../../../support/seed.ts';
import { TopupWorld } from '../../../support/topup-world.ts';
import { ScriptRunner, type Tally } from './script-runner.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start({ chains: () => new Map() });
});
after(() => world.close());

test('after any chain script, exactly the valid payments are credited, once', async (t) => {
  const tally: Tally = { credited: 0, reversed: 0, behind: 0 };
  await fc.assert(
    fc.asyncProperty(chainScript, async (script) => {
      const running = await ScriptRunner.start(world, script);
      await running.run();
      for (const kind of ['credited', 'reversed', 'behind'] as const) tally[kind] += running.tally[kind];
    }),
    seededRuns(t, PROPERTY_RUNS),
  );
  const broken = (await verify(world.service)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
  t.diagnostic(`${tally.credited} credits, ${tally.reversed} reversals, ${tally.behind} times behind`);
});
