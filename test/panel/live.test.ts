import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { LIVE_PATH } from '../../src/spec/paths.ts';
import { type Chromium, NO_CHROMIUM, openChromium, pageErrors } from '../support/chromium.ts';
import type { SessionClient } from '../support/session-client.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { publicKey } from './support/estate.ts';

const TABS = 10;
const isStream = (request: Request) => new URL(request.url()).pathname === LIVE_PATH;
/** Long enough for a page that polls. */
const UPDATE_MAX_MS = 20_000;

describe('a page with scripts', { skip: NO_CHROMIUM }, () => {
  let world: World;
  let chromium: Chromium;
  let session: SessionClient;
  let api: V1Client;
  let order: object;
  before(async () => {
    world = await startWorld({ SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true' });
    chromium = await openChromium();
    session = await world.customer(100);
    api = V1Client.forUrl(world.url, await createApiToken(session));
    const key = (await api.post('/ssh-keys', { name: 'laptop', public_key: publicKey(1, 'ada') })).body.id;
    const image = (await api.get('/images?family=alpine')).body.data[0].id;
    order = { plan: 's1', region: 'par', image, ssh_keys: [key] };
  });
  after(async () => {
    await chromium?.close();
    await world?.close();
  });

  /** Orders a server that waits until `finishInstall`. */
  async function orderServer(name: string): Promise<string> {
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 1_000 });
    return (await api.post('/servers', { ...order, name })).body.id;
  }
  async function finishInstall(): Promise<void> {
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 0 });
    await world.settle();
  }
  async function signIn(page: Page): Promise<void> {
    const cookie = { name: 'PHPSESSID', value: session.cookie ?? '', url: world.url };
    await page.context().addCookies([cookie]);
  }
  async function seeStatus(page: Page, name: string, status: string): Promise<void> {
    const badge = page.locator('tr', { hasText: name }).locator('.state', { hasText: status });
    await badge.waitFor({ timeout: UPDATE_MAX_MS });
  }

  it('an update keeps an open fold, a half-filled form, and the focus', async () => {
    await orderServer('web-1');
    await using page = await chromium.page();
    await signIn(page);
    const opened = page.waitForRequest(isStream);
    await page.goto(`${world.url}/servers`);
    await opened;
    await page.evaluate(`for (const fold of document.querySelectorAll('details')) fold.open = true`);
    await page.locator('main [name=name]').fill('half a na');
    await page.evaluate('window.isSamePage = true');
    assert.doesNotMatch((await page.locator('.state').first().textContent()) ?? '', /running/);
    await finishInstall();
    await seeStatus(page, 'web-1', 'running');
    const state = await page.evaluate<Record<string, unknown>>(`({
      same: window.isSamePage === true,
      value: document.querySelector('main [name=name]').value,
      focus: document.activeElement.name,
      closed: document.querySelectorAll('details:not([open])').length,
    })`);
    assert.deepEqual(state, { same: true, value: 'half a na', focus: 'name', closed: 0 });
    assert.deepEqual(pageErrors(page), []);
  });

  it('an update keeps the servers that are selected', async () => {
    await orderServer('web-6');
    await using page = await chromium.page();
    await signIn(page);
    const opened = page.waitForRequest(isStream);
    await page.goto(`${world.url}/servers`);
    await opened;
    const box = page.locator('tr', { hasText: 'web-6' }).locator('input[type=checkbox]');
    await box.check();
    await page.evaluate('document.activeElement.blur()');
    const fetched = page.waitForResponse((response) => new URL(response.url()).pathname === '/servers');
    await finishInstall();
    await (await fetched).finished();
    assert.equal(await box.isChecked(), true);
    await box.uncheck();
    await page.evaluate(`document.querySelector('#bulk').reset(); document.activeElement.blur()`);
    await seeStatus(page, 'web-6', 'running');
  });

  it('a part waits while its form is in use, and the status is announced', async () => {
    const id = await orderServer('web-2');
    await finishInstall();
    await using page = await chromium.page();
    await signIn(page);
    await page.goto(`${world.url}/servers/${id}`);
    const menu = page.locator('summary', { hasText: /^Power$/ });
    await menu.focus();
    await api.post(`/servers/${id}/stop`);
    await world.advance(5);
    await page.locator('[data-part=head] .state', { hasText: 'stopped' }).waitFor();
    assert.equal(await page.locator('body > [role=status]').textContent(), 'Status: stopped');
    assert.equal(await menu.evaluate('document.activeElement.textContent'), 'Power');
    await page.evaluate('document.activeElement.blur()');
    await page.getByRole('button', { name: 'Power on' }).waitFor();
    assert.equal(await menu.count(), 0);
  });

  it('ten tabs share one stream, and another tab takes over when one closes', async () => {
    await orderServer('web-3');
    await using first = await chromium.page();
    await signIn(first);
    const streams: string[] = [];
    first.context().on('request', (request) => {
      if (isStream(request)) streams.push(request.url());
    });
    await first.goto(`${world.url}/servers`);
    const others: Page[] = [];
    for (let n = 1; n < TABS; n++) {
      const page = await first.context().newPage();
      await page.goto(`${world.url}/servers`);
      others.push(page);
    }
    await finishInstall();
    for (const page of [first, ...others]) await seeStatus(page, 'web-3', 'running');
    assert.equal(streams.length, 1);

    const left = others.slice(1);
    const reopened = first.context().waitForEvent('request', isStream);
    await first.goto('about:blank');
    await reopened;
    await orderServer('web-4');
    for (const page of left) await page.locator('tr', { hasText: 'web-4' }).waitFor();
    await finishInstall();
    for (const page of left) await seeStatus(page, 'web-4', 'running');
    assert.equal(streams.length, 2);
  });

  it('the storage page of a server updates its lists, and keeps the form for a snapshot', async () => {
    const id = await orderServer('web-6');
    await finishInstall();
    await using page = await chromium.page();
    await signIn(page);
    const opened = page.waitForRequest(isStream);
    await page.goto(`${world.url}/servers/${id}/storage`);
    await opened;
    const name = page.locator('[data-part=snapshot] [name=name]');
    await name.fill('half a na');
    await api.post(`/servers/${id}/snapshots`, { name: 'nightly' });
    const volume = (await api.post('/volumes', { name: 'data', size_gb: 10, region: 'par' })).body.id;
    await world.advance(60);
    await api.post(`/volumes/${volume}/attach`, { server: id });
    await world.advance(60);
    const row = (part: string, text: string) => page.locator(`[data-part=${part}] tr`, { hasText: text });
    await row('snapshots', 'nightly').locator('.state', { hasText: 'ready' }).waitFor();
    await row('volumes', 'data').waitFor();
    assert.equal(await name.inputValue(), 'half a na');
    assert.equal(await name.evaluate('document.activeElement.name'), 'name');
    assert.deepEqual(pageErrors(page), []);
  });

  it('the page of a webhook shows a delivery when it ends', async () => {
    const webhook = { url: 'https://127.0.0.1:1/hooks', events: ['server.running'] };
    const { id } = (await api.post('/webhooks', webhook)).body;
    await using page = await chromium.page();
    await signIn(page);
    const opened = page.waitForResponse((response) => isStream(response.request()));
    await page.goto(`${world.url}/webhooks/${id}`);
    await opened;
    await page.evaluate('window.isSamePage = true');
    await api.post(`/webhooks/${id}/test`);
    const badge = page.locator('[data-part=deliveries] .state', { hasText: 'failed' });
    await badge.waitFor({ timeout: UPDATE_MAX_MS });
    assert.equal(await page.evaluate('window.isSamePage'), true);
  });

  it('a page polls without locks or a stream', async () => {
    const id = await orderServer('web-5');
    await using page = await chromium.page();
    await page.addInitScript(`Object.defineProperty(navigator, 'locks', { value: undefined })`);
    await signIn(page);
    await page.goto(`${world.url}/servers/${id}`);
    await page.evaluate('window.isSamePage = true');
    await finishInstall();
    await page.locator('[data-part=head] .state', { hasText: 'running' }).waitFor({ timeout: UPDATE_MAX_MS });
    assert.equal(await page.evaluate('window.isSamePage'), true);
  });
});
