/**
 * Monero, by a view-only wallet behind monero-wallet-rpc and the monerod that it uses. The wallet knows what came in to which
 * address; the node, which sees neither, knows the chain. The wallet alone is not believed: after a reorganisation it keeps its
 * old blocks until its node has overtaken them. So it is brought to the node's newest block first, each payment's block is asked
 * of the node, confirmations are counted by heights, and all of it is told only where the newest block was the same before and after.
 *
 * Invoice number i has subaddress i + 1 of account 0. The wallet sees what it has made, and 200 beyond the last one of them.
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
import { type Cursor, formatCursor, parseCursor } from '../cursor.ts';
import { NodeBehind } from '../node-behind.ts';
import type { NodeEndpoint } from '../node-http.ts';
import { removedObservation } from '../removed-observation.ts';
import { SafetyCheck } from '../safety-check.ts';
import { MoneroAccount } from './account.ts';
import { ChainChanged, ConsistentReader, WalletMismatch } from './consistent-reader.ts';
import { type MoneroBlock, MoneroDaemon, type TransactionLocation } from './daemon.ts';
import { moneroHealth } from './health.ts';
import {
  FINAL_CONFIRMATIONS,
  isUnlocked,
  MAX_LOCK_BLOCKS,
  observeIncluded,
  observePooled,
  parseKey,
  transferKey,
} from './observations.ts';
import { checkNetwork, checkWallet } from './safety.ts';
import { type HeightRange, type MoneroTransfer, MoneroWallet } from './wallet.ts';

const DECIMALS = 12;
/** How far back each look at new blocks goes: what is not final is told by every one of them. */
const LOOKBACK_BLOCKS = FINAL_CONFIRMATIONS + 4;
/**
 * A week: how far the first look after a start goes back. An invoice may have been paid before its coin was first read; and a wallet
 * that was lost and made anew finds payments that lie long before what was read.
 */
const INITIAL_LOOKBACK_BLOCKS = 5040;
/** A day, beyond what was read before. */
const MAX_BLOCKS_PER_POLL = 720;
/** What a wallet looks beyond the last address that it has made, or was paid to. */
const SUBADDRESS_LOOKAHEAD = 200;

export interface MoneroOptions {
  readonly wallet: NodeEndpoint;
  readonly daemon: NodeEndpoint;
  /** The primary address of the operator's own wallet. */
  readonly address: string;
  /** Networks without value are taken as well. */
  readonly allowTest: boolean;
  /** How many numbers were given out: their addresses are made again in a wallet that was restored. */
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
  /** Private, and in no log and on no disk of ours. */
  #viewKey = '';
  #hasPolled = false;

  /** Throws KeyRefused where the address is none. */
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
    const given = (await this.#options.allocatedCount?.()) ?? 0;
    if (given > 0) await this.#addressOf(given - 1);
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    await this.#safetyCheck.ensure();
    const address = await this.#addressOf(invoice.index);
    return { address, uri: `monero:${address}?tx_amount=${formatUnits(invoice.amountUnits, DECIMALS)}` };
  }

  /** Derived here and by the wallet, which watches it from then on. */
  async #addressOf(index: number): Promise<string> {
    const minor = index + 1;
    const address = this.#account.subaddress(this.#viewKey, minor);
    if ((await this.#wallet.ensureAddress(minor)) === address) return address;
    throw new Error(`Monero: two derivations of address ${minor} differ`);
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
        // A wallet shows no transaction that has come back into the pool: it remembers to have looked at it.
        if (place.height === null)
          return observePooled(transfer ?? this.#unlistedTransfer(part), place.doubleSpent);
        const block = blocks.get(place.height);
        if (!block) throw new ChainChanged();
        if (transfer) return observeIncluded(transfer, block, tip);
        // The wallet was made anew and has not found it yet; or somebody pays an output twice, which counts once. What was
        // credited stays, and nothing is credited; what is not agreed is never final, or nobody would ask for it again.
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

  async examine(given: number): Promise<readonly ChainFinding[]> {
    if (given === 0) return [];
    const notes: ChainFinding[] = [];
    if (!(await this.#wallet.hasAddress(given))) {
      const message = `the wallet has not made all ${given} addresses that were given out, so it was put back or made anew: they are made with the next invoice; then let it read the chain again (rescan_blockchain)`;
      notes.push({ level: 'fail', message });
    } else {
      notes.push({ level: 'ok', message: `the wallet watches all ${given} addresses that were given out` });
    }
    if (given > SUBADDRESS_LOOKAHEAD) {
      const message = `a wallet made anew from its seed looks only ${SUBADDRESS_LOOKAHEAD} addresses ahead: open yours with --subaddress-lookahead 1:${given + SUBADDRESS_LOOKAHEAD}`;
      notes.push({ level: 'note', message });
    }
    const locked = await this.#countLocked();
    if (locked > 0) {
      const message = `payments of the last two weeks that whoever sent them has locked (unlock_time): ${locked}. Each counts once it can be spent, if that is within a week, and else never`;
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

  /** What the wallet has in these blocks and in the pool, each in the block where the node has it. */
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

  /** Who was paid is in the key; how much is known already. */
  #unlistedTransfer({ txid, minor }: { readonly txid: string; readonly minor: number }): MoneroTransfer {
    const address = this.#account.subaddress(this.#viewKey, minor);
    return { txid, minor, address, amountUnits: 0n, height: null, unlockTime: 0n, doubleSpent: false };
  }
}

/** What the wallet has both in a block and in the pool is in the block. */
function indexByKey(transfers: readonly MoneroTransfer[]): Map<string, MoneroTransfer> {
  const found = new Map<string, MoneroTransfer>();
  for (const transfer of transfers) {
    // Number 0 is the primary address, which is given to nobody.
    if (transfer.minor === 0) continue;
    const key = transferKey(transfer);
    if (transfer.height !== null || !found.has(key)) found.set(key, transfer);
  }
  return found;
}

/** Of what is in a block that is no newer than the tip. */
function includedHeights(places: ReadonlyMap<string, TransactionLocation>, tip: MoneroBlock): number[] {
  return [...places.values()].flatMap(({ height }) => height ?? []).filter((height) => height <= tip.height);
}

function rangeOf(heights: readonly number[]): HeightRange | null {
  return heights.length === 0 ? null : { from: Math.min(...heights), to: Math.max(...heights) };
}
