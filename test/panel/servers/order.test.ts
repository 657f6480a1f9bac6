/** Ordering in the panel without scripts: pasted keys, shown prices, and the way through a top-up. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
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
    const cheaper = await me.panel.submit(refused, 'deploy');
    assert.match(cheaper.location ?? '', /done=server_ordered/);
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

describe('an order that the balance does not cover', () => {
  it('the order leads to a top-up of the missing amount, sealed and without a password', async () => {
    const me = await buyer(1_000n);
    const page = await me.panel.open(`${NEW}?plan=s2&region=zrh&billing_months=12`);
    const typed = { image: me.image, name: 'web-5', login: 'password', root_password: 'a canary password' };
    const sent = await press(me.panel, page, 'topup', {
      ...typed,
      tags: 'web\nprod',
      user_data: '#!/bin/sh\nid',
    });
    assert.equal(sent.status, 303);
    const url = new URL(sent.location ?? '', world.url);
    assert.deepEqual([url.pathname, url.searchParams.get('amount')], ['/topup', '78.20']);
    assert.doesNotMatch(url.search, /canary|web-5/);
    const order = url.searchParams.get('order') ?? '';
    const back = await me.panel.open(`${NEW}?order=${order}`);
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
    const other = await buyer();
    const foreign = await other.panel.open(`${NEW}?order=${order}`);
    assert.doesNotMatch(foreign.text, /web-5/);
    assert.equal((await me.panel.open(`${NEW}?order=${order.slice(0, -3)}AAA`)).status, 200);
  });

  it('a private key that was pasted by mistake is not kept', async () => {
    const me = await buyer();
    const page = await me.panel.open(NEW);
    const mistake = '-----BEGIN OPENSSH PRIVATE KEY-----\ncanary';
    const sent = await press(me.panel, page, 'topup', { name: 'web-7', key_text: mistake });
    const order = new URL(sent.location ?? '', world.url).searchParams.get('order') ?? '';
    const { text } = await me.panel.open(`${NEW}?order=${order}`);
    assert.match(text, /value="web-7"/);
    assert.doesNotMatch(text, /canary/);
  });

  it('a text that is too long for a URL is left out, and the order says so', async () => {
    const me = await buyer();
    const long = [...Array(1_000).keys()].map((n) => `${n * 7919} ${Math.sin(n)}`).join('\n');
    const page = await me.panel.open(NEW);
    const sent = await press(me.panel, page, 'topup', { name: 'web-6', user_data: long });
    assert.ok((sent.location ?? '').length < 2_000);
    const order = new URL(sent.location ?? '', world.url).searchParams.get('order') ?? '';
    const { text } = await me.panel.open(`${NEW}?order=${order}`);
    assert.match(text, /value="web-6"/);
    assert.match(textOf(text), /Too long to keep during the top-up: user data\. Enter it again\./);
  });
});
