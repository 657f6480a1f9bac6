/** Real monerod and monero-wallet-rpc on loopback, with a regtest chain that is mined on demand. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { JsonRpc } from '../../../../src/drivers/chain/json-rpc.ts';
import { type NodeEndpoint, NodeUnreachable, requestNode } from '../../../../src/drivers/chain/node-http.ts';
import { freePort } from '../../../support/free-port.ts';
import { findProgram, skipUnlessInstalled } from '../../../support/installed-programs.ts';

const READY_MAX_MS = 40_000;
const POLL_INTERVAL_MS = 50;
/** The slowest call mines many blocks. */
const CALL_MAX_MS = 60_000;

const monerod = findProgram(['monerod']);
const walletRpc = findProgram(['monero-wallet-rpc']);

/** Why tests that need Monero are skipped, or false. */
export const NO_MONERO = skipUnlessInstalled(
  monerod && walletRpc,
  'monerod and monero-wallet-rpc are not installed',
);

abstract class NodeProcess {
  readonly node: NodeEndpoint;
  #child: ChildProcess | null = null;
  readonly #rpc: JsonRpc;

  protected constructor(port: number) {
    this.node = { url: `http://127.0.0.1:${port}`, authorization: null };
    this.#rpc = new JsonRpc(this.node, { path: '/json_rpc' });
  }

  /** `Result` is the part of the response that the caller uses. */
  async call<Result>(method: string, params: object = {}): Promise<Result> {
    return (await this.#rpc.call(method, params, { timeoutMs: CALL_MAX_MS })) as Result;
  }

  protected async launch(program: string | null, args: readonly string[]): Promise<void> {
    const child = spawn(program ?? 'monerod', [...args], { stdio: 'ignore' });
    process.once('exit', () => child.kill('SIGKILL'));
    this.#child = child;
    try {
      for (const deadline = Date.now() + READY_MAX_MS; !(await this.#answers()); ) {
        assert.equal(child.exitCode, null, `${program} exited`);
        assert.ok(Date.now() < deadline, `${program} did not respond in time`);
        await pause(POLL_INTERVAL_MS);
      }
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async #answers(): Promise<boolean> {
    try {
      await this.call('get_version');
      return true;
    } catch (error) {
      if (error instanceof NodeUnreachable) return false;
      throw error;
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    child.kill(signal);
    await ended;
  }
}

export class TestDaemon extends NodeProcess {
  static async start(folder: string): Promise<TestDaemon> {
    const [port, p2pPort] = [await freePort(), await freePort()];
    const daemon = new TestDaemon(port);
    await daemon.launch(monerod, [
      '--regtest',
      '--offline',
      '--fixed-difficulty=1',
      '--non-interactive',
      '--no-zmq',
      '--disable-dns-checkpoints',
      '--check-updates=disabled',
      `--data-dir=${folder}`,
      `--rpc-bind-port=${port}`,
      `--p2p-bind-port=${p2pPort}`,
      '--log-level=0',
      '--max-concurrency=1',
    ]);
    return daemon;
  }

  /** Calls a path outside JSON-RPC. */
  async request<Result extends object>(path: string, body: object = {}): Promise<Result> {
    return (await requestNode(this.node, path, { path, body, timeoutMs: CALL_MAX_MS })).body as Result;
  }

  async mine(count: number, address: string): Promise<void> {
    await this.call('generateblocks', { amount_of_blocks: count, wallet_address: address });
  }

  /** Mines until a block has this transaction; the first block template may be older than the transaction. */
  async include(txid: string, address: string): Promise<void> {
    type Found = { readonly txs?: readonly { readonly in_pool: boolean }[] };
    for (let blocks = 0; blocks < 10; blocks++) {
      await this.mine(1, address);
      const { txs = [] } = await this.request<Found>('/get_transactions', { txs_hashes: [txid] });
      if (txs[0]?.in_pool === false) return;
    }
    assert.fail(`no block includes ${txid}`);
  }

  async height(): Promise<number> {
    type Tip = { readonly block_header: { readonly height: number } };
    return (await this.call<Tip>('get_last_block_header')).block_header.height;
  }

  async #hashAt(height: number): Promise<string> {
    type Header = { readonly block_header: { readonly hash: string } };
    return (await this.call<Header>('get_block_header_by_height', { height })).block_header.hash;
  }

  /** Returns the raw transaction in hex. */
  async transaction(txid: string): Promise<string> {
    type Found = { readonly txs?: readonly { readonly as_hex: string }[] };
    const { txs = [] } = await this.request<Found>('/get_transactions', { txs_hashes: [txid] });
    return txs[0]?.as_hex ?? assert.fail(`the node does not have ${txid}`);
  }

  async send(text: string): Promise<void> {
    const answer = await this.request<{ readonly status: string }>('/send_raw_transaction', {
      tx_as_hex: text,
    });
    assert.equal(answer.status, 'OK', JSON.stringify(answer));
  }

  /**
   * Sends another node the blocks that it doesn't have, with their transactions. If they form a longer
   * branch, that node reorganizes and returns the transactions of its own blocks to its pool.
   */
  async relayBlocksTo(other: TestDaemon): Promise<void> {
    type Block = { readonly blob: string; readonly tx_hashes?: readonly string[] };
    const height = await this.height();
    let shared = Math.min(height, await other.height());
    while ((await this.#hashAt(shared)) !== (await other.#hashAt(shared))) shared -= 1;
    for (let next = shared + 1; next <= height; next++) {
      const { blob, tx_hashes: txids = [] } = await this.call<Block>('get_block', { height: next });
      for (const txid of txids) {
        await other.request('/send_raw_transaction', { tx_as_hex: await this.transaction(txid) });
      }
      await other.call('submit_block', [blob]);
    }
  }
}

export class TestWallet extends NodeProcess {
  readonly #args: readonly string[];
  readonly #folder: string;

  private constructor(port: number, folder: string, daemon: TestDaemon) {
    super(port);
    this.#folder = folder;
    this.#args = [
      `--daemon-address=${new URL(daemon.node.url).host}`,
      '--trusted-daemon',
      '--disable-rpc-login',
      '--non-interactive',
      `--rpc-bind-port=${port}`,
      `--shared-ringdb-dir=${folder}`,
      `--log-file=${folder}/wallet-${port}.log`,
      '--log-level=0',
      '--max-concurrency=1',
    ];
  }

  static async start(folder: string, daemon: TestDaemon): Promise<TestWallet> {
    const wallet = new TestWallet(await freePort(), folder, daemon);
    await wallet.startEmpty();
    return wallet;
  }

  /** Starts without an open wallet. */
  async startEmpty(): Promise<void> {
    await this.launch(walletRpc, [...this.#args, `--wallet-dir=${this.#folder}`]);
  }

  /** Starts with a wallet, as operators do. */
  async startWith(name: string): Promise<void> {
    await this.launch(walletRpc, [...this.#args, `--wallet-file=${this.#folder}/${name}`, '--password', '']);
  }

  /** Creates a wallet that can spend; returns its address. */
  async create(filename: string): Promise<string> {
    await this.call('create_wallet', { filename, password: '', language: 'English' });
    return (await this.call<{ readonly address: string }>('get_address', { account_index: 0 })).address;
  }

  /** Creates a view-only wallet. */
  async createViewOnly(filename: string, address: string, viewkey: string): Promise<void> {
    await this.call('generate_from_keys', { filename, password: '', address, viewkey, restore_height: 0 });
  }

  /** Pays in one transaction; returns its txid. Doesn't spend outputs that a reorganization removed. */
  async pay(
    destinations: readonly { readonly address: string; readonly amountUnits: bigint }[],
  ): Promise<string> {
    const to = destinations.map(({ address, amountUnits }) => ({ address, amount: Number(amountUnits) }));
    await this.call('refresh');
    type Sent = { readonly tx_hash: string };
    return (await this.call<Sent>('transfer', { destinations: to })).tx_hash;
  }
}
