/** Every scenario keeps its rules in any order of its steps. Each run tries other seeds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { byLevel, ROTATION } from '../support/runs.ts';
import { explore } from './core/explore.ts';
import { InterleaveWorld } from './core/world.ts';
import { SUBJECTS } from './scenarios/index.ts';

/** Seeds of each scenario. */
const COUNT = byLevel({ sample: 6, full: 40, soak: 4_000 });

describe('interleavings', () => {
  for (const [subject, scenarios] of Object.entries(SUBJECTS)) {
    for (const scenario of scenarios) {
      it(`${subject}: ${scenario.name} keeps its rules in ${COUNT} interleavings`, async () => {
        // A session that a lost connection left behind must not reach another scenario.
        const world = await InterleaveWorld.open();
        try {
          const { steps } = await explore(world, scenario, { first: ROTATION * COUNT, count: COUNT });
          assert.ok(steps > COUNT);
        } finally {
          await world.close();
        }
      });
    }
  }
});
