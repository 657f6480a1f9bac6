/** Before the service listens: no node may be one that could spend, or of another network. */
import { NodeBehind } from '../drivers/chain/node-behind.ts';
import { NodeError, NodeUnreachable } from '../drivers/chain/node-http.ts';
import { summarizeError } from '../kernel/logger.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { UnsafeChainError } from '../ports/chain.ts';
import type { RealCoin } from './coins.ts';

/** Of all nodes together. One that takes longer is proven by its driver before it is used. */
const CHECK_TIMEOUT_MS = 15_000;

/**
 * Throws a Refusal that names the setting where a node must not be used. Of one that cannot be asked it only warns: the
 * service has other coins to take, and the driver proves it again before it is used.
 */
export async function checkCoins(
  coins: readonly RealCoin[],
  warn: (line: string) => void,
  timeoutMs = CHECK_TIMEOUT_MS,
): Promise<void> {
  const warnings = new Set<string>();
  const deadline = AbortSignal.timeout(timeoutMs);
  await Promise.all(
    coins.flatMap(({ nodes }) =>
      nodes.map(async ({ settings, checkSafety }) => {
        try {
          await withSharedTimeout(checkSafety(), deadline);
        } catch (error) {
          if (error instanceof UnsafeChainError)
            throw new OperatorError(`${settings.join(', ')}: ${error.message}`);
          const urlSettings = settings.filter((name) => name.endsWith('_URL')).join(', ');
          warnings.add(
            `${urlSettings}: ${describeNodeError(error)}; nothing is taken by it until it can be asked`,
          );
        }
      }),
    ),
  );
  for (const warning of warnings) warn(`skerryd: ${warning}`);
}

async function withSharedTimeout(promise: Promise<void>, deadline: AbortSignal): Promise<void> {
  // Its own end comes after ours then, and is nobody's any more.
  promise.catch(() => undefined);
  await Promise.race([
    promise,
    new Promise<never>((_, reject) => {
      deadline.addEventListener('abort', () =>
        reject(new NodeUnreachable('the node did not answer in time')),
      );
    }),
  ]);
}

/** Errors of other kinds may hold anything. */
function describeNodeError(error: unknown): string {
  const isKnown = [NodeUnreachable, NodeError, NodeBehind].some((kind) => error instanceof kind);
  return isKnown ? summarizeError(error) : 'the node gave an answer that is not understood';
}
