import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { NO_CHROMIUM } from '../support/chromium.ts';
import { type Firefox, NO_FIREFOX, openFirefox } from '../support/firefox.ts';
import type { FirefoxTab } from '../support/firefox-tab.ts';
import { FULL_ONLY, rotate } from '../support/runs.ts';
import { type Example, examplesOf } from './support/examples.ts';
import { MAIN_TEXT, PageBrowser, withoutAutoRefresh } from './support/page-checks.ts';
import { type PanelWorld, startPanelWorld } from './support/world.ts';

/** Returns the faults of a page as JSON: with scripts off, only values can be read. */
const FAULTS = `JSON.stringify([
  document.querySelectorAll('h1').length === 1 ? '' : 'the page needs exactly one heading',
  document.querySelector('h1')?.checkVisibility() ? '' : 'the heading is not visible',
  ...[...document.querySelectorAll('svg, object, embed, video')].map((it) => it.outerHTML.slice(0, 80)),
  ...[...document.images]
    .filter((it) => !it.complete || it.naturalWidth === 0)
    .map((it) => 'not loaded: ' + it.src),
  ...[...document.images].filter((it) => it.alt === '').map((it) => 'no alternative text: ' + it.src),
  ...[...document.forms]
    .filter((it) => ![...it.elements].some((field) => field.matches('button:not([type=button])')))
    .map((it) => 'no button: ' + it.outerHTML.slice(0, 200)),
].filter((fault) => fault !== ''))`;

describe('the panel in Tor Browser’s safest mode', {
  skip: FULL_ONLY.skip || NO_FIREFOX || NO_CHROMIUM,
}, () => {
  let world: PanelWorld;
  let firefox: Firefox;
  let cookie = '';
  let examples: readonly Example[];
  before(async () => {
    world = await startPanelWorld();
    examples = rotate(examplesOf(world), { sample: 1, full: 3, soak: 1 });
    cookie = world.session.cookie ?? '';
    firefox = await openFirefox();
  });
  after(async () => {
    await firefox?.close();
    await world?.close();
  });

  async function tabs(): Promise<(example: Example) => Promise<FirefoxTab>> {
    const [outside, inside] = [await firefox.tab(), await firefox.tab()];
    const { hostname } = new URL(world.url);
    await inside.page
      .browserContext()
      .setCookie({ name: 'PHPSESSID', value: cookie, domain: hostname, path: '/' });
    return async ({ visitor, path }) => {
      const tab = visitor ? outside : inside;
      assert.equal(await tab.open(`${world.url}${withoutAutoRefresh(path)}`), 200, path);
      return tab;
    };
  }

  it('every page has its heading, its pictures, and a button for each form', async () => {
    const open = await tabs();
    const found: string[] = [];
    for (const example of examples) {
      const tab = await open(example);
      const faults = JSON.parse((await tab.page.evaluate(FAULTS)) as string) as string[];
      for (const fault of faults) found.push(`${example.name} ${example.path}: ${fault}`);
    }
    assert.deepEqual(found, []);
  });

  it('every page shows the same text as with scripts', async () => {
    const open = await tabs();
    const browser = await PageBrowser.start(world.url, cookie);
    const difference = async (example: Example): Promise<string | null> => {
      const tab = await open(example);
      const safest = (await tab.page.evaluate(MAIN_TEXT)) as string;
      const { page } = await browser.open(example);
      const scripted = await page.evaluate<string>(MAIN_TEXT);
      return safest === scripted ? null : `${example.name}: ${renderingDifference(safest, scripted)}`;
    };
    const found: string[] = [];
    for (const example of examples) {
      // Pages show the time, and a minute can end between the two. It cannot end twice in a row.
      const differs = (await difference(example)) && (await difference(example));
      if (differs) found.push(differs);
    }
    await browser.close();
    assert.deepEqual(found, []);
  });
});

/** Shows where two texts first differ. */
function renderingDifference(safest: string, scripted: string): string {
  let at = 0;
  while (safest[at] === scripted[at]) at += 1;
  const from = Math.max(0, at - 30);
  return `without scripts …${safest.slice(from, at + 60)}…, with scripts …${scripted.slice(from, at + 60)}…`;
}
