/** The health of a Tron node. */
import { MINUTE_MS } from '../../../kernel/time.ts';
import type { ChainHealth } from '../../../ports/chain.ts';
import type { TronNode } from './node.ts';

/** Tron has a block every three seconds. */
const TIP_MAX_AGE_MS = 5 * MINUTE_MS;

export async function tronHealth(node: TronNode, allowTest: boolean): Promise<ChainHealth> {
  const [newest, info] = await Promise.all([
    node.latestBlock(),
    // Some nodes don't offer this call: then only the age of the newest block counts.
    node.nodeInfo().catch(() => null),
  ]);
  const ageMs = Date.now() - newest.time.getTime();
  const isOld = ageMs > TIP_MAX_AGE_MS;
  // A private network may have a single node.
  const isAlone = info?.peers === 0 && !allowTest;
  const detail = [
    isOld
      ? `the newest block is ${Math.round(ageMs / MINUTE_MS)} minutes old: the node is syncing or offline`
      : 'in sync',
    isAlone ? 'no peers' : `${info?.peers ?? 'unknown number of'} peers`,
  ].join(', ');
  return { ok: !isOld && !isAlone, height: newest.height, tipAt: newest.time, detail };
}
