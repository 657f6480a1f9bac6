import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedSandbox } from '../../src/domain/catalogue/load.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let operator: OperatorFixture;
before(async () => {
  operator = await openOperatorFixture();
  await seedSandbox(operator.backend.service, operator.backend.register);
  const size = ['--cpu', '8', '--ram-mb', '4096', '--disk-gb', '200'];
  await ok('hosts', 'add', 'h1', '--region', 'par', ...size, '--tag', 'intel');
});
after(() => operator.backend.close());

/** Runs a command that must succeed and returns its standard output. */
async function ok(...argv: string[]): Promise<string> {
  const result = await operator.run(argv);
  assert.deepEqual([result.code, result.err], [0, '']);
  return result.out;
}

/** Runs a command that must fail with this code and returns its standard error. */
async function fails(code: 1 | 2, ...argv: string[]): Promise<string> {
  const result = await operator.run(argv);
  assert.equal(result.code, code, result.err);
  return result.err;
}

describe('hosts', () => {
  it('a host has tags and a reserve until they are removed', async () => {
    assert.equal(
      await ok('hosts', 'set', 'h1', '--tag', 'nvme', 'amd', '--reserve-ram-mb', '512'),
      'host h1: tags amd nvme, reserve 512 MiB, 0 GiB',
    );
    assert.match(await ok('hosts', 'list'), /\nh1 .* amd nvme +512 MiB, 0 GiB\n/);
    assert.match(await fails(1, 'hosts', 'set', 'h1', '--tag', 'NVMe'), /--tag: enter a tag of at most 32/);
    assert.match(
      await fails(1, 'hosts', 'set', 'h1', '--reserve-disk-gb', '201'),
      /--reserve-disk-gb: host h1 has 200 GiB/,
    );
    assert.match(
      await fails(1, 'hosts', 'resize', 'h1', '--ram-mb', '256'),
      /--reserve-ram-mb: host h1 has 256/,
    );
    assert.match(await fails(1, 'hosts', 'set', 'h1'), /pass at least one of --tag/);
    assert.match(await fails(1, 'hosts', 'set', 'h2', '--tag', 'amd'), /host h2 not found/);
    assert.equal(
      await ok('hosts', 'set', 'h1', '--no-tags', '--reserve-ram-mb', '0'),
      'host h1: tags none, reserve none',
    );
  });

  it('a lost host is given up after a confirmation, and its addresses once it is fenced', async () => {
    const size = ['--cpu', '8', '--ram-mb', '4096', '--disk-gb', '200'];
    await ok('hosts', 'add', 'h9', '--region', 'par', ...size);
    assert.match(await fails(1, 'hosts', 'lost', 'h9'), /pass either --refund or --rebuild/);
    assert.match(await fails(1, 'hosts', 'lost', 'nowhere', '--refund'), /host nowhere not found/);
    assert.match(await fails(1, 'hosts', 'fenced', 'h9'), /host h9 is not lost/);
    const contents = 'host h9 has 0 servers, 0 volumes, and 0 snapshots';
    assert.equal(await ok('hosts', 'lost', 'h9', '--refund', '--dry-run'), contents);
    assert.match(await fails(1, 'hosts', 'lost', 'h9', '--refund'), /nothing was changed: pass --yes/);
    const declined = await operator.run(['hosts', 'lost', 'h9', '--refund'], false);
    assert.match(declined.out, /nothing was changed$/);
    assert.doesNotMatch(await ok('hosts', 'list'), /h9 .*lost/);
    const confirmed = await operator.run(['hosts', 'lost', 'h9', '--refund'], true);
    assert.match(confirmed.out, /host h9 is lost; see skerryd status/);
    assert.match(await ok('hosts', 'lost', 'h9', '--refund', '--yes'), /run skerryd hosts fenced h9/);
    assert.match(await ok('hosts', 'list'), /h9 .*lost/);
    assert.match(await fails(1, 'hosts', 'undrain', 'h9'), /host h9 is lost/);
    assert.match(await ok('hosts', 'fenced', 'h9'), /h9 is fenced; 0 addresses will be available in 7 days/);
    assert.match(await ok('hosts', 'list'), /h9 .*lost, fenced/);
    await ok('hosts', 'remove', 'h9');
  });
});
