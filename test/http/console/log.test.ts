import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { formatId } from '../../../src/kernel/ids.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

describe('the log of consoles', () => {
  let world: HttpWorld;
  let url: string;
  let api: V1Client;
  let server: string;

  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    url = await world.app.listen({ host: '127.0.0.1', port: 0 });
    const customer = await world.customer();
    await world.creditBalance(customer, 5_000n);
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
    await customer.post('/deploy-api.php', { ...order, root_password: 'a long enough one' });
    // The tables say that it runs, but there is no machine, so there is no screen either.
    const row = await world.db.row<{ id: string }>(`update servers set status = 'running' returning id`);
    server = formatId('server', row?.id ?? '');
    api = V1Client.forUrl(url, await createApiToken(customer, 'write'));
  });
  after(() => world.close());

  async function ticketUrl(): Promise<URL> {
    const { body } = await api.get(`/servers/${server}/console`);
    return new URL(body.url);
  }

  async function upgrade(path: string, origin?: string): Promise<number | undefined> {
    const socket = new WebSocket(
      `${url.replace('http', 'ws')}/${path}`,
      origin === undefined ? {} : { origin },
    );
    socket.on('error', () => undefined);
    const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    socket.terminate();
    return answer.statusCode;
  }

  it('the log never contains a ticket in any form', async () => {
    const page = await ticketUrl();
    const path = page.searchParams.get('path') ?? '';
    const ticket = path.split('/').at(-1) ?? '';
    world.log.length = 0;
    await fetch(page);
    await fetch(`${url}/${path}`);
    await fetch(`${url}/${path}`, { headers: { accept: 'text/html' } });
    assert.equal(await upgrade(path, 'https://evil.example'), 403);
    assert.equal(await upgrade(path), 409);
    assert.equal(await upgrade(path), 404);
    const lines = world.log.map((line) => JSON.parse(line) as { route?: string | null; status?: number });
    assert.deepEqual(
      lines.filter(({ route }) => route !== undefined).map(({ route, status }) => [route, status]),
      [
        ['/console', 200],
        [null, 404],
        [null, 404],
        ['/console/socket/:ticket', 403],
        ['/console/socket/:ticket', 409],
        ['/console/socket/:ticket', 404],
      ],
    );
    assert.ok(ticket.length === 52 && !world.log.join('').includes(ticket));
  });

  it('a database outage that blocks a console is logged, and the viewer gets 503', async () => {
    const path = (await ticketUrl()).searchParams.get('path') ?? '';
    world.log.length = 0;
    world.outage.error = Object.assign(new Error('terminating connection'), { code: '57P01' });
    try {
      assert.equal(await upgrade(path), 503);
    } finally {
      world.outage.error = null;
    }
    const text = world.log.join('');
    assert.match(text, /57P01.*\n.*"status":503/);
    assert.ok(!text.includes(path.split('/').at(-1) ?? ''));
  });
});
