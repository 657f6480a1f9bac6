import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { KeyedMutex } from '../../src/kernel/keyed-mutex.ts';

describe('turns', () => {
  it('come one after another for one key, in the order of asking, whatever became of those before', async () => {
    const turns = new KeyedMutex();
    const said: string[] = [];
    const work = (word: string) => async () => {
      said.push(`${word} begins`);
      await turn();
      said.push(`${word} ends`);
      if (word === 'b') throw new Error('b fails');
      return word;
    };
    const ends = await Promise.allSettled(
      ['a', 'b', 'c'].map((word) => turns.runExclusive('one', work(word))),
    );
    assert.deepEqual(
      ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason))),
      ['a', 'Error: b fails', 'c'],
    );
    assert.deepEqual(
      said,
      ['a', 'b', 'c'].flatMap((word) => [`${word} begins`, `${word} ends`]),
    );
  });

  it('of two keys do not wait for each other', async () => {
    const turns = new KeyedMutex();
    const forever = turns.runExclusive('one', () => new Promise(() => undefined));
    assert.equal(await turns.runExclusive('other', async () => 'done'), 'done');
    assert.ok(forever instanceof Promise);
  });
});
