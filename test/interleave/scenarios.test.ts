/** Every scenario keeps its rules in any order of its steps. Each run tries other seeds. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { byLevel, ROTATION } from '../support/runs.ts';
import { explore } from './core/explore.ts';
import { InterleaveWorld } from './core/world.ts';
import { SUBJECTS } from './scenarios/index.ts';

/** Seeds of each scenario. */
const COUNT = byLevel({ sample: 6, full: 100, soak: 4_000 });

describe('interleavings', () => {
  let world: InterleaveWorld;
  before(async () => {
    world = await InterleaveWorld.open();
  });
  after(() => world.close());

  for (const [subject, scenarios] of Object.entries(SUBJECTS)) {
    for (const scenario of scenarios) {
      it(`${subject}: ${scenario.name} keeps its rules in ${COUNT} interleavings`, async () => {
        const { steps } = await explore(world, scenario, { first: ROTATION * COUNT, count: COUNT });
        assert.ok(steps > COUNT);
      });
    }
  }
});
