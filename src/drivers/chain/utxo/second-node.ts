/**
 * A second Bitcoin or Litecoin node, without a wallet: confirms that it has the same payment in the same
 * block.
 */
import { parseCoinAmount } from '../../../kernel/exact-json.ts';
import type { ChainHealth, Observation } from '../../../ports/chain.ts';
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

export class UtxoSecondNode implements SecondNode {
  readonly #options: UtxoSecondNodeOptions;
  readonly #rpc: JsonRpc;

  constructor(options: UtxoSecondNodeOptions) {
    this.#options = options;
    this.#rpc = new JsonRpc(options.node);
  }

  async checkSafety(): Promise<void> {
    const { coin, node, allowTest } = this.#options;
    await checkNetwork(this.#rpc, coin, allowTest);
    await checkNoSpendingWallet(node);
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    const byPlace = Map.groupBy(observations, ({ txid, blockHash }) => `${txid} ${blockHash}`);
    const groups = [...byPlace.values()];
    // With the block hash, the node needs no transaction index.
    const calls = groups.map(([first]) => ({
      method: 'getrawtransaction',
      params: [first?.txid, true, first?.blockHash],
    }));
    const transactions = await batchSettledLarge(this.#rpc, calls);
    const confirmed = new Map<string, number>();
    for (const [i, group] of groups.entries()) {
      const transaction = transactions[i];
      // It doesn't have the block (yet, or no longer): no agreement.
      if (transaction instanceof NodeError) continue;
      for (const [key, confirmations] of matchingOutputs(group, asObject(transaction, 'transaction')))
        confirmed.set(key, confirmations);
    }
    return confirmed;
  }

  async health(): Promise<ChainHealth> {
    return await nodeHealth(this.#rpc, this.#options.coin);
  }
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
