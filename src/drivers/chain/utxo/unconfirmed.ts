/**
 * Payments in no block. The wallet keeps every transaction that it ever saw, so ask the mempool whether it
 * still exists. If it is gone, it is double-spent once one of its inputs is no longer unspent.
 */
import type { Observation } from '../../../ports/chain.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asArray, asObject, type JsonObject } from '../json-values.ts';
import { NodeError } from '../node-http.ts';
import { type Output, parseTransactionOutputs, toObservation } from './outputs.ts';
import { batchSettledLarge, NOT_FOUND, TRANSACTION_MAX_BYTES } from './rpc.ts';

/**
 * Returns the state of each output. A dropped one is investigated if `includeDropped` says so, otherwise left
 * out.
 */
export async function observeOutputs(
  rpc: JsonRpc,
  outputs: readonly Output[],
  includeDropped: (output: Output) => boolean = () => true,
): Promise<Observation[]> {
  const unconfirmedTxids = await findInMempool(rpc, outputs.filter(isUnconfirmed));
  const isDropped = (output: Output) => isUnconfirmed(output) && !unconfirmedTxids.has(output.txid);
  const dropped = outputs.filter((output) => isDropped(output) && includeDropped(output));
  const current = outputs
    .filter((output) => !isDropped(output))
    .map((output) => toObservation(output, 'mempool'));
  return [...current, ...(await observeDropped(rpc, dropped))];
}

export function isUnconfirmed({ confirmations }: Output): boolean {
  return confirmations === 0;
}

async function findInMempool(rpc: JsonRpc, outputs: readonly Output[]): Promise<ReadonlySet<string>> {
  const txids = [...new Set(outputs.map(({ txid }) => txid))];
  const entries = await batchSettledLarge(
    rpc,
    txids.map((txid) => ({ method: 'getmempoolentry', params: [txid] })),
  );
  const failed = entries.find((entry) => entry instanceof NodeError && entry.code !== NOT_FOUND);
  if (failed !== undefined) throw failed;
  return new Set(txids.filter((_, i) => !(entries[i] instanceof NodeError)));
}

async function observeDropped(rpc: JsonRpc, dropped: readonly Output[]): Promise<Observation[]> {
  const byTxid = Map.groupBy(dropped, ({ txid }) => txid);
  const observations: Observation[] = [];
  for (const [txid, outputs] of byTxid) {
    const transaction = asObject(
      await rpc.call('gettransaction', [txid, true, true], { maxBytes: TRANSACTION_MAX_BYTES }),
      'transaction',
    );
    const droppedState = (await isDoubleSpent(rpc, transaction)) ? 'conflicted' : 'removed';
    // It may have been mined in the meantime: its current block counts.
    const now = new Map(parseTransactionOutputs(transaction).map((output) => [output.key, output]));
    observations.push(...outputs.map((output) => toObservation(now.get(output.key) ?? output, droppedState)));
  }
  return observations;
}

async function isDoubleSpent(rpc: JsonRpc, transaction: JsonObject): Promise<boolean> {
  const { walletconflicts, mempoolconflicts, decoded } = transaction;
  const conflicts = [walletconflicts, mempoolconflicts];
  if (conflicts.some((txids) => Array.isArray(txids) && txids.length > 0)) return true;
  const inputs = asArray(asObject(decoded, 'decoded transaction').vin, 'inputs');
  const calls = inputs
    .map((input) => asObject(input, 'input'))
    .filter(({ txid, vout }) => typeof txid === 'string' && typeof vout === 'number')
    .map(({ txid, vout }) => ({ method: 'gettxout', params: [txid, vout, true] }));
  return (await batchSettledLarge(rpc, calls)).includes(null);
}
