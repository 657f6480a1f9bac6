/** Checks before the service listens: no node may be able to spend, or be on another network. */

import { NodeBehind } from '../drivers/chain/cursor.ts';
import { NodeError, NodeUnreachable } from '../drivers/chain/node-http.ts';
import { summarizeError } from '../kernel/logger.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { withTimeout } from '../kernel/timeout.ts';
import { UnsafeChainError } from '../ports/chain.ts';
import type { RealCoin } from './coins.ts';

/** For all nodes together. The driver checks a slower node before its first use. */
const CHECK_TIMEOUT_MS = 15_000;

/**
 * Throws an OperatorError that names the setting if a node is unsafe. An unreachable node only causes a
 * warning: the service has other coins to accept, and the driver checks the node again before its first use.
 */
export async function checkCoins(
  coins: readonly RealCoin[],
  warn: (line: string) => void,
  timeoutMs = CHECK_TIMEOUT_MS,
): Promise<void> {
  const warnings = new Set<string>();
  await Promise.all(
    coins.flatMap(({ nodes }) =>
      nodes.map(async ({ settings, checkSafety }) => {
        try {
          await withTimeout(checkSafety(), timeoutMs, createTimeoutError);
        } catch (error) {
          if (error instanceof UnsafeChainError)
            throw new OperatorError(`${settings.join(', ')}: ${error.message}`);
          const urlSettings = settings.filter((name) => name.endsWith('_URL')).join(', ');
          warnings.add(
            `${urlSettings}: ${describeNodeError(error)}; ` +
              'no payments are accepted through it until this is resolved',
          );
        }
      }),
    ),
  );
  for (const warning of warnings) warn(`skerryd: ${warning}`);
}

function createTimeoutError(): NodeUnreachable {
  return new NodeUnreachable('the node did not respond in time');
}

/** Errors of other kinds may contain secrets. */
function describeNodeError(error: unknown): string {
  const isKnown = [NodeUnreachable, NodeError, NodeBehind].some((kind) => error instanceof kind);
  return isKnown ? summarizeError(error) : 'the node sent an invalid response';
}
