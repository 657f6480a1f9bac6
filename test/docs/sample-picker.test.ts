/** The samples of the reference, looked at in a browser: one way of calling at a time, without scripts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Chromium, NO_CHROMIUM, openChromium } from '../support/chromium.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { startWorld, type World } from '../support/world.ts';

describe('the choice of samples', { skip: NO_CHROMIUM || FULL_ONLY.skip }, () => {
  let world: World;
  let chromium: Chromium;
  before(async () => {
    [world, chromium] = await Promise.all([startWorld(), openChromium()]);
  });
  after(async () => {
    await chromium?.close();
    await world?.close();
  });

  it('holds for the whole page, stays in sight and goes by keyboard, without scripts, on a phone', async () => {
    const viewport = { width: 360, height: 640 };
    await using page = await chromium.page({ viewport, javaScriptEnabled: false });
    await page.goto(`${world.url}/docs/api/volumes`);
    const shown = async () => {
      const samples = await page.locator('.sample').all();
      const seen = await Promise.all(samples.map(async (each) => ((await each.isVisible()) ? each : null)));
      const words = seen.filter((each) => each !== null).map((each) => each.getAttribute('class'));
      return [...new Set(await Promise.all(words))];
    };
    assert.deepEqual(await shown(), ['sample curl']);
    await page.getByRole('radio', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await shown(), ['sample sdk']);
    await page.getByRole('heading', { name: 'Detach a volume' }).scrollIntoViewIfNeeded();
    await page.getByRole('radiogroup', { name: 'Samples in' }).getByText('CLI').click();
    assert.deepEqual(await shown(), ['sample cli']);
  });

  it('does not hide where a link leads', async () => {
    await using page = await chromium.page({ viewport: { width: 360, height: 640 } });
    await page.goto(`${world.url}/docs/api/volumes#volumes.detach`);
    const bar = await page.getByRole('radiogroup').boundingBox();
    const heading = await page.getByRole('heading', { name: 'Detach a volume' }).boundingBox();
    assert.ok(bar && heading);
    assert.ok(heading.y >= bar.y + bar.height, `${heading.y} < ${bar.y + bar.height}`);
  });
});
