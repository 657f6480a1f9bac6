/**
 * Bitcoin and Litecoin: the operator's own node with a wallet that only watches. The wallet keeps track of what pays our addresses,
 * however many there are; it is asked what changed since the last block that was read.
 */
import { formatUnits } from '../../../kernel/money.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
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
import { type Cursor, parseCursor } from '../cursor.ts';
import { JsonRpc } from '../json-rpc.ts';
import { NodeBehind } from '../node-behind.ts';
import type { NodeEndpoint } from '../node-http.ts';
import { SafetyCheck } from '../safety-check.ts';
import { walkBlocks } from './block-walk.ts';
import { examineWallet } from './examine.ts';
import { walletHealth } from './health.ts';
import { DECIMALS, UTXO_PARAMS, type UtxoCoin } from './networks.ts';
import { recheckPayments } from './recheck.ts';
import { heightUnlessRescanning } from './rescan.ts';
import { checkKeyNetwork, checkNetwork, checkWatchOnly } from './safety.ts';
import { ListTooLong, readWalletSince } from './wallet-history.ts';
import { WatchList, type WatchWallet } from './watch-list.ts';

export interface UtxoOptions {
  readonly coin: UtxoCoin;
  /** With the wallet in its path, where the node has several. */
  readonly node: NodeEndpoint;
  readonly account: AccountKey;
  readonly own: OwnAddressLookup;
  /** Networks without value are allowed. */
  readonly allowTest: boolean;
  /** How many numbers were given out: their addresses are watched, whatever happened to the wallet. */
  readonly allocatedCount?: () => Promise<number>;
  /** Which of these addresses were paid: for the gap that the operator's own wallet must bridge. */
  readonly paid?: OwnAddressLookup;
  /** A longer list of payments is not read: the chain is walked instead. */
  readonly listMaxBytes?: number;
}

/** Some fifteen thousand payments. */
const LIST_MAX_BYTES = 8 * 1024 ** 2;
/** A list that was too long is not asked for again so soon. */
const LIST_RETRY_MS = 10 * MINUTE_MS;

export class UtxoChain implements ChainDriver {
  readonly coin: UtxoCoin;
  readonly #options: UtxoOptions;
  readonly #rpc: JsonRpc;
  readonly #watchList: WatchList;
  readonly #safetyCheck: SafetyCheck;
  #wallet: WatchWallet | null = null;
  /** Set by each proof: what a wallet found late, because it was put back or was read again, lies behind the cursor. */
  #needsLookback = true;
  /** The node was as high: should it be put back between a poll and its recheck. */
  #highestTip = 0;
  #listRetryAtMs = 0;

  constructor(options: UtxoOptions) {
    this.coin = options.coin;
    this.#options = options;
    this.#rpc = new JsonRpc(options.node);
    const rescanBlocks = UTXO_PARAMS[options.coin].blocksPerDay;
    this.#watchList = new WatchList(this.#rpc, options.account, { rescanBlocks });
    this.#safetyCheck = new SafetyCheck(() => this.#checkNode());
  }

  async checkSafety(): Promise<void> {
    await this.#safetyCheck.rerun();
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    const address = await this.#watchList.ensure(await this.#checkedWallet(), invoice.index);
    const amount = formatUnits(invoice.amountUnits, DECIMALS);
    return { address, uri: `${UTXO_PARAMS[this.coin].scheme}:${address}?amount=${amount}` };
  }

  async poll(from: { cursor: string | null }): Promise<PollResult> {
    await this.#checkedWallet();
    const includeLookback = this.#needsLookback;
    this.#needsLookback = false;
    try {
      const read = await this.#read(parseCursor(from.cursor), includeLookback);
      this.#highestTip = read.height;
      return read.polled;
    } catch (error) {
      this.#needsLookback ||= includeLookback;
      throw error;
    }
  }

  async #read(
    cursor: Cursor | null,
    includeLookback: boolean,
  ): Promise<Awaited<ReturnType<typeof readWalletSince>>> {
    const tipHeight = await heightUnlessRescanning(this.#rpc);
    // Asked before anything else: what a node that was put back does not know would be taken for gone.
    if (cursor !== null && tipHeight < cursor.height) throw new NodeBehind(tipHeight, cursor.height);
    const from = { cursor, tipHeight, lookbackBlocks: UTXO_PARAMS[this.coin].blocksPerDay };
    if (performance.now() >= this.#listRetryAtMs) {
      try {
        const maxBytes = this.#options.listMaxBytes ?? LIST_MAX_BYTES;
        return await readWalletSince(this.#rpc, { ...from, includeLookback, maxBytes });
      } catch (error) {
        if (!(error instanceof ListTooLong)) throw error;
        this.#listRetryAtMs = performance.now() + LIST_RETRY_MS;
      }
    }
    return await walkBlocks(this.#rpc, this.#options.own, from);
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    await this.#checkedWallet();
    const height = await heightUnlessRescanning(this.#rpc);
    if (height < this.#highestTip) throw new NodeBehind(height, this.#highestTip);
    return await recheckPayments(this.#rpc, keys);
  }

  async health(): Promise<ChainHealth> {
    return await walletHealth(this.#rpc, this.coin);
  }

  async examine(allocatedCount: number): Promise<readonly ChainFinding[]> {
    const { paid = async () => new Set() } = this.#options;
    return await examineWallet(this.#rpc, this.#watchList, {
      wallet: await this.#checkedWallet(),
      paid,
      allocatedCount,
    });
  }

  async #checkedWallet(): Promise<WatchWallet> {
    await this.#safetyCheck.ensure();
    if (this.#wallet === null) throw new Error('the node is not proven');
    return this.#wallet;
  }

  async #checkNode(): Promise<void> {
    const { coin, node, account, allowTest } = this.#options;
    const network = await checkNetwork(this.#rpc, coin, allowTest);
    checkKeyNetwork(account, network);
    const { descriptors } = await checkWatchOnly(node);
    const descriptor = await this.#watchList.descriptorFor(network);
    const wallet = { ...network, descriptors, descriptor };
    await this.#watchList.ensureAllocated(wallet, (await this.#options.allocatedCount?.()) ?? 0);
    this.#wallet = wallet;
    this.#needsLookback = true;
  }
}
