/** `npm run survive` refuses an option that would make it run nothing, or forever. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseOptions } from './options.ts';

it('each option has a default or a value', () => {
  const { firstSeed, ...rest } = parseOptions([]);
  assert.ok(Number.isSafeInteger(firstSeed));
  const defaults = {
    seeds: 1,
    forMs: 120_000,
    shrinkMs: 600_000,
    history: null,
    cluster: false,
    quiet: false,
  };
  assert.deepEqual(rest, defaults);
  const given = parseOptions(['--seed', '7', '--seeds', '20', '--minutes', '0.5', '--shrink-minutes', '1']);
  assert.deepEqual([given.firstSeed, given.seeds, given.forMs, given.shrinkMs], [7, 20, 30_000, 60_000]);
});

const REFUSED = [
  ...[['--seed', 'abc'] as const, ['--seed', '1.5'] as const, ['--seed', ''] as const],
  ...[['--seeds', '0'] as const, ['--seeds', 'NaN'] as const, ['--seeds', '1001'] as const],
  ...[['--minutes', 'abc'] as const, ['--minutes', '0'] as const, ['--minutes', 'Infinity'] as const],
  ...[['--minutes', '1441'] as const, ['--shrink-minutes', '0'] as const, ['--shrink-minutes', 'x'] as const],
] as const;

for (const [option, value] of REFUSED)
  it(`${option} ${value || 'without a value'} is refused by name`, () => {
    assert.throws(() => parseOptions([option, value]), new RegExp(`^Error: ${option} must be `));
  });

it('an unknown option is refused by name', () => {
  assert.throws(() => parseOptions(['--minuets', '5']), /--minuets/);
});
