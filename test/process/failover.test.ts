/** A cluster of PostgreSQL fails over under load, and the service follows its primary. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/store/db.ts';
import { type Cluster, NO_PATRONI, type PgNode, startCluster } from '../support/patroni.ts';
import { byLevel, FULL_ONLY } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, startSkerryd } from '../support/skerryd-process.ts';
import { createApiToken } from '../support/v1-client.ts';
import { FailoverLoad } from './failover-load.ts';
import { RATES } from './rolling-load.ts';

/** The ways in which a primary goes away. The last one takes as long as its lease, 20 s. */
const WAYS = byLevel<readonly ('switch' | 'crash' | 'kill')[]>({
  sample: [],
  full: ['crash'],
  soak: ['kill', 'switch', 'crash', 'kill', 'crash', 'switch', 'kill', 'crash', 'switch', 'kill'],
});
/** A commit waits for a standby, so a cluster whose node stays away needs a third. */
const NODES = byLevel({ sample: 2, full: 2, soak: 3 });
const READY_WITHIN_MS = 90_000;
const CALM_MS = 500;

it('a failover loses no acknowledged change, and refuses what it cannot answer', {
  skip: FULL_ONLY.skip || NO_PATRONI,
  timeout: byLevel({ sample: 0, full: 240_000, soak: 1_200_000 }),
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-failover-'));
  await chmod(folder, 0o755);
  const cluster = await startCluster(NODES);
  const env = {
    ...RATES,
    DATABASE_URL: cluster.url,
    SKERRY_DATA_DIR: folder,
    SKERRY_LOG_LEVEL: 'silent',
    SKERRY_SIM_BLOCK_S: '0',
  };
  try {
    const serving = await startSkerryd(env);
    const session = SessionClient.forUrl(serving.url);
    await session.signUp();
    const load = new FailoverLoad(serving.url, await createApiToken(session));
    load.start();
    for (const [index, way] of WAYS.entries()) {
      await sleep(CALM_MS);
      load.longestGapMs = 0;
      const refusalsBefore = load.refusals;
      const lost = await cluster.untilHealthy();
      await failOver(cluster, lost, way);
      await untilReady(serving.url, load);
      const gap = `${(load.longestGapMs / 1_000).toFixed(1)} s without a change`;
      t.diagnostic(`${index + 1}. ${way}: ${gap}, ${load.refusals - refusalsBefore} refused`);
      if (way === 'kill') await cluster.revive(lost);
      await cluster.untilHealthy();
    }
    await load.stop();
    assert.deepEqual(load.problems, []);
    await assertAllThere(cluster, load);
    t.diagnostic(
      `${load.answers} answers, ${load.refusals} refused, slowest ${Math.round(load.slowestMs)} ms`,
    );
    assert.ok(load.kept.size > 0 && load.revoked.size > 0);
    const verified = await runSkerryd(['verify'], env);
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    await serving.stop();
  } finally {
    killLeftovers();
    await cluster.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  }
});

async function failOver(cluster: Cluster, from: PgNode, way: (typeof WAYS)[number]): Promise<void> {
  if (way === 'switch') return await cluster.switchOver(from);
  await (way === 'crash' ? cluster.crash(from) : cluster.kill(from));
  for (const deadline = Date.now() + READY_WITHIN_MS; ; await sleep(50)) {
    const now = await cluster.primary();
    if (now && now.name !== from.name) return;
    assert.ok(Date.now() < deadline, `no primary after ${way} of ${from.name}`);
  }
}

/** Waits until the service is ready and has made a change. */
async function untilReady(url: string, load: FailoverLoad): Promise<void> {
  const since = performance.now();
  for (const deadline = Date.now() + READY_WITHIN_MS; ; await sleep(50)) {
    const { status } = await fetch(`${url}/readyz`);
    if (status === 200 && load.lastChangeAtMs > since) return;
    assert.ok(Date.now() < deadline, `not ready: ${status}`);
  }
}

async function assertAllThere({ url }: Cluster, load: FailoverLoad): Promise<void> {
  const db = openDatabase({ connectionString: url }, { poolSize: 1 });
  try {
    const rows = await db.rows<{ name: string; n: bigint }>(
      'select name, count(*) as n from api_tokens group by name',
    );
    const found = new Set(rows.map(({ name }) => name));
    const lost = [...load.kept.values()].filter((name) => !found.has(name));
    const back = [...load.revoked].filter((name) => found.has(name));
    const double = rows.filter(({ n }) => n > 1n);
    assert.deepEqual({ lost, back, double }, { lost: [], back: [], double: [] });
  } finally {
    await db.close();
  }
}
