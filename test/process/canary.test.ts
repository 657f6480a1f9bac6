/**
 * Nothing that should be known to nobody can be read in the database or in a log: addresses of callers, passwords, codes,
 * tokens, cookies, secrets of webhooks, user data, tickets, links. A real service is used in every way, and refuses in every
 * way; then everything that it kept and wrote is searched.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { openDatabase } from '../../src/store/db.ts';
import { findEmbedded } from '../../src/store/embedded/index.ts';
import { PUBLIC_KEY } from '../http/v1/contract/estate.ts';
import { Canaries, dump, spellingsOf } from '../support/canaries.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { killLeftovers, type Serving, startServing } from '../support/process.ts';
import { Receiver } from '../support/receiver.ts';
import { SessionClient } from '../support/session-client.ts';
import { type Body, V1Client } from '../support/v1-client.ts';

/** Where requests come from: by a trusted proxy, or straight from an address of this machine that is none. */
interface From {
  readonly forwarded?: string;
  readonly socket?: string;
}
const BY_PROXY_V4 = { forwarded: '193.0.6.139' };
const BY_PROXY_V6 = { forwarded: '2001:67c:2e8:22::c100:68b' };
const STRAIGHT = { socket: '127.77.88.99' };

describe('a service that was used in every way', () => {
  const canaries = new Canaries();
  let folder: string;
  let serving: Serving;
  let receiver: Receiver;
  let mailServer: MailServer;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-canary-'));
    // Root's database runs as another user, who must be able to pass through.
    await chmod(folder, 0o755);
    [receiver, mailServer] = await Promise.all([Receiver.start(), startMailServer()]);
    const caFile = join(folder, 'ca.pem');
    writeFileSync(caFile, receiver.authority.cert);
    const mailPassword = canaries.add('the mail server’s password', 'Mailer_Pw_5512-canary');
    serving = await startServing({
      SKERRY_DATA_DIR: join(folder, 'data'),
      SKERRY_LOG_LEVEL: 'trace',
      SKERRY_SIM_BLOCK_S: '0',
      SKERRY_SIM_INSTALL_S: '1.5',
      SKERRY_TRUSTED_PROXIES: '127.0.0.1',
      SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true',
      SKERRY_WEBHOOK_CA_FILE: caFile,
      SKERRY_RATE_CAPACITY: '1000',
      SKERRY_SMTP_URL: `smtp://mailer:${mailPassword}@127.0.0.1:${mailServer.port}`,
      SKERRY_MAIL_FROM: 'Skerry <no-reply@skerry.example>',
    });
    canaries.add('an address, v4', BY_PROXY_V4.forwarded);
    canaries.add('an address, v6', BY_PROXY_V6.forwarded);
    canaries.add('an address, v6 in full', '2001:067c:02e8:0022:0000:0000:c100:068b');
    canaries.add('an address, straight', STRAIGHT.socket);
  });
  after(async () => {
    killLeftovers();
    await Promise.all([receiver.stop(), mailServer.close()]);
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });

  /** Sends as from there; every cookie and CSRF value that comes back is a canary. */
  const sender =
    (from: From) =>
    async (sent: {
      method: string;
      path: string;
      headers: Record<string, string>;
      body?: string | undefined;
    }) => {
      const url = new URL(sent.path, serving.url);
      const headers = {
        ...sent.headers,
        ...(from.forwarded === undefined ? {} : { 'x-forwarded-for': from.forwarded }),
        // Without it, chunked: an empty body on GET is none.
        ...(sent.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(sent.body)) }),
      };
      const { method } = sent;
      const asked = request(url, { method, headers, ...(from.socket ? { localAddress: from.socket } : {}) });
      asked.end(sent.body);
      const [response] = await once(asked, 'response');
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      const text = Buffer.concat(parts).toString();
      const given = Object.entries(response.headers).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, String(one)]),
      );
      for (const [name, value] of given) {
        const cookie = name === 'set-cookie' ? /^PHPSESSID=([^;]+)/.exec(value)?.[1] : undefined;
        if (cookie) canaries.add('a cookie', cookie);
      }
      const csrf = /"csrf":"([0-9a-f]{64})"/.exec(text)?.[1];
      if (csrf) canaries.add('a CSRF value', csrf);
      return { status: response.statusCode ?? 0, headers: new Headers(given), text };
    };

  const visitor = (from: From) =>
    new SessionClient(sender(from) as ConstructorParameters<typeof SessionClient>[0]);

  async function sandbox(name: string, body: object = {}): Promise<Body> {
    const response = await fetch(`${serving.url}/sandbox/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assert.equal(response.status, 200, `${name}: ${text}`);
    return JSON.parse(text);
  }

  async function works(answer: Promise<{ status: number; text: string; body: Body }>): Promise<Body> {
    const { status, text, body } = await answer;
    assert.ok(status < 300 && body?.ok !== false, text);
    return body;
  }

  /** The newest link that was mailed to an address. */
  async function mailedLink(address: string, path: string): Promise<string> {
    await sandbox('settle');
    const response = await fetch(`${serving.url}/sandbox/mails?to=${encodeURIComponent(address)}`);
    const { mails } = (await response.json()) as { mails: { text: string }[] };
    const links = mails.flatMap(({ text }) => [...text.matchAll(/\/(confirm|reset)\?token=([\w-]+)/g)]);
    const [, , token] =
      links.filter(([, kind]) => kind === path).at(-1) ?? assert.fail(`no ${path} was mailed`);
    return canaries.add(`a ${path} link`, token ?? '');
  }

  async function searched(place: string): Promise<string> {
    const connection = await findEmbedded({ dataDir: join(folder, 'data') });
    const db = openDatabase(connection ?? assert.fail('no database'), { poolSize: 1 });
    try {
      const text = await dump(db);
      assert.deepEqual(canaries.foundIn(text, 'database'), [], place);
      return text;
    } finally {
      await db.close();
    }
  }

  it('is used', async () => {
    await account();
    const api = await rest();
    await servers(api);
    await refusals(api);
  });

  /** A customer, who comes in and keeps his account in every way there is. */
  async function account(): Promise<void> {
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
  }

  /** Another customer, with money, tokens and a webhook. */
  async function rest(): Promise<V1Client> {
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
    const api = new V1Client(
      sender(BY_PROXY_V6) as ConstructorParameters<typeof V1Client>[0],
      canaries.add('an API token', token),
    );
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
    await deploy(customer);
    return api;
  }

  const key = (name: string) => canaries.add(`the key of the ${name}`, `idempotency-canary-${name}-81`);

  /** A server by the form: what its install needs is kept while it lasts. The first host that is asked fails. */
  async function deploy(customer: SessionClient): Promise<void> {
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

  async function servers(api: V1Client): Promise<void> {
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
  async function refusals(api: V1Client): Promise<void> {
    const secret = canaries.add('what a mistaken caller sends', 'mistaken-canary-5577-xyz');
    const straight = new V1Client(sender(STRAIGHT) as ConstructorParameters<typeof V1Client>[0], secret);
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

  it('keeps none of it where it could be read', async () => {
    const text = await searched('at rest');
    // What is searched is what there is, and what customers may read is found in it.
    assert.match(text, /ann\.next\.canary@example\.org/);
    assert.match(text, /url-key-canary/);
    assert.match(text, /"?ip_country"? NL/);
    await sandbox('clock', { advance_s: 40 * 86_400 });
    await searched('after the calendar went on');
  });

  it('has written none of it into its logs', async () => {
    const { stdout, stderr } = await serving.stop();
    const files = globSync('data/**/log', { cwd: folder }).map((name) =>
      readFileSync(join(folder, name), 'utf8'),
    );
    assert.ok(
      files.length > 0 && stderr.split('\n').length > 50,
      `${files.length} files, ${stderr.length} characters`,
    );
    assert.match(stderr, /"route":"\/v1\/servers"/);
    for (const text of [stdout, stderr, ...files]) assert.deepEqual(canaries.foundIn(text, 'log'), []);
  });

  it('was searched for what would have been found in any spelling', () => {
    const planted = new Canaries();
    planted.add('x', 'Canary+Pass/word&1=9');
    for (const spelling of spellingsOf('Canary+Pass/word&1=9')) {
      assert.equal(planted.foundIn(`a ${spelling} b`, 'log').length, 1, spelling);
    }
    for (const before of ['', 'a', 'ab', 'abc']) {
      const text = Buffer.from(`${before}Canary+Pass/word&1=9 and more`).toString('base64');
      assert.equal(planted.foundIn(text, 'database').length, 1, text);
    }
    const kinds = [
      'cookie',
      'CSRF',
      'password',
      'recovery code',
      'API token',
      'secret',
      'root',
      'user data',
      'ticket',
      'link',
    ];
    for (const kind of kinds)
      assert.ok(
        canaries.names.some((name) => name.includes(kind)),
        kind,
      );
  });
});
