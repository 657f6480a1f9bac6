/** A customer's servers in the panel: the list, and the pages of one server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { PATTERNS } from '../../../src/spec/patterns.ts';
import { PanelClient, problemOf, refreshOf, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY me@laptop';
const ORDER = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };

let world: World;
let customer: SessionClient;
let panel: PanelClient;
let otherCustomer: PanelClient;
let api: V1Client;
/** The oldest of three servers: its id, its page, and its number in the session API. */
let id: string;
let page: string;
let number: number;
const status = async () => (await api.get(`/servers/${id}`)).body.status as string;

before(async () => {
  world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
  customer = await world.customer();
  await world.addBalance(customer, 10_000n);
  panel = PanelClient.forUrl(world.url, { cookie: customer.cookie });
  otherCustomer = PanelClient.forUrl(world.url, { cookie: (await world.customer()).cookie });
  const made: number[] = [];
  for (const region of ['par', 'par', 'zrh']) {
    const { body } = await customer.post('/deploy-api.php', {
      ...ORDER,
      region,
      root_password: 'a long enough one',
    });
    made.push(Number(body.server_id));
  }
  number = made[0] ?? 0;
  await world.settle();
  api = V1Client.forUrl(world.url, await createApiToken(customer));
  id = /srv_[a-z2-7]{26}/.exec((await panel.get(`/servers/${number}`)).text)?.[0] ?? '';
  page = `/servers/${id}`;
  await panel.submit(await panel.open('/keys'), 'add', { name: 'laptop', public_key: KEY });
});
after(() => world.close());

/** Submits a form of one of the server's pages, and waits until its operation is done. */
async function act(part: string, form: string, typed: Record<string, string> = {}, key?: string) {
  const options = key === undefined ? {} : { key };
  const response = await panel.submit(await panel.open(page + part), form, typed, options);
  await world.settle();
  return response;
}

describe('the list of servers', () => {
  it('an empty server list links to the deploy page', async () => {
    const { text } = await otherCustomer.open('/servers');
    assert.match(text, /You have no servers yet.*<a class="button" href="\/servers\/new">Deploy server/s);
  });

  it('the server list shows details and prices, newest first, with pagination', async () => {
    const first = await panel.open('/servers?size=2');
    const rows = textOf(first.text).match(
      /s1-\w+ running (?:Paris|Zurich) s1 [\d.]+(?: \d{4}-\d\d-\d\d){2} \$7\.35 for 1 month/g,
    );
    assert.equal(rows?.length, 2, textOf(first.text));
    assert.match(rows?.[0] ?? '', /Zurich/);
    const [, next = ''] = /<a href="([^"]+)" rel="next">/.exec(first.text) ?? [];
    const second = await panel.open(next.replaceAll('&#38;', '&'));
    assert.match(second.text, new RegExp(`href="${page}"`));
    assert.match(second.text, /First page/);
    assert.doesNotMatch(second.text, /rel="next"/);
  });

  it('the server list applies the filters in its URL and ignores unknown ones', async () => {
    const zurich = await panel.open('/servers?region=zrh&status=running');
    assert.equal(zurich.text.match(/<tr><th scope="row">/g)?.length, 1);
    assert.match(zurich.text, /<option value="zrh" selected>Zurich/);
    assert.match((await panel.open('/servers?status=stopped')).text, /No matching servers\..*Clear filters/s);
    const odd = await panel.open('/servers?status=flying&size=-1&cursor=x');
    assert.equal(odd.text.match(/<tr><th scope="row">/g)?.length, 3);
  });
});

describe('the number of a server in the session API', () => {
  it('a server’s number opens its page for the owner and redirects visitors to the sign-in', async () => {
    const shown = await panel.get(`/servers/${number}`);
    assert.match(shown.text, /<h1>s1-/);
    assert.equal(textOf(shown.text), textOf((await panel.get(page)).text));
    const console = await panel.submit(shown, 'console');
    assert.match(console.location ?? '', /^\/console\?path=/);
    const visitor = await PanelClient.forUrl(world.url).get(`/servers/${number}`);
    assert.deepEqual([visitor.status, visitor.location], [303, `/signin?next=%2Fservers%2F${number}`]);
  });

  it('another customer’s server is not found on any page, like a missing one', async () => {
    const never = formatId('server', newId(new Date()));
    const text = async (path: string) => {
      const response = await otherCustomer.get(path);
      assert.equal(response.status, 404, path);
      return textOf(response.text);
    };
    assert.equal(await text(`/servers/${number}`), await text('/servers/4711'));
    const views = ['/metrics', '/network', '/storage', '/resize', '/rebuild', '/settings', '/charts/cpu.png'];
    for (const part of ['', ...views]) {
      assert.equal(await text(page + part), await text(`/servers/${never}${part}`), part);
    }
    const own = await panel.open(page);
    const foreign = await otherCustomer.open('/keys');
    const token = /name="_token" value="([^"]+)"/.exec(foreign.text)?.[1] ?? '';
    const fields = Object.entries({ _token: token, _form: 'stop', _once: 'x' });
    assert.equal((await otherCustomer.post(page, fields)).status, 404);
    assert.equal((await panel.open(page)).text.length > 0 && own.status, 200);
    assert.equal(await status(), 'running');
  });
});

describe('the page of a server', () => {
  it('the server page shuts down, powers on, and restarts, and offers only available actions', async () => {
    const pressed = await panel.submit(await panel.open(page), 'stop');
    assert.equal(pressed.location, `${page}?done=server_stopping`);
    await world.advance(5);
    assert.equal(await status(), 'stopped');
    const stopped = await panel.open(page);
    assert.equal(refreshOf(stopped.text), null);
    assert.doesNotMatch(stopped.text, /value="(?:stop|reboot|reset|console)"/);
    await act('', 'start');
    assert.equal(await status(), 'running');
    assert.match((await panel.open(page)).text, /value="reboot"/);
    // A force restart does not wait for the guest.
    assert.equal((await act('', 'reset')).location, `${page}?done=server_rebooting`);
    const { body } = await api.get('/audit/events?action=server.reboot');
    const resources = body.data.map(({ resource }: { readonly resource: string }) => resource);
    assert.equal(resources.filter((resource: string) => resource === id).length, 1);
  });

  it('the server page shows the operation in progress and refreshes until it is done', async () => {
    const operation = `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
      select gen_random_uuid(), id, 'reboot', 'wait_off', now(), now() + interval '1 hour', now() from servers
       where public_no = $1`;
    await world.opened.db.run(operation, [number]);
    const busy = await panel.open(page);
    const text = textOf(busy.text);
    assert.match(text, /s1-\w+ running Paris s1 \$7\.35\/mo/);
    assert.match(text, /Open console .*The server is restarting\. .*The server is restarting\. Wait/);
    assert.equal(refreshOf(busy.text), `5; url=${page}`);
    assert.equal(refreshOf((await panel.open(`${page}?still=1`)).text), null);
    await world.opened.db.run('delete from operations');
  });

  it('each click opens a separate console that accepts input', async () => {
    const before = await panel.open(page);
    const clicks = await Promise.all([1, 2].map(() => panel.submit(before, 'console')));
    const places = clicks.map(({ status: code, location }) => [code, location?.replace(/socket%2F\w+/, '…')]);
    const expected = [303, `/console?path=console%2F…&server=${id}`];
    assert.deepEqual(places, [expected, expected]);
    assert.notEqual(clicks[0]?.location, clicks[1]?.location);
    const opened = await panel.followRedirects(clicks[0] ?? before);
    assert.match(opened.text, new RegExp(`<a href="${page}">back to the server</a>`));
    const [own] = await world.opened.db.rows<{ all: boolean }>(
      'select bool_and(session_id is not null and not read_only) as all from console_tickets',
    );
    assert.ok(own?.all);
  });
});

describe('the other pages of a server', () => {
  it('the rescue system boots and its password is shown once', async () => {
    const shown = await act('/rebuild', 'rescue');
    assert.equal(shown.status, 200);
    const [, password = ''] = /<dt>Password<\/dt><dd><code[^>]*>([^<]+)</.exec(shown.text) ?? [];
    assert.match(password, /^\S{20,}$/);
    assert.ok(!(await panel.open(`${page}/rebuild`)).text.includes(password));
  });

  it('a rebuild installs the chosen keys, and requires keys if the server has none', async () => {
    const keyless = await act('/rebuild', 'rebuild');
    assert.equal(keyless.status, 422);
    assert.match(problemOf(keyless.text, 'ssh_keys') ?? '', /no SSH keys/);
    const form = await panel.open(`${page}/rebuild`);
    const [box = ''] = /ssh_keys\.k_[a-z2-7]{26}/.exec(form.text) ?? [];
    const [, image = ''] = /<option value="(img_[^"]+)">Ubuntu 24\.04/.exec(form.text) ?? [];
    assert.equal(
      (await act('/rebuild', 'rebuild', { image, [box]: 'on' })).location,
      `${page}?done=server_rebuilding`,
    );
    const { body } = await api.get(`/servers/${id}`);
    assert.deepEqual(
      [body.status, body.image, body.ssh_keys],
      ['running', image, [box.slice('ssh_keys.'.length)]],
    );
    assert.match(textOf((await panel.open(page)).text), /Image Ubuntu 24\.04 SSH keys laptop/);
  });

  it('reverse DNS can be set, and an invalid host name is reported on its field', async () => {
    const bad = await act('/network', 'names', { ipv4: 'web.example.org', ipv6: 'no name' });
    assert.equal(problemOf(bad.text, 'ipv6'), `Must be ${PATTERNS.hostName.words}.`);
    await act('/network', 'names', { ipv4: 'web.example.org' });
    const [, prefix = ''] =
      /address in ([0-9a-f:]+)::\/64/.exec((await panel.open(`${page}/network`)).text) ?? [];
    const outside = await act('/network', 'add_name', {
      address: '2001:db8:ffff::1',
      ipv6: 'mail.example.org',
    });
    assert.match(problemOf(outside.text, 'address') ?? '', /not in the \/64/);
    await act('/network', 'add_name', { address: `${prefix}::25`, ipv6: 'mail.example.org' });
    const { ipv4, ipv6 } = (await api.get(`/servers/${id}`)).body;
    assert.deepEqual(
      [ipv4.rdns, ipv6.rdns_records],
      ['web.example.org', { [`${prefix}::25`]: 'mail.example.org' }],
    );
    await act('/network', 'remove_name');
    assert.deepEqual((await api.get(`/servers/${id}`)).body.ipv6.rdns_records, {});
  });

  it('a volume can be attached and detached, and a snapshot created and restored', async () => {
    const volume = (await api.post('/volumes', { name: 'data', size_gb: 10, region: 'par' })).body.id;
    assert.equal((await act('/storage', 'attach')).location, `${page}/storage?done=volume_attached`);
    assert.equal((await api.get(`/volumes/${volume}`)).body.attached_to, id);
    assert.equal(
      (await act('/storage', 'detach', {}, volume)).location,
      `${page}/storage?done=volume_detached`,
    );
    assert.equal((await api.get(`/volumes/${volume}`)).body.attached_to, null);
    await act('/storage', 'snapshot', { name: 'before', expires_at: '2031-01-31T12:00' });
    const [snapshot] = (await api.get(`/snapshots?filter[server]=${id}`)).body.data;
    assert.deepEqual([snapshot.name, snapshot.expires_at], ['before', '2031-01-31T12:00:00Z']);
    const { name } = (await api.get(`/servers/${id}`)).body;
    const slip = await act('/storage', 'restore', { snapshot: snapshot.id, name_typed: `${name}-` });
    assert.match(problemOf(slip.text, 'name_typed', 'restore') ?? '', /Doesn’t match the server name/);
    const restored = await act('/storage', 'restore', { snapshot: snapshot.id, name_typed: name });
    assert.equal(restored.location, `${page}?done=restore_begun`);
  });

  it('the name, tags, labels, and auto-renew can be changed', async () => {
    await act('/settings', 'change', { name: 'web-1', tags: 'web\r\n\r\nprod', labels: 'env=prod\r\nteam=' });
    const { body } = await api.get(`/servers/${id}`);
    assert.deepEqual(
      [body.name, body.tags, body.labels, body.auto_renew],
      ['web-1', ['web', 'prod'], { env: 'prod', team: '' }, true],
    );
    const off = await panel.submit(await panel.open(`${page}/settings`), 'change', { auto_renew: null });
    assert.equal(off.location, `${page}/settings?done=saved`);
    assert.equal((await api.get(`/servers/${id}`)).body.auto_renew, false);
    assert.match((await panel.open('/servers?tag=prod')).text, />web-1</);
    const link = `href="/servers?label=${encodeURIComponent('env:prod')}">prod</a>`;
    assert.ok((await panel.get(page)).text.includes(link));
    for (const label of ['env:prod', 'env=prod', 'team=']) {
      const list = await panel.open(`/servers?label=${encodeURIComponent(label)}`);
      assert.equal(list.text.match(/<tr><th scope="row">/g)?.length, 1, label);
      assert.ok(list.text.includes(`name="label" type="text" value="${label.replace(':', '=')}"`));
    }
    const odd = { tags: ['a, b', ' c '], labels: { a: ' x ', b: '=y' } };
    await api.patch(`/servers/${id}`, odd);
    await act('/settings', 'change', { auto_renew: 'on' });
    const after = (await api.get(`/servers/${id}`)).body;
    assert.deepEqual([after.tags, after.labels, after.auto_renew], [odd.tags, odd.labels, true]);
  });

  it('a server is deleted only if its name is entered, after a warning', async () => {
    const form = await panel.open(`${page}/settings`);
    assert.match(textOf(form.text), /wipes the disk .* We don’t refund the current cycle/);
    const slip = await act('/settings', 'destroy', { name_typed: 'web-2' });
    assert.equal(slip.status, 400);
    assert.equal(problemOf(slip.text, 'name_typed'), 'Doesn’t match the server name.');
    assert.equal(await status(), 'running');
    const pressed = await panel.submit(form, 'destroy', { name_typed: 'web-1' });
    assert.equal(pressed.location, `${page}?done=server_destroying`);
    await world.settle();
    assert.equal((await panel.get(page)).status, 404);
  });
});
