/** A real litecoind on loopback, on its own network. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { JsonRpc } from '../../../../src/drivers/chain/json-rpc.ts';
import type { NodeEndpoint } from '../../../../src/drivers/chain/node-http.ts';
import { freePort } from '../../../support/free-port.ts';
import { findProgram, skipUnlessInstalled } from '../../../support/installed-programs.ts';
import { basicAuth } from './rpc-server.ts';

const program = findProgram(['litecoind']);

/** Why tests that need litecoind are skipped, or false. */
export const NO_LITECOIND = skipUnlessInstalled(program, 'litecoind is not installed');

const PASSWORD = 'a-password-of-tests';
/** An activation time that never comes. */
const NO_EXTENSION_BLOCKS = 'mweb:99999999999:999999999999';
const WAIT_MAX_MS = 30_000;
const POLL_INTERVAL_MS = 20;

/** Waits for a condition, with a timeout. */
export async function waitUntil(condition: string, reached: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + WAIT_MAX_MS; !(await reached()); ) {
    assert.ok(Date.now() < deadline, `timeout: ${condition}`);
    await pause(POLL_INTERVAL_MS);
  }
}

export class LitecoinNode {
  readonly #folder: string;
  readonly #rpcPort: number;
  readonly #peerPort: number;
  #child: ChildProcess | null = null;

  readonly #extensionBlocks: boolean;

  private constructor(folder: string, ports: readonly [number, number], extensionBlocks: boolean) {
    const [rpcPort, peerPort] = ports;
    this.#extensionBlocks = extensionBlocks;
    this.#folder = folder;
    this.#rpcPort = rpcPort;
    this.#peerPort = peerPort;
  }

  /** With extension blocks (MWEB), block 432 must move a coin into them; otherwise no block can follow. */
  static async start({ extensionBlocks = false } = {}): Promise<LitecoinNode> {
    const folder = await mkdtemp(join(tmpdir(), 'skerry-litecoin-'));
    const node = new LitecoinNode(folder, [await freePort(), await freePort()], extensionBlocks);
    await node.start();
    return node;
  }

  async start(): Promise<void> {
    const child = spawn(program ?? 'litecoind', this.#arguments(), { stdio: 'ignore' });
    this.#child = child;
    await waitUntil('litecoind responds', async () => {
      assert.equal(child.exitCode, null, 'litecoind exited');
      return await this.call('getblockcount').then(
        () => true,
        () => false,
      );
    });
  }

  /** Stops in an orderly way, so that everything is on disk. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const ended = once(child, 'close');
    await this.call('stop').catch(() => child.kill('SIGKILL'));
    const killTimer = setTimeout(() => child.kill('SIGKILL'), WAIT_MAX_MS);
    await ended;
    clearTimeout(killTimer);
    this.#child = null;
  }

  /** Kills the process before it can save anything. */
  async kill(): Promise<void> {
    if (this.#child === null) return;
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
    this.#child = null;
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Copies the data of a stopped node. */
  async copyData(to: string): Promise<void> {
    await cp(join(this.#folder, 'regtest'), to, { recursive: true });
  }

  async restoreData(from: string): Promise<void> {
    await rm(join(this.#folder, 'regtest'), { recursive: true });
    await cp(from, join(this.#folder, 'regtest'), { recursive: true });
  }

  get isRunning(): boolean {
    return this.#child !== null;
  }

  /** Returns the total CPU time that it used. */
  async cpuMs(): Promise<number> {
    const tasks = `/proc/${this.#child?.pid}/task`;
    const used = (await readdir(tasks)).map((task) => readFile(`${tasks}/${task}/schedstat`, 'utf8'));
    return (await Promise.all(used)).reduce((sum, text) => sum + Number(text.split(' ')[0]) / 1e6, 0);
  }

  endpoint(wallet?: string): NodeEndpoint {
    const path = wallet === undefined ? '' : `/wallet/${wallet}`;
    return { url: `http://127.0.0.1:${this.#rpcPort}${path}`, authorization: basicAuth(PASSWORD) };
  }

  async call(method: string, params: readonly unknown[] = [], wallet?: string): Promise<unknown> {
    return await new JsonRpc(this.endpoint(wallet)).call(method, params);
  }

  async height(): Promise<number> {
    return Number(await this.call('getblockcount'));
  }

  async tip(): Promise<string> {
    return String(await this.call('getbestblockhash'));
  }

  /** Connects the nodes and waits until both have the same tip. */
  async connect(other: LitecoinNode): Promise<void> {
    await this.call('setnetworkactive', [true]);
    await this.call('addnode', [`127.0.0.1:${other.#peerPort}`, 'onetry']);
    await waitUntil('nodes are in sync', async () => (await this.tip()) === (await other.tip()));
  }

  /** Cuts the node off: blocks and payments pass in neither direction. */
  async disconnect(): Promise<void> {
    await this.call('setnetworkactive', [false]);
    await waitUntil('nodes are disconnected', async () => (await this.call('getconnectioncount')) === 0);
  }

  #arguments(): string[] {
    const settings = {
      regtest: 1,
      server: 1,
      datadir: this.#folder,
      rpcport: this.#rpcPort,
      rpcbind: '127.0.0.1',
      rpcallowip: '127.0.0.1',
      rpcuser: 'user',
      rpcpassword: PASSWORD,
      bind: `127.0.0.1:${this.#peerPort}`,
      port: this.#peerPort,
      dnsseed: 0,
      discover: 0,
      listenonion: 0,
      upnp: 0,
      printtoconsole: 0,
      // Relays payments at once.
      whitelist: 'noban@127.0.0.1',
      fallbackfee: '0.0002',
      walletrbf: 1,
      // The default of Bitcoin nodes and of some Litecoin nodes.
      mempoolreplacement: 1,
      keypool: 5,
      dbcache: 8,
      par: 1,
      rpcthreads: 2,
      ...(this.#extensionBlocks ? {} : { vbparams: NO_EXTENSION_BLOCKS }),
    };
    return Object.entries(settings).map(([name, value]) => `-${name}=${value}`);
  }
}
