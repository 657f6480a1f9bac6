import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { freezeCustomer } from '../../../src/domain/customers/operator.ts';
import { endMaintenance, startMaintenance } from '../../../src/domain/rules/maintenance.ts';
import { blockByPolicy, unblockByPolicy } from '../../../src/domain/rules/policies.ts';
import { PanelClient, problemOf, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Wm6aJmQ0pVq0n2v0kq2m4c2m2i9oUeG8m8m0v1B1h me@laptop';

describe('a page of the panel', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
  });
  after(() => world.close());

  async function customer(): Promise<{ session: SessionClient; panel: PanelClient }> {
    const session = await world.customer();
    return { session, panel: PanelClient.forApp(world.app, { cookie: session.cookie }) };
  }

  it('a page redirects visitors to the sign-in and remembers the path', async () => {
    const stranger = PanelClient.forApp(world.app);
    const response = await stranger.get('/keys?name=a%26b');
    assert.equal(response.status, 303);
    assert.equal(response.location, `/signin?next=${encodeURIComponent('/keys?name=a%26b')}`);
    const sent = await stranger.post('/keys', [['_form', 'add']]);
    assert.deepEqual([sent.status, sent.location], [303, '/signin?next=%2Fkeys&done=session_over']);
  });

  it('a page loads only its own assets', async () => {
    const { panel } = await customer();
    const { headers, text } = await panel.get('/keys');
    const policy = headers.get('content-security-policy') ?? '';
    assert.ok(policy.startsWith(`default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'`));
    assert.ok(!/unsafe|https?:|data:/.test(policy));
    assert.ok(!/<style|\sstyle=|\son\w+=|https?:\/\//.test(text));
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('x-frame-options'), 'DENY');
    for (const [, path = ''] of text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)) {
      const asset = await panel.get(path);
      assert.equal(asset.status, 200);
      assert.match(asset.headers.get('cache-control') ?? '', /immutable/);
    }
  });

  it('assets are compressed for browsers that accept it, and pages never are', async () => {
    const { text } = await PanelClient.forApp(world.app).get('/signin');
    const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(text) ?? [];
    const request = (url: string, accepted: string) =>
      world.app.inject({ url, headers: { 'accept-encoding': accepted } });
    const plain = await request(style, 'br;q=0');
    assert.equal(plain.headers['content-encoding'], undefined);
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
    for (const [encoding, decode] of Object.entries(decoders)) {
      const sent = await request(style, `deflate, ${encoding}`);
      assert.equal(sent.headers['content-encoding'], encoding);
      assert.equal(sent.headers.vary, 'accept-encoding');
      assert.equal(String(decode(sent.rawPayload)), plain.body);
      assert.ok(sent.rawPayload.length < plain.rawPayload.length / 3);
    }
    assert.equal((await request('/signin', 'gzip, br')).headers['content-encoding'], undefined);
  });

  it('a rejected form keeps its values and shows the error on the field', async () => {
    const { panel } = await customer();
    const page = await panel.get('/keys');
    const rejected = await panel.submit(page, 'add', { name: '<b>"\'laptop', public_key: 'nonsense' });
    assert.equal(rejected.status, 400);
    assert.match(rejected.text, /value="&#60;b&#62;&#34;&#39;laptop"/);
    assert.match(problemOf(rejected.text, 'public_key') ?? '', /Paste the line of the \.pub file/);
    assert.equal(problemOf(rejected.text, 'name'), null);
    const mended = await panel.submit(rejected, 'add', { public_key: KEY });
    assert.equal(mended.location, '/keys?done=key_added');
    assert.match(textOf((await panel.followRedirects(mended)).text), /SSH key added/);
  });

  it('a repeated form acts once, whether sequential or concurrent', async () => {
    const { panel, session } = await customer();
    const page = await panel.get('/keys');
    const clicks = [1, 2, 3].map(() => panel.submit(page, 'add', { name: 'twice', public_key: KEY }));
    const responses = [
      ...(await Promise.all(clicks)),
      await panel.submit(page, 'add', { name: 'twice', public_key: KEY }),
    ];
    assert.deepEqual(new Set(responses.map(({ location }) => location)), new Set(['/keys?done=key_added']));
    const made = (await world.auditLines(session)).filter((line) => line === 'ssh_key.create ok');
    assert.equal(made.length, 1);
  });

  it('a form from another visitor or another site, or an unknown form, changes nothing', async () => {
    const { panel, session } = await customer();
    const other = await customer();
    const foreign = await other.panel.get('/keys');
    const stolen = await panel.submit(foreign, 'add', { name: 'a', public_key: KEY });
    assert.equal(stolen.status, 403);
    assert.match(stolen.text, /This form expired/);
    // The rejected page has the values and a valid token, so submitting it again works.
    assert.equal((await panel.submit(stolen, 'add')).location, '/keys?done=key_added');
    const page = await panel.get('/keys');
    const unknown = await panel.post('/keys', [
      ['_token', /name="_token" value="(\w+)"/.exec(page.text)?.[1] ?? ''],
      ['_form', 'nothing'],
    ]);
    assert.equal(unknown.status, 400);
    const made = (await world.auditLines(session)).filter((line) => line === 'ssh_key.create ok');
    assert.equal(made.length, 1);
  });

  it('another customer’s resource looks exactly like a missing one', async () => {
    const [mine, other] = [await customer(), await customer()];
    const added = await mine.panel.submit(await mine.panel.get('/keys'), 'add', {
      name: 'mine',
      public_key: KEY,
    });
    const list = await mine.panel.followRedirects(added);
    const path = /href="(\/keys\/k_[^"]+)"/.exec(list.text)?.[1] ?? '';
    assert.equal((await mine.panel.get(path)).status, 200);
    const [foreign, missing] = [await other.panel.get(path), await other.panel.get('/keys/k_nothing')];
    assert.deepEqual([foreign.status, missing.status], [404, 404]);
    const bare = ({ text }: { text: string }) => text.replace(/name="_once" value="[^"]+"/g, '');
    assert.equal(bare(foreign), bare(missing));
  });

  it('a page explains maintenance, legal blocks, and a frozen account', async () => {
    const { panel, session } = await customer();
    const page = await panel.get('/keys');
    await startMaintenance(world.service, { operation: null, minutes: 5, reason: 'new disks' });
    const closed = await panel.submit(page, 'add', { name: 'a', public_key: KEY });
    await endMaintenance(world.service);
    assert.equal(closed.status, 503);
    assert.match(textOf(closed.text), /Closed for maintenance until .* \(new disks\)/);
    const policy = await blockByPolicy(world.service, {
      operation: 'ssh_keys.create',
      country: null,
      region: null,
      order: 'Order 7',
    });
    const blocked = await panel.submit(page, 'add', { name: 'a', public_key: KEY });
    await unblockByPolicy(world.service, policy);
    assert.equal(blocked.status, 451);
    assert.match(textOf(blocked.text), /Order 7/);
    await freezeCustomer(world.service, session.email, true);
    const frozen = await panel.submit(page, 'add', { name: 'a', public_key: KEY });
    assert.equal(frozen.status, 451);
    assert.match(textOf((await panel.get('/keys')).text), /Your account is frozen/);
    assert.deepEqual(
      (await world.auditLines(session)).filter((line) => line.startsWith('ssh_key')),
      ['ssh_key.create error', 'ssh_key.create denied', 'ssh_key.create denied'],
    );
  });

  it('a legal block on a region applies however the region is written', async () => {
    const { panel, session } = await customer();
    const policy = { operation: 'volumes.create', country: null, region: 'par', order: 'Order 9' } as const;
    const id = await blockByPolicy(world.service, policy);
    const page = await panel.get('/volumes');
    const typed = { name: 'data', size_gb: '10' };
    const token = /name="_token" value="(\w+)"/.exec(page.text)?.[1] ?? '';
    for (const region of ['par', 'par ', '\tpar']) {
      const fields = { _token: token, _form: 'create', ...typed, region };
      assert.equal((await panel.post('/volumes', Object.entries(fields))).status, 451, region);
    }
    assert.equal((await panel.submit(page, 'create', { ...typed, region: 'zrh' })).status, 303);
    await unblockByPolicy(world.service, id);
    assert.deepEqual((await world.auditLines(session)).slice(1), [
      ...Array.from({ length: 3 }, () => 'volume.create denied'),
      'volume.create ok',
    ]);
  });

  it('the audit log names the resource that a rejected form would have changed', async () => {
    const { panel } = await customer();
    await panel.submit(await panel.get('/volumes'), 'create', { name: 'data', size_gb: '10', region: 'par' });
    const place = /href="(\/volumes\/vol_[^"]+)"/.exec((await panel.get('/volumes')).text)?.[1] ?? '';
    const page = await panel.get(place);
    const rejected = await panel.submit(page, 'change', { size_gb: '1' });
    assert.equal(rejected.status, 400);
    const log = await panel.get('/account/audit?action=volume.update');
    assert.match(textOf(log.text), new RegExp(place.slice('/volumes/'.length)));
  });

  it('a page shows no notice for an unknown key in its URL', async () => {
    const { panel } = await customer();
    const { text } = await panel.get('/keys?done=<script>&cursor=%00%ff&name=%27');
    assert.ok(!/<script>|role="status"/.test(text));
  });

  it('an unknown path returns a page to browsers and JSON to programs', async () => {
    const { panel } = await customer();
    assert.equal((await panel.get('/nowhere')).status, 404);
    const page = await world.app.inject({ url: '/nowhere', headers: { accept: 'text/html' } });
    assert.match(page.body, /Page not found/);
  });

  it('a page is still HTML when the database is unavailable', async () => {
    const { panel } = await customer();
    world.outage.error = Object.assign(new Error('unreachable'), { code: 'ECONNREFUSED' });
    const headers = { cookie: `PHPSESSID=${panel.cookie}`, accept: 'text/html' };
    const response = await world.app.inject({ url: '/keys', headers });
    world.outage.error = null;
    assert.equal(response.statusCode, 503);
    assert.match(response.body, /^<!doctype html>.*Temporarily unavailable/s);
    assert.ok(!/unreachable|ECONN/.test(response.body));
  });
});
