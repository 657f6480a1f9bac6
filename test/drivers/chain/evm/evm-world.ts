/** Top-ups in ether and USDT on a real node, with the real driver, a real database, and the watch worker. */
import { HDKey } from '@scure/bip32';
import { AccountKey } from '../../../../src/drivers/chain/account-key.ts';
import { CrossCheckedChain } from '../../../../src/drivers/chain/cross-checked.ts';
import { EvmChain } from '../../../../src/drivers/chain/evm/driver.ts';
import { EvmSecondNode } from '../../../../src/drivers/chain/evm/second-node.ts';
import { parseNodeUrl } from '../../../../src/drivers/chain/node-http.ts';
import type { ChainDriver } from '../../../../src/ports/chain.ts';
import type { CoinCode } from '../../../../src/spec/coins.ts';
import { findOwnAddresses } from '../../../../src/store/topups/addresses.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { type ChainContext, type ChainFactory, TopupWorld } from '../../../support/topup-world.ts';
import type { Anvil } from './anvil.ts';

/** Returns the account of a test wallet. */
export function testAccount(n = 0): AccountKey {
  const root = HDKey.fromMasterSeed(Buffer.alloc(32, 7 + n));
  return AccountKey.parse(root.derive("m/44'/60'/0'").publicExtendedKey);
}

export const NO_CONTRACT = `0x${'0'.repeat(40)}`;

export interface EvmWorldOptions {
  /** The driver's node URL, if it isn't anvil itself. */
  readonly url?: string;
  /** A second node. */
  readonly secondUrl?: string;
  readonly contract?: string;
  /** Worlds with the same account assign the same addresses. */
  readonly account?: AccountKey;
}

let accounts = 0;

export class EvmWorld {
  readonly anvil: Anvil;
  readonly world: TopupWorld;
  readonly #chains: ChainFactory;

  private constructor(anvil: Anvil, world: TopupWorld, chains: ChainFactory) {
    this.anvil = anvil;
    this.world = world;
    this.#chains = chains;
  }

  static async start(anvil: Anvil, options: EvmWorldOptions = {}): Promise<EvmWorld> {
    accounts += 1;
    const given = { account: testAccount(accounts), ...options };
    const chains = ({ db }: ChainContext): ReadonlyMap<CoinCode, ChainDriver> =>
      new Map((['ETH', 'USDT'] as const).map((coin) => [coin, driver(anvil, coin, db, given)]));
    return new EvmWorld(anvil, await TopupWorld.start({ chains }), chains);
  }

  async close(): Promise<void> {
    await this.world.close();
  }

  /** Runs like a restarted process, which knows only the database. */
  async withRestartedProcess<T>(work: (world: TopupWorld) => Promise<T>): Promise<T> {
    const world = TopupWorld.attach(this.world.connection, { chains: this.#chains });
    try {
      return await work(world);
    } finally {
      await world.close();
    }
  }

  async invoice(usd: number, coin: 'ETH' | 'USDT' = 'ETH'): Promise<TopupRow> {
    return await this.world.createInvoice(usd, coin);
  }

  /** Returns the state of each payment and the balance in cents. */
  async summarize(topup: TopupRow): Promise<string> {
    const deposits = await this.world.deposits(topup);
    const states = deposits.map(({ state, confirmations }) => `${state} ${confirmations}`);
    return [...states, await this.world.balance(topup)].join(', ');
  }
}

function driver(
  anvil: Anvil,
  coin: 'ETH' | 'USDT',
  db: ChainContext['db'],
  { url = anvil.url, secondUrl, contract = NO_CONTRACT, account = testAccount() }: EvmWorldOptions,
): ChainDriver {
  const first = new EvmChain({
    ...{ coin, node: parseNodeUrl(url), account, contract, allowTest: true },
    own: (addresses) => findOwnAddresses(db, coin, addresses),
  });
  if (secondUrl === undefined) return first;
  const second = { coin, node: parseNodeUrl(secondUrl), contract, allowTest: true };
  return new CrossCheckedChain(first, new EvmSecondNode(second));
}
