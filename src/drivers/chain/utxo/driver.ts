/**
 * Bitcoin and Litecoin from the operator's own node with a watch-only wallet. The wallet tracks payments to
 * our addresses, however many there are; each poll asks it for the changes since the last block that was
 * read.
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
import { type Cursor, NodeBehind, parseCursor } from '../cursor.ts';
import { JsonRpc } from '../json-rpc.ts';
import { SafetyCheck } from '../safety-check.ts';
import { walkBlocks } from './block-walk.ts';
import { examineWallet } from './examine.ts';
import { DECIMALS, UTXO_PARAMS, type UtxoCoin } from './networks.ts';
import { recheckPayments } from './observe.ts';
import { heightUnlessRescanning } from './rpc.ts';
import { checkKeyNetwork, checkNetwork, checkWatchOnly, walletHealth } from './safety.ts';
import type { UtxoSecondNodeOptions } from './second-node.ts';
import { ListTooLong, readWalletSince } from './wallet-history.ts';
import { WatchList, type WatchWallet } from './watch-list.ts';

export interface UtxoOptions extends UtxoSecondNodeOptions {
  readonly account: AccountKey;
  readonly own: OwnAddressLookup;
  /** Returns how many indexes were assigned: their addresses are watched, even after the wallet was lost. */
  readonly allocatedCount?: () => Promise<number>;
  /** Returns those of the addresses that were paid, to compute the gap limit of the operator's own wallet. */
  readonly paid?: OwnAddressLookup;
  /** A longer wallet list is not read; the chain is walked instead. */
  readonly listMaxBytes?: number;
}

/** About 15,000 payments. */
const LIST_MAX_BYTES = 8 * 1024 ** 2;
/** How long to wait before asking for a list again that was too long. */
const LIST_RETRY_MS = 10 * MINUTE_MS;

export class UtxoChain implements ChainDriver {
  readonly coin: UtxoCoin;
  readonly #options: UtxoOptions;
  readonly #rpc: JsonRpc;
  readonly #watchList: WatchList;
  readonly #safetyCheck: SafetyCheck;
  #wallet: WatchWallet | null = null;
  /** Set by each safety check: after a restore or rescan, the wallet may find payments behind the cursor. */
  #needsLookback = true;
  /** The highest tip seen, in case the node is restored between a poll and its recheck. */
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
    // Checked first: a restored node would report payments that it doesn't know yet as removed.
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
    if (this.#wallet === null) throw new Error('the node has not passed its safety check');
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
