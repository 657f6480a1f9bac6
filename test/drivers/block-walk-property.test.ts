import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Observation } from '../../src/ports/chain.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';
import { seededRuns } from '../support/seed.ts';
import { pays, WalkFixture } from './block-walk-world.ts';

/** What settlement keeps of payments: told of by polls, rechecked when the cursor moves. */
class ObservedPayments {
  readonly states = new Map<string, Observation>();
  readonly fixture: WalkFixture;

  constructor(walked: WalkFixture) {
    this.fixture = walked;
  }

  /** As the watch duty looks at a chain; until all is read. */
  async pollUntilRead(): Promise<void> {
    for (let whole = false; !whole; ) {
      const before = this.fixture.cursor;
      const { cursor, observations, ...polled } = await this.fixture.walk.poll({ cursor: before });
      this.#record(observations);
      const told = new Set(observations.map(({ key }) => key));
      const open = [...this.states.values()].filter(
        ({ state, key }) => state === 'included' && !told.has(key),
      );
      if (cursor !== before) this.#record(await this.fixture.walk.recheck(open.map(({ key }) => key)));
      this.fixture.cursor = cursor;
      whole = polled.isComplete;
    }
  }

  #record(observations: readonly Observation[]): void {
    for (const observation of observations) {
      const known = this.states.get(observation.key);
      assert.notEqual(
        known?.state === 'final' && observation.state !== 'final',
        true,
        'what is final changed',
      );
      this.states.set(observation.key, observation);
    }
  }
}

it('a walk along blocks knows in the end of each payment where it is, whatever the chain did on the way', async (t) => {
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
      const walked = new WalkFixture({ mostBlocks: 3, rewindBlocks: 5 });
      const kept = new ObservedPayments(walked);
      walked.chain.knownOrphans = script.length % 7;
      walked.chain.mineEmpty(3);
      await kept.pollUntilRead();
      let made = 0;
      for (const [step, { act, n }] of script.entries()) {
        const fresh = () => pays(`ours${n % 3}`, `tx${made++}`);
        if (act === 'mine') walked.chain.mine([], Array.from({ length: n % 3 }, fresh));
        if (act === 'look') await kept.pollUntilRead();
        if (act === 'restart') walked.restart();
        if (act === 'reorg') walked.chain.reorg(n % 5, `b${step}x`, n);
      }
      walked.chain.mine([]);
      await kept.pollUntilRead();
      const found = [...kept.states.values()]
        .filter(({ state }) => state !== 'removed')
        .map(({ key, height, blockHash }) => `${key} ${height} ${blockHash}`);
      assert.deepEqual(found.toSorted(), walked.chain.payments().toSorted());
    }),
    seededRuns(t, PROPERTY_RUNS * 5),
  );
});
