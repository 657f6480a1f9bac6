import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seriousViolations } from '../support/axe.ts';
import { NO_CHROMIUM } from '../support/chromium.ts';
import { FULL_ONLY, rotate } from '../support/runs.ts';
import { type Example, examplesOf } from './support/examples.ts';
import { expandDetails, focusAfterTab, horizontalOverflow, PageBrowser } from './support/page-checks.ts';
import { type PanelWorld, startPanelWorld } from './support/world.ts';

const WIDTHS = [1280, 400];
const NARROWEST = 360;
const TABS_MAX = 60;

describe('a page of the panel', { skip: NO_CHROMIUM || FULL_ONLY.skip }, () => {
  let world: PanelWorld;
  let browser: PageBrowser;
  let examples: readonly Example[];
  before(async () => {
    world = await startPanelWorld();
    examples = rotate(examplesOf(world), { sample: 1, full: 3, soak: 1 });
    browser = await PageBrowser.start(world.url, world.session.cookie);
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  /** Collects the faults of every page, so that one run reports all of them. */
  async function faultsOf(check: (example: Example) => Promise<readonly string[]>): Promise<string[]> {
    const found: string[] = [];
    for (const example of examples) {
      for (const fault of await check(example)) found.push(`${example.name} ${example.path}: ${fault}`);
    }
    return found;
  }

  it('every page passes axe in light and dark, wide and narrow', async () => {
    const faults = await faultsOf(async (example) => {
      const { page } = await browser.open(example);
      await expandDetails(page);
      const found: string[] = [];
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          for (const fault of await seriousViolations(page)) found.push(`${width} ${colorScheme}: ${fault}`);
        }
      }
      return found;
    });
    assert.deepEqual(faults, []);
  });

  it('no page is wider than a narrow phone', async () => {
    const faults = await faultsOf(async (example) => {
      const { page } = await browser.open(example);
      await page.setViewportSize({ width: NARROWEST, height: 700 });
      await expandDetails(page);
      const over = await horizontalOverflow(page);
      return over > 0 ? [`${over} pixels too wide`] : [];
    });
    assert.deepEqual(faults, []);
  });

  it('the keyboard reaches the skip link first and always shows its focus', async () => {
    const faults = await faultsOf(async (example) => {
      const { page } = await browser.open(example);
      await page.setViewportSize({ width: 1280, height: 800 });
      // Smooth scrolling would still be moving when the focus is measured.
      await page.emulateMedia({ reducedMotion: 'reduce' });
      const first = await focusAfterTab(page);
      const found = first.what.includes('href="#content"') && first.visible ? [] : [`first: ${first.what}`];
      for (let tabs = 1; tabs < TABS_MAX; tabs += 1) {
        const focus = await focusAfterTab(page);
        // After the last element, the focus leaves the page or starts over.
        if (focus.what.startsWith('<body') || focus.what === first.what) break;
        if (!focus.visible) found.push(`focus not visible: ${focus.what}`);
      }
      return found;
    });
    assert.deepEqual(faults, []);
  });

  it('the skip link moves the focus to the content', async () => {
    const { page } = await browser.open({ path: '/keys', visitor: false });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'content');
  });
});
