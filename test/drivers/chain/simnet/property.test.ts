/** After any sequence of changes and polls, a poller's view matches the chain. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { Observation } from '../../../../src/ports/chain.ts';
import { COIN_CODES, type CoinCode } from '../../../../src/spec/coins.ts';
import { PROPERTY_RUNS } from '../../../support/runs.ts';
import { Poller, type SimnetWorld, simnetWorld } from './simnet-world.ts';

let world: SimnetWorld;
before(async () => {
  world = await simnetWorld();
});
after(() => world.close());

type Step =
  | { do: 'pay' }
  | { do: 'mine'; count: number }
  | { do: 'reorg'; depth: number; drop: boolean }
  | { do: 'conflict'; pick: number }
  | { do: 'poll'; poller: number };

const few = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 4 }) },
  fc.integer({ min: 25, max: 45 }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'pay' }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('mine' as const), count: few }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('reorg' as const), depth: few, drop: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('conflict' as const), pick: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('poll' as const), poller: fc.nat(1) }) },
);

/** A minimal model of a chain: a list of blocks, each a list of transactions. */
class Model {
  readonly blocks: string[][] = [];
  mempool: string[] = [];
  readonly gone = new Map<string, 'removed' | 'conflicted'>();

  mine(count: number): void {
    for (let i = 0; i < count; i++) this.blocks.push(this.mempool.splice(0));
  }
  reorg(depth: number, drop: boolean): void {
    const freed = this.blocks.splice(Math.max(0, this.blocks.length - depth)).flat();
    if (drop) for (const txid of freed) this.gone.set(txid, 'removed');
    else this.mempool.push(...freed);
  }
  conflict(txid: string): void {
    this.mempool = this.mempool.filter((each) => each !== txid);
    this.gone.set(txid, 'conflicted');
  }
  truth(): Map<string, string> {
    const truth = new Map<string, string>(this.gone);
    for (const txid of this.mempool) truth.set(txid, 'mempool');
    for (const [i, block] of this.blocks.entries()) {
      const confirmations = this.blocks.length - i;
      for (const txid of block) truth.set(txid, confirmations < 30 ? `included ${confirmations}` : 'final');
    }
    return truth;
  }
}

function describe(observations: Iterable<Observation>): Map<string, string> {
  const described = [...observations].map((each): [string, string] => {
    assert.equal(each.height === null, each.confirmations === 0);
    return [each.txid, each.state === 'included' ? `included ${each.confirmations}` : each.state];
  });
  return new Map(described);
}

function sorted(picture: Map<string, string>): [string, string][] {
  return [...picture].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Resets every network to its first block. */
async function reset(): Promise<void> {
  await world.db.run('delete from sim.payments');
  await world.db.run(
    `delete from sim.blocks block using sim.chains chain
     where chain.coin = block.coin and block.height > chain.first_height`,
  );
  await world.db.run(
    `update sim.chains chain set height = first_height, seq = 0, waiting_from = null,
       hash = (select hash from sim.blocks block where block.coin = chain.coin)`,
  );
}

async function play(coin: CoinCode, script: readonly Step[]): Promise<void> {
  await reset();
  const { control } = world;
  const address = await world.address(coin);
  const network = world.network(coin);
  const model = new Model();
  const pollers = [new Poller(network), new Poller(network)];
  const look = async (poller: Poller) => {
    await poller.poll();
    assert.deepEqual(sorted(describe(poller.picture.values())), sorted(model.truth()));
  };
  for (const step of script) {
    if (step.do === 'pay') {
      model.mempool.push((await control.pay({ coin, address, amount: '1' })).txid);
    } else if (step.do === 'mine') {
      await control.mine({ coin, count: step.count });
      model.mine(step.count);
    } else if (step.do === 'reorg') {
      await control.reorg({ coin, depth: step.depth, drop: step.drop });
      model.reorg(step.depth, step.drop);
    } else if (step.do === 'conflict') {
      const txid = model.mempool[step.pick % Math.max(1, model.mempool.length)];
      if (txid === undefined) continue;
      await control.conflict(txid);
      model.conflict(txid);
    } else {
      const poller = pollers[step.poller];
      if (poller) await look(poller);
    }
  }
  for (const poller of [...pollers, new Poller(network)]) await look(poller);
  const keys = [...(pollers[0]?.picture.values() ?? [])].map(({ key }) => key);
  assert.deepEqual(sorted(describe(await network.recheck(keys))), sorted(model.truth()));
}

test("a poller's view always matches the chain after a poll", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...COIN_CODES),
      fc.array(step, { minLength: 1, maxLength: 40 }),
      async (coin, script) => await play(coin, script),
    ),
    { numRuns: PROPERTY_RUNS },
  );
});
