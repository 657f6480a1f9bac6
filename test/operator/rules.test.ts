import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedSandbox } from '../../src/domain/catalogue/load.ts';
import { readRules } from '../../src/store/service/rules.ts';
import { insertServiceRow } from '../../src/store/service/service.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let operator: OperatorFixture;
before(async () => {
  operator = await openOperatorFixture();
  await insertServiceRow(operator.backend.db, { mode: 'sandbox', key_check: 'none' });
  await seedSandbox(operator.backend.service, operator.backend.register);
});
after(() => operator.backend.close());

async function ok(...argv: string[]): Promise<string> {
  const result = await operator.run(argv);
  assert.deepEqual([result.code, result.err], [0, '']);
  return result.out;
}

async function fails(code: 1 | 2, ...argv: string[]): Promise<string> {
  const result = await operator.run(argv);
  assert.equal(result.code, code, result.err);
  assert.match(result.err, /^skerryd: [^\n]+$/);
  return result.err;
}

const rules = () => readRules(operator.backend.db);

/** Returns how much the version of the rules rose and which actions were audited. */
async function changes(work: () => Promise<unknown>): Promise<{ versions: bigint; audited: string[] }> {
  const [before, audited] = [await rules(), (await operator.backend.auditedActions()).length];
  await work();
  return {
    versions: (await rules()).version - before.version,
    audited: (await operator.backend.auditedActions()).slice(audited),
  };
}

test('maintenance starts at once, is listed, and ends on command or when its time is up', async () => {
  const { versions, audited } = await changes(async () => {
    assert.match(
      await ok('maintenance', 'start', '--minutes', '30', '--reason', 'new storage'),
      /^every operation is closed until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/,
    );
    await ok('maintenance', 'start', '--operation', 'servers.create', '--minutes', '90');
  });
  assert.equal(versions, 2n);
  assert.deepEqual(audited, ['maintenance.start', 'maintenance.start']);
  const listed = await ok('maintenance', 'list');
  assert.match(listed, /every operation .* new storage\n+mwn_\w+ +servers\.create/);
  assert.match(
    await fails(1, 'maintenance', 'end'),
    /2 windows .*--all: mwn_\w+ \(every operation\), mwn_\w+ \(servers\.create\)/,
  );
  assert.match(await fails(1, 'maintenance', 'end', 'mwn_x'), /no open maintenance window/i);
  const id = /^mwn_\w+(?= +servers)/m.exec(listed)?.[0] ?? assert.fail(listed);
  assert.match(await fails(1, 'maintenance', 'end', id, '--all'), /not both/);
  assert.equal(await ok('maintenance', 'end', id), 'ended 1 window');
  assert.match(await fails(1, 'maintenance', 'end', id), /no open maintenance window/i);
  assert.deepEqual(
    (await rules()).windows.map(({ operation }) => operation),
    [null],
  );
  await ok('maintenance', 'start', '--operation', 'servers.create', '--minutes', '90');
  assert.equal(await ok('maintenance', 'end', '--all'), 'ended 2 windows');
  assert.equal(await ok('maintenance', 'end'), 'no open windows');
  await ok('maintenance', 'start', '--minutes', '1');
  operator.backend.clock.offsetMs += 60_000;
  assert.match(await ok('maintenance', 'list'), /^id +operation[^\n]*$/);
  assert.equal(await ok('maintenance', 'end'), 'no open windows');
  assert.deepEqual((await rules()).windows, []);
});

test('an unknown operation is rejected with the closest match', async () => {
  const { versions } = await changes(async () => {
    assert.match(
      await fails(2, 'maintenance', 'start', '--operation', 'server.create', '--minutes', '5'),
      /Did you mean servers\.create\?/,
    );
    assert.match(
      await fails(2, 'policy', 'block', '--operation', 'xyz', '--order', 'a'),
      /such as servers\.create/,
    );
    await fails(2, 'maintenance', 'start', '--minutes', '0');
    await fails(2, 'maintenance', 'start', '--minutes', '9999999');
    await fails(2, 'maintenance', 'start');
    assert.match(await fails(1, 'maintenance', 'start', '--minutes', '5', '--reason', 'a\nb'), /one line/);
  });
  assert.equal(versions, 0n);
});

test('creating and deleting a policy is listed and audited', async () => {
  const { versions, audited } = await changes(async () => {
    const said = await ok('policy', 'block', '--operation', 'topups.create', '--order', 'Order 17');
    const [, id = ''] = /^(pol_[a-z2-7]{26}): topups\.create is refused to everyone$/.exec(said) ?? [];
    assert.match(await ok('policy', 'list'), new RegExp(`${id} +topups\\.create +any +any +.* Order 17$`));
    assert.deepEqual(
      (await rules()).policies.map(({ operation, country, region_id }) => [operation, country, region_id]),
      [['topups.create', null, null]],
    );
    await ok('policy', 'unblock', id);
    assert.match(await fails(1, 'policy', 'unblock', id), /policy not found/);
    assert.match(await fails(1, 'policy', 'unblock', 'nonsense'), /policy not found/);
  });
  assert.equal(versions, 2n);
  assert.deepEqual(audited, ['policy.block', 'policy.unblock']);
});

test('a policy can name a region only for operations with a region', async () => {
  const block = (...more: string[]) => ['policy', 'block', '--order', 'Order 18', ...more];
  const line = await fails(1, ...block('--operation', 'topups.create', '--region', 'par'));
  assert.match(line, /servers\.create or volumes\.create/);
  assert.match(
    await fails(1, ...block('--operation', 'volumes.create', '--region', 'rek')),
    /region rek not found/,
  );
  assert.match(await ok(...block('--operation', 'volumes.create', '--region', 'rkv')), /is refused for rkv$/);
  assert.match(await ok(...block('--operation', 'plans.list')), /is refused to everyone$/);
});

test('a policy accepts country codes in any case and XX for unknown, and rejects other words', async () => {
  const block = ['policy', 'block', '--operation', 'topups.create', '--order', 'Order 19', '--country'];
  const { versions, audited } = await changes(async () => {
    assert.match(await ok(...block, 'de'), /^pol_\w+: topups\.create is refused to clients from DE$/);
    assert.match(await ok(...block, 'XX'), /is refused to clients from XX$/);
    for (const country of ['nonsense', 'ZZ', 'EU', 'D', '']) {
      assert.match(await fails(1, ...block, country), /two uppercase letters/);
    }
  });
  assert.equal(versions, 2n);
  assert.deepEqual(audited, ['policy.block', 'policy.block']);
  assert.match(
    await ok('policy', 'list'),
    /topups\.create +DE +any +.* Order 19\n.*topups\.create +XX +any +/,
  );
});
