import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toTransfers } from '../../../../src/drivers/chain/evm/movement.ts';
import { movementsFromLogs, TRANSFER_TOPIC } from '../../../../src/drivers/chain/evm/token-reader.ts';

const hash = (digit: string) => `0x${digit.repeat(64)}`;
const [CONTRACT, OURS, BLOCK, TX] = [`0x${'d'.repeat(40)}`, 'c'.repeat(40), hash('e'), hash('1')];
const OF = { contract: CONTRACT, blockHash: BLOCK };
const wordOf = (digits: string) => `0x${digits.padStart(64, '0')}`;

const LOG = {
  address: CONTRACT,
  topics: [TRANSFER_TOPIC, wordOf('a'.repeat(40)), wordOf(OURS)],
  data: wordOf('f4240'),
  blockHash: BLOCK,
  transactionHash: TX,
  logIndex: '0x4',
  removed: false,
};

function keysOf(...logs: readonly object[]): string[] {
  return toTransfers(movementsFromLogs(logs, OF)).map(({ key }) => key.toLowerCase());
}

describe('token transfers', () => {
  it('the key of a transfer does not depend on its position in the block', () => {
    const expected = [`${TX}:0x${OURS}:1000000:0`, `${TX}:0x${OURS}:1000000:1`];
    assert.deepEqual(keysOf(LOG, { ...LOG, logIndex: '0x5' }), expected);
    assert.deepEqual(keysOf({ ...LOG, logIndex: '0x9' }, { ...LOG, logIndex: '0xa' }), expected);
  });

  it('logs that were removed, of other contracts, or of another shape are ignored', () => {
    const strange = [
      { ...LOG, removed: true },
      { ...LOG, address: `0x${'9'.repeat(40)}` },
      { ...LOG, topics: [] },
      { ...LOG, topics: [TRANSFER_TOPIC] },
      { ...LOG, topics: [...LOG.topics, wordOf('1')] },
      { ...LOG, topics: [hash('7'), ...LOG.topics.slice(1)] },
      { ...LOG, topics: [...LOG.topics.slice(0, 2), `0x1${wordOf(OURS).slice(3)}`] },
      { ...LOG, data: '0x' },
      { ...LOG, data: `${LOG.data}00` },
      { ...LOG, data: null },
    ];
    assert.deepEqual(keysOf(...strange, LOG), [`${TX}:0x${OURS}:1000000:0`]);
  });

  it('a malformed log of another contract does no harm', () => {
    assert.deepEqual(keysOf({ address: `0x${'9'.repeat(40)}` }, LOG), [`${TX}:0x${OURS}:1000000:0`]);
  });

  it('logs of another block are rejected', () => {
    assert.throws(() => keysOf({ ...LOG, blockHash: hash('f') }), /another block/);
  });
});
