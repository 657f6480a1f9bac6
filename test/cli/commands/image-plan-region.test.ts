import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { NO_RATES } from '../../http/v1/contract/estate.ts';
import { isoFile } from '../../support/iso.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { createApiToken } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { createFolder } from '../support/folder.ts';
import { type Cli, createCli } from '../support/run-cli.ts';
import { runOnTerminal } from '../support/run-on-terminal.ts';

describe('skerry image, plan, and region', FULL_ONLY, () => {
  const cwd = createFolder();
  let world: World;
  let cli: Cli;
  before(async () => {
    world = await startWorld(NO_RATES);
    cli = createCli({ url: world.url, token: await createApiToken(await world.customer(), 'write') });
    writeFileSync(join(cwd, 'own.iso'), isoFile());
    writeFileSync(join(cwd, 'no.iso'), 'not an image');
  });
  after(() => world.close());

  it('image list shows names that --image accepts', async () => {
    const { stdout } = await cli('image', 'list', '--family', 'debian', '--sort', 'id', '-o', 'columns=name');
    assert.deepEqual(stdout.trim().split('\n').toSorted(), ['NAME', 'debian-11', 'debian-12', 'debian-13']);
    const { version } = await cli.json('image', 'describe', 'debian-12');
    assert.equal(version, '12');
  });

  it('a family selects its newest available image', async () => {
    assert.equal((await cli.json('image', 'describe', 'debian')).version, '13');
    const { code, stderr } = await cli('image', 'describe', 'debian-1');
    assert.deepEqual([code, stderr], [5, 'skerry: image "debian-1" not found; see `skerry image list`\n']);
  });

  it('an uploaded image is found by its name and deleted after a confirmation', async () => {
    const words = ['--name', 'own', '--version', '2026.1', '--arch', 'amd64,arm64', '-o', 'json'];
    const { code, stdout, stderr } = await cli.with({ cwd }, 'image', 'upload', 'own.iso', ...words);
    assert.deepEqual([code, stderr], [0, '']);
    const { id, version, arch } = JSON.parse(stdout);
    assert.deepEqual({ version, arch }, { version: '2026.1', arch: ['amd64', 'arm64'] });
    assert.equal((await cli.json('image', 'describe', 'own')).id, id);
    assert.equal((await cli('image', 'delete', 'own')).code, 11);
    assert.deepEqual(await cli('image', 'delete', 'own', '--yes'), { code: 0, stdout: '', stderr: '' });
  });

  it('image upload rejects a missing file and an invalid image', async () => {
    const missing = await cli.with({ cwd }, 'image', 'upload', 'nothing.iso');
    assert.deepEqual(missing, {
      code: 2,
      stdout: '',
      stderr: 'skerry: nothing.iso: file not found\n',
    });
    const refused = await cli.with({ cwd }, 'image', 'upload', 'no.iso');
    assert.equal(refused.code, 7);
    assert.match(refused.stderr, /not an ISO 9660 image/);
  });

  it('lists of images, plans, and regions fit a terminal of 80 characters', async () => {
    for (const group of ['image', 'plan', 'region']) {
      const { screen } = await runOnTerminal({ env: cli.env }, group, 'list');
      assert.ok(screen.split('\r\n').length > 4, screen);
      assert.deepEqual(
        screen.split('\r\n').filter((line) => line.length > 80),
        [],
      );
    }
  });

  it('plan describe shows the price of each billing cycle', async () => {
    const { stdout } = await cli('plan', 'describe', 's1');
    assert.match(stdout, /^Discount 12 months: +50 %$/m);
    assert.match(stdout, /^Price USD 12 months: +44\.10$/m);
    const plans = await cli.json('plan', 'list', '--category', 'dedicated');
    assert.deepEqual(
      plans.map(({ id }: { id: string }) => id),
      ['r1', 'r2', 'r3'],
    );
  });

  it('region describe shows a region and rejects an unknown one', async () => {
    const { name, country } = await cli.json('region', 'describe', 'rkv');
    assert.deepEqual([name, country], ['Reykjavik', 'IS']);
    assert.equal((await cli('region', 'describe', 'xyz')).code, 5);
  });
});
