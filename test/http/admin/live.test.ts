import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { type Chromium, NO_CHROMIUM, openChromium, pageErrors } from '../../support/chromium.ts';
import { type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

describe('a page of the console that is left open', () => {
  let world: StaffWorld;
  let owner: Person;

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
  });
  after(() => world.close());

  it('does not keep the session', async () => {
    const { service } = world.opened;
    const seen = async () => {
      const row = await service.db.row<{ seen_at: Date }>('select seen_at from staff_sessions');
      return row?.seen_at.getTime();
    };
    const atFirst = await seen();
    await world.advance(120);
    const cookie = `skerry_staff=${owner.browser.cookie}`;
    await fetch(`${world.console}/hosts`, { headers: { cookie, 'sec-fetch-dest': 'empty' } });
    assert.equal(await seen(), atFirst);
    await fetch(`${world.console}/hosts`, { headers: { cookie, 'sec-fetch-dest': 'document' } });
    assert.notEqual(await seen(), atFirst);
  });

  describe('in a browser', { skip: NO_CHROMIUM }, () => {
    let chromium: Chromium;
    let page: Page;
    before(async () => {
      chromium = await openChromium();
      page = await chromium.page();
      const cookie = { name: 'skerry_staff', value: owner.browser.cookie ?? '', url: world.console };
      await page.context().addCookies([cookie]);
    });
    after(async () => {
      await page?.close();
      await chromium?.close();
    });

    it('shows what changed, and keeps what someone types', async () => {
      const { body } = await world.api(owner.token, 'GET', '/hosts');
      const [host] = body.data as { id: string }[];
      await page.goto(`${world.console}/approval_rules`);
      await page.locator('details.fold > summary').first().click();
      await page.getByLabel('Only above this amount').fill('12.50');
      const rule = { operation: 'hosts.drain' };
      await world.api(owner.token, 'POST', '/approval_rules', rule);
      await page.getByRole('link', { name: 'hosts.drain' }).waitFor();
      assert.equal(await page.getByLabel('Only above this amount').inputValue(), '12.50');
      await world.api(owner.token, 'DELETE', '/approval_rules/hosts.drain');
      await page.goto(`${world.console}/hosts/${host?.id}`);
      await world.api(owner.token, 'POST', `/hosts/${host?.id}/drain`);
      await page.locator('header .state', { hasText: /drained/i }).waitFor();
      assert.deepEqual(pageErrors(page), []);
    });
  });
});
