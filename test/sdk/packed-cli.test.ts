/** The CLI as customers install it: packed with the SDK, installed in an empty folder, and run from there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { NO_RATES } from '../http/v1/contract/estate.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { NODES } from './nodes.ts';
import { installPacked, lintTarball, type PackedFolder } from './packed-folder.ts';

describe('the packed CLI', FULL_ONLY, () => {
  let world: World;
  let token: string;
  let packed: PackedFolder;

  before(async () => {
    packed = await installPacked(['sdk', 'cli']);
    world = await startWorld(NO_RATES);
    token = await createApiToken(await world.customer());
  });
  after(async () => {
    await world.close();
    packed.remove();
  });

  it('publint finds no problem in the packages', async () => {
    for (const tarball of packed.tarballs) assert.deepEqual(await lintTarball(tarball), []);
  });

  for (const { major, path, missing } of NODES) {
    it(`the packed CLI lists plans on Node ${major}`, { skip: missing }, async () => {
      assert.ok(path, `Node ${major} is not installed`);
      const command = join(packed.folder, 'node_modules/.bin/skerry');
      const env = { SKERRY_API_URL: world.url, SKERRY_TOKEN: token, HOME: packed.folder };
      const { stdout, stderr } = await promisify(execFile)(path, [command, 'plan', 'list', '-o', 'json'], {
        cwd: packed.folder,
        env,
      });
      assert.equal(stderr, '');
      const plans = JSON.parse(stdout) as { readonly id: string }[];
      assert.ok(
        plans.some(({ id }) => id === 's1'),
        stdout,
      );
    });
  }
});
