/** Two connected Litecoin nodes: one pays and makes blocks, and the service's own has a wallet that only watches. */
import { HDKey } from '@scure/bip32';
import { AccountKey } from '../../../src/drivers/chain/account-key.ts';
import { UtxoChain } from '../../../src/drivers/chain/utxo/driver.ts';
import type { OwnAddressLookup } from '../../../src/ports/chain.ts';
import { LitecoinNode, waitUntil } from './litecoin-node.ts';

export const PAYER_WALLET = 'pay';
export const WATCH_WALLET = 'watch';
/** Coins can be spent after a hundred blocks. */
const FIRST_BLOCKS = 110;

/** Of an offline wallet that these tests made up. */
export function accountKey(seed: number): AccountKey {
  const wallet = HDKey.fromMasterSeed(new Uint8Array(32).fill(seed)).derive(`m/84'/2'/0'`);
  return AccountKey.parse(wallet.publicExtendedKey);
}

/** How payments are read: while the wallet's lists are short enough, and when none is. */
export const READ_MODES = [
  { how: 'by lists of the wallet', listMaxBytes: 1024 ** 2 },
  { how: 'block by block', listMaxBytes: 1 },
] as const;

export interface DriverOptions {
  readonly allowTest?: boolean;
  readonly wallet?: string;
  readonly allocatedCount?: number;
  readonly own?: OwnAddressLookup;
  readonly paid?: OwnAddressLookup;
  readonly account?: AccountKey;
  readonly listMaxBytes?: number;
}

let seeds = 0;

export class LitecoinWorld {
  readonly payer: LitecoinNode;
  readonly watcher: LitecoinNode;
  /** Another in each world. */
  readonly account: AccountKey;
  readonly #nodes: LitecoinNode[];
  #payerAddress = '';

  private constructor(payer: LitecoinNode, watcher: LitecoinNode) {
    this.payer = payer;
    this.watcher = watcher;
    this.#nodes = [payer, watcher];
    seeds += 1;
    this.account = accountKey(seeds);
  }

  static async start(options: { readonly extensionBlocks?: boolean } = {}): Promise<LitecoinWorld> {
    const started = await Promise.allSettled([LitecoinNode.start(options), LitecoinNode.start(options)]);
    const [payer, watcher] = started.map((each) => (each.status === 'fulfilled' ? each.value : null));
    if (!payer || !watcher) {
      await Promise.all([payer?.close(), watcher?.close()]);
      throw new Error('litecoind does not start');
    }
    const world = new LitecoinWorld(payer, watcher);
    try {
      await world.#setup();
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  async #setup(): Promise<void> {
    await this.payer.call('createwallet', [PAYER_WALLET, false, false, '', false, false, true]);
    await this.makeWatchWallet();
    this.#payerAddress = await this.addressOfPayer();
    await this.payer.call('generatetoaddress', [FIRST_BLOCKS, this.#payerAddress]);
    await this.watcher.connect(this.payer);
  }

  /** As the operator makes it; loaded again whenever its node starts. */
  async makeWatchWallet(name = WATCH_WALLET): Promise<void> {
    await this.watcher.call('createwallet', [name, true, true, '', false, false, true]);
  }

  async close(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.close()));
  }

  /** Another node, alone and without a wallet. */
  async addNode(): Promise<LitecoinNode> {
    const node = await LitecoinNode.start();
    this.#nodes.push(node);
    return node;
  }

  /** A driver that remembers nothing. */
  driver(options: DriverOptions = {}): UtxoChain {
    const {
      allowTest = true,
      wallet = WATCH_WALLET,
      allocatedCount = 0,
      own = async () => new Set(),
      paid = async () => new Set(),
      account = this.account,
      listMaxBytes,
    } = options;
    const node = this.watcher.endpoint(wallet);
    return new UtxoChain({
      coin: 'LTC',
      node,
      account,
      own,
      paid,
      allowTest,
      allocatedCount: async () => allocatedCount,
      ...(listMaxBytes === undefined ? {} : { listMaxBytes }),
    });
  }

  async addressOfPayer(): Promise<string> {
    return String(await this.payer.call('getnewaddress', ['', 'bech32'], PAYER_WALLET));
  }

  /** Blocks of the paying node; the watching one has them too, unless it left. */
  async mine(count = 1): Promise<void> {
    await this.payer.call('generatetoaddress', [count, this.#payerAddress]);
    await this.#waitForSync();
  }

  /** Blocks without any payment. */
  async mineEmpty(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.payer.call('generateblock', [this.#payerAddress, []]);
    await this.#waitForSync();
  }

  /** Blocks of the watching node, with what its mempool has. */
  async mineAtWatcher(count: number): Promise<void> {
    await this.watcher.call('generatetoaddress', [count, this.#payerAddress]);
  }

  /** A payment of whole coins and parts, in both mempools; its transaction. */
  async pay(address: string, coins: string): Promise<string> {
    await this.walletHears();
    const txid = String(await this.payer.call('sendtoaddress', [address, coins], PAYER_WALLET));
    await this.passOn(txid);
    return txid;
  }

  /** The payer's wallet knows what its node does: else it spends what was replaced a moment ago, which no node takes. */
  async walletHears(): Promise<void> {
    await this.payer.call('syncwithvalidationinterfacequeue');
  }

  async passOn(txid: string): Promise<void> {
    const raw = await this.payer.call('getrawtransaction', [txid]);
    // It may have come by itself.
    await this.watcher.call('sendrawtransaction', [raw]).catch(() => undefined);
    await waitUntil('the payment is passed on', () => this.isWaiting(txid));
  }

  async isWaiting(txid: string): Promise<boolean> {
    return await this.watcher.call('getmempoolentry', [txid]).then(
      () => true,
      () => false,
    );
  }

  /**
   * A transaction that spends the same coins as this one, to the payer itself and with a greater fee: signed, and not
   * yet passed on.
   */
  async rival(txid: string): Promise<string> {
    const { vin, vout } = (await this.payer.call('getrawtransaction', [txid, true])) as {
      vin: { txid: string; vout: number }[];
      vout: { value: string }[];
    };
    const total = vout.reduce((sum, { value }) => sum + Number(value), 0);
    const inputs = vin.map(({ txid: from, vout: n }) => ({ txid: from, vout: n, sequence: 0xff_ff_ff_fd }));
    const outputs = [{ [this.#payerAddress]: (total - 0.01).toFixed(8) }];
    const raw = await this.payer.call('createrawtransaction', [inputs, outputs]);
    const signed = await this.payer.call('signrawtransactionwithwallet', [raw], PAYER_WALLET);
    return (signed as { hex: string }).hex;
  }

  async #waitForSync(): Promise<void> {
    if (!this.watcher.isRunning || (await this.watcher.call('getconnectioncount')) === 0) return;
    await waitUntil(
      'blocks are passed on',
      async () => (await this.watcher.tip()) === (await this.payer.tip()),
    );
  }
}
