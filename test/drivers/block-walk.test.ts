import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BlockWalk } from '../../src/drivers/chain/block-walk.ts';
import { NodeBehind } from '../../src/drivers/chain/node-behind.ts';
import { pays, WalkFixture } from './block-walk-world.ts';

describe('a walk along blocks', () => {
  it('begins as far back as blocks may change: an invoice may have been paid before', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(4);
    world.chain.mine([pays('ours', 'older')], [pays('ours', 'old')], [pays('ours', 'young')]);
    world.chain.mineEmpty(3);
    assert.deepEqual(await world.pollSummaries(), ['old:0 included 5', 'young:0 included 4']);
    assert.equal(world.cursor, '9:a9');
  });

  it('begins no later than at a height that was kept, whose block is of no chain, however late it begins', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(10);
    // As the store keeps it with the first address, and when blocks are to be read again.
    world.cursor = `10:${'0'.repeat(64)}`;
    world.chain.mine([pays('ours', 'first')]);
    world.chain.mineEmpty(60);
    assert.deepEqual(await world.pollSummaries(), ['first:0 final 61']);
    assert.equal(world.chain.blocksRead[0], 6);
  });

  it('tells of what pays an address of ours, once, and asks for all addresses of a poll together', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(1);
    await world.poll();
    world.chain.mine(
      [pays('ours1', 'one'), pays('other', 'two'), pays('ours2', 'none', 0n)],
      [pays('ours1', 'three'), pays('other', 'four')],
    );
    world.ownQueries.length = 0;
    assert.deepEqual(await world.pollSummaries(), ['one:0 included 2', 'three:0 included 1']);
    assert.deepEqual(world.ownQueries, [['ours1', 'other']]);
    assert.deepEqual(await world.pollSummaries(), []);
    assert.equal(world.ownQueries.length, 1, 'where nothing is new nobody is asked');
  });

  it('reads a bounded number of blocks in a poll, and says when there is more', async () => {
    const world = new WalkFixture({ mostBlocks: 3 });
    world.chain.mineEmpty(2);
    await world.poll();
    world.chain.mineEmpty(4);
    world.chain.blocksRead.length = 0;
    assert.equal((await world.poll()).isComplete, false);
    assert.equal((await world.poll()).isComplete, true);
    assert.deepEqual(world.chain.blocksRead, [2, 3, 4, 5]);
  });

  it('goes back from an orphaned branch and tells again of what is above', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(20);
    world.chain.mine([pays('ours', 'kept')], [pays('ours', 'moved')], [pays('ours', 'lost')]);
    await world.poll();
    world.chain.drop(2, 'b');
    world.chain.mine([], [], [pays('ours', 'moved')]);
    assert.deepEqual(await world.pollSummaries(), ['kept:0 included 4', 'moved:0 included 1']);
    const rechecked = await world.walk.recheck(['kept:0', 'moved:0', 'lost:0']);
    assert.deepEqual(
      rechecked.map(({ key, state, blockHash }) => [key, state, blockHash]),
      [
        ['kept:0', 'included', 'a20'],
        ['moved:0', 'included', 'b23'],
        ['lost:0', 'removed', null],
      ],
    );
  });

  it('goes back to the fork only, where the node still knows the other branch', async () => {
    for (const [knowsOrphans, first] of [
      [3, 18],
      [1, 15],
      [0, 15],
    ] as const) {
      const world = new WalkFixture({ rewindBlocks: 5 });
      world.chain.knownOrphans = knowsOrphans;
      world.chain.mineEmpty(21);
      await world.poll();
      world.chain.drop(3, 'b');
      world.chain.mine([pays('ours', 'paid')], [], []);
      world.chain.blocksRead.length = 0;
      assert.deepEqual(await world.pollSummaries(), ['paid:0 included 3']);
      assert.equal(world.chain.blocksRead[0], first);
    }
  });

  it('goes back to what is final where that is farther, but not to the beginning of the chain', async () => {
    for (const [finalLag, first] of [
      [2, 196],
      [30, 169],
      [200, 136],
    ] as const) {
      const world = new WalkFixture();
      world.chain.mineEmpty(201);
      await world.poll();
      world.chain.drop(1, 'b');
      world.chain.mineEmpty(1);
      world.chain.finalLag = finalLag + 1;
      world.chain.blocksRead.length = 0;
      await world.poll();
      assert.equal(world.chain.blocksRead[0], first);
    }
  });

  it('calls a payment final once its block is, and only then', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(5);
    world.chain.mine([pays('ours', 'paid')]);
    world.chain.mineEmpty(4);
    const state = async () => (await world.walk.recheck(['paid:0']))[0]?.state;
    assert.equal(await state(), 'included');
    world.chain.mineEmpty(1);
    assert.equal(await state(), 'final');
  });

  it('reads again where the chain changes while it is read', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(5);
    await world.poll();
    const { cursor } = world;
    world.chain.mine([pays('ours', 'first')], [pays('ours', 'second')]);
    world.chain.beforeBlocks = () => {
      world.chain.drop(2, 'b');
      world.chain.mine([], [pays('ours', 'first')]);
      world.chain.beforeBlocks = () => undefined;
    };
    await assert.rejects(world.poll(), /the chain changed/);
    assert.equal(world.cursor, cursor);
    assert.deepEqual(await world.pollSummaries(), ['first:0 included 1']);
  });

  it('does not go on from a cursor on a block that is not the parent of the next', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(6);
    await world.poll();
    world.chain.mineEmpty(1);
    world.chain.head = async (height) => {
      // The branch changes right after it was looked at.
      const head = { height, hash: `a${height}`, parentHash: `a${height - 1}`, time: new Date(0) };
      world.chain.drop(2, 'b');
      world.chain.mineEmpty(2);
      return head;
    };
    await assert.rejects(world.poll(), /the chain changed/);
  });

  it('says nothing of a node that was put back until it is as high again', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(6);
    world.chain.mine([pays('ours', 'paid')]);
    await world.poll();
    world.chain.drop(1, 'b');
    await assert.rejects(world.poll(), NodeBehind);
    await assert.rejects(world.walk.recheck(['paid:0']), NodeBehind);
    // Another process knows the cursor.
    const other = new BlockWalk(world.chain, async () => new Set(), {
      rewindBlocks: 4,
      maxBlocksPerPoll: 100,
    });
    await assert.rejects(other.poll({ cursor: world.cursor }), NodeBehind);
    world.chain.mineEmpty(1);
    await world.poll();
    assert.equal((await world.walk.recheck(['paid:0']))[0]?.state, 'removed');
  });

  it('begins anew with a cursor that is none', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(3);
    world.cursor = 'nonsense';
    await world.poll();
    assert.equal(world.cursor, '2:a2');
    assert.deepEqual(world.chain.blocksRead, [0, 1, 2]);
  });

  it('does not take fewer blocks than it asked for as all there are', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(3);
    const { blocks } = world.chain;
    world.chain.blocks = async (from, to) => (await blocks.call(world.chain, from, to)).slice(0, -1);
    await assert.rejects(world.poll(), /too few blocks/);
    world.chain.blocks = async (from, to) => (await blocks.call(world.chain, from, to)).slice(1);
    await assert.rejects(world.poll(), /another block/);
  });
});
