/**
 * Ether and USDT on Ethereum, from the operator's own node. There is no wallet: every block is read, and its
 * payments are matched with the assigned addresses. Both coins share one account: an invoice's index times
 * two is its ETH address, and the next index is its USDT address.
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
import { evmAddress, publicKeyHash } from '../addresses.ts';
import { BlockWalk } from '../block-walk.ts';
import { SafetyCheck } from '../safety-check.ts';
import { EtherReader, TRACE_CONCURRENCY } from './ether-reader.ts';
import { examineEvm } from './examine.ts';
import { EvmNode } from './node.ts';
import { checkNetwork, checksumAddress, evmHealth, type Network, requireToken } from './safety.ts';
import type { EvmSecondNodeOptions } from './second-node.ts';
import { type EvmCoin, EvmSource, FINAL_DEPTH } from './source.ts';
import { tokenReader } from './token-reader.ts';
import { requireTracing } from './trace-apis.ts';

/**
 * Blocks per poll. To trace a block the node executes it again, while logs are cheap. A poll has a timeout,
 * so ETH reads only as many blocks as are traced concurrently: then even a slow node finishes.
 */
const MAX_BLOCKS_PER_POLL = { ETH: TRACE_CONCURRENCY, USDT: 40 };
/**
 * How far back the first poll starts; it takes several polls. A node without an archive can trace 128 blocks.
 */
const INITIAL_BLOCKS = { ETH: 100, USDT: 1_800 };

export interface EvmOptions extends EvmSecondNodeOptions {
  readonly account: AccountKey;
  readonly own: OwnAddressLookup;
  /** Receives a log line for each transaction that could not be read completely. */
  readonly onUnreadable?: (line: string) => void;
}

export class EvmChain implements ChainDriver {
  readonly #options: EvmOptions;
  readonly coin: EvmCoin;
  readonly #node: EvmNode;
  readonly #walk: BlockWalk;
  readonly #safetyCheck = new SafetyCheck(() => this.#checkNode());
  /** Null for the token. */
  readonly #ether: EtherReader | null;
  #network: Network | undefined;

  constructor(options: EvmOptions) {
    const { coin, own, contract } = options;
    this.coin = coin;
    this.#options = options;
    this.#node = new EvmNode(options.node);
    this.#ether = coin === 'ETH' ? new EtherReader(this.#node, options.onUnreadable) : null;
    const reader = this.#ether ?? tokenReader(this.#node, contract);
    this.#walk = new BlockWalk(new EvmSource(this.#node, reader), own, {
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
    const derived = derivationIndex(this.coin, invoice.index);
    const address = evmAddress(publicKeyHash(this.#options.account.publicKeyAt(derived)));
    const token = `${checksumAddress(this.#options.contract)}@${chainId}`;
    const uri =
      this.coin === 'ETH'
        ? `ethereum:${address}@${chainId}?value=${amountUnits}`
        : `ethereum:${token}/transfer?address=${address}&uint256=${amountUnits}`;
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

  async examine(nextIndex: number): Promise<readonly ChainFinding[]> {
    await this.#safetyCheck.ensure();
    const highest = nextIndex === 0 ? null : derivationIndex(this.coin, nextIndex - 1);
    return await examineEvm(this.#node, { coin: this.coin, highest, api: this.#ether?.api ?? null });
  }

  async #checkedNetwork(): Promise<Network> {
    await this.#safetyCheck.ensure();
    if (!this.#network) throw new Error('the node has not passed its safety check');
    return this.#network;
  }

  async #checkNode(): Promise<void> {
    const network = await checkNetwork(this.#node, this.#options.allowTest);
    if (this.#ether === null) await requireToken(this.#node, this.#options.contract, network);
    else requireTracing(await this.#ether.detectApi());
    this.#network = network;
  }
}

/** Returns an index in the account that both coins share, so that no address is assigned twice. */
export function derivationIndex(coin: EvmCoin, index: number): number {
  return 2 * index + (coin === 'ETH' ? 0 : 1);
}
