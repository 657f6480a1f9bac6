/**
 * Tron, over the HTTP API of one's own full node: TRX, and USDT as a token (TRC-20). Addresses are derived from an account's public
 * key; blocks are read one by one, so it costs the same however many addresses were given out. There is no mempool worth reading:
 * a block comes every three seconds.
 *
 * Written against the documented shapes of java-tron and tried with a stand-in node that speaks them; it was never tried on a
 * live network.
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
import { tronAddress } from '../addresses.ts';
import { maybeList } from '../answers.ts';
import { BlockWalk } from '../block-walk.ts';
import { keyHash } from '../key-hash.ts';
import type { NodeAddress } from '../node-http.ts';
import { Proof } from '../proven.ts';
import { tronHealth } from './health.ts';
import { TronNode } from './node.ts';
import type { TronCoin } from './payments.ts';
import { proveTron } from './proof.ts';
import { ROUND_BLOCKS, TronSource } from './source.ts';

export interface TronOptions {
  readonly coin: TronCoin;
  readonly node: NodeAddress;
  readonly account: AccountKey;
  readonly own: OwnAddresses;
  /** Of USDT; unused for TRX. */
  readonly contract: string;
  /** Networks whose coins are worth nothing are allowed. */
  readonly allowTest: boolean;
}

/** Some megabytes, read within a few seconds. */
const MOST_BLOCKS = 10;
/** An hour: the first invoice may have been made while nobody read the chain. */
const FIRST_BLOCKS = 1_200;
/** Read to see whether the node keeps what happens inside contracts. */
const LOOKED_AT_BLOCKS = 5;
const FEW_CALLS = 50;

export class TronChain implements ChainDriver {
  readonly coin: TronCoin;
  readonly #node: TronNode;
  readonly #account: AccountKey;
  readonly #walk: BlockWalk;
  readonly #proof: Proof;
  readonly #allowTest: boolean;

  constructor(options: TronOptions) {
    const { coin, account, own, allowTest } = options;
    this.coin = coin;
    this.#node = new TronNode(options.node);
    this.#account = account;
    this.#allowTest = allowTest;
    const source = new TronSource(this.#node, coin, options.contract);
    this.#walk = new BlockWalk(source, own, {
      rewindBlocks: ROUND_BLOCKS,
      mostBlocks: MOST_BLOCKS,
      firstBlocks: FIRST_BLOCKS,
    });
    this.#proof = new Proof(() => proveTron(this.#node, options));
  }

  async prove(): Promise<void> {
    await this.#proof.renew();
  }

  async allocate({ index }: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    await this.#proof.ensure();
    const address = tronAddress(keyHash(this.#account.publicKeyAt(this.#numberOf(index))));
    // There is no form of a URI that wallets agree on.
    return { address, uri: address };
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
    return await tronHealth(this.#node, this.#allowTest);
  }

  async examine(given: number): Promise<readonly ChainNote[]> {
    const highest = given === 0 ? 'none yet' : `up to number ${this.#numberOf(given - 1)} of the account`;
    const notes: ChainNote[] = [
      {
        level: 'note',
        says: `addresses given out: ${highest}; a wallet that looks for them needs a gap limit above that`,
      },
    ];
    return this.coin === 'TRX' ? [...notes, await this.#examineInside()] : notes;
  }

  /** Both coins share an account: even numbers are TRX, odd ones USDT. */
  #numberOf(index: number): number {
    return 2 * index + (this.coin === 'TRX' ? 0 : 1);
  }

  /** Payments from inside contracts are told only by nodes that are set so: `vm.saveInternalTx`, off by default. */
  async #examineInside(): Promise<ChainNote> {
    const { height } = await this.#node.newest();
    let calls = 0;
    for (let at = height; at > Math.max(0, height - LOOKED_AT_BLOCKS); at--) {
      for (const outcome of await this.#node.outcomes(at)) {
        if (maybeList(outcome.internal_transactions, 'calls inside').length > 0) {
          return { level: 'ok', says: 'the node tells of payments from inside contracts' };
        }
        if (outcome.contract_address !== undefined) calls += 1;
      }
    }
    const set =
      'payments from inside contracts (exchanges pay so) are missed unless vm.saveInternalTx = true is set in its file';
    if (calls < FEW_CALLS)
      return { level: 'note', says: `too little happens on this network to tell: ${set}` };
    return { level: 'look', says: `the node seems not to keep what happens inside contracts: ${set}` };
  }
}
