/** The walks of docs/panel-walks.md in Chromium, without scripts: each click is on the page before it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { type Chromium, NO_CHROMIUM, openChromium } from '../support/chromium.ts';
import { PASSWORD } from '../support/session-client.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { expectSuccess, publicKey } from './support/estate.ts';

const DOC = readFileSync(new URL('../../docs/panel-walks.md', import.meta.url), 'utf8');
/** The keystroke-level model: decide, point, and press; and type ten characters. */
const CLICK_S = 1.35 + 1.1 + 0.2;
const FIELD_S = CLICK_S + 10 * 0.28;
/** For all pages of a walk together, on a machine that runs other tests. */
const WAIT_MAX_MS = 60_000;

interface Counts {
  readonly clicks: number;
  readonly fields: number;
  readonly deadEnds: number;
}

/** A visitor who counts clicks, the fields that they type or choose, and dead ends. */
class Walker {
  readonly page: Page;
  readonly #world: World;
  clicks = 0;
  fields = 0;
  /** Pages whose content did not offer the next step, so that the visitor needed the navigation. */
  deadEnds = 0;
  waitedMs = 0;

  private constructor(world: World, page: Page) {
    this.#world = world;
    this.page = page;
  }

  static async at(world: World, chromium: Chromium, path: string, cookie?: string): Promise<Walker> {
    const page = await chromium.page({ javaScriptEnabled: false });
    if (cookie !== undefined)
      await page.context().addCookies([{ name: 'PHPSESSID', value: cookie, url: world.url }]);
    await page.goto(`${world.url}${path}`);
    return new Walker(world, page);
  }

  async follow(name: string): Promise<void> {
    const inside = this.page.locator('main').getByRole('link', { name, exact: true });
    const isOffered = (await inside.count()) > 0;
    // The first click chooses where to go.
    if (!isOffered && this.clicks > 0) this.deadEnds += 1;
    await this.#click((isOffered ? inside : this.page.getByRole('link', { name, exact: true })).first());
  }

  async press(name: RegExp, typed: Readonly<Record<string, string>> = {}): Promise<void> {
    for (const [field, value] of Object.entries(typed)) await this.#fill(field, value);
    await this.#click(this.page.locator('main').getByRole('button', { name }).first());
  }

  async #fill(field: string, value: string): Promise<void> {
    const named = this.page.locator(`main [name="${field}"]`);
    const radio = named.and(this.page.locator(`[value="${value}"]`));
    const tag = await named.first().evaluate((element) => element.tagName);
    if (tag === 'SELECT') await named.selectOption(value);
    else if ((await named.count()) > 1) await radio.check();
    else await named.fill(value);
    this.fields += 1;
  }

  async #click(target: Locator): Promise<void> {
    this.clicks += 1;
    const startedAt = performance.now();
    const loaded = this.page.waitForNavigation({ waitUntil: 'load' });
    const [response] = await Promise.all([loaded, target.click()]);
    this.waitedMs += performance.now() - startedAt;
    assert.ok((response?.status() ?? 200) < 400, await this.text());
  }

  /** Waits for the service, as a visitor does who watches the page. */
  async watch(): Promise<void> {
    await this.#world.settle();
    await this.page.goto(this.page.url());
  }

  async text(): Promise<string> {
    return ((await this.page.locator('main').textContent()) ?? '').replace(/\s+/g, ' ');
  }

  async expect(words: RegExp): Promise<void> {
    assert.match(await this.text(), words);
  }
}

/** The rows of the document's comparison: the walk, the panel, and its counts. */
function documentedRows(): readonly (Counts & { walk: string; panel: string; seconds: number })[] {
  const cells = DOC.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const counted = cells.filter((row) => row.length >= 8 && /^\d+$/.test(row[3] ?? ''));
  return counted.map(([, walk = '', panel = '', ...counts]) => {
    const [clicks = 0, fields = 0, deadEnds = 0, seconds = 0] = counts.map(Number);
    return { walk, panel, clicks, fields, deadEnds, seconds };
  });
}

/** Fails unless the document has these counts in the row of the walk. */
function requireDocumented(walk: string, { clicks, fields, deadEnds, waitedMs }: Walker): void {
  const row = documentedRows().find((one) => one.walk === walk && one.panel === 'Skerry');
  assert.deepEqual({ clicks, fields, deadEnds }, row && pickCounts(row), walk);
  assert.ok(waitedMs < WAIT_MAX_MS, `${walk}: waited ${waitedMs.toFixed(0)} ms`);
  if (process.env.SKERRY_TEST_VERBOSE) process.stderr.write(`${walk}: ${waitedMs.toFixed(0)} ms\n`);
}

function pickCounts({ clicks, fields, deadEnds }: Counts): Counts {
  return { clicks, fields, deadEnds };
}

it('no panel in the comparison is better than ours, and its seconds follow from the counts', () => {
  const rows = documentedRows();
  assert.ok(rows.length > 4);
  for (const row of rows) {
    assert.equal(row.seconds, Math.round(row.clicks * CLICK_S + row.fields * FIELD_S), row.panel);
    const ours = rows.find(({ walk, panel }) => walk === row.walk && panel === 'Skerry');
    for (const count of ['clicks', 'fields', 'deadEnds', 'seconds'] as const)
      assert.ok((ours?.[count] ?? Infinity) <= row[count], `${row.walk}, ${row.panel}: ${count}`);
  }
});

describe('the walks of a customer', { skip: NO_CHROMIUM }, () => {
  let world: World;
  let chromium: Chromium;
  let cookie: string | undefined;
  before(async () => {
    world = await startWorld();
    chromium = await openChromium();
    const session = await world.customer();
    cookie = session.cookie;
    await world.addBalance(session, 10_000n);
    const api = V1Client.forUrl(world.url, await createApiToken(session));
    await createServerAndGroup(world, api);
  });
  after(async () => {
    await chromium?.close();
    await world?.close();
  });

  it('a visitor signs up, orders with an empty balance, tops up, returns, and has a server', async () => {
    const ada = await Walker.at(world, chromium, '/');
    await ada.follow('Sign up');
    const email = `ada-${crypto.randomUUID()}@example.org`;
    await ada.press(/^Sign up$/, { email, password: PASSWORD, password_confirm: PASSWORD });
    await ada.follow('I’ve saved it, continue');
    await ada.expect(/Deploy a server .* short by ?\$[\d.]+/);
    const debian = ada.page.locator('option', { hasText: 'Debian 13' });
    const image = (await debian.getAttribute('value')) ?? '';
    const name = await ada.page.locator('main [name=name]').inputValue();
    await ada.press(/^Top up \$/, { image, key_text: publicKey(1, 'ada') });
    await ada.expect(/We keep your order of \S+ \(s1\) until/);
    await ada.press(/^Continue to payment$/, { coin: 'LTC' });
    const { clicks, fields } = ada;
    await ada.press(/^Pay this top-up$/);
    await ada.watch();
    await ada.expect(/0 of 2 confirmations/);
    await ada.press(/^Mine 2 blocks$/);
    await ada.watch();
    await ada.expect(/was credited to your balance/);
    // With real coins, a wallet and the network do this.
    assert.equal(ada.clicks - clicks, 2);
    Object.assign(ada, { clicks, fields });
    await ada.follow(`Continue your order of ${name}`);
    assert.equal(await ada.page.locator('main [name=image]').inputValue(), image);
    assert.equal(await ada.page.locator('main [name=name]').inputValue(), name);
    assert.equal(await ada.page.locator('main [name=key_text]').inputValue(), publicKey(1, 'ada'));
    await ada.press(/^Deploy server$/);
    await ada.watch();
    await ada.expect(new RegExp(`${name} .*running`, 'i'));
    requireDocumented('Sign-up to running server', ada);
  });

  it('a customer tops up', async () => {
    const ada = await Walker.at(world, chromium, '/servers', cookie);
    await ada.follow('Billing');
    await ada.follow('Top up');
    await ada.press(/^Continue to payment$/, { coin: 'LTC', amount: '100' });
    await ada.expect(/Send exactly this amount of LTC/);
    requireDocumented('Top-up', ada);
  });

  it('a customer allows SSH in a firewall group', async () => {
    const ada = await Walker.at(world, chromium, '/servers', cookie);
    await ada.follow('Firewall');
    await ada.follow('office');
    await ada.press(/^SSH$/);
    await ada.press(/^Save rules$/);
    await ada.expect(/2 rules/);
    requireDocumented('Firewall change', ada);
  });

  it('a customer boots the rescue system', async () => {
    const ada = await Walker.at(world, chromium, '/servers', cookie);
    await ada.follow('web-1');
    await ada.follow('Rebuild and rescue');
    await ada.press(/^Boot rescue system$/);
    await ada.expect(/Booting the rescue system .*Password/);
    requireDocumented('Rescue system', ada);
  });
});

async function createServerAndGroup(world: World, api: V1Client): Promise<void> {
  const images = expectSuccess(await api.get('/images?family=alpine')).data;
  const key = expectSuccess(await api.post('/ssh-keys', { name: 'laptop', public_key: publicKey(1, 'a') }));
  const order = { name: 'web-1', plan: 's1', region: 'par', image: images[0].id, ssh_keys: [key.id] };
  expectSuccess(await api.post('/servers', order));
  expectSuccess(await api.post('/firewall/groups', { name: 'office', default_action: 'drop' }));
  await world.settle();
}
