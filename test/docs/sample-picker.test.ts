/**
 * The sample picker of the API reference in a browser: it shows one kind of sample at a time, without
 * scripts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Chromium, NO_CHROMIUM, openChromium } from '../support/chromium.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { startWorld, type World } from '../support/world.ts';

describe('the sample picker', { skip: NO_CHROMIUM || FULL_ONLY.skip }, () => {
  let world: World;
  let chromium: Chromium;
  before(async () => {
    [world, chromium] = await Promise.all([startWorld(), openChromium()]);
  });
  after(async () => {
    await chromium?.close();
    await world?.close();
  });

  it('works by keyboard for the whole page and stays visible, without scripts on a phone', async () => {
    const viewport = { width: 360, height: 640 };
    await using page = await chromium.page({ viewport, javaScriptEnabled: false });
    await page.goto(`${world.url}/docs/api/volumes`);
    const shown = async () => {
      const samples = await page.locator('.sample').all();
      const visible = await Promise.all(
        samples.map(async (each) => ((await each.isVisible()) ? each : null)),
      );
      const classes = visible.filter((each) => each !== null).map((each) => each.getAttribute('class'));
      return [...new Set(await Promise.all(classes))];
    };
    assert.deepEqual(await shown(), ['sample curl']);
    await page.getByRole('radio', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await shown(), ['sample sdk']);
    await page.getByRole('heading', { name: 'Detach a volume' }).scrollIntoViewIfNeeded();
    await page.getByRole('radiogroup', { name: 'Samples in' }).getByText('CLI').click();
    assert.deepEqual(await shown(), ['sample cli']);
  });

  it('does not cover the target of a link', async () => {
    await using page = await chromium.page({ viewport: { width: 360, height: 640 } });
    await page.goto(`${world.url}/docs/api/volumes#volumes.detach`);
    const bar = await page.getByRole('radiogroup').boundingBox();
    const heading = await page.getByRole('heading', { name: 'Detach a volume' }).boundingBox();
    assert.ok(bar && heading);
    assert.ok(heading.y >= bar.y + bar.height, `${heading.y} < ${bar.y + bar.height}`);
  });
});
