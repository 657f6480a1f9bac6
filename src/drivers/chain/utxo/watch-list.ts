/**
 * The addresses that the node's wallet watches for us: number by number of one descriptor, imported a chunk ahead of those given out.
 * Nothing is remembered here: the wallet is asked what it has, before each address is given out.
 */

import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { UnsafeChainError } from '../../../ports/chain.ts';
import type { AccountKey } from '../account-key.ts';
import { segwitAddress } from '../addresses.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asArray, asObject, asString, asUint, optionalObject, optionalUint } from '../json-values.ts';
import { NodeError } from '../node-http.ts';
import { batchSettledLarge } from './rpc.ts';
import type { Network } from './safety.ts';

/** Imported at once. */
export const CHUNK_SIZE = 1_000;
const IMPORT_TIMEOUT_MS = 60_000;

/** What the wallet was proven to be. */
export interface WatchWallet extends Network {
  readonly descriptors: boolean;
  /** Of all our addresses, with its checksum. */
  readonly descriptor: string;
}

export class WatchList {
  readonly #rpc: JsonRpc;
  readonly #account: AccountKey;
  /** How far back blocks are read again for addresses that were given out, and that the wallet does not know. */
  readonly #rescanBlocks: number;
  #importQueue: Promise<void> = Promise.resolve();

  constructor(rpc: JsonRpc, account: AccountKey, options: { readonly rescanBlocks: number }) {
    this.#rpc = rpc;
    this.#account = account;
    this.#rescanBlocks = options.rescanBlocks;
  }

  /** Throws UnsafeChain where the node derives other addresses than this service. */
  async descriptorFor(network: Network): Promise<string> {
    const key = network.isMain ? this.#account.xpub : this.#account.tpub;
    const info = asObject(
      await this.#callRedacted('getdescriptorinfo', [`wpkh(${key}/0/*)`]),
      'a descriptor',
    );
    const descriptor = asString(info.descriptor, 'a descriptor');
    if (info.hasprivatekeys !== false)
      throw new UnsafeChainError('the node takes the account’s key for a private one');
    await this.#deriveAddress({ ...network, descriptor }, 0);
    return descriptor;
  }

  /** The address with this number. The wallet watches it from now on. */
  async ensure(wallet: WatchWallet, index: number): Promise<string> {
    const address = await this.#deriveAddress(wallet, index);
    if (!(await this.#isWatched([address]))[0]) await this.#import(wallet, index);
    return address;
  }

  /** All of the first so many numbers are watched from now on: a wallet that was made anew watched none of them. */
  async ensureAllocated(wallet: WatchWallet, count: number): Promise<void> {
    if ((await this.watchedChunks(wallet, count)).includes(false)) await this.#import(wallet, count - 1);
  }

  /** Of the first so many numbers, in chunks: whether all of each is watched. */
  async watchedChunks(wallet: WatchWallet, count: number): Promise<boolean[]> {
    const firsts = Array.from({ length: Math.ceil(count / CHUNK_SIZE) }, (_, chunk) => chunk * CHUNK_SIZE);
    return await this.#isWatched(firsts.map((index) => this.#addressAt(wallet, index)));
  }

  #addressAt({ prefix }: Network, index: number): string {
    return segwitAddress(prefix, ripemd160(sha256(this.#account.publicKeyAt(index))));
  }

  async #deriveAddress(
    { descriptor, ...network }: Network & { readonly descriptor: string },
    index: number,
  ): Promise<string> {
    const address = this.#addressAt(network, index);
    const derived = await this.#callRedacted('deriveaddresses', [descriptor, [index, index]]);
    const [theirs] = asArray(derived, 'addresses');
    if (theirs !== address)
      throw new UnsafeChainError(`the node derives another address with number ${index}`);
    return address;
  }

  async #isWatched(addresses: readonly string[]): Promise<boolean[]> {
    const calls = addresses.map((address) => ({ method: 'getaddressinfo', params: [address] }));
    const answers = await batchSettledLarge(this.#rpc, calls);
    return answers.map((answer) => {
      if (answer instanceof NodeError) throw answer;
      const { ismine, iswatchonly } = asObject(answer, 'an address');
      return ismine === true || iswatchonly === true;
    });
  }

  /** One after the other: who waited finds the work done. */
  async #import(wallet: WatchWallet, index: number): Promise<void> {
    const turn = this.#importQueue.then(async () => {
      const firstMissing = wallet.descriptors
        ? await this.#extendDescriptor(wallet, index)
        : await this.#importChunks(wallet, index);
      if (!(await this.#isWatched([this.#addressAt(wallet, index)]))[0]) {
        throw new NodeError('import', 0, 'the wallet does not watch what it imported');
      }
      // Some were given out while this wallet did not watch them: it is a new one, or an old one that was put back.
      if (firstMissing !== null && firstMissing < index) await this.#rescan();
    });
    this.#importQueue = turn.catch(() => undefined);
    await turn;
  }

  /** All chunks up to this number that the wallet does not have. Returns the first number that was missing. */
  async #importChunks(wallet: WatchWallet, index: number): Promise<number | null> {
    const watched = await this.watchedChunks(wallet, index + 1);
    const [last] = await this.#isWatched([this.#addressAt(wallet, index)]);
    // A node that was killed while it imported may have a part of the last one.
    const missing = watched.flatMap((has, chunk) => {
      const whole = has && (last === true || chunk < watched.length - 1);
      return whole ? [] : [chunk];
    });
    for (const chunk of missing) {
      const range = [chunk * CHUNK_SIZE, (chunk + 1) * CHUNK_SIZE - 1];
      const request = { ...importRequest(wallet, range), keypool: false, watchonly: true };
      await this.#sendImport('importmulti', [[request], { rescan: false }]);
    }
    return missing[0] === undefined ? null : missing[0] * CHUNK_SIZE;
  }

  /** A descriptor has one range, which only grows: nodes refuse one that does not hold the present one. */
  async #extendDescriptor(wallet: WatchWallet, index: number): Promise<number | null> {
    const { descriptors } = asObject(await this.#callRedacted('listdescriptors', []), 'the wallet');
    const ours = asArray(descriptors, 'descriptors')
      .map((each) => asObject(each, 'a descriptor'))
      .find(({ desc }) => desc === wallet.descriptor);
    const end = ours === undefined ? -1 : asUint(asArray(ours.range, 'a range')[1], 'the end of a range');
    if (end >= index) return null;
    const wanted = (Math.floor(index / CHUNK_SIZE) + 1) * CHUNK_SIZE - 1;
    const request = { ...importRequest(wallet, [0, wanted]), active: false };
    await this.#sendImport('importdescriptors', [[request]]);
    return end + 1;
  }

  async #sendImport(method: string, params: readonly unknown[]): Promise<void> {
    for (const each of asArray(await this.#callRedacted(method, params), 'what was imported')) {
      const answer = asObject(each, 'what was imported');
      if (answer.success === true) continue;
      // Its words may hold the account's key.
      const code = Number(optionalObject(answer.error, 'an error')?.code) || 0;
      throw new NodeError(method, code, 'the wallet does not import our addresses');
    }
  }

  async #rescan(): Promise<void> {
    const { blocks, pruneheight } = asObject(await this.#rpc.call('getblockchaininfo', []), 'the chain');
    // A node that keeps the newest blocks only reads what it has.
    const kept = optionalUint(pruneheight, 'the oldest block’s height') ?? 0;
    const from = Math.max(asUint(blocks, 'the newest block’s height') - this.#rescanBlocks, kept);
    await this.#rpc.call('rescanblockchain', [from], { timeoutMs: IMPORT_TIMEOUT_MS });
  }

  /** Calls that name the account's key, which an error of the node may repeat. */
  async #callRedacted(method: string, params: readonly unknown[]): Promise<unknown> {
    try {
      return await this.#rpc.call(method, params, { timeoutMs: IMPORT_TIMEOUT_MS });
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      throw new NodeError(method, error.code, 'the node refuses it');
    }
  }
}

function importRequest({ descriptor }: WatchWallet, range: readonly number[]): object {
  // Nobody was given an address of them before now.
  return { desc: descriptor, range, timestamp: 'now', internal: false };
}
