/** Observations, as drivers put them together. */
import type { Observation } from '../../ports/chain.ts';

/** One that the chain knows nothing of any more. `txid` is what stands before the first colon of its key. */
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
