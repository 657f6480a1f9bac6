/**
 * Payments that the wallet does not know. A wallet forgets none, so this one is new, or was put back to an older state; the chain's
 * own list of unspent outputs, which every node has, then says what became of them. One that is not there was spent meanwhile, or is
 * gone: nobody can tell, so it is not agreed, and what was in a block stays.
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
  const unspent = asObject(found, 'an output');
  const address = scriptAddress(asObject(unspent.scriptPubKey, 'a script'));
  if (address === null || unspent.coinbase === true) return removedObservation(key);
  const confirmations = asUint(unspent.confirmations, 'an output’s confirmations');
  const output: Output = {
    key,
    txid: removedObservation(key).txid,
    address,
    amountUnits: parseCoinAmount(unspent.value, DECIMALS),
    confirmations,
    block:
      confirmations > 0
        ? await blockAtDepth(rpc, asString(unspent.bestblock, 'a block’s hash'), confirmations - 1)
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
  const hash = asString(await rpc.call('getblockhash', [height]), 'a block’s hash');
  return { hash, ...(await getBlockHeader(rpc, hash)) };
}
