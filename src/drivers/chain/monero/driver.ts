/**
 * Monero, with a view-only wallet behind monero-wallet-rpc and the monerod that it uses. The wallet knows
 * payments and addresses; the node sees neither, but knows the chain. The wallet alone can't be trusted:
 * after a reorganization it keeps its old blocks until its node has overtaken them. So each read first syncs
 * the wallet to the node's tip, asks the node for each payment's block, counts confirmations by height, and
 * is discarded if the tip changed during the read.
 *
 * Invoice index i uses subaddress i + 1 of account 0. The wallet scans all created subaddresses and 200
 * beyond the last.
 */
import { formatUnits } from '../../../kernel/money.ts';
import type {
  ChainDriver,
  ChainFinding,
  ChainHealth,
  Deposit,
  Observation,
  PollResult,
} from '../../../ports/chain.ts';
import { type Cursor, formatCursor, NodeBehind, parseCursor } from '../cursor.ts';
import type { NodeEndpoint } from '../node-http.ts';
import { removedObservation } from '../payment-keys.ts';
import { SafetyCheck } from '../safety-check.ts';
import { MoneroAccount } from './account.ts';
import { ChainChanged, ConsistentReader, WalletMismatch } from './consistent-reader.ts';
import { type MoneroBlock, MoneroDaemon, type TransactionLocation } from './daemon.ts';
import {
  FINAL_CONFIRMATIONS,
  isUnlocked,
  MAX_LOCK_BLOCKS,
  observeIncluded,
  observePooled,
  parseKey,
  transferKey,
} from './observations.ts';
import { checkNetwork, checkWallet, moneroHealth } from './safety.ts';
import { type HeightRange, type MoneroTransfer, MoneroWallet } from './wallet.ts';

const DECIMALS = 12;
/** How far back each poll of new blocks goes: every payment that isn't final is reported each time. */
const LOOKBACK_BLOCKS = FINAL_CONFIRMATIONS + 4;
/**
 * One week: how far back the first poll after a start goes. An invoice may have been paid before its coin was
 * first polled, and a restored wallet finds payments long before the cursor.
 */
const INITIAL_LOOKBACK_BLOCKS = 5040;
/** One day beyond the cursor. */
const MAX_BLOCKS_PER_POLL = 720;
/** How many subaddresses a wallet scans beyond the last created or paid one. */
const SUBADDRESS_LOOKAHEAD = 200;

export interface MoneroOptions {
  readonly wallet: NodeEndpoint;
  readonly daemon: NodeEndpoint;
  /** The primary address of the operator's own wallet. */
  readonly address: string;
  /** Whether test networks are allowed. */
  readonly allowTest: boolean;
  /** Returns how many indexes were assigned: their addresses are created again in a restored wallet. */
  readonly allocatedCount?: () => Promise<number>;
}

export class MoneroChain implements ChainDriver {
  readonly coin = 'XMR';
  readonly #wallet: MoneroWallet;
  readonly #daemon: MoneroDaemon;
  readonly #reader: ConsistentReader;
  readonly #account: MoneroAccount;
  readonly #options: MoneroOptions;
  readonly #safetyCheck = new SafetyCheck(() => this.#checkNodes());
  /** Private: never logged, never written to disk. */
  #viewKey = '';
  #hasPolled = false;

  /** Throws InvalidKeyError if the address is invalid. */
  constructor(options: MoneroOptions) {
    this.#options = options;
    this.#account = MoneroAccount.parse(options.address);
    this.#wallet = new MoneroWallet(options.wallet);
    this.#daemon = new MoneroDaemon(options.daemon);
    this.#reader = new ConsistentReader(this.#wallet, this.#daemon);
  }

  async checkSafety(): Promise<void> {
    await this.#safetyCheck.rerun();
  }

  async #checkNodes(): Promise<void> {
    const network = await checkNetwork(this.#daemon, this.#options.allowTest);
    this.#viewKey = await checkWallet(this.#wallet, this.#account, network);
    const count = (await this.#options.allocatedCount?.()) ?? 0;
    if (count > 0) await this.#addressOf(count - 1);
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    await this.#safetyCheck.ensure();
    const address = await this.#addressOf(invoice.index);
    return { address, uri: `monero:${address}?tx_amount=${formatUnits(invoice.amountUnits, DECIMALS)}` };
  }

  /** Derives the address here and in the wallet, which then watches it. */
  async #addressOf(index: number): Promise<string> {
    const minor = index + 1;
    const address = this.#account.subaddress(this.#viewKey, minor);
    if ((await this.#wallet.ensureAddress(minor)) === address) return address;
    throw new Error(`Monero: two derivations of address ${minor} don't match`);
  }

  async poll(from: { cursor: string | null }): Promise<PollResult> {
    await this.#safetyCheck.ensure();
    const cursor = parseCursor(from.cursor);
    const polled = await this.#reader.read((tip) => this.#read(cursor, tip));
    this.#hasPolled = true;
    return polled;
  }

  async #read(cursor: Cursor | null, tip: MoneroBlock): Promise<PollResult> {
    if (cursor !== null && tip.height < cursor.height) throw new NodeBehind(tip.height, cursor.height);
    if (this.#hasPolled && tip.hash === cursor?.hash) {
      return {
        cursor: formatCursor(tip),
        observations: await this.#observeTransfers(null, tip),
        isComplete: true,
      };
    }
    const back = this.#hasPolled && cursor !== null ? LOOKBACK_BLOCKS : INITIAL_LOOKBACK_BLOCKS;
    const readTo = (cursor ?? tip).height;
    const last = Math.min(tip.height, readTo + MAX_BLOCKS_PER_POLL);
    const observations = await this.#observeTransfers({ from: Math.max(0, readTo - back), to: last }, tip);
    const read = last === tip.height ? tip : await this.#blockAt(last);
    return { cursor: formatCursor(read), observations, isComplete: last === tip.height };
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    await this.#safetyCheck.ensure();
    const asked = keys.map((key) => ({ key, part: parseKey(key) }));
    const parts = asked.flatMap(({ part }) => part ?? []);
    return await this.#reader.read(async (tip) => {
      const places = await this.#daemon.locateTransactions(parts.map(({ txid }) => txid));
      const heights = includedHeights(places, tip);
      const blocks = await this.#daemon.blocks(heights);
      const minors = parts.map(({ minor }) => minor);
      const known = indexByKey(
        minors.length === 0 ? [] : await this.#wallet.transfers(rangeOf(heights), minors),
      );
      return asked.map(({ key, part }) => {
        const place = part && places.get(part.txid);
        if (!part || !place) return removedObservation(key);
        const transfer = known.get(key);
        // The wallet doesn't list a transaction that returned to the pool, because it has already scanned it.
        if (place.height === null)
          return observePooled(transfer ?? this.#unlistedTransfer(part), place.doubleSpent);
        const block = blocks.get(place.height);
        if (!block) throw new ChainChanged();
        if (transfer) return observeIncluded(transfer, block, tip);
        // A restored wallet has not found it yet, or it is a repeated output, which counts once. An existing
        // credit stays and none is added. It is not agreed, so it must not become final, or it would never be
        // rechecked.
        return {
          ...observeIncluded(this.#unlistedTransfer(part), block, tip),
          state: 'included',
          agreed: false,
        };
      });
    });
  }

  async health(): Promise<ChainHealth> {
    return await moneroHealth(this.#daemon, this.#wallet);
  }

  async examine(count: number): Promise<readonly ChainFinding[]> {
    if (count === 0) return [];
    const notes: ChainFinding[] = [];
    if (!(await this.#wallet.hasAddress(count))) {
      const message =
        `the wallet has not created all ${count} assigned addresses, so it was restored or replaced. They ` +
        'are created with the next invoice; then make it scan the chain again (rescan_blockchain)';
      notes.push({ level: 'fail', message });
    } else {
      notes.push({ level: 'ok', message: `the wallet watches all ${count} assigned addresses` });
    }
    if (count > SUBADDRESS_LOOKAHEAD) {
      const message =
        `a wallet restored from its seed scans only ${SUBADDRESS_LOOKAHEAD} addresses ahead: open yours ` +
        `with --subaddress-lookahead 1:${count + SUBADDRESS_LOOKAHEAD}`;
      notes.push({ level: 'note', message });
    }
    const locked = await this.#countLocked();
    if (locked > 0) {
      const message =
        `payments of the last two weeks that their sender locked (unlock_time): ${locked}. Each is ` +
        'credited once it can be spent, if that is within a week, and otherwise never';
      notes.push({ level: 'note', message });
    }
    return notes;
  }

  async #countLocked(): Promise<number> {
    const tip = await this.#daemon.tip();
    const range = { from: Math.max(0, tip.height - 2 * MAX_LOCK_BLOCKS), to: tip.height };
    const included = (await this.#wallet.transfers(range)).filter(({ height }) => height !== null);
    return [...indexByKey(included).values()].filter(({ unlockTime }) => !isUnlocked(unlockTime, tip)).length;
  }

  /** Returns the wallet's payments in these blocks and in the pool, each checked against the node's block. */
  async #observeTransfers(range: HeightRange | null, tip: MoneroBlock): Promise<Observation[]> {
    const transfers = [...indexByKey(await this.#wallet.transfers(range)).values()];
    const included = transfers.flatMap((each) =>
      each.height === null ? [] : { ...each, height: each.height },
    );
    const places = await this.#daemon.locateTransactions(included.map(({ txid }) => txid));
    const blocks = await this.#daemon.blocks(included.map(({ height }) => height));
    const waiting = transfers.filter(({ height }) => height === null).map((each) => observePooled(each));
    return [
      ...waiting,
      ...included.map((transfer) => {
        const block = blocks.get(transfer.height);
        if (!block || places.get(transfer.txid)?.height !== transfer.height) throw new WalletMismatch();
        return observeIncluded(transfer, block, tip);
      }),
    ];
  }

  async #blockAt(height: number): Promise<MoneroBlock> {
    const block = (await this.#daemon.blocks([height])).get(height);
    if (!block) throw new ChainChanged();
    return block;
  }

  /** The key contains the address; the amount is already known to the caller. */
  #unlistedTransfer({ txid, minor }: { readonly txid: string; readonly minor: number }): MoneroTransfer {
    const address = this.#account.subaddress(this.#viewKey, minor);
    return { txid, minor, address, amountUnits: 0n, height: null, unlockTime: 0n, doubleSpent: false };
  }
}

/** A payment that the wallet lists both in a block and in the pool is in the block. */
function indexByKey(transfers: readonly MoneroTransfer[]): Map<string, MoneroTransfer> {
  const found = new Map<string, MoneroTransfer>();
  for (const transfer of transfers) {
    // Index 0 is the primary address, which is never assigned.
    if (transfer.minor === 0) continue;
    const key = transferKey(transfer);
    if (transfer.height !== null || !found.has(key)) found.set(key, transfer);
  }
  return found;
}

/** Returns the heights of included transactions up to the tip. */
function includedHeights(places: ReadonlyMap<string, TransactionLocation>, tip: MoneroBlock): number[] {
  return [...places.values()].flatMap(({ height }) => height ?? []).filter((height) => height <= tip.height);
}

function rangeOf(heights: readonly number[]): HeightRange | null {
  return heights.length === 0 ? null : { from: Math.min(...heights), to: Math.max(...heights) };
}
