/** Scripts of a chain: actions of payers, miners, nodes, and time on one invoice. */
import fc from 'fast-check';
import type { CoinCode } from '../../src/spec/coins.ts';

export type Step =
  | { readonly do: 'pay'; readonly perMille: number }
  | { readonly do: 'dust'; readonly twentieths: number }
  | { readonly do: 'mine'; readonly blocks: number; readonly deep: boolean }
  | ReorgStep
  | { readonly do: 'rewind'; readonly depth: number }
  | { readonly do: 'replace' | 'forget' | 'hide_payment'; readonly which: number }
  | { readonly do: 'wait'; readonly minutes: number }
  | { readonly do: 'fail'; readonly times: number }
  | { readonly do: 'check' | 'cancel' | 'duplicate' | 'finalize' }
  /** The rate becomes unavailable, or available again. */
  | { readonly do: 'drop_rate' | 'restore_rate' }
  | { readonly do: 'miss_payment'; readonly which: number }
  | { readonly do: 'lag'; readonly blocks: number }
  | { readonly do: 'freeze' | 'stop_responding' | 'repair' };

/**
 * Removes the newest blocks. `reorg` only removes them, `fork` adds a longer branch at once, and
 * `lose_blocks` leaves the node behind.
 */
export interface ReorgStep {
  readonly do: 'reorg' | 'fork' | 'lose_blocks';
  readonly depth: number;
  /** Makes the depth relative to the confirmations of the newest payment. */
  readonly deep: boolean;
  /** True removes the payments of these blocks; false returns them to the mempool. */
  readonly drop: boolean;
  /** The new branch includes them in its newest block, not in its first. */
  readonly late: boolean;
}

const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

const reorgStep = fc.record({
  do: fc.constantFrom('reorg', 'fork', 'lose_blocks'),
  depth: fc.integer({ min: 1, max: 5 }),
  deep: fc.boolean(),
  drop: fc.boolean(),
  late: fc.boolean(),
});

const commonSteps = [
  weighted(
    4,
    fc.record({ do: fc.constant('pay'), perMille: fc.constantFrom(300, 500, 994, 996, 1000, 1600) }),
  ),
  weighted(1, fc.record({ do: fc.constant('dust'), twentieths: fc.integer({ min: 1, max: 45 }) })),
  weighted(
    5,
    fc.record({ do: fc.constant('mine'), blocks: fc.integer({ min: 1, max: 4 }), deep: fc.boolean() }),
  ),
  weighted(5, reorgStep),
  weighted(1, fc.record({ do: fc.constant('rewind'), depth: fc.integer({ min: 1, max: 5 }) })),
  weighted(2, fc.record({ do: fc.constantFrom('replace', 'forget', 'hide_payment'), which: fc.nat(5) })),
  weighted(2, fc.record({ do: fc.constant('wait'), minutes: fc.constantFrom(10, 70, 250) })),
  weighted(1, fc.record({ do: fc.constant('fail'), times: fc.integer({ min: 1, max: 3 }) })),
  weighted(10, fc.record({ do: fc.constant('check') })),
  weighted(1, fc.record({ do: fc.constantFrom('cancel', 'duplicate', 'finalize') })),
  weighted(1, fc.record({ do: fc.constantFrom('drop_rate', 'restore_rate') })),
];
/** Actions of the second node. */
const secondNodeSteps = [
  weighted(2, fc.record({ do: fc.constant('miss_payment'), which: fc.nat(5) })),
  weighted(1, fc.record({ do: fc.constant('lag'), blocks: fc.integer({ min: 1, max: 3 }) })),
  weighted(4, fc.record({ do: fc.constantFrom('freeze', 'stop_responding', 'repair', 'repair') })),
];

function stepsArbitrary(hasSecondNode: boolean): fc.Arbitrary<readonly Step[]> {
  const choices = hasSecondNode ? [...commonSteps, ...secondNodeSteps] : commonSteps;
  // The default size gives at most ten steps, which rarely credits a payment and reverses it.
  return fc.array(fc.oneof(...choices) as fc.Arbitrary<Step>, { minLength: 3, maxLength: 40, size: 'max' });
}

export interface ChainScript {
  readonly coin: CoinCode;
  readonly usd: number;
  readonly hasSecondNode: boolean;
  readonly terse: boolean;
  readonly reportsBlockTime: boolean;
  /** The most blocks that one poll reads; null: no limit. */
  readonly pollBlocks: number | null;
  readonly steps: readonly Step[];
}

function scriptsArbitrary(hasSecondNode: boolean): fc.Arbitrary<ChainScript> {
  const shape = {
    hasSecondNode: fc.constant(hasSecondNode),
    terse: fc.constantFrom(true, true, false),
    reportsBlockTime: fc.boolean(),
    steps: stepsArbitrary(hasSecondNode),
  };
  const unboundedPolls = fc.record({
    ...shape,
    coin: fc.constantFrom('BTC', 'LTC', 'XMR', 'ETH', 'SOL'),
    usd: fc.constantFrom(30, 100, 1_000, 6_000),
    pollBlocks: fc.constant(null),
  });
  // A poll that ends early has seen only some payments. These amounts never change the required
  // confirmations.
  const boundedPolls = fc.record({
    ...shape,
    coin: fc.constantFrom('XMR', 'SOL'),
    usd: fc.constantFrom(30, 100),
    pollBlocks: fc.integer({ min: 1, max: 7 }),
  });
  return fc.oneof({ arbitrary: unboundedPolls, weight: 2 }, { arbitrary: boundedPolls, weight: 1 });
}

export const chainScript: fc.Arbitrary<ChainScript> = fc.oneof(
  scriptsArbitrary(false),
  scriptsArbitrary(true),
);
