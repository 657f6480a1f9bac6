/** The README's main job, typed as it stands there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { promisify } from 'node:util';
import { killLeftovers, startServing } from '../support/process.ts';

const README = new URL('../../README.md', import.meta.url);

after(killLeftovers);

it('the commands of the README take a visitor to a running server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-readme-'));
  await chmod(folder, 0o755);
  const serving = await startServing({
    SKERRY_DATA_DIR: folder,
    SKERRY_LOG_LEVEL: 'warn',
    SKERRY_SIM_INSTALL_S: '0.3',
  });
  const blocks = [...(await readFile(README, 'utf8')).matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(
    (match) => match[1] ?? '',
  );
  const job = blocks.find((block) => block.includes('/deploy-api.php')) ?? '';
  const script = job.replace('http://127.0.0.1:8080', serving.url);
  assert.notEqual(script, job);
  const { stdout } = await promisify(execFile)('bash', ['-c', `set -eu\n${script}`], { cwd: folder });
  assert.match(stdout, /"balance":130/);
  assert.match(stdout, /class="state good">running</);
  assert.equal((await serving.stop()).code, 0);
  await rm(folder, { recursive: true, force: true });
});
