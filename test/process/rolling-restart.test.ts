/** `SIGHUP` to a service with several processes. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NET_SKIP } from '../drivers/compute/qemu/support/net-world.ts';
import { byLevel, FULL_ONLY } from '../support/runs.ts';
import type { RollingResult } from './rolling-load.ts';

const RESTARTS = byLevel({ sample: 0, full: 2, soak: 20 });
const SCRIPT = fileURLToPath(new URL('./rolling-load.ts', import.meta.url));

it('no request fails and no event is lost while processes restart', {
  skip: FULL_ONLY.skip || NET_SKIP,
}, async () => {
  const { stdout } = await promisify(execFile)('unshare', [
    '--net',
    process.execPath,
    SCRIPT,
    String(RESTARTS),
  ]);
  const { requests, failures, stderr } = JSON.parse(stdout) as RollingResult;
  assert.deepEqual(failures, [], stderr);
  assert.ok(requests > RESTARTS * 100, `${requests} requests`);
  assert.equal(stderr.match(/all processes restarted/g)?.length, RESTARTS, stderr);
});
