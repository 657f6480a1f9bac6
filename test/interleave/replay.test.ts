/** A seed decides everything, and the explorer finds what it should find. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Broken, explore, runSeed } from './core/explore.ts';
import { InterleaveWorld } from './core/world.ts';
import { SUBJECTS } from './scenarios/index.ts';

/** Mistakes of a programmer, and the scenarios that show them. */
const MUTATIONS: readonly {
  readonly forgets: string;
  readonly scenario: string;
  readonly from: RegExp;
  readonly rewrite: (text: string) => string;
}[] = [
  {
    forgets: 'the lock of a coupon',
    scenario: 'coupon-used-up',
    from: /from coupons .* for update/s,
    rewrite: (text) => text.replace(' for update', ''),
  },
  {
    forgets: 'that a lease lasts until its end',
    scenario: 'install',
    from: /from operations\s+where due_at <= \$1/,
    rewrite: (text) =>
      text.replace('leased_until < clock_timestamp()', `leased_until <= clock_timestamp() + interval '10 s'`),
  },
  {
    forgets: 'the lock of a balance',
    scenario: 'volumes-at-quota',
    from: /from balances .* for update/s,
    rewrite: (text) => text.replace(' for update', ''),
  },
  {
    forgets: 'the lock of a withheld payment',
    scenario: 'refund-and-release',
    from: /from topups .* for no key update/s,
    rewrite: (text) => text.replace(' for no key update', ''),
  },
  {
    forgets: 'the lock of a server that moves',
    scenario: 'move-stop-delete',
    from: /from servers s\b.* for update of s/s,
    rewrite: (text) => text.replace(' for update of s', ''),
  },
];

const ALL = Object.values(SUBJECTS).flat();
/** Every mutation is found within this many seeds. */
const SEEDS_MAX = 200;

describe('interleavings', { timeout: 200_000 }, () => {
  let world: InterleaveWorld;
  before(async () => {
    world = await InterleaveWorld.open();
  });
  after(() => world.close());

  for (const scenario of ALL) {
    it(`${scenario.name}: the same seed has the same steps, after any others`, async () => {
      const first: (readonly string[])[] = [];
      for (const seed of [3, 4, 5]) first.push(await runSeed(world, scenario, seed));
      for (const seed of [5, 4, 3]) assert.deepEqual(await runSeed(world, scenario, seed), first[seed - 3]);
    });
  }

  for (const { forgets, scenario: name, from, rewrite } of MUTATIONS) {
    it(`a service that forgets ${forgets} fails within ${SEEDS_MAX} seeds, and again`, async () => {
      const scenario = ALL.find((one) => one.name === name) ?? assert.fail(`${name} is no scenario`);
      let rewritten = 0;
      world.rewrite = (text) => {
        if (!from.test(text)) return text;
        rewritten += 1;
        return rewrite(text);
      };
      try {
        const fault = await explore(world, scenario, { first: 1, count: SEEDS_MAX }).then(
          () => assert.fail(`no seed shows it in ${rewritten} statements`),
          (error: unknown) => (error instanceof Broken ? error : assert.fail(String(error))),
        );
        await assert.rejects(runSeed(world, scenario, fault.seed), (again: Broken) => {
          assert.deepEqual(again.trace, fault.trace);
          return true;
        });
      } finally {
        world.rewrite = (text) => text;
      }
    });
  }
});
