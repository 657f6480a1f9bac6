import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { type Chromium, NO_CHROMIUM, openChromium } from '../../support/chromium.ts';
import { isoFile } from '../../support/iso.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const FILE_BYTES = 3 * 1024 ** 2;
/** Three parts. */
const LONG_FILE_BYTES = 20 * 1024 ** 2;
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
  /** Returns its path. A browser that gets the content itself may need a minute for it. */
  async function writeIso(content: Buffer): Promise<string> {
    const folder = scratchFolder();
    await mkdir(folder, { recursive: true });
    const path = join(folder, 'x.iso');
    await writeFile(path, content);
    return path;
  }
  const choose = (page: Page, path: string) => page.locator('input[type=file]').setInputFiles(path);
  const press = (page: Page) => page.getByRole('button', { name: 'Upload image' }).click();
  const progress = (page: Page) => page.locator('.upload');
  async function newestHash(): Promise<string | undefined> {
    const { db } = world.opened;
    const row = await db.row<{ sha256: string }>(
      'select sha256 from images where sha256 is not null order by id desc limit 1',
    );
    return row?.sha256;
  }
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
    await choose(page, await writeIso(isoFile(FILE_BYTES)));
    await press(page);
    const facts = /^\s*[\d.]+ [KM]iB of 3 MiB · [\d.]+ [KM]iB\/s · \d+ s left/;
    await progress(page).filter({ hasText: facts }).waitFor();
    assert.equal(await progress(page).getByRole('progressbar').count(), 1);
    await limit(-1);
    await page.waitForURL(/\/images\/custom_\w+\?done=image_uploaded$/);
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'rescue tools');
  });

  it('an upload continues on its own after a lost connection, and arrives whole', async () => {
    await using page = await chromium.page();
    await open(page);
    const limit = await throttle(page);
    await limit(SLOW_BYTES_PER_S * 16);
    const content = isoFile(LONG_FILE_BYTES);
    await choose(page, await writeIso(content));
    await press(page);
    await progress(page)
      .filter({ hasText: /^\s*\d\d[.\d]* MiB of 20 MiB/ })
      .waitFor();
    await limit(SLOW_BYTES_PER_S, true);
    await progress(page)
      .filter({ hasText: /connection was lost after \d+ MiB\. Trying again/ })
      .waitFor();
    await limit(-1);
    await page.waitForURL(/\/images\/custom_\w+\?done=image_uploaded$/);
    assert.equal(await newestHash(), createHash('sha256').update(content).digest('hex'));
  });

  it('after a reload, the same file resumes where it was, and a discarded upload begins again', async () => {
    await using page = await chromium.page();
    await open(page);
    const limit = await throttle(page);
    const content = isoFile(LONG_FILE_BYTES);
    const path = await writeIso(content);
    const interrupt = async () => {
      await choose(page, path);
      await limit(SLOW_BYTES_PER_S * 16);
      await press(page);
      await progress(page)
        .filter({ hasText: /^\s*\d\d[.\d]* MiB of 20 MiB/ })
        .waitFor();
      page.once('dialog', (dialog) => dialog.accept());
      await page.reload();
      await limit(-1);
    };
    await interrupt();
    const note = page.locator('.banner', {
      hasText: /is unfinished: \d+ MiB have arrived/,
    });
    await note.getByRole('button', { name: 'Discard this upload' }).click();
    await page.locator('.banner', { hasText: 'Upload discarded.' }).waitFor();
    assert.equal(await note.count(), 0);
    await interrupt();
    await note.waitFor();
    await choose(page, path);
    const parts: string[] = [];
    page.on('request', (request) => {
      const offset = request.headers()['upload-offset'];
      if (offset !== undefined) parts.push(offset);
    });
    await page.getByRole('button', { name: 'Resume upload' }).click();
    await page.waitForURL(/\/images\/custom_\w+\?done=image_uploaded$/);
    assert.ok(Number(parts[0]) >= 8 * 1024 ** 2, `${parts}`);
    assert.equal(await newestHash(), createHash('sha256').update(content).digest('hex'));
  });

  it('a refused file is explained next to its field, and a canceled one keeps the form', async () => {
    await using page = await chromium.page();
    await open(page);
    const limit = await throttle(page);
    await limit(SLOW_BYTES_PER_S);
    await page.getByLabel('Version (optional)').fill('1.0');
    await choose(page, await writeIso(Buffer.alloc(FILE_BYTES)));
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
