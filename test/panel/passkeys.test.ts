import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Chromium, NO_CHROMIUM, openChromium, pageErrors } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { PanelClient, textOf } from '../support/panel-client.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { PASSWORD, SessionClient } from '../support/session-client.ts';
import { STEP_MS, totpAt } from '../support/totp.ts';
import { type Authenticator, plugInAuthenticator } from '../support/virtual-authenticator.ts';
import { startWorld, type World } from '../support/world.ts';
import { BrowserUser } from './support/person.ts';
import { signOut, signUp } from './support/user-actions.ts';

const SKIP = FULL_ONLY.skip ? FULL_ONLY : { skip: NO_CHROMIUM };

describe('passkeys in the panel', SKIP, () => {
  let world: World;
  let chromium: Chromium;
  let ada: BrowserUser;
  let email = '';
  let authenticator: Authenticator;
  before(async () => {
    if (SKIP.skip) return;
    const port = await freePort();
    const url = `http://localhost:${port}`;
    world = { ...(await startWorld({ SKERRY_PORT: String(port), SKERRY_BASE_URL: url })), url };
    chromium = await openChromium();
    ada = new BrowserUser(await chromium.page(), world);
    authenticator = await plugInAuthenticator(ada.page);
    email = await signUp(ada);
  });
  after(async () => {
    await ada?.page.close();
    await chromium?.close();
    await world?.close();
  });

  const press = async (name: string) => {
    const left = ada.page.waitForNavigation({ waitUntil: 'load' });
    await Promise.all([left, ada.page.getByRole('button', { name, exact: true }).first().click()]);
  };
  const credentials = async () => {
    const { cdp, authenticatorId } = authenticator;
    return (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
  };

  it('a customer adds a passkey with their password', async () => {
    await ada.open('/account/passkeys');
    const name = ada.page.getByLabel('Name', { exact: true });
    await name.fill('laptop');
    await ada.page.getByLabel('Current password').fill('not the password');
    await ada.page.getByRole('button', { name: 'Add passkey' }).click();
    await ada.expectText('The current password is incorrect.');
    assert.equal((await credentials()).length, 0);
    await ada.page.getByLabel('Current password').fill(PASSWORD);
    await press('Add passkey');
    await ada.expectText('Passkey added. You can sign in with it.');
    await ada.expectText('laptop');
    assert.equal((await credentials()).length, 1);
  });

  it('a customer signs in with a passkey and arrives at the page that they wanted', async () => {
    await signOut(ada);
    await ada.open('/signin?next=%2Fkeys');
    await press('Sign in with a passkey');
    assert.equal(ada.path, '/keys');
  });

  it('a customer confirms a new token and a change of email with a passkey', async () => {
    await ada.open('/account/tokens');
    await ada.page.getByLabel('Name', { exact: true }).fill('ci');
    await press('Use a passkey instead of the password');
    await ada.expectText('Your token');
    await ada.open('/account');
    await ada.page.getByLabel('New email address').fill(`new-${email}`);
    await press('Use a passkey instead of the password');
    await ada.expectText('We emailed a link to the new address.');
  });

  it('a customer with one-time codes signs in with their password and a passkey', async () => {
    const session = SessionClient.forUrl(world.url);
    await session.signIn(email);
    const begun = await session.post('/account-api.php', {
      action: 'enable_totp',
      current_password: PASSWORD,
    });
    const secret = String(begun.body.secret);
    await session.post('/account-api.php', { action: 'enable_totp', code: totpAt(secret) });
    await signOut(ada);
    await ada.open('/signin');
    const typed = { 'Email address': email, Password: PASSWORD };
    await ada.submitForm('sign_in', 'Sign in', typed);
    await ada.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await press('Use a passkey instead of the code');
    assert.equal(ada.path, '/servers');
    // A further passkey needs a code.
    await ada.open('/account/passkeys');
    await ada.page.getByLabel('One-time code').fill(totpAt(secret, Date.now() + STEP_MS));
    assert.deepEqual(
      pageErrors(ada.page).filter((error) => !/40\d/.test(error)),
      [],
    );
  });

  it('a removed passkey no longer signs in', async () => {
    await ada.open('/account/passkeys');
    await ada.submitForm('remove', 'Remove laptop', { 'Current password': PASSWORD });
    await ada.expectText('Passkey removed. It no longer signs in.');
    await signOut(ada);
    await ada.open('/signin');
    await ada.page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await ada.expectText('The passkey was not accepted.');
    assert.equal(ada.path, '/signin');
  });

  it('without scripts, passkeys are listed and the buttons that need scripts are hidden', async () => {
    await using page = await chromium.page({ javaScriptEnabled: false });
    const eve = new BrowserUser(page, world);
    await eve.open('/signin');
    assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible(), false);
    await signUp(eve);
    await eve.open('/account/passkeys');
    assert.equal(await page.locator('noscript').isVisible(), true);
    assert.equal(await page.getByRole('button', { name: 'Add passkey' }).isVisible(), false);
  });
});

describe('passkeys at an IP address', () => {
  it('the panel offers no passkeys where browsers have none', async () => {
    const world = await startWorld();
    try {
      const session = await world.customer();
      const panel = PanelClient.forUrl(world.url, { cookie: session.cookie });
      const page = await panel.open('/account/passkeys');
      assert.match(textOf(page.text), /Passkeys need a website with a host name and https/);
      assert.doesNotMatch(page.text, /data-passkey=/);
      const signIn = await PanelClient.forUrl(world.url).open('/signin');
      assert.doesNotMatch(signIn.text, /passkey/i);
    } finally {
      await world.close();
    }
  });
});
