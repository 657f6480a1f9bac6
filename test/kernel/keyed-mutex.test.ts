import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { KeyedMutex } from '../../src/kernel/keyed-mutex.ts';

describe('a keyed mutex', () => {
  it('calls for one key run one after another, in order, even if earlier ones fail', async () => {
    const mutex = new KeyedMutex();
    const log: string[] = [];
    const work = (word: string) => async () => {
      log.push(`${word} begins`);
      await turn();
      log.push(`${word} ends`);
      if (word === 'b') throw new Error('b fails');
      return word;
    };
    const ends = await Promise.allSettled(
      ['a', 'b', 'c'].map((word) => mutex.runExclusive('one', work(word))),
    );
    assert.deepEqual(
      ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason))),
      ['a', 'Error: b fails', 'c'],
    );
    assert.deepEqual(
      log,
      ['a', 'b', 'c'].flatMap((word) => [`${word} begins`, `${word} ends`]),
    );
  });

  it('calls for different keys do not wait for each other', async () => {
    const mutex = new KeyedMutex();
    const pending = mutex.runExclusive('one', () => new Promise(() => undefined));
    assert.equal(await mutex.runExclusive('other', async () => 'done'), 'done');
    assert.ok(pending instanceof Promise);
  });
});
