/**
 * The lifecycle of a dedicated machine that no driver reaches, from its customer's side: sold by hand only.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verify } from '../../../src/domain/verify/verify.ts';
import { type ManualWorld, startManualWorld } from '../../support/manual-world.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { assertApiError, createApiToken, V1Client, type V1Response } from '../../support/v1-client.ts';

const DAY_S = 86_400;
const BLOCK = '192.0.2.0/29';
/** Enough for two cycles of three months, but not for a third. */
const BALANCE_CENTS = 50_000n;

let world: ManualWorld;
let ann: SessionClient;
let bob: SessionClient;
let api: V1Client;
let bobApi: V1Client;
let keyId: string;
/** Driver calls about any machine: there must be none. */
const driverCalls: string[] = [];

before(async () => {
  world = await startManualWorld();
  ann = await world.customer();
  bob = await world.customer();
  api = V1Client.forUrl(world.url, await createApiToken(ann));
  bobApi = V1Client.forUrl(world.url, await createApiToken(bob));
  watchDriver();
  keyId = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body.id;
});
after(() => world.close());

const PUBLIC_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIWmuAWfVcXF4BwDsp+YEVJ6zO5aXLB37RXF0Hiw3fZf ann@laptop';

function watchDriver(): void {
  const { compute } = world.opened.service;
  const serverVerbs = ['ensure', 'remove', 'power', 'rebuild', 'restore', 'rescue', 'console'] as const;
  const otherVerbs = ['attach', 'snapshot', 'filter', 'traffic'] as const;
  for (const verb of [...serverVerbs, ...otherVerbs]) {
    const real = compute[verb].bind(compute) as (...args: unknown[]) => unknown;
    Object.defineProperty(compute, verb, {
      value: (...args: unknown[]) => {
        driverCalls.push(verb);
        return real(...args);
      },
    });
  }
}

type Body = V1Response['body'];

async function listedLine(machine: string): Promise<string> {
  const output = await world.runOk(['dedicated', 'list']);
  return output.split('\n').find((line) => line.startsWith(`${machine} `)) ?? '';
}

/** Builds the command that sells a machine, with an image that was not imported: no driver installs it. */
function sell(machine: string, { email }: SessionClient): string[] {
  return ['dedicated', 'fulfil', machine, '--customer', email, '--image', 'alpine'];
}

async function onlyServer(client: V1Client): Promise<Body> {
  const { body } = await client.get('/servers');
  assert.equal(body.data.length, 1);
  return body.data[0];
}

function assertUnavailable(response: V1Response, field: string): void {
  const items = assertApiError(response, 422, 'unprocessable');
  assert.deepEqual(
    items.map((item) => [item.field, item.issue]),
    [[field, 'unavailable']],
  );
}

test('a machine in stock is available in no region, and a customer cannot order it', async () => {
  await world.runOk(['machines', 'add', 'm1', 'm2', '--region', 'par', '--plan', 'r1']);
  await world.runOk(['ips', 'add', '--region', 'par', '--block', BLOCK]);
  await world.runOk(['ips', 'add', '--region', 'par', '--block', '2001:db8:7::/62']);
  await world.addBalance(ann, BALANCE_CENTS);
  assert.deepEqual((await api.get('/plans/r1')).body.available_in, []);
  const plans = (await api.get('/plans?filter[category]=dedicated')).body.data as Body[];
  assert.ok(plans.length > 0 && plans.every(({ available_in }) => available_in.length === 0));
  assert.equal((await api.get('/regions/par')).body.available, false);
  await world.opened.db.run(
    `update images set base_sha256 = repeat('0', 64), base_disk_gb = 1 where family = 'debian'`,
  );
  const images = (await api.get('/images?filter[family]=debian')).body.data as Body[];
  const image = images.find((each) => each.deprecated_at === null)?.id;
  const refusal = await api.post('/servers', {
    name: 'web-1',
    plan: 'r1',
    region: 'par',
    image,
    ssh_keys: [keyId],
  });
  assertUnavailable(refusal, 'plan');
  const form = { product: 'dedi', plan: 'r1', region: 'par', os: 'debian-13', billing: 1 };
  const answer = await ann.post('/deploy-api.php', { ...form, root_password: 'a root password' });
  assert.deepEqual([answer.body.ok, answer.body.error], [false, 'out_of_stock']);
  assert.equal((await ann.get('/me.php')).body.balance, Number(BALANCE_CENTS) / 100);
});

test('the panel shows that a plan is sold by hand', async () => {
  const { text } = await ann.get('/plans/r1');
  assert.match(text, />on request<.*<a href="\/contact">Contact us</);
  assert.doesNotMatch(text, /sold out/);
  assert.match((await ann.get('/servers/new')).text, />On request</);
});

test('a customer who is sold a machine pays the deploy price and has a running server', async () => {
  const options = ['--name', 'metal', '--months', '3', '--ssh-key', keyId];
  const output = await world.runOk([...sell('m1', ann), ...options]);
  const server = await onlyServer(api);
  const { price_usd_cycle: price } = server;
  const quarter = (await api.get('/plans/r1')).body.cycles[1].price_usd;
  assert.deepEqual([server.status, server.name, price], ['running', 'metal', quarter]);
  assert.deepEqual([server.ssh_keys, server.billing_months], [[keyId], 3]);
  for (const part of [server.id, server.ipv4.address, server.ipv4.gateway, server.ipv6.prefix, PUBLIC_KEY])
    assert.ok(output.includes(part), `${part}: ${output}`);
  assert.equal(
    (await ann.get('/me.php')).body.balance,
    Math.round(Number(BALANCE_CENTS) - price * 100) / 100,
  );
  await world.settle();
  const events = await world.opened.db.rows<{ type: string; status: string | null }>(
    `select type, data -> 'server' ->> 'status' as status from events
      where type in ('server.created', 'billing.charged', 'server.running') order by place`,
  );
  assert.deepEqual(
    events.map(({ type, status }) => [type, status]),
    [
      ['server.created', 'provisioning'],
      ['billing.charged', null],
      ['server.running', 'running'],
    ],
  );
  const audit = (await api.get(`/audit/events?filter[resource]=${server.id}`)).body.data as Body[];
  assert.deepEqual(audit.map(({ action }) => action).sort(), ['server.create', 'server.run']);
  assert.match(await listedLine('m1'), new RegExp(`  sold  .*${server.id}  ${ann.email}$`));
});

test('an action that needs a driver is unavailable on a machine sold by hand', async () => {
  const { id } = await onlyServer(api);
  for (const action of ['stop', 'reboot', 'reboot?hard=true', 'rescue', 'rebuild']) {
    const answer = await api.post(`/servers/${id}/${action}`, {});
    assertUnavailable(answer, '');
  }
  assertUnavailable(await api.get(`/servers/${id}/console`), '');
  const snapshot = await api.post(`/servers/${id}/snapshots`, { name: 'one' });
  assertUnavailable(snapshot, '');
  const volume = (await api.post('/volumes', { name: 'data', size_gb: 10, region: 'par' })).body;
  const attached = await api.post(`/volumes/${volume.id}/attach`, { server: id });
  assertUnavailable(attached, 'server');
  const group = await api.post('/firewall/groups', { name: 'one', default_action: 'drop', applied_to: [id] });
  assertUnavailable(group, 'applied_to.0');
  assertApiError(await api.post(`/servers/${id}/start`, {}), 409, 'conflict_state');
  assert.equal((await api.get(`/servers/${id}/metrics`)).body.series.cpu_pct.length, 0);
  assert.equal((await api.post(`/servers/${id}/rdns`, { ipv4: 'metal.example.org' })).status, 200);
  assert.equal((await api.patch(`/servers/${id}`, { tags: ['metal'] })).status, 200);
  assert.deepEqual(await world.opened.db.rows('select kind from operations'), []);
});

test('the page of a server sold by hand hides buttons that would be refused, and says why', async () => {
  const { id } = await onlyServer(api);
  for (const part of ['', '/rebuild', '/storage']) {
    const { text, status } = await ann.get(`/servers/${id}${part}`);
    assert.equal(status, 200, part);
    assert.match(text, part === '/storage' ? /doesn’t support volumes/ : /We manage this machine manually/);
    assert.doesNotMatch(
      text,
      /<summary[^>]*>Power<|>((Restart|Shut down|Force restart) server|Boot rescue system|Rebuild server)</,
    );
  }
});

test('a server sold by hand renews like any other', async () => {
  const before = await onlyServer(api);
  await world.advance(93 * DAY_S);
  const now = await onlyServer(api);
  assert.equal(now.status, 'running');
  assert.ok(now.paid_until > before.paid_until);
});

test('status asks the operator to power an unpaid server sold by hand off, and a paid one on', async () => {
  const { id, paid_until: paidUntil } = await onlyServer(api);
  const days = (Date.parse(paidUntil) - world.opened.clock.now().getTime()) / 1_000;
  await world.advance(days + 60);
  assert.deepEqual((await onlyServer(api)).suspended_reason, 'balance');
  assert.match(await listedLine('m1'), /power it off$/);
  assert.match(await world.runFailing(['status']), /FAIL +dedicated +m1: power it off/);
  await world.runOk(['dedicated', 'off', 'm1']);
  assert.doesNotMatch(await listedLine('m1'), /switch/);
  await world.addBalance(ann, 50_000n);
  await world.settle();
  assert.equal((await onlyServer(api)).status, 'running');
  assert.match(await world.runFailing(['status']), /FAIL +dedicated +m1: power it on/);
  await world.runOk(['dedicated', 'on', 'm1']);
  assert.match(await world.runOk(['dedicated', 'on', 'm1']), /\(unchanged\)$/);
  await world.runOk(['servers', 'freeze', id, '--reason', 'Report 7']);
  assert.match(await listedLine('m1'), /power it off$/);
  await world.runOk(['servers', 'release', id]);
  assert.equal((await onlyServer(api)).status, 'running');
});

test('a server sold by hand that was not renewed starts again when its customer pays', async () => {
  const { id, paid_until: paidUntil } = await onlyServer(api);
  await api.patch(`/servers/${id}`, { auto_renew: false });
  await world.advance((Date.parse(paidUntil) - world.opened.clock.now().getTime()) / 1_000 + 60);
  assert.equal((await onlyServer(api)).suspended_reason, 'not_renewed');
  await ann.signIn();
  assert.ok((await ann.get(`/servers/${id}`)).text.includes('>Power on<'));
  const started = await api.post(`/servers/${id}/start`, {});
  assert.deepEqual([started.status, started.body.status], [202, 'running']);
});

test('a machine must be wiped and put back on sale before it is sold again', async () => {
  const { id, ipv4 } = await onlyServer(api);
  await world.addBalance(bob, 100_000n);
  assert.equal((await api.delete(`/servers/${id}`)).status, 202);
  await world.settle();
  assert.equal((await api.get(`/servers/${id}`)).status, 404);
  assert.match(await listedLine('m1'), / {2}wiping {2}.* wipe and test it$/);
  assert.match(await world.runFailing(sell('m1', bob)), /m1 must be wiped first/);
  await world.runOk(['dedicated', 'wipe', 'm1', '--method', 'nvme format, ses=1', '--yes']);
  assert.match(await world.runFailing(sell('m1', bob)), /m1 is not back on sale/);
  await world.runOk(['dedicated', 'wipe', 'm1', '--free'], true);
  await world.runOk(sell('m1', bob));
  const server = await onlyServer(bobApi);
  assert.equal(server.status, 'running');
  assert.notEqual(server.ipv4.address, ipv4.address);
});

test('a machine sold to two customers at the same moment goes to one of them, who pays', async () => {
  await world.addBalance(ann, 100_000n);
  const sold = await Promise.allSettled([world.runOk(sell('m2', ann)), world.runOk(sell('m2', bob))]);
  const refused = sold.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
  assert.equal(refused.length, 1);
  assert.match(String(refused[0]), /m2 is sold/);
  const { servers } = (await world.opened.db.row<{ servers: bigint }>(
    `select count(*) as servers from servers s join machines m on m.server_id = s.id
      where m.name = 'm2'`,
  )) ?? { servers: 0n };
  assert.equal(servers, 1n);
});

test('a machine sold by hand never causes a driver call, and the ledger stays consistent', async () => {
  assert.deepEqual(driverCalls, []);
  const { service } = world.opened;
  const broken = (await verify(service)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(
    broken.map(({ invariant, examples }) => [invariant.name, examples]),
    [],
  );
});
