import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CONSOLE_PAGES } from '../../../src/http/admin/console-pages.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import { addFlood } from '../../operator/audited-edits.ts';
import { horizontalOverflow } from '../../panel/support/page-checks.ts';
import { seriousViolations } from '../../support/axe.ts';
import { type Chromium, NO_CHROMIUM, openChromium, pageErrors } from '../../support/chromium.ts';
import { rotate } from '../../support/runs.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

/** The layout differs by width and the contrast by scheme: two pairs have all of both. */
const LOOKS = [
  [1280, 'light'],
  [360, 'dark'],
] as const;
/** All pages take five minutes: each run checks a third of them. */
const ONE_IN = { sample: 3, full: 3, soak: 1 };
/** Where to keep screenshots for the eye; none are kept in the project. */
const PICTURES = process.env.SKERRY_TEST_PICTURES;

describe('a page of the console', { skip: NO_CHROMIUM }, () => {
  let world: StaffWorld;
  let owner: Person;
  let chromium: Chromium;
  let paths: readonly string[];

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
    await world.person('support');
    const customer = await world.customer(80);
    const ordered = await customer.post('/deploy-api.php', {
      ...{ product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 },
      root_password: 'a root password',
    });
    assert.equal(ordered.body.ok, true, JSON.stringify(ordered.body));
    await world.settle();
    const api = V1Client.forUrl(world.url, await createApiToken(customer));
    await api.post('/tickets', { subject: 'No route to web-1', text: 'Since noon.\n\nWhy?' });
    await world.api(owner.token, 'POST', '/canned_answers', { name: 'hello', text: 'Hello,\n\nThank you.' });
    const [{ ipv4 = '', id: server = '' } = {}] = (await world.api(owner.token, 'GET', '/servers')).body
      .data as { ipv4: string; id: string }[];
    await addFlood(world.opened.service, server);
    const spam = { kind: 'spam', address: ipv4, evidence: 'Received: from web-1\n  by mx.example' };
    const time = world.opened.service.clock.now().toISOString();
    const reported = { ...spam, time, reporter: 'abuse@mx.example' };
    const report = await world.api(owner.token, 'POST', '/abuse_reports', reported);
    const log = { name: 'scan', content_base64: Buffer.from('12:00 SYN').toString('base64') };
    await world.api(owner.token, 'POST', `/abuse_reports/${report.body.id}/files`, log);
    const coupon = { coupon_code: 'SPRING', amount_usd: '5', max_uses: 9, reason: 'a test' };
    await world.api(owner.token, 'POST', '/coupons', coupon);
    await world.api(owner.token, 'POST', '/incidents', { title: 'Slow disks', text: 'We look into it.' });
    const announcement = {
      title: 'New disks',
      text: 'Faster ones.\nFrom May.',
      until: new Date(world.opened.clock.now().getTime() + DAY_MS).toISOString(),
    };
    await world.api(owner.token, 'POST', '/announcements', announcement);
    const mailing = { kind: 'service', subject: 'New plans', text: 'Hello,\n\nwe have new plans.' };
    await world.api(owner.token, 'POST', '/mailings', { ...mailing, reason: 'a test' });
    const window = { operation: 'images.delete', minutes: 60, message: 'New disks', reason: 'a test' };
    await world.api(owner.token, 'POST', '/maintenance', window);
    const policy = { operation: 'volumes.create', region: 'par', order: 'Order 17', reason: 'a test' };
    await world.api(owner.token, 'POST', '/policies', policy);
    const order = { kind: 'information_request', authority: 'Court of Paris', reference: 'AZ 17/26' };
    const made = await world.api(owner.token, 'POST', '/legal-orders', {
      ...{ ...order, customer: customer.email, due: '2099-01-31', gag_until: '2099-06-30' },
      note: 'Only the account.',
    });
    const letter = { name: 'order', content_base64: Buffer.from('%PDF-1.7').toString('base64') };
    await world.api(owner.token, 'POST', `/legal-orders/${made.body.id}/documents`, letter);
    const account = `/customers/${customer.email}`;
    await world.api(owner.token, 'POST', `${account}/notes`, { text: 'Asked for more addresses.' });
    await world.api(owner.token, 'POST', `${account}/set_tags`, { tags: ['vip', 'reseller'] });
    await world.api(owner.token, 'POST', '/approval_rules', { operation: 'hosts.drain' });
    const held = await world.api(owner.token, 'POST', '/hosts/par-1/drain');
    assert.equal(held.status, 202, JSON.stringify(held.body));
    const idOf = async (list: string) => {
      const { body } = await world.api(owner.token, 'GET', `/${list}`);
      return (body.data as { id: string }[])[0]?.id ?? assert.fail(list);
    };
    // Work that does not progress, for the pages of operations.
    await world.sandbox('faults', { driver: 'compute', operation: 'power', times: 1_000 });
    const stop = { action: 'shutdown', reason: 'a test' };
    await world.api(owner.token, 'POST', `/servers/${await idOf('servers')}/power`, stop);
    await world.settle();
    paths = await Promise.all(
      CONSOLE_PAGES.filter(({ path }) => path !== '/join').map(async ({ path }) =>
        path.includes('{id}')
          ? path.replace('{id}', encodeURIComponent(await idOf(path.split('/')[1] ?? '')))
          : path,
      ),
    );
    paths = [...paths, '/plans/s1?price_usd=12.50', '/regions/par', '/images/debian-13'];
    chromium = await openChromium();
  });
  after(async () => {
    await chromium?.close();
    await world?.close();
  });

  it('passes axe in light and dark, and fits a narrow phone', async () => {
    const faults: string[] = [];
    for (const path of rotate(paths, ONE_IN)) {
      await using page = await chromium.page();
      const cookie = { name: 'skerry_staff', value: owner.browser.cookie ?? '', url: world.console };
      await page.context().addCookies([cookie]);
      await page.goto(`${world.console}${path}`);
      if (path.endsWith('/view')) {
        await page.locator('details.fold > summary').click();
        await page.getByLabel('Reason').fill('a test');
        await page.getByRole('button', { name: 'View account' }).click();
        await page.getByText('of the API').first().waitFor();
      }
      if (path === '/mailings/new') {
        await page.getByLabel('Kind').selectOption('service');
        await page.getByLabel('Subject').fill('New plans');
        await page.getByLabel('Text').fill('Hello.');
        await page.getByRole('button', { name: 'Show preview' }).click();
        await page.getByRole('button', { name: 'Send mailing' }).waitFor();
      }
      for (const details of await page.locator('details.fold > summary').all()) await details.click();
      for (const [width, colorScheme] of LOOKS) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        const found = await seriousViolations(page);
        faults.push(...found.map((fault) => `${path} ${width} ${colorScheme}: ${fault}`));
        if (PICTURES !== undefined) {
          const file = `${PICTURES}/${path.replace(/\W+/g, '_')}-${width}-${colorScheme}.png`;
          await page.screenshot({ path: file, fullPage: true });
        }
        const over = await horizontalOverflow(page);
        if (over > 0) faults.push(`${path}: ${over} pixels too wide`);
      }
      // The next color scheme aborts a picture that is still loading.
      const errors = pageErrors(page).filter((error) => !/\.png.*ERR_ABORTED/.test(error));
      faults.push(...errors.map((error) => `${path}: ${error}`));
    }
    assert.deepEqual(faults, []);
  });
});
