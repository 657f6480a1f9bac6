/** Deploying a server in the panel. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SEALED } from '../../../src/spec/sealed.ts';
import { PanelClient, problemOf, refreshOf, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY me@laptop';
const NEW = '/servers/new';

let world: World;
let customer: SessionClient;
let panel: PanelClient;
/** Returns an image's id by its name in the list. */
let image: (name: string) => string;

before(async () => {
  world = await startWorld();
  customer = await world.customer();
  await world.addBalance(customer, 3_000n);
  panel = PanelClient.forUrl(world.url, { cookie: customer.cookie });
  await panel.submit(await panel.open('/keys'), 'add', { name: 'laptop', public_key: KEY });
  const { text } = await panel.open(NEW);
  image = (name) => new RegExp(`<option value="(img_[^"]+)">${name}`).exec(text)?.[1] ?? '';
});
after(() => world.close());

/** Submits the page's form with one of its other buttons. */
async function press(button: 'total' | 'topup', typed: Record<string, string | null>) {
  const page = await panel.open(`${NEW}?plan=${typed.plan}&billing_months=${typed.billing_months ?? 1}`);
  assert.match(page.text, new RegExp(`<button[^>]* formaction="${NEW}/${button}"`));
  const text = page.text.replace(`action="${NEW}"`, `action="${NEW}/${button}"`);
  return await panel.submit({ ...page, text }, 'deploy', typed);
}

describe('the page that orders a server', () => {
  it('the deploy page preselects the plan and region from its URL and shows total and balance', async () => {
    const page = await panel.open(`${NEW}?plan=s2&region=zrh&billing_months=12`);
    assert.match(page.text, /name="plan" value="s2" checked/);
    assert.match(page.text, /name="region" value="zrh" checked/);
    const text = textOf(page.text);
    assert.match(text, /s2 in Zurich, 12 months Total \$88\.20 \(\$7\.35 per month, 50% off\)/);
    assert.match(text, /Current balance \$30\.00 You’re short by \$58\.20/);
    assert.match(page.text, /formaction="\/servers\/new\/topup" formnovalidate>Top up \$58\.20<\/button>/);
    assert.match(text, /s1 \$3\.68 per month \$44\.10 for 12 months .* In stock: /);
  });

  it('the deploy page offers no deprecated images and preselects the only key', async () => {
    const { text } = await panel.open(NEW);
    assert.match(text, />Debian 12</);
    assert.doesNotMatch(text, />Debian 11</);
    assert.match(text, /name="ssh_keys\.k_[a-z2-7]{26}" checked> <span>laptop</);
  });

  it('showing the total keeps all input and orders nothing', async () => {
    const typed = { plan: 's1', region: 'rkv', billing_months: '3', name: 'web-1', auto_renew: null };
    const response = await press('total', { ...typed, user_data: '#!/bin/sh\n<b>' });
    assert.equal(response.status, 200);
    assert.match(textOf(response.text), /s1 in Reykjavik, 3 months Total \$16\.54 .* Balance after \$13\.46/);
    assert.match(response.text, /name="name"[^>]* value="web-1"/);
    assert.match(response.text, /#!\/bin\/sh\n&#60;b&#62;<\/textarea>/);
    assert.doesNotMatch(response.text, /name="auto_renew" checked/);
    assert.match((await panel.open('/servers')).text, /You have no servers yet/);
  });

  it('the deploy page shows each error on its field and a link to top up', async () => {
    const page = await panel.open(NEW);
    const chosen = { plan: 's1', region: 'par', image: image('Debian 12'), name: 'web-1' };
    const wrong = await panel.submit(page, 'deploy', { ...chosen, name: 'Web 1', labels: 'A=b' });
    assert.equal(wrong.status, 400);
    assert.equal(
      problemOf(wrong.text, 'name'),
      'Use lowercase letters, digits, and dashes, starting with a letter.',
    );
    assert.match(problemOf(wrong.text, 'labels') ?? '', /at most 63 lowercase letters/);
    for (const field of ['plan', 'region', 'image']) {
      const unknown = await panel.submit(page, 'deploy', { ...chosen, [field]: 'never' });
      assert.match(problemOf(unknown.text, field) ?? '', /not found\. .* choose another/, field);
    }
    const elsewhere = await panel.submit(page, 'deploy', { ...chosen, plan: 'r3', region: 'buh' });
    assert.match(problemOf(elsewhere.text, 'plan') ?? '', /not sold in this region/);
    const shown = await panel.open(`${NEW}?plan=s3&billing_months=12`);
    const dear = await panel.submit(shown, 'deploy', { ...chosen, plan: 's3' });
    assert.equal(dear.status, 422);
    assert.match(problemOf(dear.text, 'plan') ?? '', /short by \$146\.70/);
    assert.match(dear.text, />Top up \$146\.70<\/button>/);
    const [first = ''] = /ssh_keys\.k_[a-z2-7]{26}/.exec(page.text) ?? [];
    const keyless = await panel.submit(page, 'deploy', { ...chosen, [first]: null });
    assert.match(problemOf(keyless.text, 'ssh_keys') ?? '', /at least one SSH key/i);
    const hosts = 'update hosts set draining = $1 where region_id = $2';
    await world.opened.db.run(hosts, [true, 'zrh']);
    const long = await panel.submit(page, 'deploy', { ...chosen, user_data: ':'.repeat(64 * 1024 + 1) });
    assert.match(problemOf(long.text, 'user_data') ?? '', /at most 65,536/);
    const soldOut = await panel.submit(page, 'deploy', { ...chosen, region: 'zrh' });
    await world.opened.db.run(hosts, [false, 'zrh']);
    assert.match(problemOf(soldOut.text, 'plan') ?? '', /sold out in this region/);
  });

  it('a repeated click orders one server and leads to its page', async () => {
    const page = await panel.open(NEW);
    const typed = { plan: 's1', region: 'par', image: image('Debian 13'), name: 'web-1', tags: 'web\nprod' };
    // Keep the server installing until its page is checked.
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 1_000 });
    const clicks = await Promise.all(
      [1, 2].map(() =>
        panel.submit(page, 'deploy', { ...typed, labels: 'env=prod', user_data: '#!/bin/sh\r\nid' }),
      ),
    );
    const places = new Set(clicks.map(({ status, location }) => `${status} ${location}`));
    assert.equal(places.size, 1);
    assert.match([...places][0] ?? '', /^303 \/servers\/srv_[a-z2-7]{26}\?done=server_ordered$/);
    const rows = await world.opened.db.rows('select id, name, tags, labels, user_data_sealed from servers');
    assert.equal(rows.length, 1);
    const { id, user_data_sealed: sealed, ...row } = rows[0] as { id: string; user_data_sealed: string };
    assert.deepEqual(row, { name: 'web-1', tags: ['web', 'prod'], labels: { env: 'prod' } });
    // The browser's CRLF line ends must not reach the guest.
    assert.equal(world.opened.service.keys.open(SEALED.userData, id, sealed).toString(), '#!/bin/sh\nid');
    const server = await panel.followRedirects(clicks[0] ?? page);
    assert.match(textOf(server.text), /Your server is paid for .* web-1 .* provisioning|installing/);
    assert.match(refreshOf(server.text) ?? '', /^5; url=\/servers\/srv_[a-z2-7]{26}$/);
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 0 });
    await world.settle();
  });

  it('a server can be deployed with a root password, which is never shown again', async () => {
    const typed = { plan: 's1', region: 'par', image: image('Debian 12'), name: 'pass-1', login: 'password' };
    const submit = async (more: Record<string, string>) =>
      await panel.submit(await panel.open(NEW), 'deploy', { ...typed, ...more });
    const weak = await submit({ root_password: 'short canar' });
    assert.match(problemOf(weak.text, 'root_password') ?? '', /12 or more/);
    assert.doesNotMatch(weak.text, /short canar/);
    const misnamed = await submit({ root_password: 'long canary password', name: 'Pass 1' });
    assert.ok(problemOf(misnamed.text, 'name'));
    assert.match(misnamed.text, /name="login" value="password" checked/);
    assert.match(textOf(misnamed.text), /Enter the password again\. We never send it back\./);
    assert.doesNotMatch(misnamed.text, /canary/);
    const shown = await press('total', { ...typed, root_password: 'long canary password' });
    assert.match(textOf(shown.text), /Enter the password again/);
    assert.doesNotMatch(shown.text, /canary/);
    const done = await submit({ root_password: 'long canary password' });
    assert.match(done.location ?? '', /^\/servers\/srv_/);
    await world.settle();
    const { text } = await panel.followRedirects(done);
    assert.match(textOf(text), /running .* SSH keys None\. Installed with a root password\./);
    assert.doesNotMatch(text, /canary/);
  });

  it('every button of the form keeps a typed password in use', async () => {
    const { text } = await panel.open(NEW);
    const buttons = [...text.matchAll(/<button([^>]*)>(?:Deploy[^<]*)<\/button>/g)];
    assert.deepEqual(
      buttons.map(([, attributes]) => attributes),
      [''],
    );
  });

  it('a name that no server has is filled in and can be used', async () => {
    const nameOn = ({ text }: { text: string }) => /name="name"[^>]* value="([^"]*)"/.exec(text)?.[1] ?? '';
    const names = new Set<string>();
    for (let n = 0; n < 4; n += 1) names.add(nameOn(await panel.open(NEW)));
    assert.ok(names.size > 1);
    for (const name of names) assert.match(name, /^[a-z]+-[a-z]+-\d{1,3}$/);
  });

  it('the deploy page warns that suspended servers are paid first', async () => {
    await world.opened.db.run(
      `update servers set status = 'suspended', suspended_reason = 'balance',
                          paid_until = now() - interval '1 day'
        where name = 'pass-1'`,
    );
    const text = textOf((await panel.open(`${NEW}?plan=s2&billing_months=3`)).text);
    assert.match(text, /Your suspended server needs \$7\.35 to resume\. A top-up pays for that first/);
    await world.opened.db.run(
      `update servers set status = 'running', suspended_reason = null,
                          paid_until = now() + interval '20 days'
        where name = 'pass-1'`,
    );
  });
});
