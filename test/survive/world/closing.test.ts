/** A world closes in any case. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Closing, closeEverything } from './closing.ts';

function recorded() {
  const closing = new Closing();
  const closed: number[] = [];
  for (const part of [1, 2, 3]) closing.push(async () => closed.push(part));
  return { closing, closed };
}

it('parts close in reverse order, also after a part that fails or hangs', async () => {
  const { closing, closed } = recorded();
  closing.push(async () => Promise.reject(new Error('busy')));
  closing.push(async () => await new Promise(() => undefined));
  await closing.close(10);
  assert.deepEqual(closed, [3, 2, 1]);
});

it('every open world closes at once, also if it is closing already', async () => {
  const [one, two] = [recorded(), recorded()];
  const { promise, resolve } = Promise.withResolvers<void>();
  one.closing.push(async () => await promise);
  const closing = one.closing.close();
  await closeEverything();
  assert.deepEqual(
    [one.closed, two.closed],
    [
      [3, 2, 1],
      [3, 2, 1],
    ],
  );
  resolve();
  await closing;
  assert.deepEqual(one.closed, [3, 2, 1]);
});
