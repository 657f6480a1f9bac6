/** An onion service, with a stand-in for Tor that names circuits as Tor does. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { listenForOnion, type OnionListener } from '../../src/http/onion-listener.ts';
import { PASSWORD, SessionClient } from '../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from './http-world.ts';

const torLine = (circuit: number) =>
  `PROXY TCP6 fc00:dead:beef:4dad::${(circuit >>> 16).toString(16)}:${(circuit & 0xffff).toString(16)} ` +
  `::1 ${circuit & 0xffff} 80\r\n`;

describe('the onion listener', () => {
  let world: HttpWorld;
  let onion: OnionListener;
  before(async () => {
    const settings = { signinFailuresPerHour: 3, trustedProxies: ['127.0.0.1', 'fc00::/7'] };
    world = await startHttpWorld({ settings });
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    onion = await listenForOnion(world.app.server, world.service.log, { host: '127.0.0.1', port: 0 });
  });
  after(async () => {
    onion.close();
    onion.endAll();
    await world.close();
  });

  /** Sends these pieces one by one and returns everything that comes back before the connection closes. */
  async function exchange(pieces: readonly string[]): Promise<string> {
    const socket = connect(onion.port, '127.0.0.1').setNoDelay();
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
    await closed;
    return Buffer.concat(chunks).toString();
  }

  /** A client whose requests each arrive on a new connection of this circuit. */
  const onCircuit = (circuit: number, extra: Record<string, string> = {}) =>
    new SessionClient(async ({ method, path, headers, body = '' }) => {
      const all = { host: 'skerry.onion', connection: 'close', ...headers, ...extra };
      const lines = Object.entries({ ...all, 'content-length': String(Buffer.byteLength(body)) });
      const fieldLines = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const head = `${method} ${path} HTTP/1.1\r\n${fieldLines}`;
      const answer = await exchange([`${torLine(circuit)}${head}\r\n${body}`]);
      const [top = '', ...rest] = answer.split('\r\n\r\n');
      const [status = '', ...fields] = top.split('\r\n');
      const pairs = fields.map((field): [string, string] => {
        const at = field.indexOf(': ');
        return [field.slice(0, at), field.slice(at + 2)];
      });
      return {
        status: Number(status.split(' ')[1]),
        headers: new Headers(pairs),
        text: rest.join('\r\n\r\n'),
      };
    });

  it('visitors of an onion service are limited by circuit', async () => {
    const { email } = await world.customer();
    const flood = onCircuit(0x10002);
    const statuses = [];
    for (let n = 0; n < 4; n++)
      statuses.push((await flood.signIn(`guess${n}@example.org`, 'a guess')).status);
    assert.deepEqual(statuses, [400, 400, 400, 429]);
    assert.equal((await onCircuit(0x10002).signIn(email, PASSWORD)).status, 429, 'the same circuit');
    assert.equal((await onCircuit(0x10003).signIn(email, PASSWORD)).status, 200, 'another circuit');
    assert.equal((await onCircuit(0x20002).signIn(email, PASSWORD)).status, 200, 'another circuit');
  });

  it('a visitor of an onion service cannot claim an address', async () => {
    const statuses = [];
    for (let n = 0; n < 4; n++) {
      const client = onCircuit(7, { 'x-forwarded-for': `198.51.100.${n}` });
      statuses.push((await client.signIn(`no${n}@example.org`, 'a guess')).status);
    }
    assert.deepEqual(statuses, [400, 400, 400, 429]);
  });

  it('the line of a circuit may arrive in pieces, together with the request', async () => {
    const request = 'GET /healthz HTTP/1.1\r\nHost: a.onion\r\nConnection: close\r\n\r\n';
    const whole = `${torLine(9)}${request}`;
    for (const at of [1, 20, torLine(9).length - 1, torLine(9).length, torLine(9).length + 5]) {
      assert.match(await exchange([whole.slice(0, at), whole.slice(at)]), /^HTTP\/1\.1 200 /, String(at));
    }
  });

  it('a connection without the line of a circuit is closed unanswered', async () => {
    const request = 'GET /healthz HTTP/1.1\r\nHost: a.onion\r\nConnection: close\r\n\r\n';
    for (const line of [
      '',
      'PROXY UNKNOWN\r\n',
      'PROXY TCP4 198.51.100.7 127.0.0.1 5 80\r\n',
      'PROXY TCP6 2001:db8::1 ::1 5 80\r\n',
      'PROXY TCP6 fc00:dead:beef:4dae::1:1 ::1 5 80\r\n',
      'PROXY TCP6 fc00:dead:beef:4dad::1:1 ::1 65536 80\r\n',
      'PROXY TCP6 fc00:dead:beef:4dad::1:1 1:1 5 80\r\n',
      `\r\n\r\n\0\r\nQUIT\n${'\0'.repeat(20)}`,
      `${'x'.repeat(200)}`,
    ]) {
      assert.equal(await exchange([`${line}${request}`]), '', JSON.stringify(line));
    }
  });
});
