/** The current state of payments: of those that the wallet lists, and of those that were reported before. */
import { parseCoinAmount } from '../../../kernel/exact-json.ts';
import type { Observation } from '../../../ports/chain.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asArray, asInteger, asObject, asString, asUint, type JsonObject } from '../json-values.ts';
import { NodeError } from '../node-http.ts';
import { removedObservation, txidOf } from '../payment-keys.ts';
import { DECIMALS } from './networks.ts';
import { type Output, parseTransactionOutputs, scriptAddress, toObservation } from './outputs.ts';
import { batchSettledLarge, getBlockHeader, NOT_FOUND, TRANSACTION_MAX_BYTES } from './rpc.ts';

export async function recheckPayments(rpc: JsonRpc, keys: readonly string[]): Promise<Observation[]> {
  const asked = new Set(keys);
  const byTxid = Map.groupBy(keys, txidOf);
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

/**
 * Observes payments that the wallet doesn't know. A wallet forgets nothing, so it is new or was restored. The
 * node's set of unspent outputs then tells what became of them. An output that isn't in it was either spent
 * or removed, and no one can tell which: so it is reported as not agreed, and a payment that was in a block
 * keeps its state.
 */
async function observeUnspent(rpc: JsonRpc, keys: readonly string[]): Promise<Observation[]> {
  const calls = keys.map((key) => {
    const [txid, vout] = key.split(':');
    return { method: 'gettxout', params: [txid, Number(vout), true] };
  });
  const found = await batchSettledLarge(rpc, calls);
  const observations: Observation[] = [];
  for (const [i, key] of keys.entries()) observations.push(await observeUnspentOutput(rpc, key, found[i]));
  return observations;
}

async function observeUnspentOutput(rpc: JsonRpc, key: string, found: unknown): Promise<Observation> {
  if (found instanceof NodeError) throw found;
  if (found === null) return { ...removedObservation(key), agreed: false };
  const unspent = asObject(found, 'output');
  const address = scriptAddress(asObject(unspent.scriptPubKey, 'script'));
  if (address === null || unspent.coinbase === true) return removedObservation(key);
  const confirmations = asUint(unspent.confirmations, 'output confirmations');
  const output: Output = {
    key,
    txid: txidOf(key),
    address,
    amountUnits: parseCoinAmount(unspent.value, DECIMALS),
    confirmations,
    block:
      confirmations > 0
        ? await blockAtDepth(rpc, asString(unspent.bestblock, 'block hash'), confirmations - 1)
        : null,
  };
  return toObservation(output, 'mempool');
}

async function blockAtDepth(
  rpc: JsonRpc,
  tipHash: string,
  below: number,
): Promise<NonNullable<Output['block']>> {
  const height = (await getBlockHeader(rpc, tipHash)).height - below;
  const hash = asString(await rpc.call('getblockhash', [height]), 'block hash');
  return { hash, ...(await getBlockHeader(rpc, hash)) };
}

/**
 * Returns the state of each output. The wallet keeps every transaction that it ever saw, so ask the mempool
 * whether one in no block still exists. A dropped one is investigated if `includeDropped` says so, otherwise
 * left out: it is double-spent once one of its inputs is no longer unspent.
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
