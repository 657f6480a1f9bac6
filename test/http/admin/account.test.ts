import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { type Chromium, NO_CHROMIUM, openChromium, pageErrors } from '../../support/chromium.ts';
import { freePort } from '../../support/free-port.ts';
import { textOf } from '../../support/panel-client.ts';
import { totpAt } from '../../support/totp.ts';
import { plugInAuthenticator } from '../../support/virtual-authenticator.ts';
import { fill, PASSWORD, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

const NEW_PASSWORD = 'another correct horse battery';

describe('the account of a person of the staff', () => {
  let world: StaffWorld;
  let ann: Person;

  before(async () => {
    const port = String(await freePort());
    world = await startStaffWorld({ SKERRY_ADMIN_PORT: port, SKERRY_ADMIN_HOST: 'localhost' });
    ann = await world.person('support', 'ann@host.example');
  });
  after(() => world.close());

  /** A code works once: the test forgets that it was used. */
  async function code(): Promise<string> {
    await world.opened.service.db.run('update staff set totp_last_step = 0 where email = $1', [ann.email]);
    return totpAt(ann.secret);
  }

  async function signIn(password: string) {
    const browser = world.stranger();
    const form = { email: ann.email, password, code: await code() };
    return { browser, answer: await fill(browser, '/sign-in', 'sign_in', form) };
  }

  it('changes the password with the current one and a code, and ends the other sessions', async () => {
    const { browser } = await signIn(PASSWORD);
    const both = { password: NEW_PASSWORD, password_confirm: NEW_PASSWORD };
    for (const [typed, text] of [
      [{ ...both, current_password: 'wrong', code: await code() }, /current password is incorrect/],
      [{ ...both, current_password: PASSWORD, code: '000000' }, /one-time code is incorrect/],
      [{ ...both, password_confirm: 'x', current_password: PASSWORD, code: await code() }, /password/],
    ] as const) {
      const refused = await fill(browser, '/account', 'password', typed);
      assert.match(textOf(refused.text), text);
    }
    const done = await fill(browser, '/account', 'password', {
      ...{ ...both, current_password: PASSWORD, code: await code() },
    });
    assert.equal(done.location, '/account?done=password_changed', textOf(done.text));
    assert.equal((await browser.get('/account')).status, 200);
    assert.equal((await ann.browser.get('/account')).status, 303, 'the other session ended');
    assert.equal((await signIn(PASSWORD)).answer.status, 401);
    assert.equal((await signIn(NEW_PASSWORD)).answer.location, '/');
    const { body } = await world.api(ann.token, 'GET', '/staff_log?operation=staff_account.change_password');
    const results = (body.data as { result: string }[]).map(({ result }) => result);
    assert.equal(results[0], 'ok');
    assert.ok(!JSON.stringify(body).includes(NEW_PASSWORD));
  });

  describe('in a browser', { skip: NO_CHROMIUM }, () => {
    let chromium: Chromium;
    let page: Page;
    before(async () => {
      chromium = await openChromium();
      page = await chromium.page();
    });
    after(async () => {
      await page?.close();
      await chromium?.close();
    });

    const press = async (name: string) => {
      const left = page.waitForNavigation({ waitUntil: 'load' });
      await Promise.all([left, page.getByRole('button', { name, exact: true }).first().click()]);
    };

    it('adds a passkey with a code, signs in with it alone, and removes it', async () => {
      await plugInAuthenticator(page);
      await page.goto(`${world.console}/sign-in?next=/account`);
      await page.getByLabel('Email').fill(ann.email);
      await page.getByLabel('Password').fill(NEW_PASSWORD);
      await page.getByLabel('One-time code').fill(await code());
      await press('Sign in');
      await page.getByLabel('Name of the passkey').fill('Work laptop');
      await page.locator('#add_passkey-code').fill(await code());
      await press('Add passkey');
      assert.match((await page.textContent('main')) ?? '', /The passkey was added/);
      await press('Sign out');
      await page.goto(`${world.console}/sign-in?next=/account`);
      await press('Sign in with a passkey');
      assert.match((await page.textContent('main')) ?? '', /Work laptop/);
      await press('Remove');
      assert.match((await page.textContent('main')) ?? '', /The passkey no longer works/);
      await press('Sign out');
      await page.goto(`${world.console}/sign-in`);
      await press('Sign in with a passkey');
      assert.match((await page.textContent('main')) ?? '', /passkey/i);
      assert.ok(page.url().endsWith('/sign-in'), 'a removed passkey lets no one in');
      assert.deepEqual(
        pageErrors(page).filter((error) => !/40[013]/.test(error)),
        [],
      );
    });
  });
});
