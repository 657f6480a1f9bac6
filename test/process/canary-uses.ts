/** The ways in which a service is used while everything secret about it is watched. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Secret } from 'otpauth';
import { WebSocket } from 'ws';
import { PUBLIC_KEY } from '../http/v1/contract/estate.ts';
import type { SessionClient } from '../support/session-client.ts';
import { codeAt, STEP_MS, wrongCode } from '../support/totp.ts';
import type { Body, V1Client } from '../support/v1-client.ts';
import { BY_PROXY_V4, BY_PROXY_V6, type CanaryWorld, STRAIGHT, works } from './canary-world.ts';

/** A customer, who comes in and keeps his account in every way there is. */
export async function useAccount({ canaries, visitor, mailedLink }: CanaryWorld): Promise<void> {
  const customer = visitor(BY_PROXY_V4);
  customer.email = canaries.add('an e-mail address', 'ann.canary@example.org', 'logs');
  const password = (n: number) => canaries.add(`a password ${n}`, `Canary+Pass/word&${n}=9`);
  const signedUp = await works(
    customer.post('/auth-api.php', {
      ...{ action: 'signup', email: customer.email, password: password(1), password_confirm: password(1) },
    }),
  );
  const code = canaries.add('a recovery code', signedUp.recovery_code);
  await works(
    customer.post('/auth-api.php', {
      action: 'confirm',
      token: await mailedLink(customer.email, 'confirm'),
    }),
  );
  await works(
    customer.post('/account-api.php', {
      ...{ action: 'change_password', current_password: password(1), new_password: password(2) },
    }),
  );
  const wrong = visitor(STRAIGHT);
  assert.equal((await wrong.signIn(customer.email, password(3))).status, 400);
  assert.equal(
    (await wrong.signIn(canaries.add('an e-mail nobody has', 'nobody.canary@example.org'), password(3)))
      .status,
    400,
  );
  await works(
    wrong.post('/auth-api.php', { action: 'signin', email: customer.email, password: password(2) }),
  );
  await works(
    visitor(BY_PROXY_V6).post('/auth-api.php', {
      ...{ action: 'recover', email: customer.email, recovery_code: code },
      ...{ password: password(4), password_confirm: password(4) },
    }),
  ).then((body) => canaries.add('a second recovery code', body.recovery_code));
  const forgetful = visitor(BY_PROXY_V4);
  await works(forgetful.post('/auth-api.php', { action: 'request_reset', email: customer.email }));
  const token = await mailedLink(customer.email, 'reset');
  assert.equal((await forgetful.get(`/reset?token=${token}`, { accept: 'text/html' })).status, 200);
  await works(
    forgetful.post('/auth-api.php', {
      ...{ action: 'reset', token, password: password(5), password_confirm: password(5) },
    }),
  );
  const other = canaries.add('the next e-mail address', 'ann.next.canary@example.org', 'logs');
  await works(
    forgetful.post('/account-api.php', {
      action: 'change_email',
      email: other,
      current_password: password(5),
    }),
  );
  await works(
    forgetful.post('/auth-api.php', { action: 'confirm', token: await mailedLink(other, 'confirm') }),
  );
  await mailedLink(customer.email, 'reset');
  await works(forgetful.post('/account-api.php', { action: 'list_sessions' }));
  // One that is asked for and never used.
  await works(forgetful.post('/auth-api.php', { action: 'request_reset', email: other }));
  await mailedLink(other, 'reset');
  await useCodes(canaries, forgetful, { email: other, password: password(5) });
}

/** A second factor, which stays on. */
async function useCodes(
  canaries: CanaryWorld['canaries'],
  customer: SessionClient,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const enable = { action: 'enable_totp', current_password: password };
  const { secret, uri } = await works(customer.post('/account-api.php', enable));
  canaries.add('a secret of one-time codes', secret);
  canaries.add('the same as bytes', Buffer.from(Secret.fromBase32(secret).bytes).toString('hex'));
  canaries.add('the same as an address', uri);
  await works(customer.post('/account-api.php', { ...enable, code: codeAt(secret) }));
  const signIn = (code: string) =>
    customer.post('/auth-api.php', { action: 'signin', email, password, code });
  assert.equal((await signIn(wrongCode(secret))).status, 400);
  await works(signIn(codeAt(secret, Date.now() + STEP_MS)));
}

/** Another customer, with money, tokens and a webhook. */
export async function useRest(world: CanaryWorld): Promise<V1Client> {
  const { canaries, visitor, client, sandbox, receiver, key } = world;
  const customer = visitor(BY_PROXY_V6);
  customer.email = canaries.add('another e-mail address', 'bob.canary@example.org', 'logs');
  const password = canaries.add('his password', 'Bob/Canary+1234567');
  await works(
    customer.post('/auth-api.php', {
      ...{ action: 'signup', email: customer.email, password, password_confirm: password },
    }),
  ).then((body) => canaries.add('his recovery code', body.recovery_code));
  const { token } = await works(
    customer.post('/account-api.php', {
      ...{ action: 'create_token', name: 'ci', scope: 'billing', current_password: password },
    }),
  );
  const api = client(BY_PROXY_V6, canaries.add('an API token', token));
  const topup = await works(
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
  const again = { key: key('token') };
  for (const extra of [again, again, {}]) {
    const made = await works(api.post('/account/tokens', { name: 'ci', scope: 'read' }, extra));
    canaries.add('a token made by REST', made.token);
  }
  const url = receiver.url(`/hook?key=${canaries.add('a key in a URL', 'url-key-canary-77120', 'logs')}`);
  const failing = receiver.url('/failing', (response) => response.writeHead(500).end('x'));
  for (const [n, to] of [url, failing].entries()) {
    const extra = n === 0 ? { key: key('hook') } : {};
    const made = await works(api.post('/webhooks', { url: to, events: ['*'] }, extra));
    canaries.add('a webhook’s secret', made.secret);
    await works(api.post(`/webhooks/${made.id}/test`));
  }
  await receiver.count('/failing', 1);
  await deploy(world, customer);
  return api;
}

/** A server by the form: what its install needs is kept while it lasts. The first host that is asked fails. */
async function deploy({ canaries, sandbox, key }: CanaryWorld, customer: SessionClient): Promise<void> {
  await sandbox('faults', { driver: 'compute', operation: 'ensure', times: 1 });
  const rootPassword = canaries.add('a root password', 'Root+Canary/77&1234');
  const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
  await works(
    customer.post(
      '/deploy-api.php',
      { ...order, root_password: rootPassword },
      { headers: { 'idempotency-key': key('deploy') } },
    ),
  );
}

export async function useServers(world: CanaryWorld, api: V1Client): Promise<void> {
  const { canaries, searched, sandbox, visitor, serving, key } = world;
  const userData = canaries.add('user data', '#cloud-config\npassword: UserData_Canary_42\n');
  const user_data_b64 = canaries.add('user data as it is sent', Buffer.from(userData).toString('base64'));
  const { data } = await works(api.get('/images?family=debian'));
  const image = data.find((one: Body) => one.version === '12').id;
  const { id: sshKey } = await works(api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY }));
  const order = { name: 'web', plan: 's1', region: 'par', image, ssh_keys: [sshKey], user_data_b64 };
  const { id } = await works(api.post('/servers', order, { key: key('server') }));
  await searched('while servers are being installed');
  await sandbox('settle');
  const { rescue } = await works(api.post(`/servers/${id}/rescue`));
  canaries.add('a rescue password', rescue.password);
  await sandbox('settle');
  await works(api.post(`/servers/${id}/rebuild`, { user_data_b64 }));
  await searched('while a server is rebuilt');
  await sandbox('settle');
  for (const use of [true, false]) {
    const { url } = await works(api.get(`/servers/${id}/console`));
    const path = new URL(url).searchParams.get('path') ?? '';
    canaries.add('a console ticket', path.split('/').at(-1) ?? '');
    assert.equal((await visitor(STRAIGHT).get(new URL(url).pathname + new URL(url).search)).status, 200);
    if (!use) continue;
    const screen = new WebSocket(`${serving.url.replace('http', 'ws')}/${path}`, {
      headers: { 'x-forwarded-for': BY_PROXY_V4.forwarded },
    });
    await once(screen, 'message');
    screen.close();
    await once(screen, 'close');
  }
}

/** What is wrong is named, and never repeated. */
export async function makeMistakes(world: CanaryWorld, api: V1Client): Promise<void> {
  const { canaries, client, visitor, serving } = world;
  const secret = canaries.add('what a mistaken caller sends', 'mistaken-canary-5577-xyz');
  const straight = client(STRAIGHT, secret);
  assert.equal((await straight.get('/servers')).status, 401);
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
  const stranger = visitor(STRAIGHT);
  for (const path of [
    `/reset?token=${secret}`,
    `/confirm?token=${secret}`,
    `/${secret}`,
    `/%zz${secret}`,
    `/console?path=${secret}`,
  ]) {
    await stranger.get(path, { accept: 'text/html' });
  }
  assert.equal((await stranger.post('/auth-api.php', { action: secret }, { token: secret })).status, 403);
  assert.equal((await stranger.postRaw('/auth-api.php', `a=${secret}&a=${secret}`)).status, 400);
  assert.equal((await stranger.post('/auth-api.php', { action: secret })).status, 400);
  // What is no HTTP at all, from an address of its own.
  for (const line of [
    `${secret} / HTTP/1.1`,
    `GET /${secret} HTTP/9.9`,
    `GET / HTTP/1.1\r\nX: ${secret}\0`,
  ]) {
    const { port, hostname } = new URL(serving.url);
    const socket = connect({ port: Number(port), host: hostname, localAddress: STRAIGHT.socket });
    socket.end(`${line}\r\n\r\n`);
    socket.resume();
    await once(socket, 'close');
  }
}
