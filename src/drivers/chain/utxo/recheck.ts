/** The present state of payments that were told before. */
import type { Observation } from '../../../ports/chain.ts';
import { fieldsOf, integerOf } from '../answers.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { NodeError } from '../node-http.ts';
import { removed } from '../observed.ts';
import { type Output, outputsOf } from './outputs.ts';
import { NOT_FOUND, settledInSlices } from './rpc.ts';
import { observeUnspent } from './unspent.ts';
import { observeAll } from './waiting.ts';

export async function recheckPayments(rpc: JsonRpc, keys: readonly string[]): Promise<Observation[]> {
  const asked = new Set(keys);
  const byTxid = Map.groupBy(keys, (key) => removed(key).txid);
  const txids = [...byTxid.keys()];
  const calls = txids.map((txid) => ({ method: 'gettransaction', params: [txid, true] }));
  const answers = await settledInSlices(rpc, calls);
  const outputs: Output[] = [];
  const conflicted: Observation[] = [];
  for (const [i, txid] of txids.entries()) {
    const answer = answers[i];
    if (answer instanceof NodeError && answer.code === NOT_FOUND) continue;
    if (answer instanceof NodeError) throw answer;
    const transaction = fieldsOf(answer, 'a transaction');
    // A block spent its coins otherwise: of what it would have paid the wallet tells nothing any more.
    if (integerOf(transaction.confirmations, 'a transaction’s confirmations') < 0)
      conflicted.push(
        ...(byTxid.get(txid) ?? []).map((key) => ({ ...removed(key), state: 'conflicted' as const })),
      );
    else outputs.push(...outputsOf(transaction).filter(({ key }) => asked.has(key)));
  }
  const found = [...conflicted, ...(await observeAll(rpc, outputs))];
  const told = new Set(found.map(({ key }) => key));
  const unknown = keys.filter((key) => !told.has(key));
  return [...found, ...(await observeUnspent(rpc, unknown))];
}
