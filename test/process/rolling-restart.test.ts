/** Restarts and upgrades without downtime. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NET_SKIP } from '../drivers/compute/qemu/support/net-world.ts';
import { byLevel, FULL_ONLY } from '../support/runs.ts';
import type { RollingResult } from './rolling-run.ts';

const RESTARTS = byLevel({ sample: 0, full: 2, soak: 20 });
const UPGRADES = byLevel({ sample: 0, full: 1, soak: 5 });
const REQUESTS_MIN = 100;
const SKIP = { skip: FULL_ONLY.skip || NET_SKIP };
const SCRIPT = fileURLToPath(new URL('./rolling-run.ts', import.meta.url));

async function run(name: 'restart' | 'upgrade', times: number): Promise<RollingResult> {
  const command = ['--net', process.execPath, SCRIPT, name, String(times)];
  const { stdout } = await promisify(execFile)('unshare', command);
  return JSON.parse(stdout) as RollingResult;
}

it('no request fails and no event is lost while processes restart', SKIP, async () => {
  const { requests, failures, stderr } = await run('restart', RESTARTS);
  assert.deepEqual(failures, [], stderr);
  assert.ok(requests > RESTARTS * REQUESTS_MIN, `${requests} requests`);
  assert.equal(stderr.match(/all processes restarted/g)?.length, RESTARTS, stderr);
});

it('no request fails during upgrades, and the previous version works on the newer schema', SKIP, async () => {
  const { requests, failures, stderr } = await run('upgrade', UPGRADES);
  assert.deepEqual(failures, [], stderr);
  assert.ok(requests > UPGRADES * REQUESTS_MIN, `${requests} requests`);
  assert.equal(stderr, '');
});
