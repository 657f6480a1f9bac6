/**
 * A second Bitcoin or Litecoin node, without a wallet: confirms that it has the same payment in the same
 * block.
 */
import { parseCoinAmount } from '../../../kernel/exact-json.ts';
import type { Observation } from '../../../ports/chain.ts';
import type { SecondNode } from '../cross-checked.ts';
import { JsonRpc } from '../json-rpc.ts';
import { asArray, asObject, type JsonObject } from '../json-values.ts';
import { type NodeEndpoint, NodeError } from '../node-http.ts';
import { DECIMALS, type UtxoCoin } from './networks.ts';
import { outputKey, scriptAddress } from './outputs.ts';
import { batchSettledLarge } from './rpc.ts';
import { checkNetwork, checkNoSpendingWallet, nodeHealth } from './safety.ts';

export interface UtxoSecondNodeOptions {
  readonly coin: UtxoCoin;
  /** For the first node, the path includes the wallet if the node has several. */
  readonly node: NodeEndpoint;
  /** Whether test networks are allowed. */
  readonly allowTest: boolean;
}

export function utxoSecondNode({ coin, node, allowTest }: UtxoSecondNodeOptions): SecondNode {
  const rpc = new JsonRpc(node);
  return {
    checkSafety: async () => {
      await checkNetwork(rpc, coin, allowTest);
      await checkNoSpendingWallet(node);
    },
    confirm: async (observations) => {
      const byPlace = Map.groupBy(observations, ({ txid, blockHash }) => `${txid} ${blockHash}`);
      const groups = [...byPlace.values()];
      // With the block hash, the node needs no transaction index.
      const calls = groups.map(([first]) => ({
        method: 'getrawtransaction',
        params: [first?.txid, true, first?.blockHash],
      }));
      const transactions = await batchSettledLarge(rpc, calls);
      const confirmed = groups.flatMap((group, i) => {
        const transaction = transactions[i];
        // It doesn't have the block (yet, or no longer): no agreement.
        if (transaction instanceof NodeError) return [];
        return matchingOutputs(group, asObject(transaction, 'transaction'));
      });
      return new Map(confirmed);
    },
    health: () => nodeHealth(rpc, coin),
  };
}

function matchingOutputs(observations: readonly Observation[], transaction: JsonObject): [string, number][] {
  const { in_active_chain: inChain, confirmations, txid } = transaction;
  if (inChain !== true || typeof confirmations !== 'number' || confirmations < 1) return [];
  const outputs = new Map(
    asArray(transaction.vout, 'outputs')
      .map((output) => asObject(output, 'output'))
      .map((output) => [outputKey(String(txid), Number(output.n)), output]),
  );
  return observations.flatMap(({ key, address, amountUnits }): [string, number][] => {
    const output = outputs.get(key);
    if (output === undefined || output.scriptPubKey === undefined) return [];
    const same =
      scriptAddress(asObject(output.scriptPubKey, 'script')) === address &&
      parseCoinAmount(output.value, DECIMALS) === amountUnits;
    return same ? [[key, confirmations]] : [];
  });
}
