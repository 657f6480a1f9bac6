/** Restarts and upgrades without downtime. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { NET_SKIP } from '../drivers/compute/qemu/support/net-world.ts';
import { byLevel, FULL_ONLY } from '../support/runs.ts';
import { startSkerryd } from '../support/skerryd-process.ts';
import { reasonForNoEarlierVersion } from './earlier-versions.ts';
import { startProcesses } from './process-world.ts';
import type { RollingResult } from './rolling-run.ts';

const RESTARTS = byLevel({ sample: 0, full: 2, soak: 20 });
const UPGRADES = byLevel({ sample: 0, full: 1, soak: 5 });
const REQUESTS_MIN = 100;
const REPLACED_WITHIN_MS = 60_000;
const SKIP = { skip: FULL_ONLY.skip || NET_SKIP };
const HISTORY_SKIP = { skip: SKIP.skip || reasonForNoEarlierVersion() };
const SCRIPT = fileURLToPath(new URL('./rolling-run.ts', import.meta.url));

async function run(name: 'restart' | 'upgrade' | 'history', times: number): Promise<RollingResult> {
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

it('a process that dies during a restart is replaced once', FULL_ONLY, async () => {
  const world = await startProcesses(2, {});
  const restart = async (previous: readonly number[]) => {
    process.kill(world.serving.pid, 'SIGHUP');
    const deadline = performance.now() + REPLACED_WITHIN_MS;
    for (;;) {
      const now = world.children();
      if (now.length === 2 && !now.some((pid) => previous.includes(pid))) return now;
      assert.ok(performance.now() < deadline, `${previous} and ${now}`);
      await sleep(50);
    }
  };
  try {
    const first = world.children();
    process.kill(world.serving.pid, 'SIGHUP');
    process.kill(first.at(-1) ?? assert.fail(), 'SIGKILL');
    // It waits for the end of the one under way, and says how many processes there are.
    await restart(await restart(first));
  } finally {
    await world.close();
  }
  const { stderr } = await world.serving.ended;
  const counts = [...stderr.matchAll(/restarting (\d+) processes/g)].map(([, count]) => count);
  assert.ok(counts.length >= 2 && counts.slice(1).every((count) => count === '2'), stderr);
});

it('no request fails during upgrades, and the previous version works on the newer schema', SKIP, async () => {
  const { requests, failures, stderr } = await run('upgrade', UPGRADES);
  assert.deepEqual(failures, [], stderr);
  assert.ok(requests > UPGRADES * REQUESTS_MIN, `${requests} requests`);
  assert.equal(stderr, '');
});

it('no request fails during upgrades from earlier versions, and back', HISTORY_SKIP, async () => {
  const { requests, failures, stderr } = await run('history', UPGRADES);
  assert.deepEqual(failures, [], stderr);
  assert.ok(requests > REQUESTS_MIN, `${requests} requests`);
  assert.equal(stderr, '');
});

it('says that it is not ready before it refuses connections', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-stop-'));
  // When root runs the tests, the database runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  const env = { SKERRY_DATA_DIR: join(folder, 'data'), SKERRY_LOG_LEVEL: 'warn', SKERRY_STOP_DELAY_S: '3' };
  const serving = await startSkerryd(env);
  const ended = serving.stop('SIGTERM');
  const ask = async (path: string) => {
    const { status, headers } = await fetch(serving.url + path);
    return { status, connection: headers.get('connection') };
  };
  while ((await ask('/readyz')).status === 200);
  // Each request has a connection of its own: the one before told its client to close.
  assert.deepEqual(await ask('/readyz'), { status: 503, connection: 'close' });
  assert.deepEqual(await ask('/healthz'), { status: 200, connection: 'close' });
  assert.equal((await ended).code, 0);
  await assert.rejects(ask('/readyz'));
  await rm(folder, { recursive: true, force: true });
});
