import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readAvailability } from '../../src/domain/health/availability.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world?.close());

test('a running service measures its components', async () => {
  const endsAt = performance.now() + 20_000;
  const read = () => readAvailability(world.opened.service);
  for (let found = await read(); found.length === 0; found = await read()) {
    assert.ok(performance.now() < endsAt, 'nothing was measured');
    await world.settle();
  }
  const [first] = await read();
  assert.deepEqual([first?.component, first?.lost], ['panel', 0]);
});
