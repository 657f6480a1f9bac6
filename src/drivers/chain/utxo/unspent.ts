/**
 * Payments that the wallet doesn't know. A wallet forgets nothing, so it is new or was restored. The node's
 * set of unspent outputs then tells what became of them. An output that isn't in it was either spent or
 * removed, and no one can tell which: so it is reported as not agreed, and a payment that was in a block
 * keeps its state.
 */
import { parseCoinAmount } from '../../../kernel/exact-json.ts';
import type { Observation } from '../../../ports/chain.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asObject, asString, asUint } from '../json-values.ts';
import { NodeError } from '../node-http.ts';
import { removedObservation } from '../removed-observation.ts';
import { DECIMALS } from './networks.ts';
import { type Output, scriptAddress, toObservation } from './outputs.ts';
import { batchSettledLarge, getBlockHeader } from './rpc.ts';

export async function observeUnspent(rpc: JsonRpc, keys: readonly string[]): Promise<Observation[]> {
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
    txid: removedObservation(key).txid,
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
