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

describe('a customer in the panel', { skip: NO_CHROMIUM }, () => {
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

  it('a customer signs up and pays with scripts off', async () => {
    await using page = await chromium.page({ javaScriptEnabled: false });
    const ada = new BrowserUser(page, world);
    await signUp(ada);
    await topUp(ada, '30.00');
    assert.deepEqual(consoleErrors(ada), []);
  });

  for (const javaScriptEnabled of [true, false]) {
    const mode = `with scripts ${javaScriptEnabled ? 'on' : 'off'}`;

    it(`a customer signs up, pays, deploys, and deletes a server ${mode}`, FULL_ONLY, async () => {
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

  describe('with a running server', FULL_ONLY, () => {
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

    it('a customer signs in with a one-time code', async () => {
      await ada.open('/account/totp');
      await ada.submitForm('begin', 'Start setup', { 'Current password': PASSWORD });
      const [secret = ''] = await ada.copyableTexts();
      const code = (atMs: number) => totpAt(secret.replaceAll(' ', ''), atMs);
      await ada.submitForm('confirm', 'Turn on one-time codes', {
        'Code shown in the app': code(Date.now()),
      });
      await ada.expectText('One-time codes are on.');
      await signOut(ada);
      await ada.open('/signin?next=%2Fkeys');
      const typed = { 'Email address': email, Password: PASSWORD };
      await ada.submitForm('sign_in', 'Sign in', typed);
      await ada.expectText(/requires a one-time code|One-time code/);
      await ada.submitForm('sign_in', 'Sign in', { ...typed, 'One-time code': code(Date.now() + STEP_MS) });
      assert.equal(ada.path, '/keys');
    });

    it('a customer sees the console of a server and types there', async () => {
      await ada.open(server);
      await ada.submitForm('console', 'Open console');
      const canvas = ada.page.locator('#screen canvas');
      await canvas.waitFor();
      const before = await captureScreen(ada);
      await canvas.click();
      await ada.page.keyboard.type('hello', { delay: 20 });
      for (let looks = 0; looks < 50; looks += 1) {
        if (!(await captureScreen(ada)).equals(before)) break;
        await world.settle();
      }
      assert.ok(!(await captureScreen(ada)).equals(before), 'the screen shows what was typed');
      await ada.page.getByRole('link').first().click();
      await ada.page.waitForURL(`**${server}`);
    });

    it('a customer shuts down, powers on, and restarts a server', async () => {
      await ada.open(server);
      await ada.submitForm('stop', 'Shut down server');
      await ada.reloadUntil(/stopped\s+(?:Bucharest|Paris|Reykjavik|Zurich)/i);
      await ada.submitForm('start', 'Power on');
      await ada.reloadUntil(STATUS_RUNNING);
      await ada.submitForm('reboot', 'Restart server');
      await ada.expectText('The server is restarting.');
      await world.settle();
    });

    it('a customer rebuilds a server and boots its rescue system', async () => {
      await ada.open(`${server}/rebuild`);
      await ada.submitForm('rebuild', 'Rebuild server');
      await ada.reloadUntil(STATUS_RUNNING);
      await ada.open(`${server}/rebuild`);
      await ada.submitForm('rescue', 'Boot rescue system');
      await ada.expectText('shown once');
      assert.ok((await ada.copyableTexts()).some((text) => text.length >= 12));
      await world.settle();
    });

    it('a customer sets reverse DNS', async () => {
      await ada.open(`${server}/network`);
      await ada.submitForm('names', 'Save host names', { 'Host name for 198': 'web.example.org' });
      await ada.expectText('Saved.');
      await ada.open(server);
      await ada.expectText('web.example.org');
    });

    it('a customer attaches a volume, creates a snapshot, and restores it', async () => {
      await ada.open('/volumes');
      await ada.submitForm('create', 'Create volume', {
        Name: 'data',
        'Size (GiB)': '20',
        Region: 'Paris',
      });
      await ada.expectText('Volume created.');
      await ada.open(`${server}/storage`);
      await ada.submitForm('attach', 'Attach volume');
      await ada.expectText('The volume is being attached');
      await ada.reloadUntil(/\/dev\/vdb/);
      await ada.submitForm('snapshot', 'Create snapshot', { Name: 'before' });
      await ada.reloadUntil(/Overwrite disk/);
      await ada.submitForm('restore', 'Overwrite disk', {
        Snapshot: 'before',
        'Enter web-2 to confirm': 'web-2',
      });
      await ada.reloadUntil(STATUS_RUNNING);
    });

    it('a customer creates firewall rules, reorders them, and applies them', async () => {
      await ada.open('/firewall');
      await ada.submitForm('create', 'Create firewall group', { Name: 'web' });
      await ada.expectText('Firewall group created.');
      const group = ada.path;
      await ada.submitForm('rules', 'SSH');
      await ada.submitForm('rules', 'HTTP and HTTPS');
      await ada.expectText('Not saved yet.');
      await ada.submitForm('rules', 'Row 3: move up');
      await ada.submitForm('rules', 'Save rules');
      await ada.expectText('Rules saved.');
      const boxes = await ada.page.getByLabel('Port range').all();
      const ports = await Promise.all(boxes.slice(0, 4).map((box) => box.inputValue()));
      assert.deepEqual(ports, ['22', '80,443', '22', '80,443']);
      await ada.submitForm('rules', 'Check packet', {
        'Remote IP address': '203.0.113.7',
        'Destination port': '443',
      });
      await ada.expectText('Yes, it passes.');
      await ada.open(`${group}/settings`);
      await ada.submitForm('apply', 'Save selection', { 'web-2': true });
      await ada.expectText('Saved.');
    });

    it('a customer adds and deletes an SSH key', async () => {
      await addKey(ada, 'phone', 9);
      await ada.followLink('phone');
      await ada.submitForm('delete', 'Delete SSH key');
      await ada.expectText('SSH key deleted.');
    });

    it('a customer uploads an image', async () => {
      await ada.open('/images');
      await ada.page
        .getByLabel('File')
        .setInputFiles({ name: 'a.iso', mimeType: 'application/octet-stream', buffer: isoFile() });
      await ada.submitForm('upload', 'Upload image', { Name: 'tools' });
      await ada.expectText('Image uploaded.');
    });

    it('a customer creates a webhook, tests it, and resends a failed event', async () => {
      await ada.open('/webhooks');
      await ada.submitForm('create', 'Create webhook', {
        URL: 'https://nowhere.invalid/hook',
        'server.running': true,
      });
      await ada.expectText(/whsec_/);
      await ada.open('/webhooks');
      await ada.followLink('https://nowhere.invalid/hook');
      await ada.submitForm('ping', 'Send test event');
      await ada.expectText('Test event queued.');
      await ada.reloadUntil(/Send again/);
      await ada.submitForm('replay', 'Send again: ping');
      await ada.expectText('The event will be sent again.');
    });

    it('a customer creates a token that a program uses', async () => {
      await ada.open('/account/tokens');
      await ada.submitForm('create', 'Create token', {
        Name: 'program',
        read: true,
        'Current password': PASSWORD,
      });
      const [token = ''] = (await ada.copyableTexts()).filter((text) => text.includes('_live_'));
      const response = await fetch(`${world.url}/v1/servers`, {
        headers: { authorization: `Bearer ${token}` },
      });
      assert.equal(response.status, 200);
    });

    it('a customer finds their actions in the audit log', async () => {
      await ada.open('/account/audit');
      await ada.page.getByLabel('Action').selectOption('token.create');
      await ada.page.getByRole('button', { name: 'Apply' }).click();
      await ada.page.waitForLoadState();
      assert.match((await ada.page.getByRole('table').textContent()) ?? '', /token\.create/);
    });

    it('a customer prints a receipt', async () => {
      await ada.open('/billing');
      await ada.followLink('$250.00 in LTC');
      await ada.followLink('View receipt');
      await ada.expectText(/\$250\.00/);
      const pdf = await ada.page.pdf();
      assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    });

    it('a customer deletes the server and the account', async () => {
      await destroyServer(ada, 'web-2');
      await ada.open('/account/delete');
      await ada.submitForm('delete', 'Delete account', {
        [`Enter ${email} to confirm`]: email,
        'Current password': PASSWORD,
      });
      await ada.expectText(/Account deleted|Your account is being deleted/);
      assert.deepEqual(consoleErrors(ada), []);
    });
  });
});
