/** Before the service listens: no node may be one that could spend, or of another network. */
import { NodeBehind } from '../drivers/chain/node-behind.ts';
import { NodeError, NodeUnreachable } from '../drivers/chain/node-http.ts';
import { faultLine } from '../kernel/logger.ts';
import { Refusal } from '../kernel/refusal.ts';
import { UnsafeChain } from '../ports/chain.ts';
import type { RealCoin } from './coins.ts';

/** Of all nodes together. One that takes longer is proven by its driver before it is used. */
const PATIENCE_MS = 15_000;

/**
 * Throws a Refusal that names the setting where a node must not be used. Of one that cannot be asked it only warns: the
 * service has other coins to take, and the driver proves it again before it is used.
 */
export async function proveCoins(
  coins: readonly RealCoin[],
  warn: (line: string) => void,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const warnings = new Set<string>();
  const late = AbortSignal.timeout(patienceMs);
  await Promise.all(
    coins.flatMap(({ nodes }) =>
      nodes.map(async ({ settings, prove }) => {
        try {
          await beforeEnd(prove(), late);
        } catch (error) {
          if (error instanceof UnsafeChain) throw new Refusal(`${settings.join(', ')}: ${error.message}`);
          const asked = settings.filter((name) => name.endsWith('_URL')).join(', ');
          warnings.add(`${asked}: ${askingFault(error)}; nothing is taken by it until it can be asked`);
        }
      }),
    ),
  );
  for (const warning of warnings) warn(`skerryd: ${warning}`);
}

async function beforeEnd(work: Promise<void>, late: AbortSignal): Promise<void> {
  // Its own end comes after ours then, and is nobody's any more.
  work.catch(() => undefined);
  await Promise.race([
    work,
    new Promise<never>((_, reject) => {
      late.addEventListener('abort', () => reject(new NodeUnreachable('the node did not answer in time')));
    }),
  ]);
}

/** Errors of other kinds may hold anything. */
function askingFault(error: unknown): string {
  const isKnown = [NodeUnreachable, NodeError, NodeBehind].some((kind) => error instanceof kind);
  return isKnown ? faultLine(error) : 'the node gave an answer that is not understood';
}
