/** The current state of payments that were reported before. */
import type { Observation } from '../../../ports/chain.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asInteger, asObject } from '../json-values.ts';
import { NodeError } from '../node-http.ts';
import { removedObservation } from '../removed-observation.ts';
import { type Output, parseTransactionOutputs } from './outputs.ts';
import { batchSettledLarge, NOT_FOUND } from './rpc.ts';
import { observeOutputs } from './unconfirmed.ts';
import { observeUnspent } from './unspent.ts';

export async function recheckPayments(rpc: JsonRpc, keys: readonly string[]): Promise<Observation[]> {
  const asked = new Set(keys);
  const byTxid = Map.groupBy(keys, (key) => removedObservation(key).txid);
  const txids = [...byTxid.keys()];
  const calls = txids.map((txid) => ({ method: 'gettransaction', params: [txid, true] }));
  const answers = await batchSettledLarge(rpc, calls);
  const outputs: Output[] = [];
  const conflicted: Observation[] = [];
  for (const [i, txid] of txids.entries()) {
    const answer = answers[i];
    if (answer instanceof NodeError && answer.code === NOT_FOUND) continue;
    if (answer instanceof NodeError) throw answer;
    const transaction = asObject(answer, 'transaction');
    // For a conflicting transaction the wallet no longer lists what it would have paid.
    if (asInteger(transaction.confirmations, 'transaction confirmations') < 0)
      conflicted.push(
        ...(byTxid.get(txid) ?? []).map((key) => ({
          ...removedObservation(key),
          state: 'conflicted' as const,
        })),
      );
    else outputs.push(...parseTransactionOutputs(transaction).filter(({ key }) => asked.has(key)));
  }
  const found = [...conflicted, ...(await observeOutputs(rpc, outputs))];
  const knownKeys = new Set(found.map(({ key }) => key));
  const unknown = keys.filter((key) => !knownKeys.has(key));
  return [...found, ...(await observeUnspent(rpc, unknown))];
}
