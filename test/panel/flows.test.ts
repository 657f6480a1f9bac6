import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Chromium, NO_CHROMIUM, openChromium } from '../support/chromium.ts';
import { isoFile } from '../support/iso.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { PASSWORD } from '../support/session-client.ts';
import { STEP_MS, totpAt } from '../support/totp.ts';
import { startWorld, type World } from '../support/world.ts';
import { BrowserUser } from './support/person.ts';
import {
  addKey,
  captureScreen,
  consoleErrors,
  deployServer,
  destroyServer,
  STATUS_RUNNING,
  signOut,
  signUp,
  topUp,
} from './support/user-actions.ts';

describe('what a customer does in the panel', { skip: NO_CHROMIUM }, () => {
  let world: World;
  let chromium: Chromium;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
    chromium = await openChromium();
  });
  after(async () => {
    await chromium?.close();
    await world?.close();
  });

  it('is to sign up and to pay, with scripts off', async () => {
    await using page = await chromium.page({ javaScriptEnabled: false });
    const ada = new BrowserUser(page, world);
    await signUp(ada);
    await topUp(ada, '30.00');
    assert.deepEqual(consoleErrors(ada), []);
  });

  for (const javaScriptEnabled of [true, false]) {
    const how = `with scripts ${javaScriptEnabled ? 'on' : 'off'}`;

    it(`is to sign up, pay, deploy and destroy, ${how}`, FULL_ONLY, async () => {
      await using page = await chromium.page({ javaScriptEnabled });
      const ada = new BrowserUser(page, world);
      await signUp(ada);
      await addKey(ada);
      await topUp(ada, '100.00');
      await deployServer(ada, 'web-1');
      await destroyServer(ada, 'web-1');
      assert.deepEqual(consoleErrors(ada), []);
    });
  }

  describe('after that', FULL_ONLY, () => {
    let ada: BrowserUser;
    let email = '';
    let server = '';
    before(async () => {
      if (FULL_ONLY.skip) return;
      ada = new BrowserUser(await chromium.page(), world);
      email = await signUp(ada);
      await addKey(ada);
      await topUp(ada, '250.00');
      server = await deployServer(ada, 'web-2');
    });
    after(() => ada?.page.close());

    it('he signs in with a one-time code', async () => {
      await ada.open('/account/totp');
      await ada.submitForm('begin', 'Begin', { 'Your password': PASSWORD });
      const [secret = ''] = await ada.copyableTexts();
      const code = (atMs: number) => totpAt(secret.replaceAll(' ', ''), atMs);
      await ada.submitForm('confirm', 'Switch one-time codes on', {
        'The code that it shows now': code(Date.now()),
      });
      await ada.expectText('One-time codes are on.');
      await signOut(ada);
      await ada.open('/signin?next=%2Fkeys');
      const typed = { 'E-mail address': email, Password: PASSWORD };
      await ada.submitForm('sign_in', 'Sign in', typed);
      await ada.expectText(/asks for a one-time code|One-time code/);
      await ada.submitForm('sign_in', 'Sign in', { ...typed, 'One-time code': code(Date.now() + STEP_MS) });
      assert.equal(ada.path, '/keys');
    });

    it('he sees the screen of his server, and types there', async () => {
      await ada.open(server);
      await ada.submitForm('console', 'Open the console');
      const canvas = ada.page.locator('#screen canvas');
      await canvas.waitFor();
      const before = await captureScreen(ada);
      await canvas.click();
      await ada.page.keyboard.type('hello', { delay: 20 });
      for (let looks = 0; looks < 50 && (await captureScreen(ada)).equals(before); looks += 1)
        await world.settle();
      assert.ok(!(await captureScreen(ada)).equals(before), 'the screen shows what was typed');
      await ada.page.getByRole('link').first().click();
      await ada.page.waitForURL(`**${server}`);
    });

    it('he stops, starts and reboots it', async () => {
      await ada.open(server);
      await ada.submitForm('stop', 'Stop');
      await ada.reloadUntil(/Status\s*stopped/);
      await ada.submitForm('start', 'Start');
      await ada.reloadUntil(STATUS_RUNNING);
      await ada.submitForm('reboot', 'Reboot');
      await ada.expectText('The server is being rebooted.');
      await world.settle();
    });

    it('he installs it anew, and boots its rescue system', async () => {
      await ada.open(`${server}/rebuild`);
      await ada.submitForm('rebuild', 'Rebuild the server');
      await ada.reloadUntil(STATUS_RUNNING);
      await ada.open(`${server}/rebuild`);
      await ada.submitForm('rescue', 'Boot the rescue system');
      await ada.expectText('shown once');
      assert.ok((await ada.copyableTexts()).some((text) => text.length >= 12));
      await world.settle();
    });

    it('he names its addresses', async () => {
      await ada.open(`${server}/network`);
      await ada.submitForm('names', 'Save the names', { 'Name of 198': 'web.example.org' });
      await ada.expectText('Saved.');
      await ada.open(server);
      await ada.expectText('web.example.org');
    });

    it('he gives it a volume, takes a snapshot and goes back to it', async () => {
      await ada.open('/volumes');
      await ada.submitForm('create', 'Create the volume', {
        Name: 'data',
        'Size in GiB': '20',
        Region: 'Paris',
      });
      await ada.expectText('The volume is created.');
      await ada.open(`${server}/storage`);
      await ada.submitForm('attach', 'Attach');
      await ada.expectText('The volume is being attached');
      await ada.reloadUntil(/\/dev\/vdb/);
      await ada.submitForm('snapshot', 'Make a snapshot', { Name: 'before' });
      await ada.reloadUntil(/Overwrite the disk/);
      await ada.submitForm('restore', 'Overwrite the disk', { Snapshot: 'before', 'Type its name': 'web-2' });
      await ada.reloadUntil(STATUS_RUNNING);
    });

    it('he writes rules of a firewall, puts them in another order and applies them', async () => {
      await ada.open('/firewall');
      await ada.submitForm('create', 'Create the group', { Name: 'web' });
      await ada.expectText('The group is created.');
      const group = ada.path;
      for (const [port, note] of [
        ['80', 'first'],
        ['443', 'second'],
      ] as const) {
        await ada.submitForm('add', 'Add the rule', { Ports: port, Peer: '0.0.0.0/0', Note: note });
        await ada.expectText('The rule is added at the end.');
      }
      await ada.open(`${group}/rules`);
      await ada.submitForm('rules', 'Row 2: up');
      await ada.submitForm('rules', 'Save the rules');
      await ada.expectText('The rules are saved.');
      const table = await ada.page.getByRole('table').first().textContent();
      assert.match(table ?? '', /second[\s\S]*first/);
      await ada.submitForm('apply', 'Save the servers', { 'web-2': true });
      await ada.expectText('Saved.');
    });

    it('he adds a key and deletes it', async () => {
      await addKey(ada, 'phone', 9);
      await ada.followLink('phone');
      await ada.submitForm('delete', 'Delete the key');
      await ada.expectText('The key is deleted.');
    });

    it('he uploads an image of his own', async () => {
      await ada.open('/images');
      await ada.page
        .getByLabel('File')
        .setInputFiles({ name: 'a.iso', mimeType: 'application/octet-stream', buffer: isoFile() });
      await ada.submitForm('upload', 'Upload the image', { Name: 'tools' });
      await ada.expectText('The image is uploaded.');
    });

    it('he makes a webhook, tries it, and sends again what failed', async () => {
      await ada.open('/webhooks');
      await ada.submitForm('create', 'Create the webhook', {
        URL: 'https://nowhere.invalid/hook',
        'server.running': true,
      });
      await ada.expectText(/whsec_/);
      await ada.open('/webhooks');
      await ada.followLink('https://nowhere.invalid/hook');
      await ada.submitForm('ping', 'Send a ping');
      await ada.expectText('A ping is on its way');
      await ada.reloadUntil(/failed/);
      await ada.submitForm('replay', 'Send again: ping');
      await ada.expectText('The event is sent again');
    });

    it('he makes a token, and a program uses it', async () => {
      await ada.open('/account/tokens');
      await ada.submitForm('create', 'Make the token', {
        Name: 'program',
        read: true,
        'Your password': PASSWORD,
      });
      const [token = ''] = (await ada.copyableTexts()).filter((text) => text.includes('_live_'));
      const answer = await fetch(`${world.url}/v1/servers`, {
        headers: { authorization: `Bearer ${token}` },
      });
      assert.equal(answer.status, 200);
    });

    it('he finds in the log what he did', async () => {
      await ada.open('/account/audit');
      await ada.page.getByLabel('Action').selectOption('token.create');
      await ada.page.getByRole('button', { name: 'Show' }).click();
      await ada.page.waitForLoadState();
      assert.match((await ada.page.getByRole('table').textContent()) ?? '', /token\.create/);
    });

    it('he prints a receipt', async () => {
      await ada.open('/billing');
      await ada.followLink('$250.00 in LTC');
      await ada.followLink('Receipt');
      await ada.expectText(/\$250\.00/);
      const pdf = await ada.page.pdf();
      assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    });

    it('he destroys the server, and deletes his account', async () => {
      await destroyServer(ada, 'web-2');
      await ada.open('/account/delete');
      await ada.submitForm('delete', 'Delete the account', {
        'Type the address': email,
        'Your password': PASSWORD,
      });
      await ada.expectText(/Your account is (being )?deleted/);
      assert.deepEqual(consoleErrors(ada), []);
    });
  });
});
