/**
 * Bitcoin and Litecoin: the operator's own node with a wallet that only watches. The wallet keeps track of what pays our addresses,
 * however many there are; it is asked what changed since the last block that was read.
 */
import { formatUnits } from '../../../kernel/money.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
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
import { type Cursor, parseCursor } from '../cursor.ts';
import { JsonRpc } from '../json-rpc.ts';
import { NodeBehind } from '../node-behind.ts';
import type { NodeAddress } from '../node-http.ts';
import { Proof } from '../proven.ts';
import { examineWallet } from './examine.ts';
import { walletHealth } from './health.ts';
import { DECIMALS, UTXO_FACTS, type UtxoCoin } from './networks.ts';
import { ListTooLong, readSince } from './read.ts';
import { recheckPayments } from './recheck.ts';
import { proveKey, proveNetwork, proveWatchOnly } from './safety.ts';
import { heightAtRest } from './scanning.ts';
import { walkBlocks } from './walk.ts';
import { type Wallet, WatchList } from './watch-list.ts';

export interface UtxoOptions {
  readonly coin: UtxoCoin;
  /** With the wallet in its path, where the node has several. */
  readonly node: NodeAddress;
  readonly account: AccountKey;
  readonly own: OwnAddresses;
  /** Networks without value are allowed. */
  readonly allowTest: boolean;
  /** How many numbers were given out: their addresses are watched, whatever happened to the wallet. */
  readonly given?: () => Promise<number>;
  /** Which of these addresses were paid: for the gap that the operator's own wallet must bridge. */
  readonly paid?: OwnAddresses;
  /** A longer list of payments is not read: the chain is walked instead. */
  readonly listMaxBytes?: number;
}

/** Some fifteen thousand payments. */
const LIST_MAX_BYTES = 8 * 1024 ** 2;
/** A list that was too long is not asked for again so soon. */
const LISTS_AGAIN_MS = 10 * MINUTE_MS;

export class UtxoChain implements ChainDriver {
  readonly coin: UtxoCoin;
  readonly #options: UtxoOptions;
  readonly #rpc: JsonRpc;
  readonly #watchList: WatchList;
  readonly #proof: Proof;
  #wallet: Wallet | null = null;
  /** Set by each proof: what a wallet found late, because it was put back or was read again, lies behind the cursor. */
  #mustLookBack = true;
  /** The node was as high: should it be put back between a poll and its recheck. */
  #readTo = 0;
  #listsAgainAtMs = 0;

  constructor(options: UtxoOptions) {
    this.coin = options.coin;
    this.#options = options;
    this.#rpc = new JsonRpc(options.node);
    const rescanBlocks = UTXO_FACTS[options.coin].blocksADay;
    this.#watchList = new WatchList(this.#rpc, options.account, { rescanBlocks });
    this.#proof = new Proof(() => this.#prove());
  }

  async prove(): Promise<void> {
    await this.#proof.renew();
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    const address = await this.#watchList.ensure(await this.#proven(), invoice.index);
    const amount = formatUnits(invoice.amountUnits, DECIMALS);
    return { address, uri: `${UTXO_FACTS[this.coin].scheme}:${address}?amount=${amount}` };
  }

  async poll(from: { cursor: string | null }): Promise<Polled> {
    await this.#proven();
    const lookBack = this.#mustLookBack;
    this.#mustLookBack = false;
    try {
      const read = await this.#read(parseCursor(from.cursor), lookBack);
      this.#readTo = read.height;
      return read.polled;
    } catch (error) {
      this.#mustLookBack ||= lookBack;
      throw error;
    }
  }

  async #read(cursor: Cursor | null, lookBack: boolean): Promise<Awaited<ReturnType<typeof readSince>>> {
    const tipHeight = await heightAtRest(this.#rpc);
    // Asked before anything else: what a node that was put back does not know would be taken for gone.
    if (cursor !== null && tipHeight < cursor.height) throw new NodeBehind(tipHeight, cursor.height);
    const from = { cursor, tipHeight, lookBackBlocks: UTXO_FACTS[this.coin].blocksADay };
    if (performance.now() >= this.#listsAgainAtMs) {
      try {
        const maxBytes = this.#options.listMaxBytes ?? LIST_MAX_BYTES;
        return await readSince(this.#rpc, { ...from, lookBack, maxBytes });
      } catch (error) {
        if (!(error instanceof ListTooLong)) throw error;
        this.#listsAgainAtMs = performance.now() + LISTS_AGAIN_MS;
      }
    }
    return await walkBlocks(this.#rpc, this.#options.own, from);
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    await this.#proven();
    const height = await heightAtRest(this.#rpc);
    if (height < this.#readTo) throw new NodeBehind(height, this.#readTo);
    return await recheckPayments(this.#rpc, keys);
  }

  async health(): Promise<ChainHealth> {
    return await walletHealth(this.#rpc, this.coin);
  }

  async examine(given: number): Promise<readonly ChainNote[]> {
    const { paid = async () => new Set() } = this.#options;
    return await examineWallet(this.#rpc, this.#watchList, { wallet: await this.#proven(), paid, given });
  }

  async #proven(): Promise<Wallet> {
    await this.#proof.ensure();
    if (this.#wallet === null) throw new Error('the node is not proven');
    return this.#wallet;
  }

  async #prove(): Promise<void> {
    const { coin, node, account, allowTest } = this.#options;
    const network = await proveNetwork(this.#rpc, coin, allowTest);
    proveKey(account, network);
    const { descriptors } = await proveWatchOnly(node);
    const descriptor = await this.#watchList.descriptorFor(network);
    const wallet = { ...network, descriptors, descriptor };
    await this.#watchList.ensureGiven(wallet, (await this.#options.given?.()) ?? 0);
    this.#wallet = wallet;
    this.#mustLookBack = true;
  }
}
