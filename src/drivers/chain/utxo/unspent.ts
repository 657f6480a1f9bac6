/**
 * Payments that the wallet does not know. A wallet forgets none, so this one is new, or was put back to an older state; the chain's
 * own list of unspent outputs, which every node has, then says what became of them. One that is not there was spent meanwhile, or is
 * gone: nobody can tell, so it is not agreed, and what was in a block stays.
 */
import { unitsOf } from '../../../kernel/exact-json.ts';
import type { Observation } from '../../../ports/chain.ts';
import { fieldsOf, textOf, wholeOf } from '../answers.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { NodeError } from '../node-http.ts';
import { removed } from '../observed.ts';
import { DECIMALS } from './networks.ts';
import { addressOf, type Output, observed } from './outputs.ts';
import { headerOf, settledInSlices } from './rpc.ts';

export async function observeUnspent(rpc: JsonRpc, keys: readonly string[]): Promise<Observation[]> {
  const calls = keys.map((key) => {
    const [txid, vout] = key.split(':');
    return { method: 'gettxout', params: [txid, Number(vout), true] };
  });
  const found = await settledInSlices(rpc, calls);
  const observations: Observation[] = [];
  for (const [i, key] of keys.entries()) observations.push(await observeOne(rpc, key, found[i]));
  return observations;
}

async function observeOne(rpc: JsonRpc, key: string, found: unknown): Promise<Observation> {
  if (found instanceof NodeError) throw found;
  if (found === null) return { ...removed(key), agreed: false };
  const unspent = fieldsOf(found, 'an output');
  const address = addressOf(fieldsOf(unspent.scriptPubKey, 'a script'));
  if (address === null || unspent.coinbase === true) return removed(key);
  const confirmations = wholeOf(unspent.confirmations, 'an output’s confirmations');
  const output: Output = {
    key,
    txid: removed(key).txid,
    address,
    amountUnits: unitsOf(unspent.value, DECIMALS),
    confirmations,
    block:
      confirmations > 0
        ? await blockBelow(rpc, textOf(unspent.bestblock, 'a block’s hash'), confirmations - 1)
        : null,
  };
  return observed(output, 'mempool');
}

async function blockBelow(
  rpc: JsonRpc,
  tipHash: string,
  below: number,
): Promise<NonNullable<Output['block']>> {
  const height = (await headerOf(rpc, tipHash)).height - below;
  const hash = textOf(await rpc.call('getblockhash', [height]), 'a block’s hash');
  return { hash, ...(await headerOf(rpc, hash)) };
}
