/** A cluster of PostgreSQL gets another primary. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster, PgNode } from '../../support/patroni.ts';
import { ClusterDatabase } from '../world/cluster.ts';
import { type Begin, nothingToRepair } from './breaking.ts';

const OTHER_WITHIN_MS = 90_000;
const POLL_MS = 100;

/** `kill`: the node stays away until another one is primary. `crash`: only PostgreSQL ends. */
export const failOver =
  (way: 'switch' | 'crash' | 'kill'): Begin =>
  async ({ database }) => {
    if (!(database instanceof ClusterDatabase)) return nothingToRepair;
    const { cluster } = database;
    const primary = await cluster.primary();
    // A fail-over is under way.
    if (primary === null) return async () => void (await cluster.untilHealthy());
    const begun = way === 'switch' ? cluster.switchOver(primary) : cluster[way](primary);
    begun.catch(() => undefined);
    return async () => {
      await begun;
      if (way === 'kill') {
        await untilOther(cluster, primary);
        await cluster.revive(primary);
      }
      await cluster.untilHealthy();
    };
  };

async function untilOther(cluster: Cluster, primary: PgNode): Promise<void> {
  for (const until = performance.now() + OTHER_WITHIN_MS; performance.now() < until; await pause(POLL_MS)) {
    const now = await cluster.primary();
    if (now !== null && now.name !== primary.name) return;
  }
}
