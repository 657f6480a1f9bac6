/**
 * A real Ethereum node for tests: anvil on loopback, with its own chain that a test mines, reorganizes, and
 * rolls back.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../../support/free-port.ts';
import { skipUnlessInstalled } from '../../../support/installed-programs.ts';

const READY_MAX_MS = 20_000;
const POLL_INTERVAL_MS = 10;

const program = findAnvil();

/** Why tests that need anvil are skipped, or false. */
export const NO_ANVIL = skipUnlessInstalled(program, 'anvil is not installed for this kind of machine');

/** A transaction's content. Signatures are deterministic, so the same fields give the same transaction. */
export interface TransactionTemplate {
  readonly from: string;
  /** Without it, the transaction creates a contract. */
  readonly to?: string;
  readonly value?: string;
  readonly data?: string;
  readonly nonce: string;
}

/** Fixed fees, so that the same template gives the same transaction later. */
const FEES = { gas: '0x2dc6c0', maxFeePerGas: '0x2540be400', maxPriorityFeePerGas: '0x1' };

export interface AnvilOptions {
  readonly accounts?: number;
}

export class Anvil {
  readonly url: string;
  readonly #folder: string;
  readonly #args: readonly string[];
  #child: ChildProcess | null = null;
  #accounts: readonly string[] = [];

  private constructor(port: number, folder: string, { accounts = 10 }: AnvilOptions) {
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = folder;
    const listen = ['--host', '127.0.0.1', '--port', `${port}`, '--accounts', `${accounts}`];
    const state = ['--state', join(folder, 'state.json'), '--preserve-historical-states'];
    // Otherwise each start creates a different genesis block, which is not the parent of the second block.
    const began = ['--timestamp', `${Math.floor(Date.now() / 1000)}`];
    this.#args = [...listen, ...state, ...began, '--no-mining', '--order', 'fifo', '--quiet'];
  }

  static async start(options: AnvilOptions = {}): Promise<Anvil> {
    const folder = await mkdtemp(join(tmpdir(), 'skerry-anvil-'));
    const anvil = new Anvil(await freePort(), folder, options);
    await anvil.start();
    return anvil;
  }

  /** Starts with the chain of the last orderly stop, otherwise with a new one. */
  async start(): Promise<void> {
    assert.ok(program !== null, 'anvil is not installed');
    const env = { HOME: this.#folder, PATH: process.env.PATH ?? '' };
    const child = spawn(program, this.#args, { stdio: 'ignore', cwd: this.#folder, env });
    this.#child = child;
    // In case the tests end without closing it.
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    await this.#waitUntilReady(child);
  }

  /** Stops in an orderly way (SIGINT), or as in a power loss (SIGKILL). */
  async stop(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async close(): Promise<void> {
    await this.stop('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }

  async request<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(this.url, { method: 'POST', headers, body });
    const answer = (await response.json()) as { result: T; error?: { message: string } };
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  }

  /** Returns an account with ether. */
  account(n: number): string {
    return this.#accounts[n] ?? assert.fail('anvil has no such account');
  }

  /** Fills in the sender and the nonce, so that the transaction can be sent repeatedly. */
  async prepare(
    order: Omit<TransactionTemplate, 'nonce' | 'from'> & { readonly from?: string },
  ): Promise<TransactionTemplate> {
    const from = order.from ?? this.account(0);
    const nonce = await this.request<string>('eth_getTransactionCount', from, 'pending');
    return { ...order, from, nonce };
  }

  /** Adds the transaction to the pool; returns its id. */
  async send(order: TransactionTemplate): Promise<string> {
    return await this.request<string>('eth_sendTransaction', { ...FEES, ...order });
  }

  async pay(to: string, wei: bigint): Promise<string> {
    return await this.send(await this.prepare({ to, value: hex(wei) }));
  }

  async mine(blocks = 1): Promise<void> {
    await this.request('anvil_mine', hex(blocks));
  }

  /**
   * Replaces the newest blocks; the new ones contain only these transactions, each in the block with its
   * number.
   */
  async reorg(
    depth: number,
    orders: readonly (readonly [TransactionTemplate, number])[] = [],
  ): Promise<void> {
    const pairs = orders.map(([order, block]) => [{ ...FEES, ...order }, block]);
    await this.request('anvil_reorg', depth, pairs);
  }

  /** Removes the newest blocks, as after a restore from a backup. */
  async rollBack(depth: number): Promise<void> {
    await this.request('anvil_rollback', depth);
  }

  async height(): Promise<number> {
    return Number(await this.request<string>('eth_blockNumber'));
  }

  /** Deploys the contract in a new block; returns its address. */
  async deploy(bytecode: string): Promise<string> {
    const txid = await this.send(await this.prepare({ data: `0x${bytecode}` }));
    await this.mine();
    const receipt = await this.request<{ contractAddress: string; status: string }>(
      'eth_getTransactionReceipt',
      txid,
    );
    assert.equal(receipt.status, '0x1', 'the contract could not be created');
    return receipt.contractAddress;
  }

  async #waitUntilReady(child: ChildProcess): Promise<void> {
    for (const deadline = Date.now() + READY_MAX_MS; ; await pause(POLL_INTERVAL_MS)) {
      const accounts = await this.request<string[]>('eth_accounts').catch(() => null);
      if (accounts) {
        this.#accounts = accounts;
        return;
      }
      assert.equal(child.exitCode, null, 'anvil exited');
      assert.ok(Date.now() < deadline, 'anvil did not respond in time');
    }
  }
}

export function hex(value: bigint | number): string {
  return `0x${value.toString(16)}`;
}

function findAnvil(): string | null {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  try {
    const { resolve } = createRequire(import.meta.url);
    const found = resolve(`@foundry-rs/anvil-${process.platform}-${arch}/package.json`);
    return join(dirname(found), 'bin', 'anvil');
  } catch {
    return null;
  }
}
