/** Scenarios that use every feature that handles secrets, while canaries watch for leaks. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Secret } from 'otpauth';
import { WebSocket } from 'ws';
import { PUBLIC_KEY } from '../http/v1/contract/estate.ts';
import type { SessionClient } from '../support/session-client.ts';
import { STEP_MS, totpAt, wrongTotp } from '../support/totp.ts';
import type { JsonBody, V1Client } from '../support/v1-client.ts';
import { type CanaryWorld, DIRECT, expectSuccess, VIA_PROXY_IPV4, VIA_PROXY_IPV6 } from './canary-world.ts';

/** A customer signs up, signs in, and manages their account in every possible way. */
export async function exerciseAccount({ canaries, visitor, mailedLink }: CanaryWorld): Promise<void> {
  const customer = visitor(VIA_PROXY_IPV4);
  customer.email = canaries.add('an email address', 'ann.canary@example.org', 'logs');
  const password = (n: number) => canaries.add(`a password ${n}`, `Canary+Pass/word&${n}=9`);
  const signedUp = await expectSuccess(
    customer.post('/auth-api.php', {
      ...{ action: 'signup', email: customer.email, password: password(1), password_confirm: password(1) },
    }),
  );
  const code = canaries.add('a recovery code', signedUp.recovery_code);
  await expectSuccess(
    customer.post('/auth-api.php', {
      action: 'confirm',
      token: await mailedLink(customer.email, 'confirm'),
    }),
  );
  await expectSuccess(
    customer.post('/account-api.php', {
      ...{ action: 'change_password', current_password: password(1), new_password: password(2) },
    }),
  );
  const wrong = visitor(DIRECT);
  assert.equal((await wrong.signIn(customer.email, password(3))).status, 400);
  assert.equal(
    (await wrong.signIn(canaries.add('an unknown email address', 'unknown.canary@example.org'), password(3)))
      .status,
    400,
  );
  await expectSuccess(
    wrong.post('/auth-api.php', { action: 'signin', email: customer.email, password: password(2) }),
  );
  await expectSuccess(
    visitor(VIA_PROXY_IPV6).post('/auth-api.php', {
      ...{ action: 'recover', email: customer.email, recovery_code: code },
      ...{ password: password(4), password_confirm: password(4) },
    }),
  ).then((body) => canaries.add('a second recovery code', body.recovery_code));
  const forgetful = visitor(VIA_PROXY_IPV4);
  await expectSuccess(forgetful.post('/auth-api.php', { action: 'request_reset', email: customer.email }));
  const token = await mailedLink(customer.email, 'reset');
  assert.equal((await forgetful.get(`/reset?token=${token}`, { accept: 'text/html' })).status, 200);
  await expectSuccess(
    forgetful.post('/auth-api.php', {
      ...{ action: 'reset', token, password: password(5), password_confirm: password(5) },
    }),
  );
  const other = canaries.add('the next email address', 'ann.next.canary@example.org', 'logs');
  await expectSuccess(
    forgetful.post('/account-api.php', {
      action: 'change_email',
      email: other,
      current_password: password(5),
    }),
  );
  await expectSuccess(
    forgetful.post('/auth-api.php', { action: 'confirm', token: await mailedLink(other, 'confirm') }),
  );
  await mailedLink(customer.email, 'reset');
  await expectSuccess(forgetful.post('/account-api.php', { action: 'list_sessions' }));
  // This link is requested but never used.
  await expectSuccess(forgetful.post('/auth-api.php', { action: 'request_reset', email: other }));
  await mailedLink(other, 'reset');
  await exerciseTotp(canaries, forgetful, { email: other, password: password(5) });
}

/** Enables two-factor authentication, which stays on. */
async function exerciseTotp(
  canaries: CanaryWorld['canaries'],
  customer: SessionClient,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const enable = { action: 'enable_totp', current_password: password };
  const { secret, uri } = await expectSuccess(customer.post('/account-api.php', enable));
  canaries.add('a TOTP secret', secret);
  canaries.add('a TOTP secret as bytes', Buffer.from(Secret.fromBase32(secret).bytes).toString('hex'));
  canaries.add('a TOTP secret as a URI', uri);
  await expectSuccess(customer.post('/account-api.php', { ...enable, code: totpAt(secret) }));
  const signIn = (code: string) =>
    customer.post('/auth-api.php', { action: 'signin', email, password, code });
  assert.equal((await signIn(wrongTotp(secret))).status, 400);
  await expectSuccess(signIn(totpAt(secret, Date.now() + STEP_MS)));
}

/** Another customer, with money, API tokens, and a webhook. */
export async function exerciseRestApi(world: CanaryWorld): Promise<V1Client> {
  const { canaries, visitor, client, sandbox, receiver, key } = world;
  const customer = visitor(VIA_PROXY_IPV6);
  customer.email = canaries.add('another email address', 'bob.canary@example.org', 'logs');
  const password = canaries.add('the other customer’s password', 'Bob/Canary+1234567');
  await expectSuccess(
    customer.post('/auth-api.php', {
      ...{ action: 'signup', email: customer.email, password, password_confirm: password },
    }),
  ).then((body) => canaries.add('the other customer’s recovery code', body.recovery_code));
  const { token } = await expectSuccess(
    customer.post('/account-api.php', {
      ...{ action: 'create_token', name: 'ci', scope: 'billing', current_password: password },
    }),
  );
  const api = client(VIA_PROXY_IPV6, canaries.add('an API token', token));
  const topup = await expectSuccess(
    customer.post(
      '/topup-api.php',
      { action: 'create', amount: 90, coin: 'LTC' },
      { headers: { 'idempotency-key': key('form') } },
    ),
  );
  const { body: invoice } = await customer.get(`/topup-status.php?ref=${topup.order_ref}`);
  const { deposit_address: address, deposit_amount: amount } = invoice;
  await sandbox('payments', { coin: 'LTC', address, amount });
  await sandbox('blocks', { coin: 'LTC', count: 30 });
  await sandbox('settle');
  const repeated = { key: key('token') };
  for (const extra of [repeated, repeated, {}]) {
    const created = await expectSuccess(api.post('/account/tokens', { name: 'ci', scope: 'read' }, extra));
    canaries.add('an API token created over REST', created.token);
  }
  const url = receiver.url(`/hook?key=${canaries.add('a key in a URL', 'url-key-canary-77120', 'logs')}`);
  const failing = receiver.url('/failing', (response) => response.writeHead(500).end('x'));
  for (const [n, target] of [url, failing].entries()) {
    const extra = n === 0 ? { key: key('hook') } : {};
    const created = await expectSuccess(api.post('/webhooks', { url: target, events: ['*'] }, extra));
    canaries.add('a webhook secret', created.secret);
    await expectSuccess(api.post(`/webhooks/${created.id}/test`));
  }
  await receiver.waitForCount('/failing', 1);
  await deploy(world, customer);
  return api;
}

/**
 * Deploys a server through the form. Its install secrets are stored until the install ends. The first host
 * fails.
 */
async function deploy({ canaries, sandbox, key }: CanaryWorld, customer: SessionClient): Promise<void> {
  await sandbox('faults', { driver: 'compute', operation: 'ensure', times: 1 });
  const rootPassword = canaries.add('a root password', 'Root+Canary/77&1234');
  const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
  await expectSuccess(
    customer.post(
      '/deploy-api.php',
      { ...order, root_password: rootPassword },
      { headers: { 'idempotency-key': key('deploy') } },
    ),
  );
}

export async function exerciseServers(world: CanaryWorld, api: V1Client): Promise<void> {
  const { canaries, assertNoCanaries, sandbox, visitor, serving, key } = world;
  const userData = canaries.add('user data', '#cloud-config\npassword: UserData_Canary_42\n');
  const user_data_b64 = canaries.add('user data in Base64', Buffer.from(userData).toString('base64'));
  const { data } = await expectSuccess(api.get('/images?family=debian'));
  const image = data.find((candidate: JsonBody) => candidate.version === '12').id;
  const { id: sshKey } = await expectSuccess(
    api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY }),
  );
  const order = { name: 'web', plan: 's1', region: 'par', image, ssh_keys: [sshKey], user_data_b64 };
  const { id } = await expectSuccess(api.post('/servers', order, { key: key('server') }));
  await assertNoCanaries('while servers are being installed');
  await sandbox('settle');
  const { rescue } = await expectSuccess(api.post(`/servers/${id}/rescue`));
  canaries.add('a rescue password', rescue.password);
  await sandbox('settle');
  await expectSuccess(api.post(`/servers/${id}/rebuild`, { user_data_b64 }));
  await assertNoCanaries('while a server is being rebuilt');
  await sandbox('settle');
  for (const opensConsole of [true, false]) {
    const { url } = await expectSuccess(api.get(`/servers/${id}/console`));
    const path = new URL(url).searchParams.get('path') ?? '';
    canaries.add('a console ticket', path.split('/').at(-1) ?? '');
    assert.equal((await visitor(DIRECT).get(new URL(url).pathname + new URL(url).search)).status, 200);
    if (!opensConsole) continue;
    const screen = new WebSocket(`${serving.url.replace('http', 'ws')}/${path}`, {
      headers: { 'x-forwarded-for': VIA_PROXY_IPV4.forwarded },
    });
    await once(screen, 'message');
    screen.close();
    await once(screen, 'close');
  }
}

/** Sends invalid requests of every kind. Errors name the problem and never echo the input. */
export async function sendInvalidRequests(world: CanaryWorld, api: V1Client): Promise<void> {
  const { canaries, client, visitor, serving } = world;
  const secret = canaries.add('a secret in an invalid request', 'mistaken-canary-5577-xyz');
  const wrongToken = client(DIRECT, secret);
  assert.equal((await wrongToken.get('/servers')).status, 401);
  const json = { headers: { 'content-type': 'application/json' } };
  for (const body of [
    `{"${secret}":1}`,
    `{"name":"${secret}"`,
    `"${secret}"`,
    `{"name":{"x":"${secret}"}}`,
  ]) {
    assert.equal((await api.raw('POST', '/ssh-keys', body, json)).status, 400);
  }
  for (const path of [
    `/servers/${secret}`,
    `/servers?filter[status]=${secret}`,
    `/${secret}`,
    `/servers?cursor=${secret}`,
  ]) {
    assert.ok((await api.get(path)).status >= 400);
  }
  await api.get('/servers', {
    headers: { referer: `http://x/${secret}`, 'user-agent': secret, cookie: `PHPSESSID=${secret}` },
  });
  const visitorClient = visitor(DIRECT);
  for (const path of [
    `/reset?token=${secret}`,
    `/confirm?token=${secret}`,
    `/${secret}`,
    `/%zz${secret}`,
    `/console?path=${secret}`,
  ]) {
    await visitorClient.get(path, { accept: 'text/html' });
  }
  assert.equal(
    (await visitorClient.post('/auth-api.php', { action: secret }, { token: secret })).status,
    403,
  );
  assert.equal((await visitorClient.postRaw('/auth-api.php', `a=${secret}&a=${secret}`)).status, 400);
  assert.equal((await visitorClient.post('/auth-api.php', { action: secret })).status, 400);
  // Malformed HTTP, from a separate source address.
  for (const line of [
    `${secret} / HTTP/1.1`,
    `GET /${secret} HTTP/9.9`,
    `GET / HTTP/1.1\r\nX: ${secret}\0`,
  ]) {
    const { port, hostname } = new URL(serving.url);
    const socket = connect({ port: Number(port), host: hostname, localAddress: DIRECT.socket });
    socket.end(`${line}\r\n\r\n`);
    socket.resume();
    await once(socket, 'close');
  }
}
