import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loadCatalogue } from '../../../src/domain/catalogue/load.ts';
import { addBlock, blockAddresses } from '../../../src/domain/inventory/blocks.ts';
import { addHost, addMachines, drainHost } from '../../../src/domain/inventory/hosts.ts';
import { addInvitedHost, revokeHost } from '../../../src/domain/inventory/remote-hosts.ts';
import { countPool } from '../../../src/store/inventory/addresses.ts';
import { countMachines, listHosts } from '../../../src/store/inventory/hosts.ts';
import { type DomainFixture, openDomainFixture, refusalMessage } from '../fixture.ts';

const CATALOGUE = `
regions:
  - { id: par, session_code: par, name: Paris, country: FR, pop_id: PAR1 }
  - { id: zrh, session_code: zrh, name: Zurich, country: CH, pop_id: ZRH1 }
plans:
  - { id: s1, category: vps, cpu: 1, cpu_model: m, ram_mb: 1024, disk_gb: 25,
      transfer_tb: "1", price_usd_month: "7.35", regions: [par] }
  - { id: r1, category: dedicated, cpu: 6, cpu_model: m, ram_mb: 32768, disk_gb: 960,
      transfer_tb: "1", price_usd_month: "90", regions: [par] }
images:
  - { family: debian, version: "12", arch: [amd64], size_gb: "2", cloud_init: true, released_at: 2023-06-10 }
`;

let fixture: DomainFixture;
before(async () => {
  fixture = await openDomainFixture();
  await loadCatalogue(fixture.service, CATALOGUE, { sandbox: false, register: fixture.register });
});
after(() => fixture.close());

const HOST = { name: 'h1', regionId: 'par', cpu: 32, ramMb: 65_536, diskGb: 2_000 };
const block = (text: string, gateway: string | null = null, regionId = 'par') =>
  addBlock(fixture.service, { regionId, block: text, gateway });
const addresses = async (inside: string) =>
  (
    await fixture.db.rows<{ addr: string }>(
      'select host(addr) as addr from ipv4_addresses where addr <<= $1::inet order by ipv4_addresses.addr',
      [inside],
    )
  ).map((row) => row.addr);
const prefixes = async (inside: string) =>
  (
    await fixture.db.rows<{ prefix: string }>(
      `select prefix::text as prefix from ipv6_prefixes
        where prefix <<= $1::inet order by ipv6_prefixes.prefix`,
      [inside],
    )
  ).map((row) => row.prefix);

describe('hosts', () => {
  it('hosts are registered with the driver before the inventory uses them', async () => {
    await addHost(fixture.service, HOST, async (hosts) => {
      assert.deepEqual(await listHosts(fixture.db), []);
      await fixture.register(hosts);
    });
    assert.equal((await listHosts(fixture.db))[0]?.name, 'h1');
    assert.equal(fixture.registered.at(-1)?.ramMb, 65_536);
  });

  it('hosts have unique names in existing regions', async () => {
    const registered = fixture.registered.length;
    const add = (host: Partial<typeof HOST>) =>
      refusalMessage(addHost(fixture.service, { ...HOST, ...host }, fixture.register));
    assert.match(await add({}), /named h1 already exists/);
    assert.match(await add({ name: 'h2', regionId: 'xyz' }), /region xyz not found: choose one of par, zrh/);
    assert.match(await add({ name: 'H 2' }), /invalid name H 2/);
    assert.equal(fixture.registered.length, registered);
  });

  it('a host drains and returns, with one audit event each', async () => {
    assert.equal(await drainHost(fixture.service, 'h1', true), true);
    assert.equal(await drainHost(fixture.service, 'h1', true), false);
    assert.equal((await listHosts(fixture.db))[0]?.draining, true);
    assert.equal(await drainHost(fixture.service, 'h1', false), true);
    assert.match(await refusalMessage(drainHost(fixture.service, 'h9', true)), /host h9 not found/);
    const drains = (await fixture.auditedActions()).filter((action) => action.includes('drain'));
    assert.deepEqual(drains, ['host.drain', 'host.undrain']);
  });
});

describe('hosts on other machines', () => {
  it('a revoked host accepts no servers again', async () => {
    const invitation = { ...HOST, name: 'far', address: 'far.example:7443' };
    const [identity, fingerprint] = ['00000000-0000-4000-8000-000000000001', '0'.repeat(64)];
    const [from, until] = [new Date(), new Date(Date.now() + 86_400_000)];
    const validity = { certificate_from: from, certificate_until: until, renew_at: until };
    await addInvitedHost(fixture.service, invitation, { identity, fingerprint, ...validity });
    await revokeHost(fixture.service, 'far');
    const undrain = drainHost(fixture.service, 'far', false);
    assert.match(await refusalMessage(undrain), /host far is revoked: it accepts no servers/);
    const far = (await listHosts(fixture.db)).find(({ name }) => name === 'far');
    assert.equal(far?.draining, true);
  });
});

describe('machines', () => {
  const add = (names: string[], planId = 'r1') =>
    addMachines(fixture.service, { names, planId, regionId: 'par' }, fixture.register);

  it('machines are stock of a dedicated plan and hosts of its size for the driver', async () => {
    await add(['m1', 'm2']);
    assert.deepEqual(await countMachines(fixture.db), [
      { region_id: 'par', plan_id: 'r1', total: 2n, free: 2n },
    ]);
    assert.deepEqual(fixture.registered.at(-1), { name: 'm2', cpu: 6, ramMb: 32_768, diskGb: 960 });
  });

  it('machines need a dedicated plan and names that no host has', async () => {
    assert.match(await refusalMessage(add(['m3'], 's1')), /s1 is not dedicated/);
    assert.match(await refusalMessage(add(['m3'], 's9')), /plan s9 not found/);
    assert.match(await refusalMessage(add(['h1'])), /named h1 already exists/);
    assert.match(await refusalMessage(add(['m3', 'm3'])), /m3 is a duplicate/);
  });
});

describe('IPv4 blocks', () => {
  it('an IPv4 block provides all addresses except network, broadcast, and gateway', async () => {
    assert.equal(await block('203.0.113.0/29'), 5);
    assert.deepEqual(
      await addresses('203.0.113.0/29'),
      [2, 3, 4, 5, 6].map((n) => `203.0.113.${n}`),
    );
    assert.equal(await block('203.0.113.8/29', '203.0.113.14'), 5);
    assert.deepEqual(
      await addresses('203.0.113.8/29'),
      [9, 10, 11, 12, 13].map((n) => `203.0.113.${n}`),
    );
    assert.equal(await block('203.0.113.16/29', '198.51.100.1'), 6);
  });

  it('a block of one or two addresses provides them all, with an external gateway', async () => {
    assert.equal(await block('203.0.113.24/31', '198.51.100.1'), 2);
    assert.equal(await block('203.0.113.26/32', '198.51.100.1'), 1);
    assert.match(await refusalMessage(block('203.0.113.27/32')), /needs an explicit gateway/);
  });

  it('the largest IPv4 block has 65,534 addresses', async () => {
    assert.equal(await block('198.18.0.0/16', null, 'zrh'), 65_533);
    assert.match(await refusalMessage(block('198.0.0.0/15')), /between \/16 and \/32/);
  });

  it('overlapping blocks are rejected: inside, around, and equal', async () => {
    for (const text of ['203.0.113.0/29', '203.0.113.4/30', '203.0.112.0/23']) {
      assert.match(await refusalMessage(block(text)), /overlaps 203\.0\.113\./);
    }
  });

  it('a block added twice concurrently is added once', async () => {
    const both = await Promise.allSettled([block('192.0.2.0/24'), block('192.0.2.0/25')]);
    assert.deepEqual(both.map((each) => each.status).sort(), ['fulfilled', 'rejected']);
  });

  it('malformed blocks and gateways are rejected', async () => {
    assert.match(await refusalMessage(block('198.51.100.1/24')), /without host bits/);
    assert.match(
      await refusalMessage(block('198.51.100.0/24', '2001:db8::1')),
      /gateway must be an IPv4 address/,
    );
    assert.match(await refusalMessage(block('198.51.100.0/24', null, 'xyz')), /region xyz not found/);
  });
});

describe('IPv6 blocks', () => {
  it('an IPv6 block provides its /64s', async () => {
    assert.equal(await block('2001:db8:0:10::/62'), 4);
    assert.deepEqual(
      await prefixes('2001:db8:0:10::/62'),
      ['10', '11', '12', '13'].map((group) => `2001:db8:0:${group}::/64`),
    );
    assert.equal(await block('2001:db8:0:20::/64'), 1);
    assert.equal(await block('2001:db8:0:ff00::/56'), 256);
    assert.equal((await prefixes('2001:db8:0:ff00::/56')).at(-1), '2001:db8:0:ffff::/64');
  });

  it('the /64 of an IPv6 gateway is reserved', async () => {
    assert.equal(await block('2001:db8:0:30::/62', '2001:db8:0:31::1'), 3);
    assert.ok(!(await prefixes('2001:db8:0:30::/62')).includes('2001:db8:0:31::/64'));
  });

  it('an IPv6 block provides at most 65,536 /64s', async () => {
    assert.equal(await block('2001:db9::/32', null, 'zrh'), 65_536);
    assert.equal((await prefixes('2001:db9::/32')).at(-1), '2001:db9:0:ffff::/64');
    assert.match(await refusalMessage(block('2001:d00::/24')), /between \/32 and \/64/);
    assert.match(await refusalMessage(block('2001:db9:1::/48')), /overlaps 2001:db9::\/32/);
  });
});

describe('addresses', () => {
  const withhold = (range: string, blocked = true) => blockAddresses(fixture.service, range, blocked);
  const free = async (family: 4 | 6) =>
    (await countPool(fixture.db, fixture.clock.now())).find(
      (row) => row.region_id === 'par' && row.family === family,
    )?.free ?? 0n;

  it('blocked addresses are not free until they are unblocked', async () => {
    const before = await free(4);
    assert.deepEqual(await withhold('203.0.113.2'), { changed: 1, assigned: 0 });
    assert.deepEqual(await withhold('203.0.113.0/29'), { changed: 4, assigned: 0 });
    assert.deepEqual(await withhold('203.0.113.0/29'), { changed: 0, assigned: 0 });
    assert.equal(await free(4), before - 5n);
    assert.deepEqual(await withhold('203.0.113.0/29', false), { changed: 5, assigned: 0 });
    assert.equal(await free(4), before);
  });

  it('IPv6 addresses are blocked by their /64', async () => {
    const before = await free(6);
    assert.deepEqual(await withhold('2001:db8:0:10::5'), { changed: 1, assigned: 0 });
    assert.deepEqual(await withhold('2001:db8:0:10::/62'), { changed: 3, assigned: 0 });
    assert.equal(await free(6), before - 4n);
  });

  it('an assigned address can be blocked for later servers', async () => {
    await fixture.db.run(
      `update ipv4_addresses set server_id = gen_random_uuid() where addr = '203.0.113.3'`,
    );
    assert.deepEqual(await withhold('203.0.113.3'), { changed: 1, assigned: 1 });
  });

  it('resting addresses are counted by the clock', async () => {
    const now = fixture.clock.now();
    await fixture.db.run(`update ipv4_addresses set free_from = $1 where addr = '203.0.113.4'`, [
      new Date(now.getTime() + 60_000),
    ]);
    const resting = async (at: Date) =>
      (await countPool(fixture.db, at)).find((row) => row.region_id === 'par' && row.family === 4)?.resting;
    assert.equal(await resting(now), 1n);
    assert.equal(await resting(new Date(now.getTime() + 60_000)), 0n);
  });

  it('invalid addresses and addresses outside the pool are rejected', async () => {
    assert.match(await refusalMessage(withhold('example.org')), /is not an address or a block/);
    assert.match(await refusalMessage(withhold('10.0.0.1')), /no address in 10\.0\.0\.1 is in the pool/);
  });
});
