/** Ordering in the panel without scripts: pasted keys, shown prices, and the way through a top-up. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../../src/spec/limits.ts';
import { PanelClient, type PanelResponse, problemOf, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { publicKey } from '../support/estate.ts';

const NEW = '/servers/new';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.close());

interface Buyer {
  readonly session: SessionClient;
  readonly panel: PanelClient;
  readonly image: string;
}

async function buyer(cents = 0n): Promise<Buyer> {
  const session = await world.customer();
  if (cents > 0n) await world.addBalance(session, cents);
  const panel = PanelClient.forUrl(world.url, { cookie: session.cookie });
  const image = /<option value="(img_\w+)">Debian 13/.exec((await panel.open(NEW)).text)?.[1] ?? '';
  return { session, panel, image };
}

/** Presses another button of the order form. */
async function press(panel: PanelClient, page: PanelResponse, button: string, typed: Record<string, string>) {
  const action = `${NEW}/${button}`;
  assert.ok(page.text.includes(`formaction="${action}"`), `no button leads to ${action}`);
  return await panel.submit(page, 'deploy', typed, { action });
}

async function serversOf({ session }: Buyer): Promise<readonly Record<string, unknown>[]> {
  return await world.opened.db.rows(
    `select s.name, s.plan_id, s.ssh_public_keys from servers s
       join customers c on c.id = s.customer_id where c.email = $1 order by s.created_at`,
    [session.email],
  );
}

async function keysOf({ panel }: Buyer): Promise<readonly string[]> {
  const { text } = await panel.open('/keys');
  return [...text.matchAll(/href="\/keys\/k_\w+">([^<]+)</g)].map(([, name = '']) => name);
}

describe('a pasted public key', () => {
  it('a customer without keys pastes one, which is saved under a name and installed', async () => {
    const me = await buyer(3_000n);
    const page = await me.panel.open(NEW);
    assert.match(page.text, /<textarea[^>]* name="key_text"/);
    const typed = { image: me.image, name: 'web-1', key_text: ` ${publicKey(3, 'ada')}\r\n` };
    const clicks = await Promise.all([1, 2].map(() => me.panel.submit(page, 'deploy', typed)));
    for (const { location } of clicks)
      assert.match(location ?? '', /^\/servers\/srv_\w+\?done=server_ordered$/);
    const [server, ...others] = await serversOf(me);
    assert.deepEqual([server?.name, server?.ssh_public_keys, others], ['web-1', [publicKey(3, 'ada')], []]);
    assert.deepEqual(await keysOf(me), ['web-1']);
    await world.settle();
    assert.match(textOf((await me.panel.open(clicks[0]?.location ?? '')).text), /running .* web-1/);
  });

  it('a key that the customer has is used instead of a copy', async () => {
    const me = await buyer(3_000n);
    await me.panel.submit(await me.panel.open('/keys'), 'add', {
      name: 'old',
      public_key: publicKey(4, 'ada'),
    });
    const typed = { image: me.image, name: 'web-2', key_text: publicKey(4, 'other comment') };
    const page = await me.panel.open(NEW);
    const [ticked = ''] = /ssh_keys\.k_\w+/.exec(page.text) ?? [];
    const done = await me.panel.submit(page, 'deploy', { ...typed, [ticked]: null });
    assert.match(done.location ?? '', /done=server_ordered/);
    assert.deepEqual(await keysOf(me), ['old']);
    assert.deepEqual((await serversOf(me))[0]?.ssh_public_keys, [publicKey(4, 'ada')]);
  });

  it('a link fills in the choices, but no key, user data, or password of its own', async () => {
    const { panel, image } = await buyer();
    const key = publicKey(66, 'somebody@else');
    const fields = {
      plan: 's2',
      image,
      name: 'linked',
      key_text: key,
      user_data: 'curl evil',
      login: 'password',
    };
    const { text } = await panel.open(`${NEW}?${new URLSearchParams(fields)}`);
    assert.match(text, /value="s2" checked/);
    assert.match(text, /value="linked"/);
    for (const foreign of [key, 'curl evil', 'value="password" checked'])
      assert.ok(!text.includes(foreign), foreign);
  });

  it('an invalid key is an error on its field, together with all others, and nothing is lost', async () => {
    const me = await buyer(3_000n);
    const typed = { image: me.image, name: 'Web 3', key_text: 'ssh-dss AAAA', key_name: 'laptop' };
    const wrong = await me.panel.submit(await me.panel.open(NEW), 'deploy', typed);
    assert.equal(wrong.status, 400);
    assert.match(problemOf(wrong.text, 'key_text') ?? '', /supported public key|\.pub file/);
    assert.ok(problemOf(wrong.text, 'name'));
    assert.match(wrong.text, /ssh-dss AAAA<\/textarea>/);
    assert.match(wrong.text, /name="key_name"[^>]* value="laptop"/);
    const none = await me.panel.submit(wrong, 'deploy', { key_text: '', name: 'web-3' });
    assert.match(problemOf(none.text, 'ssh_keys') ?? '', /at least one SSH key, or paste one/);
    assert.deepEqual([await keysOf(me), await serversOf(me)], [[], []]);
  });

  it('an order that is refused stores no key, and its repetition stores one', async () => {
    const me = await buyer();
    const typed = { image: me.image, name: 'web-4', key_text: publicKey(5, 'ada'), key_name: 'phone' };
    const poor = await me.panel.submit(await me.panel.open(NEW), 'deploy', typed);
    assert.equal(poor.status, 422);
    assert.deepEqual(await keysOf(me), []);
    await world.addBalance(me.session, 3_000n);
    const done = await me.panel.submit(poor, 'deploy');
    assert.match(done.location ?? '', /done=server_ordered/);
    assert.deepEqual(await keysOf(me), ['phone']);
  });
});

describe('the price of an order', () => {
  it('a plan, cycle, or backups selected after the total was shown are not charged unseen', async () => {
    await world.opened.db.run('update plans set backup_percent = 20');
    const me = await buyer(100_000n);
    const base = { image: me.image, name: 'web-1', key_text: publicKey(6, 'ada') };
    for (const later of [{ plan: 's3' }, { billing_months: '12' }, { backups: 'on' }]) {
      const page = await me.panel.open(`${NEW}?plan=s1&region=par`);
      const refused = await me.panel.submit(page, 'deploy', { ...base, ...later });
      assert.equal(refused.status, 409);
      const text = textOf(refused.text);
      const [, price = ''] =
        /Your selection costs (\$[\d.]+), more than the total that was shown\./.exec(text) ?? [];
      assert.ok(text.includes(`Total ${price}`), text);
      assert.deepEqual(await serversOf(me), []);
      if (!('backups' in later)) continue;
      const again = await me.panel.submit(refused, 'deploy');
      assert.match(again.location ?? '', /done=server_ordered/);
    }
    assert.equal((await serversOf(me)).length, 1);
  });

  it('a price that changes between showing and ordering is not charged', async () => {
    const me = await buyer(100_000n);
    const page = await me.panel.open(`${NEW}?plan=s2&region=par`);
    const typed = { image: me.image, name: 'web-1', key_text: publicKey(7, 'ada') };
    const raise = (cents: number) =>
      world.opened.db.run(`update plans set price_cents_month = price_cents_month + $1 where id = 's2'`, [
        cents,
      ]);
    await raise(100);
    const refused = await me.panel.submit(page, 'deploy', typed);
    await raise(-100);
    assert.equal(refused.status, 409);
    assert.deepEqual([await serversOf(me), await keysOf(me)], [[], []]);
    // The form shows the raised price now, and the price is lower again.
    const cheaper = await me.panel.submit(refused, 'deploy');
    assert.equal(cheaper.status, 409);
    assert.match(textOf(cheaper.text), /costs \$14\.70, less than the total that was shown.*Total \$14\.70/);
    assert.deepEqual(await serversOf(me), []);
    const agreed = await me.panel.submit(cheaper, 'deploy');
    assert.match(agreed.location ?? '', /done=server_ordered/);
  });

  it('a form without a total is not charged', async () => {
    const me = await buyer(100_000n);
    const page = await me.panel.open(NEW);
    const text = page.text.replace(/<input[^>]* name="max_price_usd"[^>]*>/, '');
    const typed = { image: me.image, name: 'web-1', key_text: publicKey(8, 'ada') };
    assert.equal((await me.panel.submit({ ...page, text }, 'deploy', typed)).status, 409);
    assert.deepEqual(await serversOf(me), []);
  });
});

/** The links of a page back to kept orders. */
const orderLinks = ({ text }: PanelResponse) =>
  [...text.matchAll(/<a href="([^"]+)" aria-label="Continue your order of[^>]*>Continue your order</g)].map(
    ([, path = '']) => path,
  );

describe('an order that the balance does not cover', () => {
  it('the order is kept sealed and without a password while its customer tops up', async () => {
    const me = await buyer(1_000n);
    const page = await me.panel.open(`${NEW}?plan=s2&region=zrh&billing_months=12`);
    const typed = { image: me.image, name: 'web-5', login: 'password', root_password: 'a canary password' };
    const sent = await press(me.panel, page, 'topup', {
      ...typed,
      tags: 'web\nprod',
      user_data: '#!/bin/sh\nid',
    });
    assert.deepEqual([sent.status, sent.location], [303, '/topup?amount=78.20']);
    const rows = await world.opened.db.rows('select * from order_drafts');
    assert.doesNotMatch(JSON.stringify(rows), /canary|web-5/);
    const topup = await me.panel.open(sent.location ?? '');
    const [path = ''] = orderLinks(topup);
    const back = await me.panel.open(path);
    for (const kept of [
      /name="plan" value="s2" checked/,
      /name="region" value="zrh" checked/,
      /name="billing_months" value="12" checked/,
      /name="name"[^>]* value="web-5"/,
      /name="login" value="password" checked/,
      new RegExp(`value="${me.image}" selected`),
      /web\nprod<\/textarea>/,
      /#!\/bin\/sh\nid<\/textarea>/,
    ])
      assert.match(back.text, kept);
    assert.match(textOf(back.text), /Enter the password again/);
    assert.doesNotMatch(back.text, /canary/);
    const other = await buyer();
    assert.doesNotMatch((await other.panel.open(path)).text, /web-5/);
    assert.deepEqual(orderLinks(await other.panel.open('/billing')), []);
    assert.equal((await me.panel.open(`${NEW}?order=ord_x`)).status, 200);
  });

  it('a canceled or expired top-up leaves the order, and so do Billing and the server list', async () => {
    const me = await buyer(100n);
    const page = await me.panel.open(NEW);
    const sent = await press(me.panel, page, 'topup', { image: me.image, name: 'web-8' });
    const form = await me.panel.open(sent.location ?? '');
    const pay = await me.panel.followRedirects(await me.panel.submit(form, 'create', { coin: 'LTC' }));
    const [path = ''] = orderLinks(pay);
    assert.match(path, /^\/servers\/new\?order=ord_\w+$/);
    const canceled = await me.panel.followRedirects(await me.panel.submit(pay, 'cancel'));
    assert.match(textOf(canceled.text), /You canceled this top-up/);
    for (const shown of [canceled, await me.panel.open('/billing'), await me.panel.open('/servers')])
      assert.deepEqual(orderLinks(shown), [path]);
    await world.advance(6 * 86_400);
    await me.session.signIn();
    const panel = PanelClient.forUrl(world.url, { cookie: me.session.cookie });
    assert.deepEqual(orderLinks(await panel.open(canceled.path)), [path]);
    await world.advance(2 * 86_400);
    await me.session.signIn();
    const later = PanelClient.forUrl(world.url, { cookie: me.session.cookie });
    assert.deepEqual(orderLinks(await later.open('/billing')), []);
  });

  it('an order that is placed ends its draft, and another one can be discarded', async () => {
    const me = await buyer(100n);
    for (const name of ['web-9', 'web-10', 'web-11', 'web-12']) {
      const page = await me.panel.open(NEW);
      await press(me.panel, page, 'topup', { image: me.image, name, key_text: publicKey(9, 'ada') });
    }
    const kept = orderLinks(await me.panel.open('/billing'));
    assert.equal(kept.length, LIMITS.orderDraftsMax);
    await world.addBalance(me.session, 3_000n);
    const newest = await me.panel.open(kept[0] ?? '');
    assert.match(newest.text, /name="name"[^>]* value="web-12"/);
    const total = await press(me.panel, newest, 'total', {});
    const done = await me.panel.submit(total, 'deploy', {}, { action: NEW });
    assert.match(done.location ?? '', /done=server_ordered/);
    assert.deepEqual(orderLinks(await me.panel.open('/billing')), kept.slice(1));
    await me.panel.submit(
      await me.panel.open(kept[1] ?? ''),
      'discard',
      {},
      { key: kept[1]?.slice(-30) ?? '' },
    );
    assert.deepEqual(orderLinks(await me.panel.open('/billing')), kept.slice(2));
  });

  it('a private key that was pasted by mistake is not kept', async () => {
    const me = await buyer();
    const page = await me.panel.open(NEW);
    const mistake = '-----BEGIN OPENSSH PRIVATE KEY-----\ncanary';
    await press(me.panel, page, 'topup', { name: 'web-7', key_text: mistake });
    const [path = ''] = orderLinks(await me.panel.open('/billing'));
    const { text } = await me.panel.open(path);
    assert.match(text, /value="web-7"/);
    assert.doesNotMatch(text, /canary/);
  });

  it('user data of any accepted length is kept', async () => {
    const me = await buyer();
    const long = [...Array(8_000).keys()].join('\n');
    const page = await me.panel.open(NEW);
    await press(me.panel, page, 'topup', { name: 'web-6', user_data: `#!/bin/sh\n${long}` });
    const [path = ''] = orderLinks(await me.panel.open('/billing'));
    const back = await me.panel.open(path);
    const again = await press(me.panel, back, 'topup', {});
    assert.equal(again.status, 303);
    assert.deepEqual(orderLinks(await me.panel.open('/billing')), [path]);
    const { text } = await me.panel.open(path);
    assert.ok(text.includes(`${long}</textarea>`), 'the user data is kept');
  });
});
