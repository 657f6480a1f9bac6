import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { type Chromium, NO_CHROMIUM, openChromium } from '../../support/chromium.ts';
import { isoFile } from '../../support/iso.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const FILE_BYTES = 3 * 1024 ** 2;
const SLOW_BYTES_PER_S = 512 * 1024;

describe('an upload in a browser with scripts', { skip: NO_CHROMIUM }, () => {
  let world: World;
  let chromium: Chromium;
  let session: SessionClient;
  before(async () => {
    world = await startWorld();
    chromium = await openChromium();
    session = await world.customer();
  });
  after(async () => {
    await chromium?.close();
    await world?.close();
  });

  async function open(page: Page): Promise<void> {
    await page.context().addCookies([{ name: 'PHPSESSID', value: session.cookie ?? '', url: world.url }]);
    await page.goto(`${world.url}/images`);
  }
  async function choose(page: Page, content: Buffer): Promise<void> {
    const file = { name: 'x.iso', mimeType: 'application/x-iso9660-image', buffer: content };
    await page.locator('input[type=file]').setInputFiles(file);
  }
  const press = (page: Page) => page.getByRole('button', { name: 'Upload image' }).click();
  const progress = (page: Page) => page.locator('.upload');
  /** Returns a function that limits the rate of the page's network, or removes the limit. */
  async function throttle(page: Page): Promise<(bytesPerS: number, offline?: boolean) => Promise<void>> {
    const devtools = await page.context().newCDPSession(page);
    return async (bytesPerS, offline = false) => {
      const conditions = { offline, latency: 0, downloadThroughput: -1, uploadThroughput: bytesPerS };
      await devtools.send('Network.emulateNetworkConditions', conditions);
    };
  }

  it('an upload shows bytes, speed, and time left, and leads to the image', async () => {
    await using page = await chromium.page();
    await open(page);
    const limit = await throttle(page);
    await limit(SLOW_BYTES_PER_S);
    await page.getByLabel('Name (optional)').fill('rescue tools');
    await choose(page, isoFile(FILE_BYTES));
    await press(page);
    const facts = /^\s*[\d.]+ [KM]iB of 3 MiB · [\d.]+ [KM]iB\/s · \d+ s left/;
    await progress(page).filter({ hasText: facts }).waitFor();
    assert.equal(await progress(page).getByRole('progressbar').count(), 1);
    await limit(-1);
    await page.waitForURL(/\/images\/custom_\w+\?done=image_uploaded$/);
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'rescue tools');
  });

  it('a lost connection is explained, and the same form uploads again', async () => {
    await using page = await chromium.page();
    await open(page);
    const limit = await throttle(page);
    await limit(SLOW_BYTES_PER_S);
    await choose(page, isoFile(FILE_BYTES));
    await press(page);
    await progress(page).filter({ hasText: ' left' }).waitFor();
    await limit(SLOW_BYTES_PER_S, true);
    const alert = page.getByRole('alert');
    await alert.filter({ hasText: /^The connection was lost after [\d.]+ [KM]iB\. Check/ }).waitFor();
    await limit(-1);
    await press(page);
    await page.waitForURL(/\/images\/custom_\w+\?done=image_uploaded$/);
  });

  it('a refused file is explained next to its field, and a canceled one keeps the form', async () => {
    await using page = await chromium.page();
    await open(page);
    const limit = await throttle(page);
    await limit(SLOW_BYTES_PER_S);
    await page.getByLabel('Version (optional)').fill('1.0');
    await choose(page, Buffer.alloc(FILE_BYTES));
    await press(page);
    await page.getByRole('button', { name: 'Cancel upload' }).click();
    await progress(page).waitFor({ state: 'detached' });
    await limit(-1);
    await press(page);
    await page.locator('.field.bad', { hasText: 'File' }).waitFor();
    assert.equal(await page.getByLabel('Version (optional)').inputValue(), '1.0');
    assert.equal(new URL(page.url()).pathname, '/images');
  });
});
