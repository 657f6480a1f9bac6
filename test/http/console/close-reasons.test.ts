/** Open consoles: their limits, and the reasons to end them other than the viewer and the screen. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { openConsole } from '../../../src/domain/servers/console.ts';
import { revokeToken } from '../../../src/domain/tokens/tokens.ts';
import { OpenConsoles } from '../../../src/http/console/open-consoles.ts';
import { PIPE_LIMITS } from '../../../src/http/console/pipe.ts';
import { handleUpgrades } from '../../../src/http/console/upgrade.ts';
import type { Edge } from '../../../src/http/settings.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { setCustomerFrozen } from '../../../src/store/customers/customers.ts';
import { insertToken } from '../../../src/store/customers/tokens.ts';
import { RegionWorld } from '../../domain/servers/region-world.ts';

describe('console limits', () => {
  const refusalOf = (consoles: OpenConsoles, customerId: string, serverId: string) => {
    try {
      consoles.reserve({ customerId, serverId })();
      return null;
    } catch (error) {
      assert.ok(error instanceof Failure, String(error));
      return `${error.code}: ${error.message}`;
    }
  };

  it('consoles are limited to five per server, twenty per customer, and two hundred in total', () => {
    const consoles = new OpenConsoles();
    const free = Array.from({ length: 20 }, (_, n) =>
      consoles.reserve({ customerId: 'c0', serverId: `s${n >> 2}` }),
    );
    free.push(consoles.reserve({ customerId: 'c1', serverId: 't' }));
    assert.match(refusalOf(consoles, 'c0', 's9') ?? '', /^conflict_state: You have 20 consoles open/);
    assert.equal(refusalOf(consoles, 'c1', 't'), null);
    for (let n = 0; n < 4; n += 1) free.push(consoles.reserve({ customerId: 'c1', serverId: 't' }));
    assert.match(refusalOf(consoles, 'c1', 't') ?? '', /^conflict_state: This server has 5 consoles open/);
    const [first] = free;
    first?.();
    first?.();
    assert.equal(refusalOf(consoles, 'c0', 's9'), null);
    for (let n = 24; n < 200; n += 1) consoles.reserve({ customerId: `x${n}`, serverId: `x${n}` });
    assert.match(refusalOf(consoles, 'last', 'last') ?? '', /^maintenance: /);
  });
});

describe('the end of an open console', () => {
  let region: RegionWorld;
  let actor: CustomerActor & { tokenId: string };
  let server: Server;
  let endConsoles: () => Promise<void>;
  let shown: string;

  before(async () => {
    region = await RegionWorld.open();
    const { service } = region.world;
    server = createServer();
    endConsoles = handleUpgrades(server, {
      // The pipe reads only these two properties.
      edge: { service, settings: { baseUrl: null, isUnavailable: () => false } } as unknown as Edge,
      newRequestId: () => formatId('request', newId(new Date())),
      limits: { ...PIPE_LIMITS, checkEveryMs: 10 },
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(async () => {
    await endConsoles();
    server.close();
    await region.world.close();
  });
  beforeEach(async () => {
    await region.reset();
    ({ shown } = await region.running());
    const { customerId } = region;
    const tokenId = newId(new Date());
    const token = {
      id: tokenId,
      customerId,
      name: 'a',
      scope: 'write',
      digest: Buffer.from(tokenId),
    } as const;
    const createdAt = region.world.clock.now();
    await insertToken(region.world.db, {
      ...token,
      expiresAt: new Date(createdAt.getTime() + 3_600_000),
      createdAt,
    });
    actor = { ...region.actor, tokenId, sessionId: null };
  });

  async function open(readOnly = false) {
    const { service } = region.world;
    const { url } = await openConsole(service, actor, shown, { readOnly, baseUrl: 'http://x' });
    const { port } = server.address() as AddressInfo;
    const socket = new WebSocket(`ws://127.0.0.1:${port}/${new URL(url).searchParams.get('path')}`);
    const closed = once(socket, 'close').then(([code]) => code as number);
    await once(socket, 'open');
    return { socket, closed };
  }

  /** Stays open for several pings, each of which includes a review. */
  async function outlives(socket: WebSocket): Promise<void> {
    for (let pings = 0; pings < 5; pings += 1) await once(socket, 'ping');
    assert.equal(socket.readyState, WebSocket.OPEN);
  }

  it('a console ends soon after its token is revoked', async () => {
    const revoked = await open();
    await outlives(revoked.socket);
    await revokeToken(region.world.service, actor, formatId('token', actor.tokenId));
    assert.equal(await revoked.closed, 4002);
  });

  it('a console ends soon after its token expires, even if it is read-only', async () => {
    const expired = await open(true);
    await outlives(expired.socket);
    region.world.clock.advanceS(3_600);
    assert.equal(await expired.closed, 4002);
  });

  it('a console ends soon after its customer is frozen, who can then open a read-only one', async () => {
    const [typing, looking] = [await open(), await open(true)];
    await setCustomerFrozen(region.world.db, actor.customerId, region.world.clock.now());
    assert.equal(await typing.closed, 4003);
    const again = await open();
    await outlives(again.socket);
    await outlives(looking.socket);
    for (const { socket, closed } of [again, looking]) {
      socket.close();
      await closed;
    }
  });
});
