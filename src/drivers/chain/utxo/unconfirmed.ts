/**
 * Payments in no block. The wallet keeps every one that it ever saw, so that alone says nothing: the mempool has it, or it is gone.
 * It is gone for good, spent otherwise, where one of its coins is no longer there to be spent.
 */
import type { Observation } from '../../../ports/chain.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asArray, asObject, type JsonObject } from '../json-values.ts';
import { NodeError } from '../node-http.ts';
import { type Output, parseTransactionOutputs, toObservation } from './outputs.ts';
import { batchSettledLarge, NOT_FOUND, TRANSACTION_MAX_BYTES } from './rpc.ts';

/** What each of these outputs is now. Those that are gone are looked into where `tellGone` says so, and left out elsewhere. */
export async function observeOutputs(
  rpc: JsonRpc,
  outputs: readonly Output[],
  includeDropped: (output: Output) => boolean = () => true,
): Promise<Observation[]> {
  const waiting = await findInMempool(rpc, outputs.filter(isUnconfirmed));
  const isDropped = (output: Output) => isUnconfirmed(output) && !waiting.has(output.txid);
  const gone = outputs.filter((output) => isDropped(output) && includeDropped(output));
  const present = outputs
    .filter((output) => !isDropped(output))
    .map((output) => toObservation(output, 'mempool'));
  return [...present, ...(await observeDropped(rpc, gone))];
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
      'a transaction',
    );
    const outside = (await isDoubleSpent(rpc, transaction)) ? 'conflicted' : 'removed';
    // It may have come into a block meanwhile: its present place counts.
    const now = new Map(parseTransactionOutputs(transaction).map((output) => [output.key, output]));
    observations.push(...outputs.map((output) => toObservation(now.get(output.key) ?? output, outside)));
  }
  return observations;
}

async function isDoubleSpent(rpc: JsonRpc, transaction: JsonObject): Promise<boolean> {
  const { walletconflicts, mempoolconflicts, decoded } = transaction;
  const conflicts = [walletconflicts, mempoolconflicts];
  if (conflicts.some((txids) => Array.isArray(txids) && txids.length > 0)) return true;
  const inputs = asArray(asObject(decoded, 'a transaction’s text').vin, 'inputs');
  const calls = inputs
    .map((input) => asObject(input, 'an input'))
    .filter(({ txid, vout }) => typeof txid === 'string' && typeof vout === 'number')
    .map(({ txid, vout }) => ({ method: 'gettxout', params: [txid, vout, true] }));
  return (await batchSettledLarge(rpc, calls)).includes(null);
}
