/** The Pulumi provider as customers install it: packed with the SDK, and installed in an empty folder. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { NODES } from '../../sdk/nodes.ts';
import { installPacked, lintTarball, type PackedFolder } from '../../sdk/packed-folder.ts';
import { FULL_ONLY } from '../../support/runs.ts';

describe('the packed Pulumi provider', FULL_ONLY, () => {
  let packed: PackedFolder;
  before(async () => {
    packed = await installPacked(['sdk', 'pulumi']);
  });
  after(() => packed.remove());

  it('publint finds no problem in the packages', async () => {
    for (const tarball of packed.tarballs) assert.deepEqual(await lintTarball(tarball), []);
  });

  for (const { major, path, missing } of NODES) {
    it(`the packed provider prints its port on Node ${major}`, { skip: missing }, async () => {
      assert.ok(path, `Node ${major} is not installed`);
      const program = join(packed.folder, 'node_modules/.bin/pulumi-resource-skerry');
      const child = spawn(path, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = await once(createInterface({ input: child.stdout }), 'line');
      assert.match(line, /^\d+$/);
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      assert.equal(code, 0);
    });
  }
});
