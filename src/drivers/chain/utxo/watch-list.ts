/**
 * The addresses that the node's wallet watches for us: a range of one descriptor, imported a chunk ahead of
 * the assigned addresses. Nothing is cached: the wallet is asked what it has before each address is assigned.
 */

import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import pLimit from 'p-limit';
import { UnsafeChainError } from '../../../ports/chain.ts';
import type { AccountKey } from '../account-key.ts';
import { segwitAddress } from '../addresses.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asArray, asObject, asString, asUint, optionalObject, optionalUint } from '../json-values.ts';
import { NodeError } from '../node-http.ts';
import { batchSettledLarge } from './rpc.ts';
import type { Network } from './safety.ts';

/** Addresses per import. */
export const CHUNK_SIZE = 1_000;
const IMPORT_TIMEOUT_MS = 60_000;

/** The properties of the wallet that passed the safety check. */
export interface WatchWallet extends Network {
  readonly descriptors: boolean;
  /** The descriptor of all our addresses, with its checksum. */
  readonly descriptor: string;
}

export class WatchList {
  readonly #rpc: JsonRpc;
  readonly #account: AccountKey;
  /** How far back blocks are rescanned for assigned addresses that the wallet doesn't know. */
  readonly #rescanBlocks: number;
  readonly #oneImportAtATime = pLimit(1);

  constructor(rpc: JsonRpc, account: AccountKey, options: { readonly rescanBlocks: number }) {
    this.#rpc = rpc;
    this.#account = account;
    this.#rescanBlocks = options.rescanBlocks;
  }

  /** Throws UnsafeChainError if the node derives other addresses than this service. */
  async descriptorFor(network: Network): Promise<string> {
    const key = network.isMain ? this.#account.xpub : this.#account.tpub;
    const info = asObject(await this.#callRedacted('getdescriptorinfo', [`wpkh(${key}/0/*)`]), 'descriptor');
    const descriptor = asString(info.descriptor, 'descriptor');
    if (info.hasprivatekeys !== false)
      throw new UnsafeChainError('the node treats the account key as a private key');
    await this.#deriveAddress({ ...network, descriptor }, 0);
    return descriptor;
  }

  /** Returns the address with this index, which the wallet then watches. */
  async ensure(wallet: WatchWallet, index: number): Promise<string> {
    const address = await this.#deriveAddress(wallet, index);
    if (!(await this.#isWatched([address]))[0]) await this.#import(wallet, index);
    return address;
  }

  /** Ensures that the first `count` addresses are watched: a new wallet watches none of them. */
  async ensureAllocated(wallet: WatchWallet, count: number): Promise<void> {
    if ((await this.watchedChunks(wallet, count)).includes(false)) await this.#import(wallet, count - 1);
  }

  /** Returns, for each chunk of the first `count` addresses, whether all of it is watched. */
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
      throw new UnsafeChainError(`the node derives a different address at index ${index}`);
    return address;
  }

  async #isWatched(addresses: readonly string[]): Promise<boolean[]> {
    const calls = addresses.map((address) => ({ method: 'getaddressinfo', params: [address] }));
    const answers = await batchSettledLarge(this.#rpc, calls);
    return answers.map((answer) => {
      if (answer instanceof NodeError) throw answer;
      const { ismine, iswatchonly } = asObject(answer, 'address');
      return ismine === true || iswatchonly === true;
    });
  }

  /** Imports one chunk at a time: a concurrent caller then finds the work done. */
  async #import(wallet: WatchWallet, index: number): Promise<void> {
    await this.#oneImportAtATime(async () => {
      const firstMissing = wallet.descriptors
        ? await this.#extendDescriptor(wallet, index)
        : await this.#importChunks(wallet, index);
      if (!(await this.#isWatched([this.#addressAt(wallet, index)]))[0]) {
        throw new NodeError('import', 0, 'the wallet does not watch the imported addresses');
      }
      // Some of these were assigned while this wallet didn't watch them: it is new or was restored.
      if (firstMissing !== null && firstMissing < index) await this.#rescan();
    });
  }

  /** Imports all missing chunks up to this index. Returns the first missing index. */
  async #importChunks(wallet: WatchWallet, index: number): Promise<number | null> {
    const watched = await this.watchedChunks(wallet, index + 1);
    const [last] = await this.#isWatched([this.#addressAt(wallet, index)]);
    // A node that was killed during an import may have only a part of the last chunk.
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

  /** A descriptor has one range. It can only grow: nodes refuse a range without the current one. */
  async #extendDescriptor(wallet: WatchWallet, index: number): Promise<number | null> {
    const { descriptors } = asObject(await this.#callRedacted('listdescriptors', []), 'wallet info');
    const ours = asArray(descriptors, 'descriptors')
      .map((each) => asObject(each, 'descriptor'))
      .find(({ desc }) => desc === wallet.descriptor);
    const end = ours === undefined ? -1 : asUint(asArray(ours.range, 'range')[1], 'range end');
    if (end >= index) return null;
    const wanted = (Math.floor(index / CHUNK_SIZE) + 1) * CHUNK_SIZE - 1;
    const request = { ...importRequest(wallet, [0, wanted]), active: false };
    await this.#sendImport('importdescriptors', [[request]]);
    return end + 1;
  }

  async #sendImport(method: string, params: readonly unknown[]): Promise<void> {
    for (const each of asArray(await this.#callRedacted(method, params), 'import results')) {
      const answer = asObject(each, 'import result');
      if (answer.success === true) continue;
      // The error message may contain the account key.
      const code = Number(optionalObject(answer.error, 'error')?.code) || 0;
      throw new NodeError(method, code, 'the wallet did not import the addresses');
    }
  }

  async #rescan(): Promise<void> {
    const { blocks, pruneheight } = asObject(await this.#rpc.call('getblockchaininfo', []), 'chain info');
    // A pruned node can only rescan the blocks that it has.
    const kept = optionalUint(pruneheight, 'prune height') ?? 0;
    const from = Math.max(asUint(blocks, 'tip height') - this.#rescanBlocks, kept);
    await this.#rpc.call('rescanblockchain', [from], { timeoutMs: IMPORT_TIMEOUT_MS });
  }

  /**
   * Makes a call that contains the account key, without the node's error message, which may repeat the key.
   */
  async #callRedacted(method: string, params: readonly unknown[]): Promise<unknown> {
    try {
      return await this.#rpc.call(method, params, { timeoutMs: IMPORT_TIMEOUT_MS });
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      throw new NodeError(method, error.code, 'the node refused the call');
    }
  }
}

function importRequest({ descriptor }: WatchWallet, range: readonly number[]): object {
  // "now" skips the rescan: none of these addresses has been assigned yet.
  return { desc: descriptor, range, timestamp: 'now', internal: false };
}
