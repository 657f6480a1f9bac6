import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Observation } from '../../../src/ports/chain.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { seededRuns } from '../../support/seed.ts';
import { pays, WalkFixture } from './block-walk-world.ts';

/** The state of payments as settlement keeps it: observed by polls, rechecked when the cursor moves. */
class ObservedPayments {
  readonly states = new Map<string, Observation>();
  readonly fixture: WalkFixture;

  constructor(fixture: WalkFixture) {
    this.fixture = fixture;
  }

  /** Polls like the watch worker until everything is read. */
  async pollUntilRead(): Promise<void> {
    for (let isComplete = false; !isComplete; ) {
      const before = this.fixture.cursor;
      const { cursor, observations, ...polled } = await this.fixture.walk.poll({ cursor: before });
      this.#record(observations);
      const polledKeys = new Set(observations.map(({ key }) => key));
      const open = [...this.states.values()].filter(
        ({ state, key }) => state === 'included' && !polledKeys.has(key),
      );
      if (cursor !== before) this.#record(await this.fixture.walk.recheck(open.map(({ key }) => key)));
      this.fixture.cursor = cursor;
      isComplete = polled.isComplete;
    }
  }

  #record(observations: readonly Observation[]): void {
    for (const observation of observations) {
      const known = this.states.get(observation.key);
      assert.notEqual(
        known?.state === 'final' && observation.state !== 'final',
        true,
        'a final payment changed',
      );
      this.states.set(observation.key, observation);
    }
  }
}

it('a block walk ends with the correct block of every payment after any sequence of changes', async (t) => {
  type Act = { readonly act: 'mine' | 'reorg' | 'restart' | 'look'; readonly n: number };
  const acts = fc.array(
    fc.record<Act>({
      act: fc.constantFrom('mine', 'mine', 'reorg', 'restart', 'look'),
      n: fc.nat({ max: 30 }),
    }),
    { minLength: 5, maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(acts, async (script) => {
      const fixture = new WalkFixture({ maxBlocksPerPoll: 3, rewindBlocks: 5 });
      const observed = new ObservedPayments(fixture);
      fixture.chain.knownOrphans = script.length % 7;
      fixture.chain.mineEmpty(3);
      await observed.pollUntilRead();
      let made = 0;
      for (const [step, { act, n }] of script.entries()) {
        const fresh = () => pays(`ours${n % 3}`, `tx${made++}`);
        if (act === 'mine') fixture.chain.mine([], Array.from({ length: n % 3 }, fresh));
        if (act === 'look') await observed.pollUntilRead();
        if (act === 'restart') fixture.restart();
        if (act === 'reorg') fixture.chain.reorg(n % 5, `b${step}x`, n);
      }
      fixture.chain.mine([]);
      await observed.pollUntilRead();
      const found = [...observed.states.values()]
        .filter(({ state }) => state !== 'removed')
        .map(({ key, height, blockHash }) => `${key} ${height} ${blockHash}`);
      assert.deepEqual(found.toSorted(), fixture.chain.payments().toSorted());
    }),
    seededRuns(t, PROPERTY_RUNS * 5),
  );
});
