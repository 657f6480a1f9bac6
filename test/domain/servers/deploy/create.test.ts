import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor } from '../../../../src/domain/context.ts';
import { createServer } from '../../../../src/domain/servers/deploy/create.ts';
import { getServer } from '../../../../src/domain/servers/read.ts';
import { createSshKey, removeSshKey } from '../../../../src/domain/ssh-keys/change.ts';
import { Failure, InvalidRequest } from '../../../../src/kernel/fail.ts';
import { formatId, newId } from '../../../../src/kernel/ids.ts';
import { LIMITS, QUOTAS } from '../../../../src/spec/limits.ts';
import type { ServerBody } from '../../../../src/spec/schemas/server.ts';
import type { SshKey } from '../../../../src/spec/schemas/ssh-key.ts';
import { SEALED } from '../../../../src/spec/sealed.ts';
import { dumpTables } from '../../../support/dump-tables.ts';
import { R1, S1, type TestPlan } from '../../../support/fixtures.ts';
import { startTestService, type TestService } from '../../../support/test-service.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY me';
const S2: TestPlan = { ...S1, id: 's2', price_cents_month: 502n };

let world: TestService;
let actor: CustomerActor;
let key: SshKey;
let official: string;

before(async () => {
  world = await startTestService();
  await world.fixtures.addPlans(['par'], [S1, R1]);
  await world.fixtures.addPlans(['rkv'], [S1, S2]);
  await world.fixtures.addHosts([30]);
  await world.fixtures.addMachines(2);
  await world.fixtures.addAddresses(40);
  official = await image({});
});
after(() => world.close());
beforeEach(async () => {
  actor = await world.fixtures.addCustomer(50_000n);
  key = await addKey(actor);
});

const addKey = (by: CustomerActor) =>
  createSshKey(world.service, by, { name: 'mine', public_key: PUBLIC_KEY });

interface TestImage {
  readonly cloudInit?: boolean;
  readonly deprecatedAt?: string;
  readonly active?: boolean;
  /** Customer id of a custom image's owner. */
  readonly owner?: string;
}

const OFFICIAL = { type: 'official', family: 'debian', blobKey: null, sha256: null, sizeBytes: null };
const CUSTOM = { type: 'custom', family: 'custom', sha256: 'a'.repeat(64), sizeBytes: 1 };

/** Adds an image; returns its public id. */
async function image({ cloudInit = true, deprecatedAt, active = true, owner }: TestImage): Promise<string> {
  const id = newId(world.clock.now());
  await world.db.run(
    `insert into images (id, type, family, version, arch, size_gb, cloud_init, released_at, deprecated_at,
                         active, customer_id, blob_key, sha256, size_bytes)
     values ($id, $type, $family, $version, '{amd64}', 1, $cloudInit, '2025-08-09', $deprecatedAt,
             $active, $owner, $blobKey, $sha256, $sizeBytes)`,
    {
      id,
      version: id,
      cloudInit,
      deprecatedAt: deprecatedAt ?? null,
      active,
      owner: owner ?? null,
      ...(owner ? { ...CUSTOM, blobKey: id } : OFFICIAL),
    },
  );
  return formatId(owner ? 'customImage' : 'image', id);
}

const body = (wanted: Partial<ServerBody> = {}): ServerBody => ({
  name: 'web-1',
  plan: 's1',
  region: 'par',
  image: official,
  ssh_keys: [key.id],
  ...wanted,
});
const create = (wanted: Partial<ServerBody> = {}) => createServer(world.service, actor, body(wanted));

/** Asserts that the order fails without changing any table; returns the refusal. */
async function refused(wanted: Partial<ServerBody>): Promise<string> {
  const before = await dumpTables(world.db);
  const error: unknown = await create(wanted).then(
    () => assert.fail('the order succeeded'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  assert.deepEqual(await dumpTables(world.db), before);
  if (error instanceof InvalidRequest)
    return error.items.map((item) => `400 ${item.field} ${item.issue}`).join();
  return `${error.code} ${error.extras.field ?? ''}`.trim();
}

async function stored(shownId: string) {
  const rows = await world.db.rows<{
    shown: string;
    ssh_public_keys: string[];
    user_data_sealed: string | null;
  }>(`select id::text as shown, ssh_public_keys, user_data_sealed from servers`);
  return rows.find((row) => formatId('server', row.shown) === shownId) ?? assert.fail('no such row');
}

const base64 = (bytes: number) => Buffer.alloc(bytes, 'a').toString('base64');

describe('createServer', () => {
  it('an order returns the server in its initial state', async () => {
    const server = await create({
      tags: ['a', 'a b'],
      labels: { env: 'prod', e: '' },
      billing_months: 3,
      auto_renew: false,
    });
    assert.deepEqual(server, await getServer(world.service, actor, server.id));
    const { id, created_at, updated_at, paid_until, action, ...rest } = server;
    assert.equal(action?.command, 'server.create');
    assert.match(id, /^srv_[a-z2-7]{26}$/);
    assert.equal(created_at, updated_at);
    assert.equal(paid_until, '2030-04-30T12:00:00Z');
    assert.deepEqual(rest, {
      object: 'server',
      name: 'web-1',
      status: 'provisioning',
      plan: 's1',
      region: 'par',
      image: official,
      iso: null,
      boot: 'disk',
      disk_gb: 10,
      ipv4: null,
      ipv6: null,
      ssh_keys: [key.id],
      tags: ['a', 'a b'],
      labels: { env: 'prod', e: '' },
      protection: { delete: false, rebuild: false },
      billing_months: 3,
      auto_renew: false,
      price_usd_cycle: 11.25,
      suspended_reason: null,
    });
    assert.deepEqual(await world.eventTypes(actor.customerId), ['server.created', 'billing.charged']);
    await world.runUntilIdle();
    const running = await getServer(world.service, actor, id);
    assert.equal(running.status, 'running');
    assert.ok(running.ipv4 && running.ipv6?.prefix.endsWith('::/64'));
    await world.assertInvariants();
  });

  it('an order copies the key texts, each once and in order, so deleting a key changes nothing', async () => {
    const second = await createSshKey(world.service, actor, {
      name: 'b',
      public_key: PUBLIC_KEY.replace('me', 'you'),
    });
    const server = await create({ ssh_keys: [second.id, key.id, second.id] });
    assert.deepEqual(server.ssh_keys, [second.id, key.id]);
    await removeSshKey(world.service, actor, key.id);
    assert.deepEqual((await stored(server.id)).ssh_public_keys, [second.public_key, key.public_key]);
    assert.deepEqual((await getServer(world.service, actor, server.id)).ssh_keys, [second.id, key.id]);
    await world.runUntilIdle();
  });

  it('an order stores user data sealed', async () => {
    const server = await create({ user_data_b64: base64(LIMITS.userDataMaxBytes) });
    const { shown: id, user_data_sealed: sealed } = await stored(server.id);
    assert.equal(world.service.keys.open(SEALED.userData, id, sealed ?? '').length, LIMITS.userDataMaxBytes);
    assert.equal((await stored((await create({ user_data_b64: null })).id)).user_data_sealed, null);
    await world.runUntilIdle();
  });

  it('an order with a custom image works on a virtual server and is refused on hardware', async () => {
    const own = await image({ owner: actor.customerId, cloudInit: false });
    assert.equal((await create({ image: own })).image, own);
    assert.equal(await refused({ image: own, plan: 'r1' }), 'unavailable image');
    assert.equal((await create({ plan: 'r1' })).plan, 'r1');
  });

  it("an order refuses unknown references, including another customer's", async () => {
    const other = await world.fixtures.addCustomer();
    const foreignKey = await addKey(other);
    const foreignImage = await image({ owner: other.customerId });
    const own = await image({ owner: actor.customerId });
    const removed = await image({ deprecatedAt: '2029-11-02' });
    const unknownKey = formatId('sshKey', newId(world.clock.now()));
    const cases: [wanted: Partial<ServerBody>, field: string][] = [
      [{ plan: 's9' }, 'plan'],
      [{ plan: "s1'" }, 'plan'],
      [{ region: 'rek' }, 'region'],
      [{ region: '' }, 'region'],
      [{ image: 'debian-13' }, 'image'],
      [{ image: formatId('image', newId(world.clock.now())) }, 'image'],
      [{ image: own.replace('custom_', 'img_') }, 'image'],
      [{ image: official.replace('img_', 'custom_') }, 'image'],
      [{ image: foreignImage }, 'image'],
      [{ image: removed }, 'image'],
      [{ image: await image({ active: false }) }, 'image'],
      [{ ssh_keys: [key.id, foreignKey.id] }, 'ssh_keys.1'],
      [{ ssh_keys: [key.id, key.id, unknownKey] }, 'ssh_keys.2'],
      [{ ssh_keys: ['mine'] }, 'ssh_keys.0'],
    ];
    for (const [wanted, field] of cases) assert.equal(await refused(wanted), `unknown_reference ${field}`);
  });

  it('an order for something unavailable or over a limit names the field', async () => {
    const noCloudInit = await image({ cloudInit: false });
    const tooMany = Array.from({ length: QUOTAS.tagsPerServer + 1 }, (_, n) => `t${n}`);
    assert.equal(await refused({ plan: 's2' }), 'unavailable plan');
    assert.equal(await refused({ region: 'rkv' }), 'out_of_stock');
    assert.equal(await refused({ image: await image({ deprecatedAt: '2030-01-01' }) }), 'unavailable image');
    assert.equal(await refused({ image: noCloudInit, user_data_b64: 'aGk=' }), 'invalid_value user_data_b64');
    assert.equal(await refused({ tags: tooMany }), 'limit_reached tags');
    actor = await world.fixtures.addCustomer(499n);
    key = await addKey(actor);
    assert.equal(await refused({}), 'insufficient_balance');
  });

  it('an order with invalid Base64 or too much user data is malformed', async () => {
    for (const text of ['aGk', 'aGk=\n', 'aGl=', 'a-_k', 'ü']) {
      assert.equal(await refused({ user_data_b64: text }), '400 user_data_b64 invalid_format', text);
    }
    const long = base64(LIMITS.userDataMaxBytes + 1);
    assert.equal(await refused({ user_data_b64: long }), '400 user_data_b64 max_length');
  });
});
