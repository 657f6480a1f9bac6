import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Chromium, NO_CHROMIUM, openChromium } from '../support/chromium.ts';
import { isoFile } from '../support/iso.ts';
import { IN_FULL } from '../support/runs.ts';
import { PASSWORD } from '../support/session-client.ts';
import { codeAt, STEP_MS } from '../support/totp.ts';
import { startWorld, type World } from '../support/world.ts';
import {
  addsKey,
  deploys,
  destroys,
  drawn,
  faultsOf,
  RUNS,
  signsOut,
  signsUp,
  topsUp,
} from './support/deeds.ts';
import { Person } from './support/person.ts';

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
    const ada = new Person(page, world);
    await signsUp(ada);
    await topsUp(ada, '30.00');
    assert.deepEqual(faultsOf(ada), []);
  });

  for (const javaScriptEnabled of [true, false]) {
    const how = `with scripts ${javaScriptEnabled ? 'on' : 'off'}`;

    it(`is to sign up, pay, deploy and destroy, ${how}`, IN_FULL, async () => {
      await using page = await chromium.page({ javaScriptEnabled });
      const ada = new Person(page, world);
      await signsUp(ada);
      await addsKey(ada);
      await topsUp(ada, '100.00');
      await deploys(ada, 'web-1');
      await destroys(ada, 'web-1');
      assert.deepEqual(faultsOf(ada), []);
    });
  }

  describe('after that', IN_FULL, () => {
    let ada: Person;
    let email = '';
    let server = '';
    before(async () => {
      if (IN_FULL.skip) return;
      ada = new Person(await chromium.page(), world);
      email = await signsUp(ada);
      await addsKey(ada);
      await topsUp(ada, '250.00');
      server = await deploys(ada, 'web-2');
    });
    after(() => ada?.page.close());

    it('he signs in with a one-time code', async () => {
      await ada.go('/account/totp');
      await ada.send('begin', 'Begin', { 'Your password': PASSWORD });
      const [secret = ''] = await ada.copies();
      const code = (atMs: number) => codeAt(secret.replaceAll(' ', ''), atMs);
      await ada.send('confirm', 'Switch one-time codes on', {
        'The code that it shows now': code(Date.now()),
      });
      await ada.sees('One-time codes are on.');
      await signsOut(ada);
      await ada.go('/signin?next=%2Fkeys');
      const typed = { 'E-mail address': email, Password: PASSWORD };
      await ada.send('sign_in', 'Sign in', typed);
      await ada.sees(/asks for a one-time code|One-time code/);
      await ada.send('sign_in', 'Sign in', { ...typed, 'One-time code': code(Date.now() + STEP_MS) });
      assert.equal(ada.path, '/keys');
    });

    it('he sees the screen of his server, and types there', async () => {
      await ada.go(server);
      await ada.send('console', 'Open the console');
      const canvas = ada.page.locator('#screen canvas');
      await canvas.waitFor();
      const before = await drawn(ada);
      await canvas.click();
      await ada.page.keyboard.type('hello', { delay: 20 });
      for (let looks = 0; looks < 50 && (await drawn(ada)).equals(before); looks += 1) await world.settle();
      assert.ok(!(await drawn(ada)).equals(before), 'the screen shows what was typed');
      await ada.page.getByRole('link').first().click();
      await ada.page.waitForURL(`**${server}`);
    });

    it('he stops, starts and reboots it', async () => {
      await ada.go(server);
      await ada.send('stop', 'Stop');
      await ada.waitsFor(/Status\s*stopped/);
      await ada.send('start', 'Start');
      await ada.waitsFor(RUNS);
      await ada.send('reboot', 'Reboot');
      await ada.sees('The server is being rebooted.');
      await world.settle();
    });

    it('he installs it anew, and boots its rescue system', async () => {
      await ada.go(`${server}/rebuild`);
      await ada.send('rebuild', 'Rebuild the server');
      await ada.waitsFor(RUNS);
      await ada.go(`${server}/rebuild`);
      await ada.send('rescue', 'Boot the rescue system');
      await ada.sees('shown once');
      assert.ok((await ada.copies()).some((text) => text.length >= 12));
      await world.settle();
    });

    it('he names its addresses', async () => {
      await ada.go(`${server}/network`);
      await ada.send('names', 'Save the names', { 'Name of 198': 'web.example.org' });
      await ada.sees('Saved.');
      await ada.go(server);
      await ada.sees('web.example.org');
    });

    it('he gives it a volume, takes a snapshot and goes back to it', async () => {
      await ada.go('/volumes');
      await ada.send('create', 'Create the volume', { Name: 'data', 'Size in GiB': '20', Region: 'Paris' });
      await ada.sees('The volume is created.');
      await ada.go(`${server}/storage`);
      await ada.send('attach', 'Attach');
      await ada.sees('The volume is being attached');
      await ada.waitsFor(/\/dev\/vdb/);
      await ada.send('snapshot', 'Make a snapshot', { Name: 'before' });
      await ada.waitsFor(/Overwrite the disk/);
      await ada.send('restore', 'Overwrite the disk', { Snapshot: 'before', 'Type its name': 'web-2' });
      await ada.waitsFor(RUNS);
    });

    it('he writes rules of a firewall, puts them in another order and applies them', async () => {
      await ada.go('/firewall');
      await ada.send('create', 'Create the group', { Name: 'web' });
      await ada.sees('The group is created.');
      const group = ada.path;
      for (const [port, note] of [
        ['80', 'first'],
        ['443', 'second'],
      ] as const) {
        await ada.send('add', 'Add the rule', { Ports: port, Peer: '0.0.0.0/0', Note: note });
        await ada.sees('The rule is added at the end.');
      }
      await ada.go(`${group}/rules`);
      await ada.send('rules', 'Row 2: up');
      await ada.send('rules', 'Save the rules');
      await ada.sees('The rules are saved.');
      const table = await ada.page.getByRole('table').first().textContent();
      assert.match(table ?? '', /second[\s\S]*first/);
      await ada.send('apply', 'Save the servers', { 'web-2': true });
      await ada.sees('Saved.');
    });

    it('he adds a key and deletes it', async () => {
      await addsKey(ada, 'phone', 9);
      await ada.follow('phone');
      await ada.send('delete', 'Delete the key');
      await ada.sees('The key is deleted.');
    });

    it('he uploads an image of his own', async () => {
      await ada.go('/images');
      await ada.page
        .getByLabel('File')
        .setInputFiles({ name: 'a.iso', mimeType: 'application/octet-stream', buffer: isoFile() });
      await ada.send('upload', 'Upload the image', { Name: 'tools' });
      await ada.sees('The image is uploaded.');
    });

    it('he makes a webhook, tries it, and sends again what failed', async () => {
      await ada.go('/webhooks');
      await ada.send('create', 'Create the webhook', {
        URL: 'https://nowhere.invalid/hook',
        'server.running': true,
      });
      await ada.sees(/whsec_/);
      await ada.go('/webhooks');
      await ada.follow('https://nowhere.invalid/hook');
      await ada.send('ping', 'Send a ping');
      await ada.sees('A ping is on its way');
      await ada.waitsFor(/failed/);
      await ada.send('replay', 'Send again: ping');
      await ada.sees('The event is sent again');
    });

    it('he makes a token, and a program uses it', async () => {
      await ada.go('/account/tokens');
      await ada.send('create', 'Make the token', { Name: 'program', read: true, 'Your password': PASSWORD });
      const [token = ''] = (await ada.copies()).filter((text) => text.includes('_live_'));
      const answer = await fetch(`${world.url}/v1/servers`, {
        headers: { authorization: `Bearer ${token}` },
      });
      assert.equal(answer.status, 200);
    });

    it('he finds in the log what he did', async () => {
      await ada.go('/account/audit');
      await ada.page.getByLabel('Action').selectOption('token.create');
      await ada.page.getByRole('button', { name: 'Show' }).click();
      await ada.page.waitForLoadState();
      assert.match((await ada.page.getByRole('table').textContent()) ?? '', /token\.create/);
    });

    it('he prints a receipt', async () => {
      await ada.go('/billing');
      await ada.follow('$250.00 in LTC');
      await ada.follow('Receipt');
      await ada.sees(/\$250\.00/);
      const pdf = await ada.page.pdf();
      assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    });

    it('he destroys the server, and deletes his account', async () => {
      await destroys(ada, 'web-2');
      await ada.go('/account/delete');
      await ada.send('delete', 'Delete the account', {
        'Type the address': email,
        'Your password': PASSWORD,
      });
      await ada.sees(/Your account is (being )?deleted/);
      assert.deepEqual(faultsOf(ada), []);
    });
  });
});
