import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BlockWalk } from '../../../src/drivers/chain/block-walk.ts';
import { NodeBehind } from '../../../src/drivers/chain/cursor.ts';
import { pays, WalkFixture } from './block-walk-world.ts';

describe('block walk', () => {
  it('a first poll starts as far back as blocks may change, for invoices paid earlier', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(4);
    world.chain.mine([pays('ours', 'older')], [pays('ours', 'old')], [pays('ours', 'young')]);
    world.chain.mineEmpty(3);
    assert.deepEqual(await world.pollSummaries(), ['old:0 included 5', 'young:0 included 4']);
    assert.equal(world.cursor, '9:a9');
  });

  it('a walk starts below a stored height of an unknown branch, even if it starts late', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(10);
    // The store creates such a cursor with the first address, and to read blocks again.
    world.cursor = `10:${'0'.repeat(64)}`;
    world.chain.mine([pays('ours', 'first')]);
    world.chain.mineEmpty(60);
    assert.deepEqual(await world.pollSummaries(), ['first:0 final 61']);
    assert.equal(world.chain.blocksRead[0], 6);
  });

  it('a poll reports payments to our addresses once and looks up all addresses in one query', async () => {
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
    assert.equal(world.ownQueries.length, 1, 'without new blocks there is no query');
  });

  it('a poll reads a limited number of blocks and reports whether there are more', async () => {
    const world = new WalkFixture({ maxBlocksPerPoll: 3 });
    world.chain.mineEmpty(2);
    await world.poll();
    world.chain.mineEmpty(4);
    world.chain.blocksRead.length = 0;
    assert.equal((await world.poll()).isComplete, false);
    assert.equal((await world.poll()).isComplete, true);
    assert.deepEqual(world.chain.blocksRead, [2, 3, 4, 5]);
  });

  it('a cursor on an orphaned branch rewinds and everything above the fork is reported again', async () => {
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

  it('a rewind stops at the fork if the node still knows the orphaned branch', async () => {
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

  it('a rewind goes back to the final height if that is farther, but only up to a limit', async () => {
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

  it('a payment is final exactly when its block is', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(5);
    world.chain.mine([pays('ours', 'paid')]);
    world.chain.mineEmpty(4);
    const state = async () => (await world.walk.recheck(['paid:0']))[0]?.state;
    assert.equal(await state(), 'included');
    world.chain.mineEmpty(1);
    assert.equal(await state(), 'final');
  });

  it('a poll fails and is repeated if the chain changes during the read', async () => {
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

  it('a poll fails if the next block does not build on the cursor', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(6);
    await world.poll();
    world.chain.mineEmpty(1);
    world.chain.head = async (height) => {
      // The branch changes right after the check.
      const head = { height, hash: `a${height}`, parentHash: `a${height - 1}`, time: new Date(0) };
      world.chain.drop(2, 'b');
      world.chain.mineEmpty(2);
      return head;
    };
    await assert.rejects(world.poll(), /the chain changed/);
  });

  it('a walk waits for a node that was restored from a backup until it has caught up', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(6);
    world.chain.mine([pays('ours', 'paid')]);
    await world.poll();
    world.chain.drop(1, 'b');
    await assert.rejects(world.poll(), NodeBehind);
    await assert.rejects(world.walk.recheck(['paid:0']), NodeBehind);
    // Another process only knows the cursor.
    const other = new BlockWalk(world.chain, async () => new Set(), {
      rewindBlocks: 4,
      maxBlocksPerPoll: 100,
    });
    await assert.rejects(other.poll({ cursor: world.cursor }), NodeBehind);
    world.chain.mineEmpty(1);
    await world.poll();
    assert.equal((await world.walk.recheck(['paid:0']))[0]?.state, 'removed');
  });

  it('an invalid cursor starts from the beginning', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(3);
    world.cursor = 'nonsense';
    await world.poll();
    assert.equal(world.cursor, '2:a2');
    assert.deepEqual(world.chain.blocksRead, [0, 1, 2]);
  });

  it('a poll fails if the node returns too few blocks or wrong ones', async () => {
    const world = new WalkFixture();
    world.chain.mineEmpty(3);
    const { blocks } = world.chain;
    world.chain.blocks = async (from, to) => (await blocks.call(world.chain, from, to)).slice(0, -1);
    await assert.rejects(world.poll(), /too few blocks/);
    world.chain.blocks = async (from, to) => (await blocks.call(world.chain, from, to)).slice(1);
    await assert.rejects(world.poll(), /a different block/);
  });
});
