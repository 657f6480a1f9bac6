/** Whether a node of Tron can be relied on now. */
import { MINUTE_MS } from '../../../kernel/time.ts';
import type { ChainHealth } from '../../../ports/chain.ts';
import type { TronNode } from './node.ts';

/** A block comes every three seconds. */
const TIP_MAX_AGE_MS = 5 * MINUTE_MS;

export async function tronHealth(node: TronNode, allowTest: boolean): Promise<ChainHealth> {
  const [newest, about] = await Promise.all([
    node.latestBlock(),
    // Some nodes do not tell of themselves: then the age of the newest block says enough.
    node.nodeInfo().catch(() => null),
  ]);
  const ageMs = Date.now() - newest.time.getTime();
  const isOld = ageMs > TIP_MAX_AGE_MS;
  // A network of one's own may be one node.
  const isAlone = about?.peers === 0 && !allowTest;
  const detail = [
    isOld
      ? `its newest block is ${Math.round(ageMs / MINUTE_MS)} minutes old: it is loading, or cut off`
      : 'in time',
    isAlone ? 'no peers' : `${about?.peers ?? 'it does not say how many'} peers`,
  ].join(', ');
  return { ok: !isOld && !isAlone, height: newest.height, tipAt: newest.time, detail };
}
