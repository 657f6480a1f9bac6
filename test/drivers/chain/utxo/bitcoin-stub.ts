/**
 * A stub of Bitcoin Core with the documented responses: a mainnet node with a descriptor wallet. No bitcoind
 * is available in the test environment.
 */
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32 } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { AccountKey } from '../../../../src/drivers/chain/account-key.ts';
import type { NodeEndpoint } from '../../../../src/drivers/chain/node-http.ts';
import { UtxoChain } from '../../../../src/drivers/chain/utxo/driver.ts';
import type { UtxoCoin } from '../../../../src/drivers/chain/utxo/networks.ts';
import { type StubPayment, transactionsOf } from './bitcoin-block.ts';
import { basicAuth, RpcError, type RpcRequest, RpcServer } from './rpc-server.ts';

/** BIP 84's example account, from the words `abandon … about`, and its first addresses. */
export const ZPUB =
  'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtK' +
  'sAYz2oz2AGutZYs';
export const FIRST_ADDRESSES = [
  'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
  'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g',
] as const;
export const PASSWORD = 'a-password-of-tests';
const GENESIS = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';

/** Creates a driver of this node. */
export function createDriver(
  stub: BitcoinStub,
  options: { account?: string; allowTest?: boolean; password?: string; coin?: UtxoCoin } = {},
): UtxoChain {
  const { account = ZPUB, allowTest = false, password = PASSWORD, coin = 'BTC' } = options;
  const node = { ...stub.node, authorization: basicAuth(password) };
  const own = async (addresses: readonly string[]) =>
    new Set(addresses.filter((address) => (FIRST_ADDRESSES as readonly string[]).includes(address)));
  const paid = async () => new Set(stub.payments.map(({ address }) => address));
  return new UtxoChain({ coin, node, account: AccountKey.parse(account), own, paid, allowTest });
}

const ACCOUNT = HDKey.fromExtendedKey(AccountKey.parse(ZPUB).xpub).deriveChild(0);
const ADDRESSES = new Map<number, string>();

type Handler = (...params: never[]) => unknown;

export class BitcoinStub {
  readonly calls: Omit<RpcRequest, 'id'>[] = [];
  readonly payments: StubPayment[] = [];
  height = 800_000;
  /** Range of the descriptor; null: not imported. */
  range: [number, number] | null = null;
  /** A block of which only the header is stored. */
  unreadableBlock = '';
  /** Overridden responses, by method. */
  readonly answers = new Map<string, unknown>();
  #server: RpcServer | null = null;

  static async start(): Promise<BitcoinStub> {
    const stub = new BitcoinStub();
    stub.#server = await RpcServer.start(PASSWORD, (request) => stub.#answer(request));
    return stub;
  }

  get node(): NodeEndpoint {
    return { url: `${this.#server?.url}/wallet/watch`, authorization: basicAuth(PASSWORD) };
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  /** Adds a payment, by default in the newest block; returns its key. */
  pay(payment: Partial<StubPayment> = {}): string {
    const txid = (this.payments.length + 1).toString(16).padStart(64, '0');
    const [address] = FIRST_ADDRESSES;
    this.payments.push({ txid, address, amount: '0.00100000', height: this.height, ...payment });
    return `${txid}:${payment.vout ?? 0}`;
  }

  countOf(method: string): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  addressAt(index: number): string {
    const known = ADDRESSES.get(index);
    if (known !== undefined) return known;
    const key = ACCOUNT.deriveChild(index).publicKey ?? new Uint8Array();
    const address = bech32.encode('bc', [0, ...bech32.toWords(ripemd160(sha256(key)))]);
    ADDRESSES.set(index, address);
    return address;
  }

  hashAt(height: number): string {
    return height === 0 ? GENESIS : height.toString(16).padStart(64, '0');
  }

  /** Makes calls of this method fail. */
  failWith(method: string, code: number, message: string): void {
    this.answers.set(method, () => {
      throw new RpcError(code, message);
    });
  }

  /** Overrides fields of `getwalletinfo`. */
  overrideWalletInfo(change: object): void {
    const info = { private_keys_enabled: false, descriptors: true, scanning: false };
    this.answers.set('getwalletinfo', { ...info, ...change });
  }

  /** Overrides fields of `getblockchaininfo`. */
  overrideChainInfo(change: object): void {
    this.answers.set('getblockchaininfo', { ...this.#chainInfo(), ...change });
  }

  #chainInfo(): object {
    const { height } = this;
    const bestblockhash = this.hashAt(height);
    return { chain: 'main', blocks: height, headers: height, bestblockhash, initialblockdownload: false };
  }

  #answer({ method, params }: RpcRequest): unknown {
    this.calls.push({ method, params });
    const handler = (this.answers.get(method) ?? this.#handlers[method]) as Handler | undefined;
    if (handler === undefined) throw new RpcError(-32_601, 'Method not found');
    return typeof handler === 'function' ? handler(...(params as never[])) : handler;
  }

  readonly #handlers: Readonly<Record<string, Handler>> = {
    getblockcount: () => this.height,
    getblockhash: (height: number) => this.hashAt(height),
    getblockheader: (hash: string) => {
      const height = this.#heightOf(hash);
      const previousblockhash = this.hashAt(height - 1);
      return {
        hash,
        height,
        confirmations: this.height - height + 1,
        time: this.#timeOf(height),
        previousblockhash,
      };
    },
    getblockchaininfo: () => this.#chainInfo(),
    getnetworkinfo: () => ({ version: 290_000, connections: 8, networkactive: true }),
    listwallets: () => ['watch'],
    getwalletinfo: () => ({
      walletname: 'watch',
      format: 'sqlite',
      txcount: this.payments.length,
      keypoolsize: 0,
      private_keys_enabled: false,
      avoid_reuse: false,
      scanning: false,
      descriptors: true,
      external_signer: false,
      blank: true,
    }),
    getdescriptorinfo: (desc: string) => ({
      descriptor: `${desc}#abcdefgh`,
      checksum: 'abcdefgh',
      isrange: true,
      issolvable: true,
      hasprivatekeys: false,
    }),
    deriveaddresses: (_desc: string, [from, to]: [number, number]) =>
      // Tests only pay the first addresses of a long range.
      Array.from({ length: to - from + 1 }, (_, i) =>
        i < 50 ? this.addressAt(from + i) : `bc1-${from + i}`,
      ),
    listdescriptors: () => ({
      wallet_name: 'watch',
      descriptors:
        this.range === null ? [] : [{ desc: this.#descriptor(), active: false, range: this.range }],
    }),
    importdescriptors: (requests: { desc: string; range: [number, number] }[]) =>
      requests.map(({ range }) => {
        const [, end] = this.range ?? [0, -1];
        if (range[0] > 0 || range[1] < end) {
          const message = `new range must include current range = [0,${end}]`;
          return { success: false, error: { code: -8, message } };
        }
        this.range = range;
        return { success: true };
      }),
    rescanblockchain: (from: number) => ({ start_height: from, stop_height: this.height }),
    getaddressinfo: (address: string) => ({
      address,
      ismine: this.#watched().has(address),
      solvable: true,
      iswatchonly: false,
    }),
    // For an inactive descriptor it lists none: bitcoin/bitcoin #26813.
    listreceivedbyaddress: () => [],
    listsinceblock: (hash: string) => {
      if (hash === this.unreadableBlock) throw new RpcError(-32_603, "Can't read block from disk");
      const since = this.#heightOf(hash);
      const listed = this.payments.filter(({ height }) => height === null || height > since);
      return {
        transactions: listed.filter(({ forgotten }) => forgotten !== true).map((each) => this.#entry(each)),
        removed: [],
        lastblock: this.hashAt(this.height),
      };
    },
    // Newest last.
    listtransactions: (_label: string, count: number) =>
      this.payments
        .filter(({ forgotten }) => forgotten !== true)
        .slice(-count)
        .map((each) => this.#entry(each)),
    getblock: (hash: string) => {
      const height = this.#heightOf(hash);
      const paid = this.payments.filter((each) => each.height === height);
      return {
        hash,
        height,
        confirmations: this.height - height + 1,
        time: this.#timeOf(height),
        previousblockhash: this.hashAt(height - 1),
        tx: transactionsOf(paid),
      };
    },
    gettransaction: (txid: string) => {
      const [first, ...others] = this.payments.filter(
        (each) => each.txid === txid && each.forgotten !== true,
      );
      if (first === undefined) throw new RpcError(-5, 'Invalid or non-wallet transaction id');
      const details = [first, ...others].map((each) => this.#detail(each));
      const decoded = { txid, vin: [{ txid: 'f'.repeat(64), vout: 0 }] };
      return { ...this.#place(first), txid, walletconflicts: [], details, decoded };
    },
    getmempoolentry: (txid: string) => {
      const known = this.payments.find((each) => each.txid === txid);
      if (known?.inMempool === true) return { vsize: 141 };
      throw new RpcError(-5, 'Transaction not in mempool');
    },
    gettxout: (txid: string, n: number) => {
      const paid = this.payments.find((each) => each.txid === txid && (each.vout ?? 0) === n);
      if (paid === undefined) return null;
      return {
        bestblock: this.hashAt(this.height),
        confirmations: paid.height === null ? 0 : this.height - paid.height + 1,
        value: `amount:${paid.amount}`,
        scriptPubKey: { address: paid.address, type: 'witness_v0_keyhash' },
        coinbase: false,
      };
    },
    getrawtransaction: (txid: string, _verbose: boolean, blockHash: string) => {
      const paid = this.payments.find((each) => each.txid === txid);
      if (paid === undefined || paid.height !== this.#heightOf(blockHash)) {
        throw new RpcError(-5, 'No such transaction found in the provided block');
      }
      const scriptPubKey = { address: paid.address, type: 'witness_v0_keyhash' };
      const vout = [{ value: `amount:${paid.amount}`, n: paid.vout ?? 0, scriptPubKey }];
      return { in_active_chain: true, txid, vout, confirmations: this.height - paid.height + 1 };
    },
  };

  #descriptor(): string {
    return `wpkh(${AccountKey.parse(ZPUB).xpub}/0/*)#abcdefgh`;
  }

  /** Returns only the addresses that tests look up, because deriving all would take long. */
  #watched(): { has(address: string): boolean } {
    const end = this.range?.[1] ?? -1;
    const near = [0, 1, 2, 5, 999, 1_000, 1_001, 1_500, 1_501, 2_000, 2_999];
    return new Set(near.filter((index) => index <= end).map((index) => this.addressAt(index)));
  }

  #heightOf(hash: string): number {
    const height = hash === GENESIS ? 0 : Number.parseInt(hash, 16);
    if (height > this.height || this.hashAt(height) !== hash) throw new RpcError(-5, 'Block not found');
    return height;
  }

  #timeOf(height: number): number {
    return Math.floor(Date.now() / 1_000) - (this.height - height) * 600;
  }

  #place({ height, category }: StubPayment): object {
    const generated = category === 'immature' || category === 'generate' ? { generated: true } : {};
    if (height === null) return { ...generated, confirmations: 0, trusted: false };
    const time = this.#timeOf(height);
    const confirmations = this.height - height + 1;
    return {
      ...generated,
      confirmations,
      blockhash: this.hashAt(height),
      blockheight: height,
      blocktime: time,
    };
  }

  #detail({ address, amount, vout = 0, category = 'receive' }: StubPayment): object {
    return { address, category, amount: `amount:${amount}`, vout, abandoned: false };
  }

  #entry(payment: StubPayment): object {
    return { ...this.#detail(payment), ...this.#place(payment), txid: payment.txid, walletconflicts: [] };
  }
}
