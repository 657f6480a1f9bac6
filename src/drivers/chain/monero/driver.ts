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
  ChainHealth,
  ChainNote,
  Deposit,
  Observation,
  Polled,
} from '../../../ports/chain.ts';
import { type Cursor, cursorText, parseCursor } from '../cursor.ts';
import { NodeBehind } from '../node-behind.ts';
import type { NodeAddress } from '../node-http.ts';
import { removed } from '../observed.ts';
import { Proof } from '../proven.ts';
import { MoneroAccount } from './account.ts';
import { type MoneroBlock, MoneroDaemon, type MoneroPlace } from './daemon.ts';
import { moneroHealth } from './health.ts';
import {
  FINAL_CONFIRMATIONS,
  inBlock,
  inPool,
  isUnlocked,
  keyOf,
  LOCKED_MOST_BLOCKS,
  parseKey,
} from './observe.ts';
import { proveNetwork, proveWallet } from './prove.ts';
import { ChainMoved, SteadyLook, WalletDiffers } from './steady.ts';
import { type HeightRange, type MoneroTransfer, MoneroWallet } from './wallet.ts';

const DECIMALS = 12;
/** How far back each look at new blocks goes: what is not final is told by every one of them. */
const LOOK_BACK_BLOCKS = FINAL_CONFIRMATIONS + 4;
/**
 * A week: how far the first look after a start goes back. An invoice may have been paid before its coin was first read; and a wallet
 * that was lost and made anew finds payments that lie long before what was read.
 */
const FIRST_LOOK_BLOCKS = 5040;
/** A day, beyond what was read before. */
const MOST_BLOCKS = 720;
/** What a wallet looks beyond the last address that it has made, or was paid to. */
const LOOK_AHEAD = 200;

export interface MoneroOptions {
  readonly wallet: NodeAddress;
  readonly daemon: NodeAddress;
  /** The primary address of the operator's own wallet. */
  readonly address: string;
  /** Networks without value are taken as well. */
  readonly allowTest: boolean;
  /** How many numbers were given out: their addresses are made again in a wallet that was restored. */
  readonly given?: () => Promise<number>;
}

export class MoneroChain implements ChainDriver {
  readonly coin = 'XMR';
  readonly #wallet: MoneroWallet;
  readonly #daemon: MoneroDaemon;
  readonly #look: SteadyLook;
  readonly #account: MoneroAccount;
  readonly #options: MoneroOptions;
  readonly #proof = new Proof(() => this.#prove());
  /** Private, and in no log and on no disk of ours. */
  #viewKey = '';
  #hasLooked = false;

  /** Throws KeyRefused where the address is none. */
  constructor(options: MoneroOptions) {
    this.#options = options;
    this.#account = MoneroAccount.parse(options.address);
    this.#wallet = new MoneroWallet(options.wallet);
    this.#daemon = new MoneroDaemon(options.daemon);
    this.#look = new SteadyLook(this.#wallet, this.#daemon);
  }

  async prove(): Promise<void> {
    await this.#proof.renew();
  }

  async #prove(): Promise<void> {
    const network = await proveNetwork(this.#daemon, this.#options.allowTest);
    this.#viewKey = await proveWallet(this.#wallet, this.#account, network);
    const given = (await this.#options.given?.()) ?? 0;
    if (given > 0) await this.#addressOf(given - 1);
  }

  async allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    await this.#proof.ensure();
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

  async poll(from: { cursor: string | null }): Promise<Polled> {
    await this.#proof.ensure();
    const cursor = parseCursor(from.cursor);
    const polled = await this.#look.at((tip) => this.#read(cursor, tip));
    this.#hasLooked = true;
    return polled;
  }

  async #read(cursor: Cursor | null, tip: MoneroBlock): Promise<Polled> {
    if (cursor !== null && tip.height < cursor.height) throw new NodeBehind(tip.height, cursor.height);
    if (this.#hasLooked && tip.hash === cursor?.hash) {
      return { cursor: cursorText(tip), observations: await this.#observed(null, tip), whole: true };
    }
    const back = this.#hasLooked && cursor !== null ? LOOK_BACK_BLOCKS : FIRST_LOOK_BLOCKS;
    const readTo = (cursor ?? tip).height;
    const last = Math.min(tip.height, readTo + MOST_BLOCKS);
    const observations = await this.#observed({ from: Math.max(0, readTo - back), to: last }, tip);
    const read = last === tip.height ? tip : await this.#blockAt(last);
    return { cursor: cursorText(read), observations, whole: last === tip.height };
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    await this.#proof.ensure();
    const asked = keys.map((key) => ({ key, part: parseKey(key) }));
    const parts = asked.flatMap(({ part }) => part ?? []);
    return await this.#look.at(async (tip) => {
      const places = await this.#daemon.places(parts.map(({ txid }) => txid));
      const heights = heightsOf(places, tip);
      const blocks = await this.#daemon.blocks(heights);
      const minors = parts.map(({ minor }) => minor);
      const known = byKey(minors.length === 0 ? [] : await this.#wallet.transfers(rangeOf(heights), minors));
      return asked.map(({ key, part }) => {
        const place = part && places.get(part.txid);
        if (!part || !place) return removed(key);
        const transfer = known.get(key);
        // A wallet shows no transaction that has come back into the pool: it remembers to have looked at it.
        if (place.height === null) return inPool(transfer ?? this.#forgotten(part), place.doubleSpent);
        const block = blocks.get(place.height);
        if (!block) throw new ChainMoved();
        if (transfer) return inBlock(transfer, block, tip);
        // The wallet was made anew and has not found it yet; or somebody pays an output twice, which counts once. What was
        // credited stays, and nothing is credited; what is not agreed is never final, or nobody would ask for it again.
        return { ...inBlock(this.#forgotten(part), block, tip), state: 'included', agreed: false };
      });
    });
  }

  async health(): Promise<ChainHealth> {
    return await moneroHealth(this.#daemon, this.#wallet);
  }

  async examine(given: number): Promise<readonly ChainNote[]> {
    if (given === 0) return [];
    const notes: ChainNote[] = [];
    if (!(await this.#wallet.hasAddress(given))) {
      const says = `the wallet has not made all ${given} addresses that were given out, so it was put back or made anew: they are made with the next invoice; then let it read the chain again (rescan_blockchain)`;
      notes.push({ level: 'look', says });
    } else {
      notes.push({ level: 'ok', says: `the wallet watches all ${given} addresses that were given out` });
    }
    if (given > LOOK_AHEAD) {
      const says = `a wallet made anew from its seed looks only ${LOOK_AHEAD} addresses ahead: open yours with --subaddress-lookahead 1:${given + LOOK_AHEAD}`;
      notes.push({ level: 'note', says });
    }
    const locked = await this.#countLocked();
    if (locked > 0) {
      const says = `payments of the last two weeks that whoever sent them has locked (unlock_time): ${locked}. Each counts once it can be spent, if that is within a week, and else never`;
      notes.push({ level: 'note', says });
    }
    return notes;
  }

  async #countLocked(): Promise<number> {
    const tip = await this.#daemon.tip();
    const range = { from: Math.max(0, tip.height - 2 * LOCKED_MOST_BLOCKS), to: tip.height };
    const included = (await this.#wallet.transfers(range)).filter(({ height }) => height !== null);
    return [...byKey(included).values()].filter(({ unlockTime }) => !isUnlocked(unlockTime, tip)).length;
  }

  /** What the wallet has in these blocks and in the pool, each in the block where the node has it. */
  async #observed(range: HeightRange | null, tip: MoneroBlock): Promise<Observation[]> {
    const transfers = [...byKey(await this.#wallet.transfers(range)).values()];
    const included = transfers.flatMap((each) =>
      each.height === null ? [] : { ...each, height: each.height },
    );
    const places = await this.#daemon.places(included.map(({ txid }) => txid));
    const blocks = await this.#daemon.blocks(included.map(({ height }) => height));
    const waiting = transfers.filter(({ height }) => height === null).map((each) => inPool(each));
    return [
      ...waiting,
      ...included.map((transfer) => {
        const block = blocks.get(transfer.height);
        if (!block || places.get(transfer.txid)?.height !== transfer.height) throw new WalletDiffers();
        return inBlock(transfer, block, tip);
      }),
    ];
  }

  async #blockAt(height: number): Promise<MoneroBlock> {
    const block = (await this.#daemon.blocks([height])).get(height);
    if (!block) throw new ChainMoved();
    return block;
  }

  /** Who was paid is in the key; how much is known already. */
  #forgotten({ txid, minor }: { readonly txid: string; readonly minor: number }): MoneroTransfer {
    const address = this.#account.subaddress(this.#viewKey, minor);
    return { txid, minor, address, amountUnits: 0n, height: null, unlockTime: 0n, doubleSpent: false };
  }
}

/** What the wallet has both in a block and in the pool is in the block. */
function byKey(transfers: readonly MoneroTransfer[]): Map<string, MoneroTransfer> {
  const found = new Map<string, MoneroTransfer>();
  for (const transfer of transfers) {
    // Number 0 is the primary address, which is given to nobody.
    if (transfer.minor === 0) continue;
    const key = keyOf(transfer);
    if (transfer.height !== null || !found.has(key)) found.set(key, transfer);
  }
  return found;
}

/** Of what is in a block that is no newer than the tip. */
function heightsOf(places: ReadonlyMap<string, MoneroPlace>, tip: MoneroBlock): number[] {
  return [...places.values()].flatMap(({ height }) => height ?? []).filter((height) => height <= tip.height);
}

function rangeOf(heights: readonly number[]): HeightRange | null {
  return heights.length === 0 ? null : { from: Math.min(...heights), to: Math.max(...heights) };
}
