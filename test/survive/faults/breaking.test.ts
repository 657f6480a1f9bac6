/** Faults begin and end on a fake world. */
import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import type { FaultStep } from '../history.ts';
import type { World } from '../world/world.ts';
import { type Begin, breakOne, lasting, momentary, onPart, rotate } from './begin.ts';
import { Breaking } from './breaking.ts';

const STEP: FaultStep = {
  ...{ kind: 'fault', number: 1, name: 'process frozen', on: 0, value: 0 },
  ...{ afterMs: 0, forMs: 60_000, steps: 1_000 },
};

const made: Breaking[] = [];
/** A fault under way has a timer, and a recovery polls. */
afterEach(async () => {
  for (const { recovery } of made) recovery.stop();
  for (const breaking of made.splice(0)) {
    await breaking.endAll();
    breaking.recovery.stop();
  }
});

function breakingWith(begin: Begin, areReady: () => Promise<boolean> = async () => true) {
  const world = { broken: new Set<string>(), processes: { areReady } } as unknown as World;
  const table = new Proxy({}, { get: () => begin }) as ConstructorParameters<typeof Breaking>[1];
  const breaking = new Breaking(world, table, ['process frozen', 'host lost']);
  made.push(breaking);
  return { world, breaking };
}

const countsOf = ({ counts }: Breaking) =>
  [...counts].map(([name, { begun, applied }]) => `${name}: ${applied} of ${begun}`);

it('a fault that broke nothing is not counted, and a fault that never was has a count', async () => {
  const { breaking } = breakingWith(async () => null);
  assert.equal(breaking.isComplete, false);
  await breaking.begin(STEP);
  assert.deepEqual(countsOf(breaking), ['process frozen: 0 of 1', 'host lost: 0 of 0']);
  await breaking.begin({ ...STEP, name: 'host lost' });
  assert.equal(breaking.isComplete, true);
});

it('a fault that did nothing after all is not counted', async () => {
  const { breaking } = breakingWith(async () => momentary(async () => false));
  await breaking.begin(STEP);
  await breaking.endAll();
  assert.equal(countsOf(breaking)[0], 'process frozen: 0 of 1');
});

it('the end of all faults waits for a repair that is under way', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { breaking } = breakingWith(async () => momentary(() => promise));
  await breaking.begin(STEP);
  let isEnded = false;
  const ended = breaking.endAll().then(() => {
    isEnded = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isEnded, false);
  resolve();
  await ended;
});

it('two faults of a kind break two parts, and a third one none', async () => {
  const broken: string[] = [];
  const parts = ['one', 'two'];
  const begin = breakOne(
    (_, { on }) =>
      rotate(
        parts.map((part) => onPart(part, part)),
        on,
      ),
    async (part) => {
      broken.push(part);
      return lasting(async () => undefined);
    },
  );
  const { breaking } = breakingWith(begin);
  for (const on of [1, 1, 1]) await breaking.begin({ ...STEP, on });
  assert.deepEqual(broken, ['two', 'one']);
  assert.equal(countsOf(breaking)[0], 'process frozen: 2 of 3');
  await breaking.endAll();
  await breaking.begin(STEP);
  assert.deepEqual(broken, ['two', 'one', 'one']);
});

it('a part that cannot break leaves its place free, and the next part breaks', async () => {
  const begin = breakOne(
    () => ['stopped', 'running'].map((part) => onPart(part, part)),
    async (part) => (part === 'stopped' ? null : lasting(async () => undefined)),
  );
  const { breaking, world } = breakingWith(begin);
  await breaking.begin(STEP);
  assert.deepEqual([...world.broken], ['running']);
});

it('the faults since the last comparison are returned once', async () => {
  const { breaking } = breakingWith(async () => momentary());
  await breaking.begin(STEP);
  assert.deepEqual([...breaking.takeRecent()], ['process frozen']);
  assert.deepEqual([...breaking.takeRecent()], []);
});

it('a recovery is measured from the end of a fault, also if it ends by its own timer', async (t) => {
  let [nowMs, isReady] = [0, false];
  t.mock.method(performance, 'now', () => nowMs);
  const asked = Promise.withResolvers<void>();
  const { breaking } = breakingWith(
    async () => lasting(async () => undefined),
    async () => {
      asked.resolve();
      return isReady;
    },
  );
  await breaking.begin({ ...STEP, forMs: 1 });
  await asked.promise;
  [nowMs, isReady] = [700, true];
  await breaking.endAll();
  await breaking.recovery.finish();
  assert.equal(breaking.recovery.longestMs.get('process frozen'), 700);
});

it('a recovery that another fault disturbs is not measured', async () => {
  const { breaking } = breakingWith(
    async () => lasting(async () => undefined),
    async () => false,
  );
  await breaking.begin(STEP);
  await breaking.endAll();
  await breaking.begin(STEP);
  await breaking.recovery.finish();
  assert.equal(breaking.recovery.measured, 0);
});

it('a fault outside the service disturbs no recovery', async () => {
  const { breaking } = breakingWith(async () => lasting(async () => undefined));
  await breaking.begin(STEP);
  await breaking.begin({ ...STEP, name: 'host lost' });
  await breaking.endAll();
  await breaking.recovery.finish();
  assert.deepEqual([...breaking.recovery.longestMs.keys()], ['process frozen']);
});
