import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { LoadGate } from '../../../src/http/admission/load-gate.ts';
import { guardServer } from '../../../src/http/admission/overload.ts';
import { RequestMetrics } from '../../../src/http/metrics/requests.ts';
import { assetsOf, brandOf } from '../../../src/http/panel/assets.ts';
import { formatId, newId, parseId } from '../../../src/kernel/ids.ts';
import { createLogger } from '../../../src/kernel/logger.ts';
import { PLAIN_SITE } from '../http-world.ts';

const READ = 'GET /v1/servers HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n';
const HELD = 'GET /v1/held HTTP/1.1\r\nHost: x\r\n\r\n';

/** A connection of a client that sees every byte. */
class RawClient {
  readonly socket: Socket;
  received = '';

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1').setEncoding('latin1');
    this.socket.on('data', (text) => {
      this.received += text;
    });
  }

  get statuses(): string[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = '']) => status);
  }

  /** Sends and waits for so many responses in all. */
  async send(text: string, responses: number): Promise<void> {
    this.socket.write(text);
    await until(() => this.statuses.length >= responses);
  }
}

async function until(isReached: () => boolean): Promise<void> {
  const endsAt = performance.now() + 20_000;
  for (; !isReached(); await setImmediate()) assert.ok(performance.now() < endsAt, 'waited too long');
}

describe('a connection on which a read was refused', { timeout: 60_000 }, () => {
  let server: Server;
  let port = 0;
  let parsed: string[] = [];
  let held: ServerResponse[] = [];
  let accepted: Socket | undefined;
  const servers: Server[] = [];
  const clients: RawClient[] = [];
  beforeEach(async () => {
    parsed = [];
    held = [];
    accepted = undefined;
    server = createServer((request, response) => {
      if (request.url === '/v1/held') held.push(response);
      else request.resume().on('end', () => response.end('served'));
    });
    servers.push(server);
    guardServer(server, new LoadGate({ targetMs: 100, requestsMax: 1 }), {
      requests: new RequestMetrics(),
      newRequestId: () => formatId('request', newId(new Date())),
      log: createLogger('silent'),
      site: { brand: brandOf('Test', PLAIN_SITE), assets: assetsOf(PLAIN_SITE), sandbox: true },
    });
    server.on('request', ({ method, url }) => parsed.push(`${method} ${url}`));
    server.on('connection', (socket) => {
      accepted = socket;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  after(() => {
    for (const { socket } of clients) socket.destroy();
    for (const one of servers) one.close().closeAllConnections();
  });

  function open(): RawClient {
    const client = new RawClient(port);
    clients.push(client);
    return client;
  }
  /** Fills the service with one request. */
  async function hold(): Promise<void> {
    open().socket.write(HELD);
    await until(() => held.length === 1);
  }
  /** Refuses reads of a connection from before the load until it is known. */
  async function refuseTwo(): Promise<RawClient> {
    const client = open();
    await until(() => accepted !== undefined);
    const known = accepted;
    await hold();
    accepted = known;
    await client.send(READ, 1);
    await client.send(READ, 2);
    await setImmediate();
    assert.deepEqual([client.statuses, parsed.length], [['503', '503'], 3]);
    return client;
  }
  /** Sends a part and waits until the service has read it. */
  async function sendPart(client: RawClient, text: string): Promise<void> {
    const bytes = (accepted?.bytesRead ?? 0) + text.length;
    client.socket.write(text);
    await until(() => accepted?.bytesRead === bytes);
  }

  it('refuses the next reads before they are parsed, each with its request id', async () => {
    const client = await refuseTwo();
    for (let n = 3; n <= 6; n++) await client.send(READ, n);
    assert.equal(parsed.length, 3);
    const requestIds = new Set<string>();
    const texts = client.received.split(/(?=HTTP\/1\.1 )/);
    for (const text of texts) {
      const [head = '', body = ''] = text.split('\r\n\r\n');
      const headers = new Headers(
        head
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(': ') as [string, string]),
      );
      const requestId = headers.get('x-request-id') ?? '';
      requestIds.add(requestId);
      assert.equal(formatId('request', parseId('request', requestId) ?? ''), requestId);
      assert.equal(headers.get('content-length'), String(body.length));
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
      assert.equal(headers.get('access-control-allow-origin'), '*');
      assert.equal(headers.get('retry-after'), null);
      const { error } = JSON.parse(body);
      assert.deepEqual([error.code, error.request_id], ['maintenance', requestId]);
    }
    assert.deepEqual([texts.length, requestIds.size], [6, 6]);
  });

  it('is refused from its first read if it is opened under load, and served later', async () => {
    await hold();
    const client = open();
    await client.send(READ, 1);
    await client.send('POST /v1/servers HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}', 2);
    assert.deepEqual(
      [client.statuses, parsed],
      [
        ['503', '503'],
        ['GET /v1/held', 'POST /v1/servers'],
      ],
    );
    held[0]?.end();
    await until(() => held[0]?.closed === true);
    await client.send(READ, 3);
    assert.equal(client.statuses[2], '200');
  });

  it('is served again after the load', async () => {
    const client = await refuseTwo();
    held[0]?.end();
    await until(() => held[0]?.closed === true);
    for (let n = 3; n <= 5; n++) await client.send(READ, n);
    assert.deepEqual(client.statuses.slice(2), ['200', '200', '200']);
    assert.equal(parsed.length, 6);
  });

  it('gets one response for a request that arrives in parts, or with a body like a read', async () => {
    const client = await refuseTwo();
    await sendPart(client, 'GET /v1/servers HTTP/1.1\r\nX-Part: ');
    await client.send(READ, 3);
    assert.equal(parsed.length, 4);
    await client.send(READ, 4);
    assert.equal(parsed.length, 4, 'a read alone is not parsed');
    await sendPart(client, `POST /v1/servers HTTP/1.1\r\nHost: x\r\nContent-Length: ${READ.length}\r\n\r\n`);
    await client.send(READ, 5);
    assert.deepEqual(parsed.slice(4), ['POST /v1/servers']);
    await client.send(READ + READ, 7);
    assert.equal(parsed.length, 7);
    await client.send('GET /v1/last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 8);
    await once(client.socket, 'close');
    assert.deepEqual(client.statuses, Array(8).fill('503'));
  });

  it('keeps the bytes of another protocol after an upgrade', async () => {
    const echoed: string[] = [];
    server.on('upgrade', (_request, socket: Socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.on('data', (data) => echoed.push(String(data)));
    });
    const client = await refuseTwo();
    await client.send('GET /v1/echo HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n', 3);
    await sendPart(client, READ);
    assert.deepEqual([echoed, client.statuses.at(-1)], [[READ], '101']);
  });
});
