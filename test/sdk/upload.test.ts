import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { NO_RATES } from '../http/v1/contract/estate.ts';
import { isoFile } from '../support/iso.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { NODES } from './nodes.ts';
import { ROOT } from './packed-folder.ts';

const FILE_BYTES = 300 * 1024 ** 2;
/** Less than the file. Node itself needs 60 to 100 megabytes. */
const MEMORY_MAX_MB = 250;

describe('image uploads with the SDK', FULL_ONLY, () => {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-upload-'));
  let world: World;
  let token: string;

  before(async () => {
    mkdirSync(join(folder, 'node_modules/@skerry'), { recursive: true });
    symlinkSync(join(ROOT, 'packages/sdk'), join(folder, 'node_modules/@skerry/sdk'));
    cpSync(join(ROOT, 'test/sdk/consumer/upload.mjs'), join(folder, 'upload.mjs'));
    writeFileSync(join(folder, 'large.iso'), isoFile());
    truncateSync(join(folder, 'large.iso'), FILE_BYTES);
    world = await startWorld(NO_RATES);
    token = await createApiToken(await world.customer());
  });
  after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const { major, path, missing } of NODES) {
    it(`an uploaded file is streamed from disk on Node ${major}`, { skip: missing }, async () => {
      assert.ok(path, `Node ${major} is not installed`);
      const env = { SKERRY_API_URL: world.url, SKERRY_TOKEN: token, ISO_FILE: join(folder, 'large.iso') };
      const { stdout } = await promisify(execFile)(path, ['upload.mjs'], { cwd: folder, env });
      const { sizeGb, maxRssMb } = JSON.parse(stdout) as { sizeGb: number; maxRssMb: number };
      assert.ok(sizeGb > 0.2, stdout);
      assert.ok(maxRssMb < MEMORY_MAX_MB, stdout);
    });
  }
});
