/** Runs the walkthrough of the getting-started guide exactly as written. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { killLeftovers, startSkerryd } from '../support/skerryd-process.ts';

const CLI = fileURLToPath(new URL('../../packages/cli/bin/skerry.js', import.meta.url));
const GUIDE = new URL('../../docs/customers/getting-started.md', import.meta.url);

after(killLeftovers);

it('the walkthrough of the getting-started guide leads to a running server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-readme-'));
  await chmod(folder, 0o755);
  const serving = await startSkerryd({
    SKERRY_DATA_DIR: folder,
    SKERRY_LOG_LEVEL: 'warn',
    SKERRY_SIM_INSTALL_S: '0.3',
    SKERRY_RATE_CAPACITY: '100',
  });
  const blocks = [...(await readFile(GUIDE, 'utf8')).matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(
    (match) => match[1] ?? '',
  );
  const walkthrough = ['/deploy-api.php', 'v1 POST /servers', 'npx skerry'].map(
    (text) => blocks.find((block) => block.includes(text)) ?? assert.fail(`no block contains ${text}`),
  );
  const script = walkthrough
    .join('\n')
    .replace('https://skerry.example', serving.url)
    .replaceAll('/tmp/skerry-key', join(folder, 'key'))
    .replaceAll('npx skerry', `"${process.execPath}" "${CLI}"`);
  const { stdout } = await promisify(execFile)('bash', ['-c', `set -eu\n${script}`], { cwd: folder });
  assert.match(stdout, /"balance":130/);
  assert.match(stdout, /class="state good">running</);
  assert.match(stdout, /"status":"running"/);
  assert.match(stdout, /^srv_\S+ +web-2 +running /m);
  assert.equal((await serving.stop()).code, 0);
  await rm(folder, { recursive: true, force: true });
});
