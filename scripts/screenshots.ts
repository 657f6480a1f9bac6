/**
 * Takes a screenshot of every panel page, light and dark, into docs/screenshots: `npm run screenshots`.
 * Requires Chromium. The pictured customer has one of everything. Each run creates their resources again, so
 * ids and times differ.
 */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { type Example, examplesOf } from '../test/panel/support/examples.ts';
import {
  GALLERY,
  isPictured,
  MOBILE_EXAMPLES,
  NARROW,
  SCHEMES,
  SOURCES,
  sourcesHash,
  WIDE,
} from '../test/panel/support/gallery.ts';
import { PageBrowser } from '../test/panel/support/page-checks.ts';
import { startPanelWorld } from '../test/panel/support/world.ts';
import { encodePalettePng } from './palette-png.ts';

/** Longer pages are cropped. */
const HEIGHT_MAX = 2_400;

const folder = await mkdtemp(join(tmpdir(), 'skerry-screenshots-'));
const database = await startEmbedded({ dataDir: join(folder, 'data'), log: () => undefined });
process.env.SKERRY_TEST_PG = JSON.stringify(database.connection);
try {
  await takeScreenshots();
} finally {
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}

async function takeScreenshots(): Promise<void> {
  const world = await startPanelWorld({ email: 'ada@example.org' });
  const browser = await PageBrowser.start(world.url, world.session.cookie);
  try {
    const examples = examplesOf(world).filter(isPictured);
    await clearGallery();
    for (const example of examples) await takeScreenshot(browser, example);
    await writeFile(join(GALLERY, 'README.md'), readme(examples));
    await writeFile(SOURCES, `${sourcesHash()}\n`);
  } finally {
    await browser.close();
    await world.close();
  }
}

async function clearGallery(): Promise<void> {
  await mkdir(GALLERY, { recursive: true });
  for (const file of await readdir(GALLERY)) if (file.endsWith('.png')) await rm(join(GALLERY, file));
}

async function takeScreenshot(browser: PageBrowser, example: Example): Promise<void> {
  const { page } = await browser.open(example);
  await page.setViewportSize({ width: WIDE, height: 800 });
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await waitForImages(page);
    await saveScreenshot(page, `${example.name}-${colorScheme}`);
  }
  if (!MOBILE_EXAMPLES.includes(example.name)) return;
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: NARROW, height: 800 });
  await waitForImages(page);
  await saveScreenshot(page, `${example.name}-narrow`);
}

/** A new color scheme loads other chart images. An earlier screenshot would show the previous ones. */
async function waitForImages(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  // Not waitForFunction: its second attempt uses eval, which the pages' policy forbids.
  await page.evaluate(
    `Promise.all([...document.images].filter((image) => !image.complete).map((image) =>
      new Promise((resolve) => { image.onload = image.onerror = resolve })))`,
  );
}

async function saveScreenshot(page: Page, name: string): Promise<void> {
  const [width, whole] = await page.evaluate<[number, number]>(
    '[innerWidth, Math.max(innerHeight, document.documentElement.scrollHeight)]',
  );
  const clip = { x: 0, y: 0, width, height: Math.min(whole, HEIGHT_MAX) };
  const png = await page.screenshot({ fullPage: true, clip });
  await writeFile(join(GALLERY, `${name}.png`), encodePalettePng(png));
}

function readme(examples: readonly Example[]): string {
  const rows = examples.map(({ name, page }) => {
    const narrow = MOBILE_EXAMPLES.includes(name) ? `[narrow](${name}-narrow.png)` : '';
    const [light, dark] = [`[light](${name}-light.png)`, `[dark](${name}-dark.png)`];
    return `| ${name.replaceAll('-', ' ')} | \`${page.path}\` | ${light} | ${dark} | ${narrow} |`;
  });
  return `# Screenshots

Every page of the panel, for a customer with one of everything. Take them with \`npm run screenshots\`. A test
fails if they are older than the panel. Long pages are cropped.

| View | Page | Light | Dark | Narrow |
|---|---|---|---|---|
${rows.join('\n')}

## Selected pages

![The front page](home-light.png)

![A running server](server-running-light.png)

![Server metrics, dark mode](server-metrics-dark.png)

![A top-up waiting for payment](topup-waiting-light.png)
`;
}
