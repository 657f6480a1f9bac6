import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type ClientOptions, WebSocket } from 'ws';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { RfbViewer } from '../../support/rfb-viewer.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { assertApiError, createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { exchangeRaw } from '../socket.ts';

const ORDER = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };

let world: World;
let running = true;
let api: V1Client;
let reader: V1Client;
/** Ids of two running servers. */
let servers: string[] = [];

before(async () => {
  world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
  const customer = await world.customer(50);
  for (const root_password of ['a long enough one', 'another long one']) {
    const { body } = await customer.post('/deploy-api.php', { ...ORDER, root_password });
    assert.equal(body.ok, true, JSON.stringify(body));
  }
  await world.settle();
  const rows = await world.opened.db.rows<{ id: string }>('select id from servers order by id');
  servers = rows.map(({ id }) => formatId('server', id));
  api = V1Client.forUrl(world.url, await createApiToken(customer, 'write'));
  reader = api.withToken(await createApiToken(customer, 'read'));
});
after(async () => {
  if (running) await world.close();
});

/** The WebSocket URL in the URL of a console page. */
async function socketUrl({ readOnly = false, server = servers[0] } = {}): Promise<string> {
  const { status, body } = await (readOnly ? reader : api).get(`/servers/${server}/console`);
  assert.deepEqual([status, body.object, body.read_only], [200, 'console', readOnly]);
  const url = new URL(body.url);
  assert.equal(url.href.split('?')[0], `${world.url}/console`);
  assert.equal((await fetch(url)).status, 200);
  return `${world.url.replace('http', 'ws')}/${url.searchParams.get('path')}`;
}

async function openViewer(
  options: Parameters<typeof socketUrl>[0] = {},
): Promise<{ socket: WebSocket; viewer: RfbViewer }> {
  const socket = new WebSocket(await socketUrl(options), ['binary']);
  const viewer = new RfbViewer((bytes) => socket.send(bytes));
  socket.on('message', (bytes: Buffer) => viewer.receive(bytes));
  await once(socket, 'open');
  return { socket, viewer };
}

/** The console URL of a request with this Host header, without its ticket. */
async function pageUrl(host: string): Promise<string> {
  const headers = { host, authorization: `Bearer ${api.token}` };
  const { body } = await world.http.inject({ url: `/v1/servers/${servers[0]}/console`, headers });
  return (JSON.parse(body) as { url: string }).url.split('?')[0] ?? '';
}

/** The response that rejects a WebSocket: its status and the code in the envelope. */
async function rejection(url: string, options: ClientOptions = {}) {
  const socket = new WebSocket(url, [], options);
  const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const body = JSON.parse(Buffer.concat(await answer.toArray()).toString()) as {
    error: { code: string; request_id: string };
  };
  assert.equal(answer.headers['x-request-id'], body.error.request_id);
  socket.on('error', () => undefined);
  socket.terminate();
  return [answer.statusCode, body.error.code];
}

async function leave(socket: WebSocket): Promise<void> {
  socket.close();
  await once(socket, 'close');
}

describe('the console over its WebSocket', () => {
  it('a console shows the machine and accepts keys', async () => {
    const { socket, viewer } = await openViewer();
    assert.equal(socket.protocol, 'binary');
    assert.equal(socket.extensions, '');
    const { width, height } = await viewer.open();
    assert.deepEqual([width, height], [640, 400]);
    await viewer.fetchUpdate();
    assert.equal(viewer.rowText(4), '  state    running');
    assert.match(viewer.rowText(10), /login: _$/);
    viewer.type('root');
    viewer.press(0xff0d);
    await viewer.waitForScreen(
      () => viewer.rowText(10).endsWith('login: root') && /Login incorrect/.test(viewer.rowText(11)),
    );
    await leave(socket);
  });

  it('a read-only console shows the machine and accepts no keys', async () => {
    const { socket, viewer } = await openViewer({ readOnly: true });
    await viewer.open();
    await viewer.fetchUpdate();
    const before = viewer.screen();
    viewer.movePointer(9, 9);
    viewer.paste('x'.repeat(5_000));
    viewer.type('typed');
    viewer.press(0xff0d);
    assert.equal(await viewer.fetchUpdate(), 400);
    assert.equal(viewer.screen(), before);
    socket.send(Buffer.from([99]));
    assert.equal((await once(socket, 'close'))[0], 1008);
  });

  it('a used, expired, or unknown ticket gets 404 before the upgrade', async () => {
    const url = await socketUrl();
    const socket = new WebSocket(url);
    const [answer] = (await once(socket, 'upgrade')) as [IncomingMessage];
    assert.match(String(answer.headers['x-request-id']), /^req_/);
    assert.deepEqual(await rejection(url), [404, 'not_found']);
    const late = await socketUrl();
    await world.advance(301);
    assert.deepEqual(await rejection(late), [404, 'not_found']);
    const never = `${world.url.replace('http', 'ws')}/console/socket/`;
    for (const ticket of ['', 'aaaa', '%ff', `${'a'.repeat(52)}?${'b'.repeat(99)}`]) {
      assert.deepEqual(await rejection(`${never}${ticket}`), [404, 'not_found']);
    }
    await leave(socket);
  });

  it('other origins and invalid handshakes are rejected, and the ticket stays valid', async () => {
    const url = await socketUrl();
    for (const origin of ['https://evil.example', 'null', `${world.url}0`]) {
      assert.deepEqual(await rejection(url, { origin }), [403, 'forbidden_scope'], origin);
    }
    assert.deepEqual(await rejection(url, { protocolVersion: 8 }), [400, 'invalid_request']);
    const socket = new WebSocket(url, [], { origin: world.url });
    await once(socket, 'open');
    await leave(socket);
  });

  it('a server has at most five open consoles', async () => {
    const views = await Promise.all([1, 2, 3, 4, 5].map(() => openViewer()));
    assert.deepEqual(await rejection(await socketUrl()), [409, 'conflict_state']);
    const [first, ...others] = views.map(({ socket }) => socket);
    assert.ok(first);
    await leave(first);
    const again = await openViewer();
    await Promise.all([again.socket, ...others].map(leave));
  });

  it('an upgrade of any other path or protocol is answered as an ordinary request', async () => {
    const port = Number(new URL(world.url).port);
    const ask = (path: string, line: string) =>
      exchangeRaw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\n${line}\r\n\r\n`);
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket';
    assert.match(await ask('/healthz', upgrade), /^HTTP\/1\.1 200 /);
    assert.match(await ask('/console', upgrade), /^HTTP\/1\.1 200 /);
    assert.match(await ask('/nothing', upgrade), /^HTTP\/1\.1 404 /);
    const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c';
    assert.match(await ask(`/console/socket/${'a'.repeat(52)}`, h2c), /^HTTP\/1\.1 404 .*not_found/s);
    assert.match(
      await ask(`/console/socket/${'a'.repeat(52)}`, upgrade),
      /^HTTP\/1\.1 400 .*invalid_request/s,
    );
  });

  it('a console ends with its machine, and no new one opens', async () => {
    const { socket, viewer } = await openViewer();
    await viewer.open();
    const [machine] = await world.simulator.machines();
    assert.ok(machine);
    await world.simulator.loseMachine(machine.id);
    const [code] = (await once(socket, 'close')) as [number];
    assert.equal(code, 1000);
    assert.deepEqual(await rejection(await socketUrl()), [409, 'conflict_state']);
  });

  it('a console of a stopped server gets 409, and of an unknown server 404', async () => {
    const missing = formatId('server', newId(new Date()));
    assertApiError(await api.get(`/servers/${missing}/console`), 404, 'not_found');
    const [server] = servers;
    await world.opened.db.run(`update servers set status = 'stopped'`);
    assertApiError(await api.get(`/servers/${server}/console`), 409, 'conflict_state');
    await world.opened.db.run(`update servers set status = 'running'`);
  });
});

describe('the console page', () => {
  it('the console page needs no sign-in, lists the resources it loads, and blocks all others', async () => {
    const answer = await fetch(`${world.url}/console?path=console%2Fsocket%2Fsecret`);
    const page = await answer.text();
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
    assert.equal(answer.headers.get('x-frame-options'), 'DENY');
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
    const { host } = new URL(world.url);
    assert.deepEqual((answer.headers.get('content-security-policy') ?? '').split('; '), [
      `default-src 'none'`,
      `script-src 'self'`,
      `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
      'img-src data:',
      `connect-src 'self' ws://${host} wss://${host}`,
      `form-action 'none'`,
      `base-uri 'none'`,
      `frame-ancestors 'none'`,
    ]);
    assert.ok(!/secret|\son\w+=|style=|https?:|<script>/.test(page));
    assert.match(page, /<noscript>.*needs scripts.*SSH.*rescue.*<\/noscript>/s);
    const evil = await world.http.inject({ url: '/console', headers: { host: 'x; script-src *' } });
    assert.match(String(evil.headers['content-security-policy']), /connect-src 'self'; form-action/);
  });

  it('the URL of a console names the requested host, or our own address if the host is invalid', async () => {
    assert.equal(await pageUrl('Panel.Example:8443'), 'http://panel.example:8443/console');
    for (const host of ['a b<x>', 'x"y', 'user@x', 'x/y', 'x:99999', '[::x]']) {
      assert.equal(await pageUrl(host), `${world.url}/console`, host);
    }
  });

  it('the console page loads its script and all imports, cached permanently', async () => {
    const page = await (await fetch(`${world.url}/console`)).text();
    const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(page) ?? [];
    const [, license = ''] = /href="([^"]+LICENSE[^"]*)"/.exec(page) ?? [];
    assert.match(await (await fetch(new URL(license, world.url))).text(), /MPL/);
    const seen = new Set<string>();
    const waiting = [new URL(script, world.url).href];
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
      if (seen.has(url)) continue;
      seen.add(url);
      const answer = await fetch(url);
      assert.equal(answer.status, 200, url);
      assert.equal(answer.headers.get('content-type'), 'text/javascript; charset=utf-8');
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      const imports = (await answer.text()).matchAll(
        /^\s*(?:import|export)\b[^;'"]*['"](\.[^'"]+)['"]|import\('(\.[^']+)'\)/gm,
      );
      for (const [, one, other] of imports) waiting.push(new URL(one ?? other ?? '', url).href);
    }
    assert.ok(seen.size > 40, `${seen.size} modules`);
  });

  it('no file outside the console’s own is served', async () => {
    const page = await (await fetch(`${world.url}/console`)).text();
    const [, folder = ''] = /src="(\/console\/files\/[0-9a-f]{16}\/)/.exec(page) ?? [];
    const wrong = [
      '',
      'novnc/',
      'novnc/package.json',
      'novnc/core',
      'novnc/README.md',
      'upgrade.ts',
      '../../healthz',
    ];
    const escapes = [
      'novnc/../../../package.json',
      'novnc/..%2f..%2f..%2fpackage.json',
      '%2e%2e/%2e%2e/package.json',
    ];
    for (const path of [
      ...wrong.slice(0, -1),
      ...escapes,
      '/etc/passwd',
      'novnc/core/rfb.js%00',
      '__proto__',
    ]) {
      const { statusCode } = await world.http.inject(`${folder}${path}`);
      assert.equal(statusCode, 404, path);
    }
    const { statusCode } = await world.http.inject(
      `/console/files/${randomBytes(8).toString('hex')}/page.js`,
    );
    assert.equal(statusCode, 404);
  });
});

describe('a stopping service', () => {
  it(
    'a stopping service notifies its viewers and does not wait for an unresponsive one',
    FULL_ONLY,
    async () => {
      const server = servers[1];
      const [polite, mute] = [await openViewer({ server }), await openViewer({ server })];
      mute.socket.pause();
      const closed = once(polite.socket, 'close');
      const began = performance.now();
      running = false;
      await world.close();
      assert.ok(performance.now() - began < 6_000);
      assert.equal((await closed)[0], 1001);
      mute.socket.terminate();
    },
  );
});
