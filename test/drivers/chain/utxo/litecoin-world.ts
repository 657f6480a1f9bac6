/** Two connected Litecoin nodes: one pays and mines; the service's own node has a watch-only wallet. */
import { HDKey } from '@scure/bip32';
import { AccountKey } from '../../../../src/drivers/chain/account-key.ts';
import { UtxoChain } from '../../../../src/drivers/chain/utxo/driver.ts';
import type { OwnAddressLookup } from '../../../../src/ports/chain.ts';
import { LitecoinNode, waitUntil } from './litecoin-node.ts';

export const PAYER_WALLET = 'pay';
export const WATCH_WALLET = 'watch';
/** Coinbase outputs can be spent after 100 blocks. */
const FIRST_BLOCKS = 110;

/** Returns the account key of a test wallet. */
export function accountKey(seed: number): AccountKey {
  const wallet = HDKey.fromMasterSeed(new Uint8Array(32).fill(seed)).derive(`m/84'/2'/0'`);
  return AccountKey.parse(wallet.publicExtendedKey);
}

/** The two ways to read payments: from the wallet's lists, or block by block if a list is too long. */
export const READ_MODES = [
  { how: 'from wallet lists', listMaxBytes: 1024 ** 2 },
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
  /** Different in each world. */
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
      throw new Error('litecoind did not start');
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

  /** Creates the wallet as the operator does; the node loads it at each start. */
  async makeWatchWallet(name = WATCH_WALLET): Promise<void> {
    await this.watcher.call('createwallet', [name, true, true, '', false, false, true]);
  }

  async close(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.close()));
  }

  /** Adds a node without connections and without a wallet. */
  async addNode(): Promise<LitecoinNode> {
    const node = await LitecoinNode.start();
    this.#nodes.push(node);
    return node;
  }

  /** Returns a new driver. */
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

  /** Mines at the paying node; the watching node receives the blocks if it is connected. */
  async mine(count = 1): Promise<void> {
    await this.payer.call('generatetoaddress', [count, this.#payerAddress]);
    await this.#waitForSync();
  }

  /** Mines blocks without any payment. */
  async mineEmpty(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.payer.call('generateblock', [this.#payerAddress, []]);
    await this.#waitForSync();
  }

  /** Mines at the watching node, with its mempool. */
  async mineAtWatcher(count: number): Promise<void> {
    await this.watcher.call('generatetoaddress', [count, this.#payerAddress]);
  }

  /** Pays an amount in whole coins; returns the txid once it is in both mempools. */
  async pay(address: string, coins: string): Promise<string> {
    await this.syncPayerWallet();
    const txid = String(await this.payer.call('sendtoaddress', [address, coins], PAYER_WALLET));
    await this.relay(txid);
    return txid;
  }

  /** Syncs the payer's wallet with its node; otherwise it may spend an output that was just replaced. */
  async syncPayerWallet(): Promise<void> {
    await this.payer.call('syncwithvalidationinterfacequeue');
  }

  /** Relays a payment to the watching node. */
  async relay(txid: string): Promise<void> {
    const raw = await this.payer.call('getrawtransaction', [txid]);
    // It may have arrived already.
    await this.watcher.call('sendrawtransaction', [raw]).catch(() => undefined);
    await waitUntil('the payment is relayed', () => this.isWaiting(txid));
  }

  async isWaiting(txid: string): Promise<boolean> {
    return await this.watcher.call('getmempoolentry', [txid]).then(
      () => true,
      () => false,
    );
  }

  /**
   * Signs, but does not send, a transaction that spends the same inputs as this one, back to the payer with a
   * higher fee.
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
      'blocks are relayed',
      async () => (await this.watcher.tip()) === (await this.payer.tip()),
    );
  }
}
