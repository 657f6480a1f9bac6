/**
 * Payments in no block. The wallet keeps every one that it ever saw, so that alone says nothing: the mempool has it, or it is gone.
 * It is gone for good, spent otherwise, where one of its coins is no longer there to be spent.
 */
import type { Observation } from '../../../ports/chain.ts';
import { type Fields, fieldsOf, listOf } from '../answers.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { NodeError } from '../node-http.ts';
import { type Output, observed, outputsOf } from './outputs.ts';
import { NOT_FOUND, settledInSlices, TRANSACTION_MAX_BYTES } from './rpc.ts';

/** What each of these outputs is now. Those that are gone are looked into where `tellGone` says so, and left out elsewhere. */
export async function observeAll(
  rpc: JsonRpc,
  outputs: readonly Output[],
  tellGone: (output: Output) => boolean = () => true,
): Promise<Observation[]> {
  const waiting = await inMempool(rpc, outputs.filter(inNoBlock));
  const isGone = (output: Output) => inNoBlock(output) && !waiting.has(output.txid);
  const gone = outputs.filter((output) => isGone(output) && tellGone(output));
  const present = outputs.filter((output) => !isGone(output)).map((output) => observed(output, 'mempool'));
  return [...present, ...(await observeGone(rpc, gone))];
}

export function inNoBlock({ confirmations }: Output): boolean {
  return confirmations === 0;
}

async function inMempool(rpc: JsonRpc, outputs: readonly Output[]): Promise<ReadonlySet<string>> {
  const txids = [...new Set(outputs.map(({ txid }) => txid))];
  const entries = await settledInSlices(
    rpc,
    txids.map((txid) => ({ method: 'getmempoolentry', params: [txid] })),
  );
  const failed = entries.find((entry) => entry instanceof NodeError && entry.code !== NOT_FOUND);
  if (failed !== undefined) throw failed;
  return new Set(txids.filter((_, i) => !(entries[i] instanceof NodeError)));
}

async function observeGone(rpc: JsonRpc, gone: readonly Output[]): Promise<Observation[]> {
  const byTxid = Map.groupBy(gone, ({ txid }) => txid);
  const observations: Observation[] = [];
  for (const [txid, outputs] of byTxid) {
    const transaction = fieldsOf(
      await rpc.call('gettransaction', [txid, true, true], { maxBytes: TRANSACTION_MAX_BYTES }),
      'a transaction',
    );
    const outside = (await isDoubleSpent(rpc, transaction)) ? 'conflicted' : 'removed';
    // It may have come into a block meanwhile: its present place counts.
    const now = new Map(outputsOf(transaction).map((output) => [output.key, output]));
    observations.push(...outputs.map((output) => observed(now.get(output.key) ?? output, outside)));
  }
  return observations;
}

async function isDoubleSpent(rpc: JsonRpc, transaction: Fields): Promise<boolean> {
  const { walletconflicts, mempoolconflicts, decoded } = transaction;
  const conflicts = [walletconflicts, mempoolconflicts];
  if (conflicts.some((txids) => Array.isArray(txids) && txids.length > 0)) return true;
  const inputs = listOf(fieldsOf(decoded, 'a transaction’s text').vin, 'inputs');
  const calls = inputs
    .map((input) => fieldsOf(input, 'an input'))
    .filter(({ txid, vout }) => typeof txid === 'string' && typeof vout === 'number')
    .map(({ txid, vout }) => ({ method: 'gettxout', params: [txid, vout, true] }));
  return (await settledInSlices(rpc, calls)).includes(null);
}
