/**
 * Tron, over the HTTP API of the operator's own full node: TRX, and USDT as a token (TRC-20). Addresses are
 * derived from an account's public key. Blocks are read one by one, so the cost doesn't depend on the number
 * of assigned addresses. The mempool is skipped: there is a block every three seconds.
 *
 * Written against the documented API of java-tron and tested with a stub node; never tested on a live
 * network.
 */
import type {
  ChainDriver,
  ChainFinding,
  ChainHealth,
  Deposit,
  Observation,
  OwnAddressLookup,
  PollResult,
} from '../../../ports/chain.ts';
import type { AccountKey } from '../account-key.ts';
import { publicKeyHash, tronAddress } from '../addresses.ts';
import { BlockWalk } from '../block-walk.ts';
import type { SecondNode } from '../cross-checked.ts';
import { optionalArray } from '../json-values.ts';
import type { NodeEndpoint } from '../node-http.ts';
import { SafetyCheck } from '../safety-check.ts';
import { TronNode } from './node.ts';
import type { TronCoin } from './payments.ts';
import { checkTronNode, type TronNetworkOptions, tronHealth } from './safety.ts';
import { ROUND_BLOCKS, TronSource } from './source.ts';

export interface TronNodeOptions extends TronNetworkOptions {
  readonly node: NodeEndpoint;
}

export interface TronOptions extends TronNodeOptions {
  readonly account: AccountKey;
  readonly own: OwnAddressLookup;
}

/** A few megabytes, read within a few seconds. */
const MAX_BLOCKS_PER_POLL = 10;
/** One hour: the first invoice may have been created while the chain was not polled. */
const INITIAL_BLOCKS = 1_200;
/** Blocks sampled to find out whether the node saves internal transactions. */
const SAMPLED_BLOCKS = 5;
const MIN_SAMPLED_CALLS = 50;

export class TronChain implements ChainDriver {
  readonly #options: TronOptions;
  readonly coin: TronCoin;
  readonly #node: TronNode;
  readonly #walk: BlockWalk;
  readonly #safetyCheck: SafetyCheck;

  constructor(options: TronOptions) {
    const { coin, own } = options;
    this.coin = coin;
    this.#options = options;
    this.#node = new TronNode(options.node);
    const source = new TronSource(this.#node, coin, options.contract);
    this.#walk = new BlockWalk(source, own, {
      rewindBlocks: ROUND_BLOCKS,
      maxBlocksPerPoll: MAX_BLOCKS_PER_POLL,
      initialBlocks: INITIAL_BLOCKS,
    });
    this.#safetyCheck = new SafetyCheck(() => checkTronNode(this.#node, options));
  }

  async checkSafety(): Promise<void> {
    await this.#safetyCheck.rerun();
  }

  async allocate({ index }: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    await this.#safetyCheck.ensure();
    const address = tronAddress(
      publicKeyHash(this.#options.account.publicKeyAt(this.#derivationIndex(index))),
    );
    // Wallets don't agree on a URI format.
    return { address, uri: address };
  }

  async poll(from: { cursor: string | null }): Promise<PollResult> {
    await this.#safetyCheck.ensure();
    return await this.#walk.poll(from);
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    await this.#safetyCheck.ensure();
    return await this.#walk.recheck(keys);
  }

  async health(): Promise<ChainHealth> {
    return await tronHealth(this.#node, this.#options.allowTest);
  }

  async examine(nextIndex: number): Promise<readonly ChainFinding[]> {
    const highest = nextIndex === 0 ? 'none yet' : `up to index ${this.#derivationIndex(nextIndex - 1)}`;
    const notes: ChainFinding[] = [
      {
        level: 'note',
        message: `assigned addresses: ${highest}; a wallet that scans for them needs a higher gap limit`,
      },
    ];
    return this.coin === 'TRX' ? [...notes, await this.#examineInternalTransfers()] : notes;
  }

  /** Both coins share an account: even indexes are TRX, odd ones USDT. */
  #derivationIndex(index: number): number {
    return 2 * index + (this.coin === 'TRX' ? 0 : 1);
  }

  /** Nodes only report payments made by contracts with `vm.saveInternalTx`, which is off by default. */
  async #examineInternalTransfers(): Promise<ChainFinding> {
    const { height } = await this.#node.latestBlock();
    let calls = 0;
    for (let at = height; at > Math.max(0, height - SAMPLED_BLOCKS); at--) {
      for (const outcome of await this.#node.transactionOutcomes(at)) {
        if (optionalArray(outcome.internal_transactions, 'internal transactions').length > 0) {
          return { level: 'ok', message: 'the node reports payments made by contracts' };
        }
        if (outcome.contract_address !== undefined) calls += 1;
      }
    }
    const fix =
      'payments made by contracts, such as exchange payouts, are missed unless vm.saveInternalTx = true ' +
      'is set in the node’s configuration';
    if (calls < MIN_SAMPLED_CALLS)
      return { level: 'note', message: `this network has too little traffic to tell: ${fix}` };
    return { level: 'warn', message: `the node does not seem to save internal transactions: ${fix}` };
  }
}

/** A second node: confirms that it has the same payments in the same blocks. */
export function tronSecondNode(options: TronNodeOptions): SecondNode {
  const node = new TronNode(options.node);
  const source = new TronSource(node, options.coin, options.contract);
  return {
    checkSafety: () => checkTronNode(node, options),
    confirm: async (observations) => {
      const { height } = await node.latestBlock();
      const found = await source.transactions([...new Set(observations.map(({ txid }) => txid))]);
      const confirmed = observations.flatMap(({ key, txid, blockHash }) => {
        const { head, transfers = [] } = found.get(txid) ?? {};
        // The key includes address and amount.
        const has = head?.hash === blockHash && transfers.some((transfer) => transfer.key === key);
        return head && has ? [[key, Math.max(1, height - head.height + 1)] as const] : [];
      });
      return new Map(confirmed);
    },
    health: () => tronHealth(node, options.allowTest),
  };
}
