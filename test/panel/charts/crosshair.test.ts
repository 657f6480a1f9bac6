import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { type Chromium, NO_CHROMIUM, openChromium, pageErrors } from '../../support/chromium.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { publicKey } from '../support/estate.ts';

const MINUTE_S = 60;

describe('a chart in a browser with scripts', { skip: NO_CHROMIUM }, () => {
  let world: World;
  let chromium: Chromium;
  let session: SessionClient;
  let path: string;
  before(async () => {
    world = await startWorld();
    chromium = await openChromium();
    session = await world.customer(100);
    const api = V1Client.forUrl(world.url, await createApiToken(session));
    const key = (await api.post('/ssh-keys', { name: 'laptop', public_key: publicKey(1, 'ada') })).body.id;
    const image = (await api.get('/images?family=alpine')).body.data[0].id;
    const order = { plan: 's1', region: 'par', image, ssh_keys: [key], name: 'web-1' };
    const { id } = (await api.post('/servers', order)).body;
    await world.settle();
    await world.advance(90 * MINUTE_S);
    path = `/servers/${id}/metrics?period=1h`;
  });
  after(async () => {
    await chromium?.close();
    await world?.close();
  });

  async function open(page: Page): Promise<void> {
    await page.context().addCookies([{ name: 'PHPSESSID', value: session.cookie ?? '', url: world.url }]);
    await page.goto(`${world.url}${path}`);
  }
  const crosshair = (page: Page, name: string) =>
    page.getByRole('slider', { name: `${name}, values by time` });

  it('the pointer shows the values at its place', async () => {
    await using page = await chromium.page();
    await open(page);
    const area = crosshair(page, 'Network');
    const { width = 0, height = 0 } = (await area.boundingBox()) ?? {};
    await area.hover({ position: { x: width / 2, y: height / 2 } });
    const box = area.locator('.graph-box');
    await box.waitFor();
    const values = /^\w+ \d+, \d\d:\d\d UTCinbound [\d.]+ \w+\/s\s?outbound [\d.]+ \w+\/s$/;
    const middle = (await box.textContent()) ?? '';
    assert.match(middle, values);
    await area.hover({ position: { x: width / 4, y: height / 2 } });
    await box.filter({ hasNotText: middle.slice(0, 'Mar 1, 10:00'.length) }).waitFor();
    assert.match((await box.textContent()) ?? '', values);
    await page.mouse.move(0, 0);
    await box.waitFor({ state: 'hidden' });
    assert.deepEqual(pageErrors(page), []);
  });

  it('arrow keys move by one value, and screen readers hear it', async () => {
    await using page = await chromium.page();
    await open(page);
    const area = crosshair(page, 'CPU');
    await area.press('ArrowLeft');
    const text = () => area.getAttribute('aria-valuetext');
    await area.and(page.locator('.shown')).waitFor();
    const latest = (await text()) ?? '';
    assert.match(latest, /^\w+ \d+, \d\d:\d\d UTC: used [\d.]+%$/);
    assert.equal(await area.getAttribute('aria-valuenow'), await area.getAttribute('aria-valuemax'));
    const minuteOf = (words: string | null) => Number(/:(\d\d) UTC/.exec(words ?? '')?.[1]);
    await area.press('ArrowLeft');
    await area.and(page.locator(`:not([aria-valuetext="${latest}"])`)).waitFor();
    assert.equal((minuteOf(await text()) + 1) % 60, minuteOf(latest));
    await area.press('Home');
    await area.and(page.locator('[aria-valuenow="0"]')).waitFor();
    await area.press('Escape');
    await area.locator('.graph-box').waitFor({ state: 'hidden' });
  });

  it('a touch shows the values until another one', async () => {
    await using page = await chromium.page({ hasTouch: true, viewport: { width: 390, height: 800 } });
    await open(page);
    const area = crosshair(page, 'Memory');
    await area.tap();
    await area.locator('.graph-box', { hasText: 'used' }).waitFor();
    assert.match((await area.locator('.graph-box').textContent()) ?? '', /UTCused [\d.]+ [MG]iB/);
    const root = 'document.documentElement';
    assert.equal(await page.evaluate(`${root}.scrollWidth > ${root}.clientWidth`), false);
  });

  it('the last hour is updated by the minute, and the chart in use waits', async () => {
    await using page = await chromium.page();
    await page.clock.install();
    await open(page);
    const picture = (name: string) => page.locator(`[data-part=${name}] img`);
    const changed = async (name: string, alt: string | null) =>
      await picture(name)
        .and(page.locator(`:not([alt="${alt}"])`))
        .waitFor();
    const cpu = await picture('cpu').getAttribute('alt');
    const network = await picture('network').getAttribute('alt');
    await crosshair(page, 'CPU').focus();
    await page.evaluate('window.isSamePage = true');
    await world.advance(2 * MINUTE_S);
    await page.clock.runFor(90_000);
    await changed('network', network);
    assert.equal(await picture('cpu').getAttribute('alt'), cpu);
    await page.evaluate('document.activeElement.blur()');
    await page.clock.runFor(1_000);
    await changed('cpu', cpu);
    assert.equal(await page.evaluate('window.isSamePage'), true);
    await crosshair(page, 'CPU').press('End');
    await crosshair(page, 'CPU').and(page.locator('.shown')).waitFor();
  });
});
