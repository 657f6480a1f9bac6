import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor } from '../../../src/domain/context.ts';
import {
  type ConsoleGrant,
  checkConsoleAccess,
  connectConsole,
  openConsole,
  redeemConsoleTicket,
} from '../../../src/domain/servers/console.ts';
import { Failure, type FailureExtras } from '../../../src/kernel/fail.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { formatRfc3339 } from '../../../src/kernel/time.ts';
import { setCustomerFrozen } from '../../../src/store/customer-freeze.ts';
import { deleteSession, insertSession } from '../../../src/store/sessions.ts';
import { insertToken } from '../../../src/store/tokens.ts';
import type { TestService } from '../../support/test-service.ts';
import { RegionWorld } from './region-world.ts';

let region: RegionWorld;
let world: TestService;
let id: string;
let actor: CustomerActor;

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());
beforeEach(async () => {
  await region.reset();
  id = await region.order();
  const requestId = formatId('request', newId(new Date()));
  actor = { customerId: region.customerId, sessionId: null, tokenId: null, requestId, ipCountry: 'XX' };
  await world.runUntilIdle();
});

const BASE = { readOnly: false, baseUrl: 'https://skerry.example/' };

async function ticketOf(options: { readOnly?: boolean } = {}, as: CustomerActor = actor) {
  const { url } = await openConsole(world.service, as, formatId('server', id), { ...BASE, ...options });
  const path = new URL(url).searchParams.get('path') ?? '';
  return path.slice(path.lastIndexOf('/') + 1);
}

const admitted = (readOnly: boolean, tokenId: string | null = null, sessionId: string | null = null) => ({
  ...{ serverId: id, customerId: actor.customerId, tokenId, sessionId, readOnly },
});

/** A session of the customer's; its id. */
async function session(): Promise<string> {
  const sessionId = newId(new Date());
  const { customerId } = actor;
  const row = { id: sessionId, customerId, digest: randomBytes(32), now: world.clock.now() };
  await insertSession(world.db, row);
  return sessionId;
}

/** A token of the customer's; its id. */
async function token(expiresAt: Date | null = null): Promise<string> {
  const tokenId = newId(new Date());
  const { customerId } = actor;
  const row = { id: tokenId, customerId, name: 'a token', scope: 'write', digest: randomBytes(32) } as const;
  await insertToken(world.db, { ...row, expiresAt, createdAt: world.clock.now() });
  return tokenId;
}

const refusedBy = (code: string, extras?: FailureExtras) => (error: unknown) => {
  assert.ok(error instanceof Failure, String(error));
  assert.deepEqual([error.code, ...(extras ? [error.extras] : [])], [code, ...(extras ? [extras] : [])]);
  return true;
};

describe('a console', () => {
  it('is a page whose path names a WebSocket, for five minutes', async () => {
    const shown = formatId('server', id);
    const made = await openConsole(world.service, actor, shown, BASE);
    const url = new URL(made.url);
    assert.equal(url.origin + url.pathname, 'https://skerry.example/console');
    assert.match(url.searchParams.get('path') ?? '', /^console\/socket\/[a-z2-7]{52}$/);
    const expiresAt = formatRfc3339(new Date(world.clock.now().getTime() + 300_000));
    assert.deepEqual(
      { ...made, url: '' },
      { object: 'console', url: '', expires_at: expiresAt, read_only: false },
    );
    const other = await openConsole(world.service, actor, shown, { ...BASE, readOnly: true });
    assert.equal(other.read_only, true);
    assert.equal(new URL(other.url).searchParams.get('view_only'), 'true');
  });

  it('opens once, whoever tries at the same time', async () => {
    for (const _ of [1, 2]) {
      const ticket = await ticketOf();
      const tries = await Promise.allSettled(
        Array.from({ length: 8 }, () => redeemConsoleTicket(world.service, ticket)),
      );
      const [opened, ...more] = tries.filter((one) => one.status === 'fulfilled');
      assert.deepEqual(opened?.value, admitted(false));
      assert.equal(more.length, 0);
      for (const one of tries) if (one.status === 'rejected') refusedBy('not_found')(one.reason);
    }
  });

  it('opens until the second it expires, and what is over is swept away', async () => {
    const [first, second] = [await ticketOf(), await ticketOf({ readOnly: true })];
    world.clock.advanceS(299);
    assert.deepEqual(await redeemConsoleTicket(world.service, second), admitted(true));
    world.clock.advanceS(1);
    await assert.rejects(redeemConsoleTicket(world.service, first), refusedBy('not_found'));
    await ticketOf();
    assert.equal((await world.db.rows('select from console_tickets')).length, 1);
  });

  it('is kept as a digest only', async () => {
    const ticket = await ticketOf();
    const dump = JSON.stringify(
      await world.db.rows('select *, encode(digest, $1) as hex from console_tickets', ['hex']),
    );
    assert.ok(!dump.includes(ticket) && !dump.includes(Buffer.from(ticket).toString('hex')));
  });

  it('is not there for another customer, a malformed id or a text that is no ticket', async () => {
    const stranger = await world.fixtures.addCustomer();
    const ids: [CustomerActor, string][] = [
      [stranger, formatId('server', id)],
      [actor, formatId('server', newId(new Date()))],
      [actor, id],
      [actor, ''],
    ];
    for (const [as, shown] of ids) {
      await assert.rejects(openConsole(world.service, as, shown, BASE), refusedBy('not_found', {}));
    }
    for (const text of ['', 'a', '\0', 'a'.repeat(9_999)]) {
      await assert.rejects(redeemConsoleTicket(world.service, text), refusedBy('not_found'));
    }
  });

  it('needs a server that runs, when the ticket is made and when it is used', async () => {
    const ticket = await ticketOf();
    await world.db.run(`update servers set status = 'stopped' where id = $1`, [id]);
    await assert.rejects(ticketOf(), refusedBy('conflict_state'));
    await assert.rejects(redeemConsoleTicket(world.service, ticket), refusedBy('conflict_state'));
    await assert.rejects(redeemConsoleTicket(world.service, ticket), refusedBy('not_found'));
  });

  it('only looks for a frozen customer, also with a ticket from before', async () => {
    const ticket = await ticketOf();
    await setCustomerFrozen(world.db, actor.customerId, world.clock.now());
    assert.equal((await redeemConsoleTicket(world.service, ticket)).readOnly, true);
    assert.equal((await redeemConsoleTicket(world.service, await ticketOf())).readOnly, true);
  });

  it('goes with the token that asked for it, or with its last second', async () => {
    const revoked = await token();
    const ticket = await ticketOf({}, { ...actor, tokenId: revoked });
    await world.db.run('delete from api_tokens where id = $1', [revoked]);
    await assert.rejects(redeemConsoleTicket(world.service, ticket), refusedBy('not_found'));
    const expiring = { ...actor, tokenId: await token(new Date(world.clock.now().getTime() + 60_000)) };
    const [inTime, late] = [await ticketOf({}, expiring), await ticketOf({}, expiring)];
    assert.deepEqual(await redeemConsoleTicket(world.service, inTime), admitted(false, expiring.tokenId));
    world.clock.advanceS(60);
    await assert.rejects(redeemConsoleTicket(world.service, late), refusedBy('not_found'));
  });

  it('goes with the session that asked for it, and one that is open must end with it', async () => {
    const sessionId = await session();
    const [used, kept] = [
      await ticketOf({}, { ...actor, sessionId }),
      await ticketOf({}, { ...actor, sessionId }),
    ];
    const admission = await redeemConsoleTicket(world.service, used);
    assert.deepEqual(admission, admitted(false, null, sessionId));
    assert.equal(await checkConsoleAccess(world.service, admission), null);
    world.clock.advanceS(60);
    await deleteSession(world.db, sessionId);
    assert.equal(await checkConsoleAccess(world.service, admission), 'signed_out');
    await assert.rejects(redeemConsoleTicket(world.service, kept), refusedBy('not_found'));
    const idle = admitted(true, null, await session());
    assert.equal(await checkConsoleAccess(world.service, idle), null);
    world.clock.advanceS(24 * 3600);
    assert.equal(await checkConsoleAccess(world.service, idle), 'signed_out');
  });

  it('that is open must end when its token is revoked or expires, and when its customer is frozen', async () => {
    const review = (admission: ConsoleGrant) => checkConsoleAccess(world.service, admission);
    const lasting = admitted(false, await token());
    const expiring = admitted(true, await token(new Date(world.clock.now().getTime() + 60_000)));
    const [typing, looking] = [admitted(false), admitted(true)];
    for (const each of [lasting, expiring, typing, looking]) assert.equal(await review(each), null);
    world.clock.advanceS(60);
    assert.deepEqual([await review(expiring), await review(lasting)], ['revoked', null]);
    await setCustomerFrozen(world.db, actor.customerId, world.clock.now());
    assert.deepEqual([await review(lasting), await review(typing)], ['frozen', 'frozen']);
    assert.equal(await review(looking), null);
    await world.db.run('delete from api_tokens where id = $1', [lasting.tokenId]);
    assert.equal(await review(lasting), 'revoked');
    assert.equal(await review({ ...looking, customerId: newId(new Date()) }), 'revoked');
  });

  it('is unavailable on hardware that has none', async () => {
    const { compute } = world.service;
    const { vps } = compute.capabilities;
    const without = { vps: { ...vps, console: false }, dedicated: compute.capabilities.dedicated };
    const service = {
      ...world.service,
      compute: Object.create(compute, { capabilities: { value: without } }),
    };
    await assert.rejects(
      openConsole(service, actor, formatId('server', id), BASE),
      refusedBy('unavailable', { field: '' }),
    );
  });

  it('is the stream of the machine’s screen; a host that does not give it is 503, a machine that is off 409', async () => {
    const screen = await connectConsole(world.service, id);
    assert.equal((await once(screen, 'data')).toString(), 'RFB 003.008\n');
    screen.destroy();
    await world.faults.set({ driver: 'compute', operation: 'console', times: 1 });
    await assert.rejects(connectConsole(world.service, id), refusedBy('maintenance'));
    await world.service.compute.power(id, 'off');
    await assert.rejects(connectConsole(world.service, id), refusedBy('conflict_state'));
  });
});
