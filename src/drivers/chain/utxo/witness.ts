/** A second node of Bitcoin or Litecoin, without a wallet: whether it has the same payment in the same block. */
import { unitsOf } from '../../../kernel/exact-json.ts';
import type { ChainHealth, Observation } from '../../../ports/chain.ts';
import { type Fields, fieldsOf, listOf } from '../answers.ts';
import { JsonRpc } from '../json-rpc.ts';
import { type NodeAddress, NodeError } from '../node-http.ts';
import { Proof } from '../proven.ts';
import type { Witness } from '../witnessed.ts';
import { nodeHealth } from './health.ts';
import { DECIMALS, type UtxoCoin } from './networks.ts';
import { addressOf, keyOf } from './outputs.ts';
import { settledInSlices } from './rpc.ts';
import { proveNetwork, proveNoSpender } from './safety.ts';

export interface UtxoWitnessOptions {
  readonly coin: UtxoCoin;
  readonly node: NodeAddress;
  /** Networks without value are allowed. */
  readonly allowTest: boolean;
}

export class UtxoWitness implements Witness {
  readonly #options: UtxoWitnessOptions;
  readonly #rpc: JsonRpc;
  readonly #proof: Proof;

  constructor(options: UtxoWitnessOptions) {
    this.#options = options;
    this.#rpc = new JsonRpc(options.node);
    this.#proof = new Proof(() => this.#prove());
  }

  async prove(): Promise<void> {
    await this.#proof.renew();
  }

  async confirm(observations: readonly Observation[]): Promise<ReadonlyMap<string, number>> {
    await this.#proof.ensure();
    const byPlace = Map.groupBy(observations, ({ txid, blockHash }) => `${txid} ${blockHash}`);
    const groups = [...byPlace.values()];
    // With the block's hash a node needs no index of transactions.
    const calls = groups.map(([first]) => ({
      method: 'getrawtransaction',
      params: [first?.txid, true, first?.blockHash],
    }));
    const transactions = await settledInSlices(this.#rpc, calls);
    const confirmed = new Map<string, number>();
    for (const [i, group] of groups.entries()) {
      const transaction = transactions[i];
      // It does not know the block (yet), or not any more: it agrees to nothing.
      if (transaction instanceof NodeError) continue;
      for (const [key, confirmations] of sameOutputs(group, fieldsOf(transaction, 'a transaction')))
        confirmed.set(key, confirmations);
    }
    return confirmed;
  }

  async health(): Promise<ChainHealth> {
    return await nodeHealth(this.#rpc, this.#options.coin);
  }

  async #prove(): Promise<void> {
    const { coin, node, allowTest } = this.#options;
    await proveNetwork(this.#rpc, coin, allowTest);
    await proveNoSpender(node);
  }
}

function sameOutputs(observations: readonly Observation[], transaction: Fields): [string, number][] {
  const { in_active_chain: inChain, confirmations, txid } = transaction;
  if (inChain !== true || typeof confirmations !== 'number' || confirmations < 1) return [];
  const outputs = new Map(
    listOf(transaction.vout, 'outputs')
      .map((output) => fieldsOf(output, 'an output'))
      .map((output) => [keyOf(String(txid), Number(output.n)), output]),
  );
  return observations.flatMap(({ key, address, amountUnits }): [string, number][] => {
    const output = outputs.get(key);
    if (output === undefined || output.scriptPubKey === undefined) return [];
    const same =
      addressOf(fieldsOf(output.scriptPubKey, 'a script')) === address &&
      unitsOf(output.value, DECIMALS) === amountUnits;
    return same ? [[key, confirmations]] : [];
  });
}
