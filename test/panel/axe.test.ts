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
  let onlooker: PageBrowser;
  let examples: readonly Example[];
  before(async () => {
    world = await startPanelWorld();
    examples = rotate(examplesOf(world), { sample: 1, full: 3, soak: 1 });
    onlooker = await PageBrowser.start(world.url, world.session.cookie);
  });
  after(async () => {
    await onlooker?.close();
    await world?.close();
  });

  /** Every fault of every page, so that one run tells all. */
  async function faultsOf(look: (example: Example) => Promise<readonly string[]>): Promise<string[]> {
    const found: string[] = [];
    for (const example of examples) {
      for (const fault of await look(example)) found.push(`${example.name} ${example.path}: ${fault}`);
    }
    return found;
  }

  it('can be used with a screen reader, in light and in dark, wide and narrow', async () => {
    const faults = await faultsOf(async (example) => {
      const { page } = await onlooker.open(example);
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

  it('is never wider than a narrow telephone', async () => {
    const faults = await faultsOf(async (example) => {
      const { page } = await onlooker.open(example);
      await page.setViewportSize({ width: NARROWEST, height: 700 });
      await expandDetails(page);
      const over = await horizontalOverflow(page);
      return over > 0 ? [`${over} pixels too wide`] : [];
    });
    assert.deepEqual(faults, []);
  });

  it('leads the keyboard past its head first, and shows where it is', async () => {
    const faults = await faultsOf(async (example) => {
      const { page } = await onlooker.open(example);
      await page.setViewportSize({ width: 1280, height: 800 });
      const first = await focusAfterTab(page);
      const found = first.what.includes('href="#content"') && first.visible ? [] : [`first: ${first.what}`];
      for (let tabs = 1; tabs < TABS_MAX; tabs += 1) {
        const focus = await focusAfterTab(page);
        // Behind the last it leaves the page, or begins anew.
        if (focus.what.startsWith('<body') || focus.what === first.what) break;
        if (!focus.visible) found.push(`not seen: ${focus.what}`);
      }
      return found;
    });
    assert.deepEqual(faults, []);
  });

  it('leads to its content by the first link', async () => {
    const { page } = await onlooker.open({ path: '/keys', visitor: false });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate('document.activeElement.id'), 'content');
  });
});
