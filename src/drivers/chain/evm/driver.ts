/**
 * Ether and USDT on Ethereum, from the operator's own node. There is no wallet: every block is read, and its payments are looked up
 * among the addresses that were given out. Both coins share one account: an invoice's number, doubled, is its address of ether,
 * and the next one its address of USDT.
 */
import type {
  ChainDriver,
  ChainHealth,
  ChainNote,
  Deposit,
  Observation,
  OwnAddresses,
  Polled,
} from '../../../ports/chain.ts';
import type { AccountKey } from '../account-key.ts';
import { evmAddress } from '../addresses.ts';
import { BlockWalk } from '../block-walk.ts';
import { keyHash } from '../key-hash.ts';
import type { NodeAddress } from '../node-http.ts';
import { Proof } from '../proven.ts';
import { requireTracing, TRACED_AT_ONCE, type Tracing, tracingOf } from './ether.ts';
import { healthOf, type Network, networkOf, requireToken, spelled } from './network.ts';
import { EvmNode } from './node.ts';
import { notesOf } from './notes.ts';
import { type EvmCoin, EvmSource, FINAL_DEPTH, newestOf } from './source.ts';

/**
 * What one poll reads: the node executes a block once more to trace it, while logs are at hand. A poll that takes too long is given up,
 * so that a slow node gets to its end only with as many as are traced at the same time.
 */
const BLOCKS_A_POLL = { ETH: TRACED_AT_ONCE, USDT: 40 };
/** What the first one goes back, in several polls: a node that keeps no history can trace 128 blocks. */
const FIRST_BLOCKS = { ETH: 100, USDT: 1_800 };

export interface EvmOptions {
  readonly coin: EvmCoin;
  readonly node: NodeAddress;
  readonly account: AccountKey;
  readonly own: OwnAddresses;
  /** Of USDT. */
  readonly contract: string;
  /** Networks whose coins are worth nothing. */
  readonly allowTest: boolean;
  /** Told, in a line, of transactions that could not be read whole. */
  readonly unread?: (line: string) => void;
}

export class EvmChain implements ChainDriver {
  readonly coin: EvmCoin;
  readonly #node: EvmNode;
  readonly #account: AccountKey;
  readonly #contract: string;
  readonly #allowTest: boolean;
  readonly #walk: BlockWalk;
  readonly #proof = new Proof(() => this.#prove());
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
        ? { coin, tracing: () => this.#tracing, ...(options.unread ? { unread: options.unread } : {}) }
        : { coin, contract: this.#contract.toLowerCase() },
    );
    this.#walk = new BlockWalk(source, own, {
      rewindBlocks: FINAL_DEPTH,
      mostBlocks: BLOCKS_A_POLL[coin],
      firstBlocks: FIRST_BLOCKS[coin],
    });
  }

  async prove(): Promise<void> {
    await this.#proof.renew();
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    const { chainId } = await this.#proven();
    const { amountUnits } = invoice;
    const number = addressNumber(this.coin, invoice.index);
    const address = evmAddress(keyHash(this.#account.publicKeyAt(number)));
    const uri =
      this.coin === 'ETH'
        ? `ethereum:${address}@${chainId}?value=${amountUnits}`
        : `ethereum:${spelled(this.#contract)}@${chainId}/transfer?address=${address}&uint256=${amountUnits}`;
    return { address, uri };
  }

  async poll(from: { cursor: string | null }): Promise<Polled> {
    await this.#proof.ensure();
    return await this.#walk.poll(from);
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    await this.#proof.ensure();
    return await this.#walk.recheck(keys);
  }

  async health(): Promise<ChainHealth> {
    return await healthOf(this.#node, await this.#proven());
  }

  async examine(given: number): Promise<readonly ChainNote[]> {
    await this.#proof.ensure();
    const highest = given === 0 ? null : addressNumber(this.coin, given - 1);
    return await notesOf(this.#node, { coin: this.coin, highest, tracing: this.#tracing });
  }

  async #proven(): Promise<Network> {
    await this.#proof.ensure();
    if (!this.#network) throw new Error('the node was not proven');
    return this.#network;
  }

  async #prove(): Promise<void> {
    const network = await networkOf(this.#node, this.#allowTest);
    if (this.coin === 'USDT') {
      await requireToken(this.#node, this.#contract, network);
    } else {
      this.#tracing = await tracingOf(this.#node, await newestOf(this.#node));
      requireTracing(this.#tracing);
    }
    this.#network = network;
  }
}

/** In the account that both coins share, so that no address is given out twice. */
export function addressNumber(coin: EvmCoin, index: number): number {
  return 2 * index + (coin === 'ETH' ? 0 : 1);
}
