import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { examplesOf } from './support/examples.ts';
import { GALLERY, isPictured, MOBILE_EXAMPLES, SCHEMES, SOURCES, sourcesHash } from './support/gallery.ts';
import type { Estate } from './support/world.ts';

/** An estate with placeholder ids: only the set of pages matters. */
function anyEstate(): Estate {
  const states = [
    'waiting',
    'confirming',
    'credited',
    'expired',
    'cancelled',
    'short',
    'over',
    'late',
    'held',
  ];
  const topups = Object.fromEntries(states.map((state) => [state, 'x']));
  const known = { topups, keys: ['x', 'x'], links: { confirm: '/confirm', reset: '/reset' } };
  return new Proxy(known, { get: (all, name) => Reflect.get(all, name) ?? 'x' }) as unknown as Estate;
}

describe('the screenshots', () => {
  it('screenshots show the current panel', () => {
    assert.equal(readFileSync(SOURCES, 'utf8').trim(), sourcesHash(), 'run npm run screenshots');
  });

  it('screenshots exist for every page, light and dark', () => {
    const examples = examplesOf({ estate: anyEstate() }).filter(isPictured);
    const wanted = examples.flatMap(({ name }) => SCHEMES.map((scheme) => `${name}-${scheme}.png`));
    const narrow = MOBILE_EXAMPLES.map((name) => `${name}-narrow.png`);
    const existing = readdirSync(GALLERY).filter((file) => file.endsWith('.png'));
    assert.deepEqual(existing.sort(), [...wanted, ...narrow].sort());
  });
});
