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
import { setCustomerFrozen } from '../../../src/store/customers/customers.ts';
import { deleteSession, insertSession } from '../../../src/store/customers/sessions.ts';
import { insertToken } from '../../../src/store/customers/tokens.ts';
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

async function createTicket(options: { readOnly?: boolean } = {}, as: CustomerActor = actor) {
  const { url } = await openConsole(world.service, as, formatId('server', id), { ...BASE, ...options });
  const path = new URL(url).searchParams.get('path') ?? '';
  return path.slice(path.lastIndexOf('/') + 1);
}

const grantFor = (readOnly: boolean, tokenId: string | null = null, sessionId: string | null = null) => ({
  serverId: id,
  customerId: actor.customerId,
  tokenId,
  sessionId,
  readOnly,
});

/** Creates a session of the customer; returns its id. */
async function createSession(): Promise<string> {
  const sessionId = newId(new Date());
  const { customerId } = actor;
  const row = { id: sessionId, customerId, digest: randomBytes(32), now: world.clock.now() };
  await insertSession(world.db, row);
  return sessionId;
}

/** Creates a token of the customer; returns its id. */
async function createToken(expiresAt: Date | null = null): Promise<string> {
  const tokenId = newId(new Date());
  const { customerId } = actor;
  const row = { id: tokenId, customerId, name: 'a token', scope: 'write', digest: randomBytes(32) } as const;
  await insertToken(world.db, { ...row, expiresAt, createdAt: world.clock.now() });
  return tokenId;
}

const failsWith = (code: string, extras?: FailureExtras) => (error: unknown) => {
  assert.ok(error instanceof Failure, String(error));
  assert.deepEqual([error.code, ...(extras ? [error.extras] : [])], [code, ...(extras ? [extras] : [])]);
  return true;
};

describe('server console', () => {
  it('a console URL names a WebSocket path and expires after five minutes', async () => {
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

  it('a console ticket can be redeemed once, even under concurrent attempts', async () => {
    for (const _ of [1, 2]) {
      const ticket = await createTicket();
      const tries = await Promise.allSettled(
        Array.from({ length: 8 }, () => redeemConsoleTicket(world.service, ticket)),
      );
      const [opened, ...more] = tries.filter((one) => one.status === 'fulfilled');
      assert.deepEqual(opened?.value, grantFor(false));
      assert.equal(more.length, 0);
      for (const one of tries) if (one.status === 'rejected') failsWith('not_found')(one.reason);
    }
  });

  it('a console ticket is valid until the second it expires, and expired tickets are purged', async () => {
    const [first, second] = [await createTicket(), await createTicket({ readOnly: true })];
    world.clock.advanceS(299);
    assert.deepEqual(await redeemConsoleTicket(world.service, second), grantFor(true));
    world.clock.advanceS(1);
    await assert.rejects(redeemConsoleTicket(world.service, first), failsWith('not_found'));
    await createTicket();
    assert.equal((await world.db.rows('select from console_tickets')).length, 1);
  });

  it('a console ticket is stored only as a digest', async () => {
    const ticket = await createTicket();
    const dump = JSON.stringify(
      await world.db.rows('select *, encode(digest, $1) as hex from console_tickets', ['hex']),
    );
    assert.ok(!dump.includes(ticket) && !dump.includes(Buffer.from(ticket).toString('hex')));
  });

  it('a console is not found for another customer, a malformed id, or an invalid ticket', async () => {
    const stranger = await world.fixtures.addCustomer();
    const ids: [CustomerActor, string][] = [
      [stranger, formatId('server', id)],
      [actor, formatId('server', newId(new Date()))],
      [actor, id],
      [actor, ''],
    ];
    for (const [as, shown] of ids) {
      await assert.rejects(openConsole(world.service, as, shown, BASE), failsWith('not_found', {}));
    }
    for (const text of ['', 'a', '\0', 'a'.repeat(9_999)]) {
      await assert.rejects(redeemConsoleTicket(world.service, text), failsWith('not_found'));
    }
  });

  it('a console requires a running server, both to create a ticket and to redeem it', async () => {
    const ticket = await createTicket();
    await world.db.run(`update servers set status = 'stopped' where id = $1`, [id]);
    await assert.rejects(createTicket(), failsWith('conflict_state'));
    await assert.rejects(redeemConsoleTicket(world.service, ticket), failsWith('conflict_state'));
    await assert.rejects(redeemConsoleTicket(world.service, ticket), failsWith('not_found'));
  });

  it('a console is read-only for a frozen customer, even with an earlier ticket', async () => {
    const ticket = await createTicket();
    await setCustomerFrozen(world.db, actor.customerId, world.clock.now());
    assert.equal((await redeemConsoleTicket(world.service, ticket)).readOnly, true);
    assert.equal((await redeemConsoleTicket(world.service, await createTicket())).readOnly, true);
  });

  it('a console ticket is void when its token is revoked or expires', async () => {
    const revoked = await createToken();
    const ticket = await createTicket({}, { ...actor, tokenId: revoked });
    await world.db.run('delete from api_tokens where id = $1', [revoked]);
    await assert.rejects(redeemConsoleTicket(world.service, ticket), failsWith('not_found'));
    const expiring = { ...actor, tokenId: await createToken(new Date(world.clock.now().getTime() + 60_000)) };
    const [inTime, late] = [await createTicket({}, expiring), await createTicket({}, expiring)];
    assert.deepEqual(await redeemConsoleTicket(world.service, inTime), grantFor(false, expiring.tokenId));
    world.clock.advanceS(60);
    await assert.rejects(redeemConsoleTicket(world.service, late), failsWith('not_found'));
  });

  it('a console ticket is void when its session ends, and an open console must close', async () => {
    const sessionId = await createSession();
    const [used, kept] = [
      await createTicket({}, { ...actor, sessionId }),
      await createTicket({}, { ...actor, sessionId }),
    ];
    const grant = await redeemConsoleTicket(world.service, used);
    assert.deepEqual(grant, grantFor(false, null, sessionId));
    assert.equal(await checkConsoleAccess(world.service, grant), null);
    world.clock.advanceS(60);
    await deleteSession(world.db, sessionId);
    assert.equal(await checkConsoleAccess(world.service, grant), 'signed_out');
    await assert.rejects(redeemConsoleTicket(world.service, kept), failsWith('not_found'));
    const idle = grantFor(true, null, await createSession());
    assert.equal(await checkConsoleAccess(world.service, idle), null);
    world.clock.advanceS(24 * 3600);
    assert.equal(await checkConsoleAccess(world.service, idle), 'signed_out');
  });

  it('an open console must close when its token ends or its customer is frozen', async () => {
    const check = (grant: ConsoleGrant) => checkConsoleAccess(world.service, grant);
    const lasting = grantFor(false, await createToken());
    const expiring = grantFor(true, await createToken(new Date(world.clock.now().getTime() + 60_000)));
    const [interactive, readOnly] = [grantFor(false), grantFor(true)];
    for (const grant of [lasting, expiring, interactive, readOnly]) assert.equal(await check(grant), null);
    world.clock.advanceS(60);
    assert.deepEqual([await check(expiring), await check(lasting)], ['revoked', null]);
    await setCustomerFrozen(world.db, actor.customerId, world.clock.now());
    assert.deepEqual([await check(lasting), await check(interactive)], ['frozen', 'frozen']);
    assert.equal(await check(readOnly), null);
    await world.db.run('delete from api_tokens where id = $1', [lasting.tokenId]);
    assert.equal(await check(lasting), 'revoked');
    assert.equal(await check({ ...readOnly, customerId: newId(new Date()) }), 'revoked');
  });

  it('a console is unavailable on hardware without one', async () => {
    const { compute } = world.service;
    const { vps } = compute.capabilities;
    const without = { vps: { ...vps, console: false }, dedicated: compute.capabilities.dedicated };
    const service = {
      ...world.service,
      compute: Object.create(compute, { capabilities: { value: without } }),
    };
    await assert.rejects(
      openConsole(service, actor, formatId('server', id), BASE),
      failsWith('unavailable', { field: '' }),
    );
  });

  it('a console streams the screen; a failing host answers 503, a machine that is off 409', async () => {
    const screen = await connectConsole(world.service, id);
    assert.equal((await once(screen, 'data')).toString(), 'RFB 003.008\n');
    screen.destroy();
    await world.faults.set({ driver: 'compute', operation: 'console', times: 1 });
    await assert.rejects(connectConsole(world.service, id), failsWith('maintenance'));
    await world.service.compute.power(id, 'off');
    await assert.rejects(connectConsole(world.service, id), failsWith('conflict_state'));
  });
});
