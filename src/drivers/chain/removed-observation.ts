/** Observations that do not depend on the coin. */
import type { Observation } from '../../ports/chain.ts';

/**
 * An observation of a payment that the chain no longer has. The txid is the part of the key before the first
 * colon.
 */
export function removedObservation(key: string): Observation {
  return {
    key,
    txid: key.split(':')[0] ?? key,
    address: '',
    amountUnits: 0n,
    state: 'removed',
    confirmations: 0,
    height: null,
    blockHash: null,
    blockTime: null,
    agreed: true,
  };
}
