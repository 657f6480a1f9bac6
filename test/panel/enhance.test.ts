/** Scripts that save clicks: copies of addresses, shortcuts that are off, and times on touch screens. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { type Chromium, NO_CHROMIUM, openChromium, pageErrors } from '../support/chromium.ts';
import { PanelClient } from '../support/panel-client.ts';
import type { SessionClient } from '../support/session-client.ts';
import { startWorld, type World } from '../support/world.ts';

const ORDER = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };

describe('the scripts of the panel', { skip: NO_CHROMIUM }, () => {
  let world: World;
  let chromium: Chromium;
  let session: SessionClient;
  let page: Page;
  before(async () => {
    world = await startWorld();
    session = await world.customer();
    await world.addBalance(session, 5_000n);
    for (const root_password of ['a long enough one', 'another long one'])
      await session.post('/deploy-api.php', { ...ORDER, root_password });
    await world.settle();
    chromium = await openChromium();
    page = await chromium.page();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.context().addCookies([{ name: 'PHPSESSID', value: session.cookie ?? '', url: world.url }]);
  });
  after(async () => {
    await chromium?.close();
    await world?.close();
  });

  const clipboard = async () => await page.evaluate<string>('navigator.clipboard.readText()');

  it('addresses of the selection, or of the whole list, are copied without leaving the list', async () => {
    await page.goto(`${world.url}/servers?sort=created_at`);
    const addresses = await page.locator('td code.copy').allTextContents();
    await page.getByText('Copy all addresses').click();
    await page.getByText('Copied 2').waitFor();
    assert.deepEqual((await clipboard()).trim().split('\n'), addresses);
    await page.getByRole('checkbox').nth(1).check();
    await page.getByRole('button', { name: 'Copy addresses' }).click();
    await page.getByText('Copied 1').waitFor();
    assert.equal(await clipboard(), `${addresses[1]}\n`);
    assert.match(page.url(), /\/servers\?sort=created_at$/);
  });

  it('a time that is tapped or focused says how long ago it was', async () => {
    await page.goto(`${world.url}/servers`);
    await page.getByRole('rowheader').getByRole('link').first().click();
    const time = page.locator('main time[datetime*=T][tabindex]').first();
    await time.focus();
    await page
      .locator('.time-hint')
      .getByText(/ago|in|now|yesterday/)
      .waitFor();
    await page.locator('h1').click();
    assert.equal(await page.locator('.time-hint').isHidden(), true);
    await time.click();
    assert.match((await page.locator('.time-hint').textContent()) ?? '', /:.*\d{4}/);
  });

  it('a shortcut that is turned off does nothing, and Ctrl K still searches', async () => {
    await page.goto(`${world.url}/servers`);
    await page.keyboard.press('?');
    await page.waitForURL(/\/search#shortcuts$/);
    const panel = PanelClient.forUrl(world.url, { cookie: session.cookie });
    const list = await panel.get('/search');
    await panel.submit(list, 'shortcuts', {}, { button: ['shortcuts', 'off'] });
    await page.goto(`${world.url}/servers`);
    for (const key of ['/', 'n', '?']) await page.keyboard.press(key);
    assert.equal(await page.evaluate('document.activeElement === document.body'), true);
    await page.keyboard.press('Control+k');
    assert.equal(await page.evaluate<string>('document.activeElement.type'), 'search');
    assert.equal(new URL(page.url()).pathname, '/servers');
    assert.deepEqual(pageErrors(page), []);
  });
});
