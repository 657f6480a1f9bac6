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
  ChainFinding,
  ChainHealth,
  Deposit,
  Observation,
  OwnAddressLookup,
  PollResult,
} from '../../../ports/chain.ts';
import type { AccountKey } from '../account-key.ts';
import { tronAddress } from '../addresses.ts';
import { BlockWalk } from '../block-walk.ts';
import { optionalArray } from '../json-values.ts';
import { publicKeyHash } from '../key-hash.ts';
import type { NodeEndpoint } from '../node-http.ts';
import { SafetyCheck } from '../safety-check.ts';
import { tronHealth } from './health.ts';
import { TronNode } from './node.ts';
import type { TronCoin } from './payments.ts';
import { checkTronNode } from './safety.ts';
import { ROUND_BLOCKS, TronSource } from './source.ts';

export interface TronOptions {
  readonly coin: TronCoin;
  readonly node: NodeEndpoint;
  readonly account: AccountKey;
  readonly own: OwnAddressLookup;
  /** Of USDT; unused for TRX. */
  readonly contract: string;
  /** Networks whose coins are worth nothing are allowed. */
  readonly allowTest: boolean;
}

/** Some megabytes, read within a few seconds. */
const MAX_BLOCKS_PER_POLL = 10;
/** An hour: the first invoice may have been made while nobody read the chain. */
const INITIAL_BLOCKS = 1_200;
/** Read to see whether the node keeps what happens inside contracts. */
const SAMPLED_BLOCKS = 5;
const MIN_SAMPLED_CALLS = 50;

export class TronChain implements ChainDriver {
  readonly coin: TronCoin;
  readonly #node: TronNode;
  readonly #account: AccountKey;
  readonly #walk: BlockWalk;
  readonly #safetyCheck: SafetyCheck;
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
      maxBlocksPerPoll: MAX_BLOCKS_PER_POLL,
      initialBlocks: INITIAL_BLOCKS,
    });
    this.#safetyCheck = new SafetyCheck(() => checkTronNode(this.#node, options));
  }

  async checkSafety(): Promise<void> {
    await this.#safetyCheck.rerun();
  }

  async allocate({ index }: { id: string; index: number; amountUnits: bigint }): Promise<Deposit> {
    await this.#safetyCheck.ensure();
    const address = tronAddress(publicKeyHash(this.#account.publicKeyAt(this.#derivationIndex(index))));
    // There is no form of a URI that wallets agree on.
    return { address, uri: address };
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
    return await tronHealth(this.#node, this.#allowTest);
  }

  async examine(given: number): Promise<readonly ChainFinding[]> {
    const highest =
      given === 0 ? 'none yet' : `up to number ${this.#derivationIndex(given - 1)} of the account`;
    const notes: ChainFinding[] = [
      {
        level: 'note',
        message: `addresses given out: ${highest}; a wallet that looks for them needs a gap limit above that`,
      },
    ];
    return this.coin === 'TRX' ? [...notes, await this.#examineInternalTransfers()] : notes;
  }

  /** Both coins share an account: even numbers are TRX, odd ones USDT. */
  #derivationIndex(index: number): number {
    return 2 * index + (this.coin === 'TRX' ? 0 : 1);
  }

  /** Payments from inside contracts are told only by nodes that are set so: `vm.saveInternalTx`, off by default. */
  async #examineInternalTransfers(): Promise<ChainFinding> {
    const { height } = await this.#node.latestBlock();
    let calls = 0;
    for (let at = height; at > Math.max(0, height - SAMPLED_BLOCKS); at--) {
      for (const outcome of await this.#node.transactionOutcomes(at)) {
        if (optionalArray(outcome.internal_transactions, 'calls inside').length > 0) {
          return { level: 'ok', message: 'the node tells of payments from inside contracts' };
        }
        if (outcome.contract_address !== undefined) calls += 1;
      }
    }
    const set =
      'payments from inside contracts (exchanges pay so) are missed unless vm.saveInternalTx = true is set in its file';
    if (calls < MIN_SAMPLED_CALLS)
      return { level: 'note', message: `too little happens on this network to tell: ${set}` };
    return { level: 'warn', message: `the node seems not to keep what happens inside contracts: ${set}` };
  }
}
