/** A chain of two nodes with a miner who pays and an operator whose wallet can only see. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MoneroChain } from '../../../src/drivers/chain/monero/driver.ts';
import { TestDaemon, TestWallet } from './nodes.ts';

/** Coinbase outputs are locked for 60 blocks; a ring wants 16 outputs, and each payment of the miner's spends one. */
const FIRST_BLOCKS = 82;

export interface MoneroWorld {
  readonly folder: string;
  readonly daemon: TestDaemon;
  /** A second node, which has what it was told. */
  readonly second: TestDaemon;
  readonly miner: TestWallet;
  readonly minerAddress: string;
  /** The operator's, view-only. */
  readonly wallet: TestWallet;
  readonly address: string;
  mine(count: number): Promise<void>;
  /** A block has the transaction, and is the newest. */
  include(txid: string): Promise<void>;
  /** The driver of a service that has just started. */
  driver(options?: {
    readonly address?: string;
    readonly wallet?: TestWallet;
    /** How many numbers were given out. */
    readonly given?: number;
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
    // Made where the spend key never meets the wallet that the service uses.
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
        allocatedCount: async () => options.given ?? 0,
      });
    return { folder, daemon, second, miner, minerAddress, wallet, address, mine, include, driver, close };
  } catch (error) {
    await close();
    throw error;
  }
}
