/** A cluster of PostgreSQL gets another primary. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster, PgNode } from '../../support/patroni.ts';
import { ClusterDatabase } from '../world/cluster.ts';
import { type Begin, breakOne, lasting, onPart } from './begin.ts';

const OTHER_WITHIN_MS = 90_000;
const POLL_MS = 100;

/** `kill`: the node stays away until another one is primary. `crash`: only PostgreSQL ends. */
export const failOver = (way: 'switch' | 'crash' | 'kill'): Begin =>
  breakOne(
    ({ database }) => (database instanceof ClusterDatabase ? [onPart('cluster', database.cluster)] : []),
    async (cluster) => {
      const primary = await cluster.primary();
      if (primary === null) return null;
      const begun = way === 'switch' ? cluster.switchOver(primary) : cluster[way](primary);
      const isDone = begun.then(
        () => true,
        () => false,
      );
      return lasting(async () => {
        const isApplied = await isDone;
        if (way === 'kill') {
          await untilOther(cluster, primary);
          await cluster.revive(primary);
        }
        await cluster.untilHealthy();
        return isApplied;
      });
    },
  );

async function untilOther(cluster: Cluster, primary: PgNode): Promise<void> {
  for (const until = performance.now() + OTHER_WITHIN_MS; performance.now() < until; await pause(POLL_MS)) {
    const now = await cluster.primary();
    if (now !== null && now.name !== primary.name) return;
  }
}
