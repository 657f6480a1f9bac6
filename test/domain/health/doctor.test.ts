import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { sumPromised } from '../../../src/domain/health/doctor.ts';
import { RegionWorld } from '../servers/region-world.ts';

let region: RegionWorld;
before(async () => {
  region = await RegionWorld.open();
});
after(() => region.world.close());

it('a driver is asked about its own hosts: their sizes, and one unused address per block', async () => {
  await region.reset();
  const [others] = region.hosts;
  await region.reset();
  const { id } = await region.running();
  const { service, db } = region.world;
  const promised = (hosts: readonly string[]) =>
    sumPromised({ ...service, compute: { ...service.compute, hosts } });
  const { unusedAddresses, ramMb } = await promised(region.hosts);
  const free = await db.rows<{ address: string }>(
    `select host(addr) as address from ipv4_addresses where server_id is null and region_id = $1
     union all select host(prefix) from ipv6_prefixes where server_id is null and region_id = $1`,
    [region.regionId],
  );
  const has = await region.server(id);
  assert.deepEqual(
    unusedAddresses.map((address) => address.includes(':')),
    [false, true],
  );
  for (const address of unusedAddresses)
    assert.ok(
      free.some((row) => row.address === address),
      address,
    );
  assert.ok(!unusedAddresses.includes(has.ipv4 ?? ''));
  assert.ok(ramMb > 0);
  assert.equal((await promised([others ?? ''])).unusedAddresses.length, 2);
  assert.deepEqual((await promised([])).unusedAddresses, []);
});
