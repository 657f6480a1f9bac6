/**
 * Ether and USDT on Ethereum, from the operator's own node. There is no wallet: every block is read, and its payments are looked up
 * among the addresses that were given out. Both coins share one account: an invoice's number, doubled, is its address of ether,
 * and the next one its address of USDT.
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
import { evmAddress } from '../addresses.ts';
import { BlockWalk } from '../block-walk.ts';
import { publicKeyHash } from '../key-hash.ts';
import type { NodeEndpoint } from '../node-http.ts';
import { SafetyCheck } from '../safety-check.ts';
import { detectTracing, requireTracing, TRACE_CONCURRENCY, type Tracing } from './ether.ts';
import { examineEvm } from './examine.ts';
import { EvmNode } from './node.ts';
import { checkNetwork, checksumAddress, evmHealth, type Network, requireToken } from './safety.ts';
import { type EvmCoin, EvmSource, FINAL_DEPTH, latestHead } from './source.ts';

/**
 * What one poll reads: the node executes a block once more to trace it, while logs are at hand. A poll that takes too long is given up,
 * so that a slow node gets to its end only with as many as are traced at the same time.
 */
const MAX_BLOCKS_PER_POLL = { ETH: TRACE_CONCURRENCY, USDT: 40 };
/** What the first one goes back, in several polls: a node that keeps no history can trace 128 blocks. */
const INITIAL_BLOCKS = { ETH: 100, USDT: 1_800 };

export interface EvmOptions {
  readonly coin: EvmCoin;
  readonly node: NodeEndpoint;
  readonly account: AccountKey;
  readonly own: OwnAddressLookup;
  /** Of USDT. */
  readonly contract: string;
  /** Networks whose coins are worth nothing. */
  readonly allowTest: boolean;
  /** Told, in a line, of transactions that could not be read whole. */
  readonly onUnreadable?: (line: string) => void;
}

export class EvmChain implements ChainDriver {
  readonly coin: EvmCoin;
  readonly #node: EvmNode;
  readonly #account: AccountKey;
  readonly #contract: string;
  readonly #allowTest: boolean;
  readonly #walk: BlockWalk;
  readonly #safetyCheck = new SafetyCheck(() => this.#checkNode());
  #network: Network | undefined;
  #tracing: Tracing = 'none';

  constructor(options: EvmOptions) {
    const { coin, own } = options;
    this.coin = coin;
    this.#node = new EvmNode(options.node);
    this.#account = options.account;
    this.#contract = options.contract;
    this.#allowTest = options.allowTest;
    const source = new EvmSource(
      this.#node,
      coin === 'ETH'
        ? {
            coin,
            tracing: () => this.#tracing,
            ...(options.onUnreadable ? { onUnreadable: options.onUnreadable } : {}),
          }
        : { coin, contract: this.#contract.toLowerCase() },
    );
    this.#walk = new BlockWalk(source, own, {
      rewindBlocks: FINAL_DEPTH,
      maxBlocksPerPoll: MAX_BLOCKS_PER_POLL[coin],
      initialBlocks: INITIAL_BLOCKS[coin],
    });
  }

  async checkSafety(): Promise<void> {
    await this.#safetyCheck.rerun();
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    const { chainId } = await this.#checkedNetwork();
    const { amountUnits } = invoice;
    const number = derivationIndex(this.coin, invoice.index);
    const address = evmAddress(publicKeyHash(this.#account.publicKeyAt(number)));
    const uri =
      this.coin === 'ETH'
        ? `ethereum:${address}@${chainId}?value=${amountUnits}`
        : `ethereum:${checksumAddress(this.#contract)}@${chainId}/transfer?address=${address}&uint256=${amountUnits}`;
    return { address, uri };
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
    return await evmHealth(this.#node, await this.#checkedNetwork());
  }

  async examine(given: number): Promise<readonly ChainFinding[]> {
    await this.#safetyCheck.ensure();
    const highest = given === 0 ? null : derivationIndex(this.coin, given - 1);
    return await examineEvm(this.#node, { coin: this.coin, highest, tracing: this.#tracing });
  }

  async #checkedNetwork(): Promise<Network> {
    await this.#safetyCheck.ensure();
    if (!this.#network) throw new Error('the node was not proven');
    return this.#network;
  }

  async #checkNode(): Promise<void> {
    const network = await checkNetwork(this.#node, this.#allowTest);
    if (this.coin === 'USDT') {
      await requireToken(this.#node, this.#contract, network);
    } else {
      this.#tracing = await detectTracing(this.#node, await latestHead(this.#node));
      requireTracing(this.#tracing);
    }
    this.#network = network;
  }
}

/** In the account that both coins share, so that no address is given out twice. */
export function derivationIndex(coin: EvmCoin, index: number): number {
  return 2 * index + (coin === 'ETH' ? 0 : 1);
}
