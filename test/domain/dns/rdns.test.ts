/** Reverse names: requested names are published, and others are withdrawn, regardless of crashes. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { checkReverseDns } from '../../../src/domain/dns/check.ts';
import { ensureRdns } from '../../../src/domain/dns/ensure.ts';
import { createMissingZones, listBlockZones, publishAllNames } from '../../../src/domain/dns/zones.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/kernel/time.ts';
import type { ScriptedDns } from '../../support/scripted-dns.ts';
import type { TestService } from '../../support/test-service.ts';
import { DnsWorld, V4_ZONE } from './dns-world.ts';

let at: DnsWorld;
let dns: ScriptedDns;
let world: TestService;

before(async () => {
  at = await DnsWorld.open();
  ({ dns, world } = at);
});
after(() => world.close());
beforeEach(() => at.reset());

describe('names of a server', () => {
  it('reverse names are published, changed, and withdrawn as requested', async () => {
    await at.setNames({ ipv4: 'web.example.org', ipv6: 'six.example.org' });
    await at.setNames({ ipv6: 'Mail.example.org', address: at.inPrefix('25') });
    await at.work();
    assert.deepEqual(at.servedNames(), {
      [at.ipv4]: 'web.example.org',
      [at.inPrefix('1')]: 'six.example.org',
      [at.inPrefix('25')]: 'Mail.example.org',
    });
    await at.setNames({ ipv4: 'other.example.org', ipv6: null });
    await at.work();
    assert.deepEqual(at.servedNames(), {
      [at.ipv4]: 'other.example.org',
      [at.inPrefix('25')]: 'Mail.example.org',
    });
    assert.equal((await at.rows()).length, 2);
    assert.equal(await at.tasks(), 0);
    await world.assertInvariants();
  });

  it('names wait for an unavailable DNS server and are published in their latest form', async () => {
    dns.fault = 'unreachable';
    await at.setNames({ ipv4: 'web.example.org' });
    await at.work();
    await at.setNames({ ipv4: 'last.example.org', ipv6: 'six.example.org' });
    await at.work(3_000);
    assert.deepEqual(at.servedNames(), {});
    assert.equal(await at.tasks(), 1);
    dns.fault = null;
    await at.work(10_000);
    assert.deepEqual(at.servedNames(), {
      [at.ipv4]: 'last.example.org',
      [at.inPrefix('1')]: 'six.example.org',
    });
    assert.equal(await at.tasks(), 0);
  });

  it('names that change during publishing are published again', async () => {
    dns.beforeSet = async () => {
      dns.beforeSet = async () => undefined;
      await at.setNames({ ipv4: 'second.example.org' });
    };
    await at.setNames({ ipv4: 'first.example.org' });
    await at.work(1_000);
    assert.deepEqual(at.servedNames(), { [at.ipv4]: 'second.example.org' });
  });

  it('names are only stored without a DNS server, and published once there is one', async () => {
    const without = { ...world.service, dns: null };
    await at.setNames({ ipv4: 'web.example.org' }, without);
    assert.equal(await at.tasks(), 0);
    assert.deepEqual(await checkReverseDns(without), [
      {
        level: 'note',
        subject: 'reverse DNS',
        message: 'reverse names are stored but not published: SKERRY_DNS_URL is not set',
      },
    ]);
    await assert.rejects(publishAllNames(without), /SKERRY_DNS_URL is not set/);
    const messages = (await checkReverseDns(world.service)).map((each) => each.message).join('\n');
    assert.match(messages, /the names of 1 servers are not published/);
    await publishAllNames(world.service);
    await at.work();
    assert.deepEqual(at.servedNames(), { [at.ipv4]: 'web.example.org' });
  });
});

describe('the names of a server that is destroyed', () => {
  beforeEach(async () => {
    await at.setNames({ ipv4: 'web.example.org', ipv6: 'six.example.org' });
    await at.setNames({ ipv6: 'mail.example.org', address: at.inPrefix('25') });
    await at.work();
  });

  it('the names of a deleted server are withdrawn, and its addresses rest as usual', async () => {
    await at.destroy();
    await at.work(2_000);
    assert.deepEqual(at.servedNames(), {});
    assert.deepEqual(await at.rows(), []);
    const { four, six } = await at.freeFrom();
    const days = (text: string) => (Date.parse(text) - world.clock.now().getTime()) / DAY_MS;
    assert.ok(days(four) > 6.9 && days(four) <= 7, four);
    assert.equal(six, four);
    await world.assertInvariants();
  });

  it('addresses are not reused until their names are withdrawn, however late', async () => {
    dns.fault = 'key';
    await at.destroy();
    await at.work(2_000);
    assert.deepEqual(await at.freeFrom(), { four: 'infinity', six: 'infinity' });
    world.clock.advanceS(30 * 86_400);
    await at.work();
    await assert.rejects(at.running());
    dns.fault = null;
    await at.work(31_000);
    assert.deepEqual(at.servedNames(), {});
    await at.running();
    await world.assertInvariants();
  });

  it('names are withdrawn despite crashes before and after the withdrawal', async () => {
    const killed = new Error('killed');
    let left = 2;
    dns.beforeSet = async () => {
      if (left-- === 0) throw killed;
    };
    await at.destroy();
    await at.work();
    assert.equal(dns.names.size, 1);
    assert.equal((await at.rows()).length, 3);
    dns.beforeSet = async () => undefined;
    await at.work(5_000);
    assert.deepEqual(at.servedNames(), {});
    assert.deepEqual(await ensureRdns(world.service, at.id), 'done');
    assert.deepEqual(await at.rows(), []);
  });

  it('a name that is published too late is withdrawn', async () => {
    await at.setNames({ ipv4: 'late.example.org' });
    dns.beforeSet = async () => {
      dns.beforeSet = async () => undefined;
      // This worker's lease has expired: the server is deleted and its names are withdrawn before it
      // continues.
      await at.destroy();
      await world.db.run(`update tasks set leased_until = now() - interval '1 hour'`);
      await at.waitUntilRemoved();
      assert.equal(await ensureRdns(world.service, at.id), 'done');
      assert.deepEqual(await at.rows(), []);
    };
    await ensureRdns(world.service, at.id);
    assert.deepEqual(at.servedNames(), { [at.ipv4]: 'late.example.org', ...sixes() });
    assert.equal((await at.rows()).length, 3);
    await ensureRdns(world.service, at.id);
    assert.deepEqual(at.servedNames(), {});
    assert.deepEqual(await at.rows(), []);
    await world.db.run(`delete from tasks where kind = 'rdns'`);
  });

  const sixes = () => ({ [at.inPrefix('1')]: 'six.example.org', [at.inPrefix('25')]: 'mail.example.org' });

  it('names block nothing once no DNS server is configured', async () => {
    dns.fault = 'unreachable';
    await at.destroy();
    await at.work(1_000);
    assert.equal(await ensureRdns({ ...world.service, dns: null }, at.id), 'done');
    const { four, six } = await at.freeFrom();
    assert.notEqual(four, 'infinity');
    assert.notEqual(six, 'infinity');
    assert.equal((await at.rows()).length, 3);
    dns.fault = null;
  });

  it('a late withdrawal does not remove the name of another server with the same address', async () => {
    await at.destroy();
    dns.fault = 'unreachable';
    await at.work(1_000);
    await ensureRdns({ ...world.service, dns: null }, at.id);
    world.clock.advanceS(8 * 86_400);
    const { id: gone, ipv4: address } = at;
    await at.running();
    assert.equal(at.ipv4, address);
    dns.fault = null;
    dns.beforeSet = async () => {
      dns.beforeSet = async () => undefined;
      await at.setNames({ ipv4: 'mine.example.org' });
      await ensureRdns(world.service, at.id);
    };
    await ensureRdns(world.service, gone);
    await at.work(31_000);
    assert.deepEqual(at.servedNames(), { [at.ipv4]: 'mine.example.org' });
  });
});

describe('an address that no zone holds', () => {
  it('an address without a zone is reported, and published once the zone exists', async () => {
    dns.zoneNames.splice(0, 1);
    await at.setNames({ ipv4: 'web.example.org', ipv6: 'six.example.org' });
    await at.work();
    assert.deepEqual(at.servedNames(), { [at.inPrefix('1')]: 'six.example.org' });
    assert.deepEqual(await at.findingMessages(), [
      '1 names have no zone: run skerryd dns zones to see which is missing',
    ]);
    const missing = (await listBlockZones(world.service)).filter(({ coveredBy }) => coveredBy === null);
    assert.ok(missing.some(({ region }) => region === at.regionId));
    const shown = await checkReverseDns(world.service);
    assert.ok(shown.some(({ level, message }) => level === 'warn' && message.includes('has no zone')));
    const made = await createMissingZones(world.service, ['NS1.example.org', 'ns2.example.org.']);
    assert.equal(made.length, new Set(missing.map(({ zone }) => zone)).size);
    await at.work();
    assert.equal(dns.names.get(at.ipv4), 'web.example.org');
    assert.deepEqual(await at.findingMessages(), []);
    assert.deepEqual(await createMissingZones(world.service, ['ns1.example.org']), []);
  });

  it('a name without a zone is retried, and an unpublished one is withdrawn without a zone', async () => {
    dns.zoneNames.splice(0);
    await at.setNames({ ipv4: 'web.example.org' });
    await at.work();
    dns.zoneNames.push(V4_ZONE);
    world.clock.advanceS((10 * MINUTE_MS) / 1000);
    await at.work();
    assert.equal(dns.names.get(at.ipv4), 'web.example.org');
    dns.zoneNames.splice(0);
    await at.setNames({ ipv4: null });
    await at.work();
    assert.deepEqual(await at.rows(), []);
  });

  it('creating a zone requires the full host name of a name server', async () => {
    for (const bad of ['ns1', 'ns1.example.org..', '-a.example.org', 'ns1 .example.org', '203.0.113.1']) {
      await assert.rejects(createMissingZones(world.service, [bad]), /full host name/, bad);
    }
    await assert.rejects(createMissingZones(world.service, []), /name at least one name server/);
  });

  it('zones are not listed while the DNS server does not respond', async () => {
    dns.fault = 'key';
    assert.deepEqual(await checkReverseDns(world.service), [
      { level: 'fail', subject: 'reverse DNS', message: 'scripted: key' },
    ]);
  });
});
