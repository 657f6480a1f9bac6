/**
 * Restarts and upgrades of a running service. A script of its own, because the kernel's setting needs a
 * network namespace: `unshare --net node test/process/rolling-run.ts restart|upgrade|history <times>`. Prints
 * a `RollingResult`.
 */
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEmbedded } from '../../src/store/embedded/index.ts';
import { killLeftovers, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { copyThisVersion, earlierVersions, extractVersion, linkVersion } from './earlier-versions.ts';
import { databaseUrl } from './live-world.ts';
import { type ProcessWorld, startProcesses } from './process-world.ts';
import { type LoadResult, RATES, underLoad } from './rolling-load.ts';

export interface RollingResult extends LoadResult {
  readonly stderr: string;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROCESSES = 2;
const RESTART_TIMEOUT_MS = 120_000;

/** `SIGHUP` to a parent with several processes. */
async function restarts(times: number): Promise<RollingResult> {
  const world = await startProcesses(PROCESSES, RATES);
  const result = await underLoad(world.serving.url, async () => {
    for (let n = 0; n < times; n++) await restartAll(world);
  }).finally(() => world.close());
  return { ...result, stderr: (await world.serving.ended).stderr };
}

async function restartAll({ serving, children }: ProcessWorld): Promise<void> {
  const before = children();
  process.kill(serving.pid, 'SIGHUP');
  const deadline = performance.now() + RESTART_TIMEOUT_MS;
  for (;;) {
    const now = children();
    if (now.length === PROCESSES && !now.some((pid) => before.includes(pid))) return;
    if (performance.now() > deadline) throw new Error(`not restarted: ${before} and ${now}`);
    await sleep(50);
  }
}

/** Each newer version adds a migration. */
async function upgrades(times: number): Promise<RollingResult> {
  return await inFolder(async (folder) => {
    const versions = [ROOT];
    for (let n = 1; n <= times; n++) versions.push(await makeVersion(join(folder, `v${n}`), n));
    return await upgradeThrough(folder, versions, times);
  });
}

/** From versions of the repository's history to this one. */
async function history(times: number): Promise<RollingResult> {
  return await inFolder(async (folder) => {
    const versions: string[] = [];
    for (const [n, commit] of earlierVersions(times).entries()) {
      const fill = (version: string) => extractVersion(version, commit);
      versions.push(await linkVersion(join(folder, `v${n}`), fill));
    }
    return await upgradeThrough(folder, [...versions, ROOT], times);
  });
}

async function inFolder(run: (folder: string) => Promise<RollingResult>): Promise<RollingResult> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-rolling-'));
  await chmod(folder, 0o755);
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  }
}

/**
 * Two services on one port. The migrations of a version run before the services are replaced. If there are
 * fewer versions than `times`, the last upgrade is repeated. At the end, both go back one version.
 */
async function upgradeThrough(
  folder: string,
  versions: readonly string[],
  times: number,
): Promise<RollingResult> {
  const database = await startEmbedded({ dataDir: join(folder, 'database') });
  const env = {
    ...RATES,
    DATABASE_URL: databaseUrl(database),
    SKERRY_DATA_DIR: join(folder, 'data'),
    SKERRY_PORT: '8080',
    SKERRY_LOG_LEVEL: 'error',
    SKERRY_SIM_BLOCK_S: '0',
  };
  const program = (version: string) => join(version, 'bin/skerryd');
  const start = (version: string) => startSkerryd(env, ['--shared-port'], program(version));
  const [oldest = '', ...newer] = versions;
  const stderr: string[] = [];
  let services: SkerrydProcess[] = [];
  try {
    services = [await start(oldest), await start(oldest)];
    const replaceAll = async (version: string) => {
      for (const [index, service] of services.entries()) {
        stderr.push((await service.stop()).stderr);
        services[index] = await start(version);
      }
    };
    const result = await underLoad(services[0]?.url ?? '', async () => {
      const upgrade = async (version: string) => {
        const commandEnv = { PATH: process.env.PATH, ...env };
        execFileSync(program(version), ['migrate', '--while-running'], { env: commandEnv });
        await replaceAll(version);
      };
      for (const version of newer) await upgrade(version);
      const [previous = oldest, last = oldest] = versions.slice(-2);
      for (let n = newer.length; n < times; n++) {
        await replaceAll(previous);
        await upgrade(last);
      }
      await replaceAll(previous);
    });
    for (const service of services) stderr.push((await service.stop()).stderr);
    return { ...result, stderr: stderr.join('') };
  } finally {
    killLeftovers();
    await database.stop();
  }
}

/** A copy of this version with more migrations. */
async function makeVersion(folder: string, migrations: number): Promise<string> {
  await linkVersion(folder, copyThisVersion);
  for (let n = 1; n <= migrations; n++) {
    await writeFile(
      join(folder, `src/store/migrations/9${String(n).padStart(3, '0')}_rolling.sql`),
      `-- Compatible: nothing reads it.\nalter table servers add column rolling_${n} int;\n`,
    );
  }
  return folder;
}

const RUNS = { restart: restarts, upgrade: upgrades, history };
const [, , name, times] = process.argv;
execFileSync('ip', ['link', 'set', 'lo', 'up']);
execFileSync('sysctl', ['-qw', 'net.ipv4.tcp_migrate_req=1']);
process.stdout.write(JSON.stringify(await RUNS[name as keyof typeof RUNS](Number(times))));
