import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runOperator } from '../../src/operator/run.ts';
import { assertApiError, createApiToken, V1Client } from '../support/v1-client.ts';
import { startWorld, topUp, type World } from '../support/world.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.close());

/** Runs a command like a separate process: it shares only the database with the running service. */
async function run(argv: readonly string[]): Promise<{ code: number; said: string }> {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const { service, db } = world.opened;
  const resources = {
    settings: () => [],
    database: async () => db,
    service: async () => ({
      service,
      register: async () => undefined,
      carryOut: async () => undefined,
      coins: null,
    }),
  };
  const code = await runOperator(argv, resources, undefined, { out: write, err: write, ask: null });
  return { code, said: lines.join('\n') };
}

async function ok(...argv: string[]): Promise<string> {
  const { code, said } = await run(argv);
  assert.equal(code, 0, said);
  return said;
}

async function fails(why: string, ...argv: string[]): Promise<void> {
  const { code, said } = await run(argv);
  assert.equal(code, 1, said);
  assert.ok(said.includes(why), said);
}

test('a payment that the kill-switch withheld can be released or refunded by its order_ref', async () => {
  const customer = await world.customer();
  const balance = async () => (await customer.get('/me.php')).body.balance;
  await ok('switch', 'topup-credit', 'off');
  const released = await topUp(world, customer, 40);
  const refunded = await topUp(world, customer, 50);
  assert.equal(await balance(), 0);
  const held = await ok('topups', 'held');
  assert.match(held, new RegExp(`\n${released}  ${customer.email}  [0-9.]+ LTC  `));
  const list = await ok('topups', 'list', '--customer', customer.email, '--coin', 'LTC');
  assert.match(
    list,
    new RegExp(`\n${released}  .*  confirming +40.00 USD .*LTC +0.00 USD .* LTC withheld$`, 'm'),
  );
  const show = await ok('topups', 'show', released);
  const [, address = ''] = /^address +(\S+)$/m.exec(show) ?? [];
  const [, txid = ''] = /LTC {2}final .* withheld {2,}(\S+)$/m.exec(show) ?? [];
  assert.equal(await ok('topups', 'show', address), show);
  assert.equal(await ok('topups', 'show', txid), show);
  assert.match(
    await ok('topups', 'release', released),
    /^released [0-9.]+ LTC; the top-up is credited; credited: 40\.00 USD$/,
  );
  assert.equal(await balance(), 40);
  const to = 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9';
  const refund = async (...options: string[]) => await ok('topups', 'refund', refunded, ...options);
  await fails('--to is required', 'topups', 'refund', refunded);
  await fails(
    'a deposit address of this service',
    'topups',
    'refund',
    refunded,
    '--to',
    address,
    '--approved-by',
    'Ann',
  );
  assert.match(
    await refund('--to', to, '--approved-by', 'Ann'),
    new RegExp(`^approved: send [0-9.]+ LTC to ${to}; .* credited: 0\\.00 USD\nafter sending, record it: `),
  );
  assert.match(await ok('topups', 'held'), new RegExp(`\n${refunded}  ${customer.email}  +[0-9.]+ LTC  `));
  assert.match(
    await ok('topups', 'list', '--limit', '1'),
    /LTC refund pending\nshowing 1 top-up; use --limit/,
  );
  assert.match((await run(['status'])).said, /^NOTE +top-ups +1 with a pending refund$/m);
  const sent = ['--txid', '4f5e'.repeat(16), '--note', 'by hand'];
  assert.match(await refund(...sent), /^recorded as refunded: [0-9.]+ LTC; .* credited: 0\.00 USD$/);
  const shown = await ok('topups', 'show', refunded);
  assert.match(shown, / {2}refunded, recorded .*: by hand {2}/);
  assert.match(
    shown,
    new RegExp(`\napproved by +Ann, .* UTC\nto +${to}\nsent in +(4f5e){16}\nnote +by hand$`),
  );
  assert.match(await ok('topups', 'list', '--limit', '1'), /LTC refunded\nshowing 1 top-up; use --limit/);
  await fails('No payment of this top-up is withheld', 'topups', 'refund', refunded);
  assert.equal(await balance(), 40);
  assert.equal((await ok('topups', 'held')).split('\n').length, 1);
  assert.match(await ok('verify'), /(\d+) of \1 invariants hold$/);
});

test('turning deploys off refuses only new servers, on both surfaces, and gives the reason', async () => {
  const customer = await world.customer();
  const api = V1Client.forUrl(world.url, await createApiToken(customer));
  const deploy = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
  const form = { ...deploy, root_password: 'correct horse battery' } as const;
  await ok('switch', 'deploys', 'off', '--reason', 'storage is full');
  const why = 'This is temporarily unavailable (storage is full). Try again later.';
  const onA = await customer.post('/deploy-api.php', form);
  assert.deepEqual([onA.status, onA.body.error, onA.body.msg], [503, 'maintenance', why]);
  const onB = await api.post('/servers', {});
  const items = assertApiError(onB, 503, 'maintenance');
  assert.deepEqual([onB.body.error.message, items[0]?.retry_after_s], [why, 600]);
  assert.equal((await api.get('/servers')).status, 200);
  assert.match(
    (await customer.get('/servers')).text,
    /New servers are unavailable right now\. .*storage is full/,
  );
  await ok('switch', 'deploys', 'on');
  assert.equal((await customer.post('/deploy-api.php', form)).body.error, 'insufficient_balance');
  assertApiError(await api.post('/servers', {}), 400, 'invalid_request');
  assert.doesNotMatch((await customer.get('/servers')).text, /New servers are unavailable/);
});

test('a server can be found, frozen, held and released, and its customer sees the reason', async () => {
  const customer = await world.customer();
  await world.addBalance(customer, 5_000n);
  const api = V1Client.forUrl(world.url, await createApiToken(customer));
  const form = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 } as const;
  const { body } = await customer.post('/deploy-api.php', {
    ...form,
    root_password: 'correct horse battery',
  });
  await world.settle();
  const [server] = (await api.get('/servers')).body.data;
  const panel = async () => (await customer.get(`/servers/${body.server_id}`)).text;
  const { id, ipv4, ipv6 } = server;
  const line = new RegExp(
    `\n${id}  ${customer.email}  .*  running +s1 +par +par-\\d +${ipv4.address} .*$`,
    'm',
  );
  assert.match(await ok('servers', 'list', '--customer', customer.email, '--status', 'running'), line);
  for (const name of [id, ipv4.address, ipv6.address, `${ipv6.address}ff`]) {
    assert.match(await ok('servers', 'show', name), new RegExp(`^server +${id}\n`));
  }
  await fails('server not found', 'servers', 'show', 'srv_x');
  await fails('no server currently has this address', 'servers', 'show', '192.0.2.7');
  await fails('host or machine not found', 'servers', 'list', '--host', 'nowhere');

  assert.match(
    await ok('servers', 'freeze', id, '--reason', 'Report 7: it sends spam.'),
    /: frozen; suspended \(operator\), suspend in progress$/,
  );
  await world.settle();
  assert.match(await ok('servers', 'freeze', id, '--reason', 'Report 7: it sends spam.'), /\(unchanged\)$/);
  assert.match(await ok('servers', 'list', '--frozen'), new RegExp(`\n${id} .*  frozen$`, 'm'));
  assert.equal((await api.get(`/servers/${id}`)).body.suspended_reason, 'operator');
  assertApiError(await api.post(`/servers/${id}/start`), 409, 'conflict_state');
  assert.match(await panel(), /Message from the operator: Report 7: it sends spam\./);

  assert.match(
    await ok('servers', 'hold', id, '--order', 'Order 17/2026'),
    /: frozen and under a legal hold; suspended/,
  );
  const refused = await api.delete(`/servers/${id}`);
  assertApiError(refused, 451, 'jurisdictional_block');
  assert.match(refused.body.error.message, /Order 17\/2026$/);
  assert.match(await panel(), /legal hold and cannot be destroyed: Order 17\/2026/);
  assert.match(await ok('servers', 'show', id), /\nlegal hold +Order 17\/2026$/m);
  await fails('--freeze, --hold or both', 'servers', 'release', id);
  await ok('servers', 'release', id, '--freeze');
  await world.settle();
  assert.match(await ok('servers', 'release', id), /^srv_\S+: not frozen, no legal hold; running$/);
  assert.doesNotMatch(await panel(), /operator|legal hold/);

  const events = (await api.get('/audit/events?page_size=100')).body.data as Record<string, unknown>[];
  assert.deepEqual(
    events
      .filter((event) => /freeze|hold|release|destroy/.test(String(event.action)))
      .map((event) => [event.action, event.result, event.actor_token === null, event.resource === id]),
    [
      ['server.release', 'ok', true, true],
      ['server.release', 'ok', true, true],
      ['server.destroy', 'denied', false, true],
      ['server.hold', 'ok', true, true],
      ['server.freeze', 'ok', true, true],
    ],
  );
  assert.match(await ok('verify'), /(\d+) of \1 invariants hold$/);

  const log = await ok('audit', '--resource', id, '--action', 'server.hold');
  assert.match(log, new RegExp(`\n\\S+ \\S+  server.hold  ${id}  ok +${customer.email} +XX +req_\\S+$`));
  assert.match(
    await ok('audit', '--unasked', '--limit', '1'),
    / {2}server\..*\nshowing 1 entry; use --limit/,
  );
  assert.doesNotMatch(await ok('audit', '--unasked', '--customer', customer.email), /sign_up|tok_/);
});

test('pausing a webhook cancels its pending deliveries, and its customer sees it paused', async () => {
  const customer = await world.customer();
  const api = V1Client.forUrl(world.url, await createApiToken(customer));
  const made = await api.post('/webhooks', { url: 'https://example.com/hooks', events: ['*'] });
  const { id } = made.body;
  await ok('switch', 'webhooks', 'off');
  await api.post(`/webhooks/${id}/test`);
  assert.match(
    await ok('webhooks', 'list', customer.email),
    new RegExp(`\n${id} +active .* \\* +https://ex`),
  );
  assert.equal(await ok('webhooks', 'pause', id), `${id} is paused`);
  assert.equal(await ok('webhooks', 'pause', id), `${id} is paused (unchanged)`);
  assert.match(await ok('webhooks', 'list', customer.email), new RegExp(`\n${id} +paused `));
  await ok('switch', 'webhooks', 'on');
  assert.equal((await api.get(`/webhooks/${id}`)).body.active, false);
  const [ping] = (await api.get(`/webhooks/${id}/deliveries`)).body.data;
  assert.deepEqual([ping.status, ping.next_attempt_at], ['cancelled', null]);
  const log = (await api.get(`/audit/events?filter[action]=webhook.update`)).body.data;
  assert.deepEqual(
    log.map((row: Record<string, unknown>) => [row.resource, row.actor_token, row.actor_session]),
    [[id, null, null]],
  );
  for (const none of ['whk_x', 'srv_aaaqk3m7qzb5x2l6v4t7n8wyja']) {
    const { code, said } = await run(['webhooks', 'pause', none]);
    assert.equal(code, 1);
    assert.match(said, /webhook not found/);
  }
});

test('status lists switches that are off, failing chains, and webhooks that receive nothing', async () => {
  await ok('switch', 'mail', 'off', '--reason', 'the relay moves');
  const well = await ok('status');
  assert.match(well, /^OK +servers +\d+: /m);
  assert.match(well, /^NOTE +switch +mail is off since .* UTC \(the relay moves\)$/m);
  await ok('switch', 'mail', 'on');
  const { db } = world.opened;
  // No one has paid in this coin, so no worker reads its chain either.
  await db.run(
    `insert into coins (code, failures, last_fault) values ('SOL', 12, 'the node is at block 7')
     on conflict (code) do update set failures = excluded.failures, last_fault = excluded.last_fault`,
  );
  const api = V1Client.forUrl(world.url, await createApiToken(await world.customer()));
  assert.equal((await api.post('/webhooks', { url: 'https://example.com', events: ['*'] })).status, 201);
  await db.run(
    `update webhooks set secret_sealed = 'k0.' || substr(secret_sealed, position('.' in secret_sealed) + 1)`,
  );
  const { code, said } = await run(['status']);
  assert.equal(code, 1);
  assert.match(said, /^FAIL +webhooks +1 webhooks receive nothing: SKERRY_SECRET_KEY lacks k0, /m);
  assert.match(said, /^FAIL +chains +SOL: 12 polls failed in a row, never read: the node is at block 7$/m);
  const levels = said.split('\n').map((line) => line.slice(0, line.indexOf(' ')));
  const order = ['FAIL', 'WARN', 'NOTE', 'OK'];
  assert.deepEqual(
    levels,
    levels.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)),
  );
});

test('status warns about a pool that runs out and only notes a pool that was always small', async () => {
  const { db } = world.opened;
  const few = `select addr from ipv4_addresses where region_id = $1 and server_id is null limit 20`;
  const others = `region_id = $1 and addr not in (${few})`;
  const blockOthers = `update ipv4_addresses set blocked = true where ${others}`;
  await db.run(blockOthers, ['zrh']);
  await db.run(`delete from ipv4_addresses where ${others}`, ['buh']);
  const { said } = await run(['status']);
  assert.match(said, /^WARN +addresses +20 of 509 free in zrh$/m);
  assert.match(said, /^NOTE +addresses +20 of 20 free in buh$/m);
});
