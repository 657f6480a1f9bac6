/** Scripts of chains: what payers, miners, nodes and time do to one invoice. */
import fc from 'fast-check';
import type { CoinCode } from '../../src/spec/coins.ts';

export type Step =
  | { readonly do: 'pay'; readonly perMille: number }
  | { readonly do: 'dust'; readonly twentieths: number }
  | { readonly do: 'mine'; readonly blocks: number; readonly deep: boolean }
  | ReorgStep
  | { readonly do: 'back'; readonly depth: number }
  | { readonly do: 'replace' | 'forget' | 'hush'; readonly which: number }
  | { readonly do: 'wait'; readonly minutes: number }
  | { readonly do: 'fail'; readonly times: number }
  | { readonly do: 'look' | 'cancel' | 'echo' | 'bury' }
  /** There is no rate, or there is one again. */
  | { readonly do: 'hide' | 'quote' }
  | { readonly do: 'lack'; readonly which: number }
  | { readonly do: 'lag'; readonly blocks: number }
  | { readonly do: 'freeze' | 'silence' | 'mend' };

/** The newest blocks go: only so, for a longer branch at once, or while the node is behind. */
export interface ReorgStep {
  readonly do: 'reorg' | 'fork' | 'lose';
  readonly depth: number;
  /** By so much more or less than the confirmations of the newest payment. */
  readonly deep: boolean;
  /** Their payments are gone; else they are in the mempool again. */
  readonly drop: boolean;
  /** The new branch takes them in its newest block, not in its first. */
  readonly late: boolean;
}

const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

const reorgStep = fc.record({
  do: fc.constantFrom('reorg', 'fork', 'lose'),
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
  weighted(1, fc.record({ do: fc.constant('back'), depth: fc.integer({ min: 1, max: 5 }) })),
  weighted(2, fc.record({ do: fc.constantFrom('replace', 'forget', 'hush'), which: fc.nat(5) })),
  weighted(2, fc.record({ do: fc.constant('wait'), minutes: fc.constantFrom(10, 70, 250) })),
  weighted(1, fc.record({ do: fc.constant('fail'), times: fc.integer({ min: 1, max: 3 }) })),
  weighted(10, fc.record({ do: fc.constant('look') })),
  weighted(1, fc.record({ do: fc.constantFrom('cancel', 'echo', 'bury') })),
  weighted(1, fc.record({ do: fc.constantFrom('hide', 'quote') })),
];
/** What the second node does. */
const secondNodeSteps = [
  weighted(2, fc.record({ do: fc.constant('lack'), which: fc.nat(5) })),
  weighted(1, fc.record({ do: fc.constant('lag'), blocks: fc.integer({ min: 1, max: 3 }) })),
  weighted(4, fc.record({ do: fc.constantFrom('freeze', 'silence', 'mend', 'mend') })),
];

function stepsArbitrary(witnessed: boolean): fc.Arbitrary<readonly Step[]> {
  const choices = witnessed ? [...commonSteps, ...secondNodeSteps] : commonSteps;
  // Left alone it makes lists of ten at most, in which hardly anything is credited and taken back.
  return fc.array(fc.oneof(...choices) as fc.Arbitrary<Step>, { minLength: 3, maxLength: 40, size: 'max' });
}

export interface ChainScript {
  readonly coin: CoinCode;
  readonly usd: number;
  /** Whether there is a second node. */
  readonly witnessed: boolean;
  readonly terse: boolean;
  readonly tellsTime: boolean;
  /** What a poll reads at most; null: all there is. */
  readonly pollBlocks: number | null;
  readonly steps: readonly Step[];
}

function scriptsArbitrary(witnessed: boolean): fc.Arbitrary<ChainScript> {
  const shape = {
    witnessed: fc.constant(witnessed),
    terse: fc.constantFrom(true, true, false),
    tellsTime: fc.boolean(),
    steps: stepsArbitrary(witnessed),
  };
  const unboundedPolls = fc.record({
    ...shape,
    coin: fc.constantFrom('BTC', 'LTC', 'XMR', 'ETH', 'SOL'),
    usd: fc.constantFrom(30, 100, 1_000, 6_000),
    pollBlocks: fc.constant(null),
  });
  // A poll that ends early has seen some of the payments only: here they never change what is needed.
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
