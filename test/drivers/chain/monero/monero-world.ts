/** A chain of two nodes, with a miner who pays and an operator whose wallet is view-only. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MoneroChain } from '../../../../src/drivers/chain/monero/driver.ts';
import { TestDaemon, TestWallet } from './nodes.ts';

/**
 * Coinbase outputs are locked for 60 blocks, a ring needs 16 outputs, and each of the miner's payments spends
 * one.
 */
const FIRST_BLOCKS = 82;

export interface MoneroWorld {
  readonly folder: string;
  readonly daemon: TestDaemon;
  /** A second node; it only has the blocks that a test relays. */
  readonly second: TestDaemon;
  readonly miner: TestWallet;
  readonly minerAddress: string;
  /** The operator's view-only wallet. */
  readonly wallet: TestWallet;
  readonly address: string;
  mine(count: number): Promise<void>;
  /** Mines until a block has the transaction and is the newest. */
  include(txid: string): Promise<void>;
  /** Creates the driver of a service that has just started. */
  driver(options?: {
    readonly address?: string;
    readonly wallet?: TestWallet;
    /** Number of assigned indexes. */
    readonly allocatedCount?: number;
  }): MoneroChain;
  close(): Promise<void>;
}

export const VIEW_ONLY = 'view-only';

export async function startMonero(): Promise<MoneroWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-monero-'));
  const started: (TestDaemon | TestWallet)[] = [];
  const close = async () => {
    await Promise.all(started.map((node) => node.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const createFolder = async (name: string) => {
      await mkdir(join(folder, name));
      return join(folder, name);
    };
    const daemon = await TestDaemon.start(await createFolder('first'));
    started.push(daemon);
    const second = await TestDaemon.start(await createFolder('second'));
    started.push(second);
    const miner = await TestWallet.start(await createFolder('miner'), daemon);
    started.push(miner);
    const wallet = await TestWallet.start(await createFolder('wallet'), daemon);
    started.push(wallet);
    // Created in the miner's wallet, so that the service's wallet never has the spend key.
    const address = await miner.create('operator');
    const { key: viewKey } = await miner.call<{ readonly key: string }>('query_key', {
      key_type: 'view_key',
    });
    const minerAddress = await miner.create('miner');
    await daemon.mine(FIRST_BLOCKS, minerAddress);
    await daemon.relayBlocksTo(second);
    await wallet.createViewOnly(VIEW_ONLY, address, viewKey);
    await miner.call('refresh');
    const mine = (count: number) => daemon.mine(count, minerAddress);
    const include = (txid: string) => daemon.include(txid, minerAddress);
    const driver: MoneroWorld['driver'] = (options = {}) =>
      new MoneroChain({
        wallet: (options.wallet ?? wallet).node,
        daemon: daemon.node,
        address: options.address ?? address,
        allowTest: true,
        allocatedCount: async () => options.allocatedCount ?? 0,
      });
    return { folder, daemon, second, miner, minerAddress, wallet, address, mine, include, driver, close };
  } catch (error) {
    await close();
    throw error;
  }
}
