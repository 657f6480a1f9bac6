/** Creates the drivers of real coins from the settings. A coin without settings is not accepted. */
import type { Config } from '../config.ts';
import { AccountKey, InvalidKeyError } from '../drivers/chain/account-key.ts';
import { CrossCheckedChain, type SecondNode } from '../drivers/chain/cross-checked.ts';
import { EvmChain } from '../drivers/chain/evm/driver.ts';
import { EvmSecondNode } from '../drivers/chain/evm/second-node.ts';
import { MoneroAccount } from '../drivers/chain/monero/account.ts';
import { MoneroChain } from '../drivers/chain/monero/driver.ts';
import { moneroSecondNode } from '../drivers/chain/monero/second-node.ts';
import { type NodeEndpoint, parseNodeUrl } from '../drivers/chain/node-http.ts';
import { SolanaChain } from '../drivers/chain/solana/driver.ts';
import { solanaSecondNode } from '../drivers/chain/solana/second-node.ts';
import { TronChain, tronSecondNode } from '../drivers/chain/tron/driver.ts';
import { UtxoChain } from '../drivers/chain/utxo/driver.ts';
import { utxoSecondNode } from '../drivers/chain/utxo/second-node.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { AddressPool, ChainDriver, OwnAddressLookup } from '../ports/chain.ts';
import type { CoinCode } from '../spec/coins.ts';
import type { SettingName } from '../spec/settings.ts';

export interface RealCoin {
  readonly coin: CoinCode;
  readonly driver: ChainDriver;
  /** The node and the optional second one; `settings` are those to fix if the node is unsafe. */
  readonly nodes: readonly {
    readonly settings: readonly SettingName[];
    readonly checkSafety: () => Promise<void>;
  }[];
}

/** Access of drivers to our own addresses, and to the clock. */
export interface ChainDependencies {
  readonly ownAddresses: (coin: CoinCode) => OwnAddressLookup;
  readonly paidAddresses: (coin: CoinCode) => OwnAddressLookup;
  readonly addressPool: (coin: CoinCode) => AddressPool;
  /** Returns how many indexes are allocated. */
  readonly nextIndex: (coin: CoinCode) => Promise<number>;
  /** Business time. */
  readonly now: () => Date;
  /** Receives a line about each item that a driver could not read and skipped. */
  readonly onSkipped?: (coin: CoinCode, line: string) => void;
}

const KEYS = ['SKERRY_BTC_XPUB', 'SKERRY_LTC_XPUB', 'SKERRY_ETH_XPUB', 'SKERRY_TRON_XPUB'] as const;

type UrlSetting = Extract<SettingName, `${string}_URL`>;
type KeySetting = (typeof KEYS)[number];

/**
 * Creates a driver for each configured coin. Throws an OperatorError that names the setting, never its value.
 */
export function createRealCoins(config: Config, dependencies: ChainDependencies): readonly RealCoin[] {
  const allowTest = config.SKERRY_WORTHLESS_COINS;
  const parts = { config, dependencies, allowTest };
  return [
    utxoCoin(parts, 'BTC'),
    utxoCoin(parts, 'LTC'),
    moneroCoin(parts),
    evmCoins(parts),
    tronCoins(parts),
    solanaCoin(parts),
  ].flat();
}

/**
 * Checks the keys before anything is opened. Throws an OperatorError if a key is private, invalid, of another
 * kind, or used for two coins.
 */
export function validateCoinKeys(config: Config): void {
  const known = new Map<string, KeySetting>();
  for (const setting of KEYS) {
    const key = configuredAccount(config, setting)?.xpub;
    if (key === undefined) continue;
    const other = known.get(key);
    if (other !== undefined) {
      throw new OperatorError(`${setting}: already used by ${other}; use a separate account for each coin`);
    }
    known.set(key, setting);
  }
  const address = config.SKERRY_XMR_ADDRESS;
  if (address !== null) parseSetting('SKERRY_XMR_ADDRESS', () => MoneroAccount.parse(address));
}

interface CoinParts {
  readonly config: Config;
  readonly dependencies: ChainDependencies;
  readonly allowTest: boolean;
}

function utxoCoin({ config, dependencies, allowTest }: CoinParts, coin: 'BTC' | 'LTC'): readonly RealCoin[] {
  const setting = `SKERRY_${coin}_URL` as const;
  const node = configuredNode(config, setting);
  const account = configuredAccount(config, `SKERRY_${coin}_XPUB`);
  if (node === null || account === null) return [];
  const known = {
    own: dependencies.ownAddresses(coin),
    paid: dependencies.paidAddresses(coin),
    allocatedCount: () => dependencies.nextIndex(coin),
  };
  const driver = new UtxoChain({ coin, node, account, allowTest, ...known });
  const secondSetting = `SKERRY_${coin}_SECOND_URL` as const;
  const other = configuredNode(config, secondSetting);
  return [
    withSecondNode(
      { driver, settings: [setting] },
      secondSetting,
      other && utxoSecondNode({ coin, node: other, allowTest }),
    ),
  ];
}

function moneroCoin({ config, dependencies, allowTest }: CoinParts): readonly RealCoin[] {
  const wallet = configuredNode(config, 'SKERRY_XMR_WALLET_URL');
  const daemon = configuredNode(config, 'SKERRY_XMR_DAEMON_URL');
  const address = config.SKERRY_XMR_ADDRESS;
  if (wallet === null || daemon === null || address === null) return [];
  const driver = new MoneroChain({
    wallet,
    daemon,
    address,
    allowTest,
    allocatedCount: () => dependencies.nextIndex('XMR'),
  });
  const other = configuredNode(config, 'SKERRY_XMR_SECOND_URL');
  const secondNode = other && moneroSecondNode({ daemon: other, allowTest });
  // Either can be unreachable, or on another network.
  const settings = ['SKERRY_XMR_WALLET_URL', 'SKERRY_XMR_DAEMON_URL'] as const;
  return [withSecondNode({ driver, settings }, 'SKERRY_XMR_SECOND_URL', secondNode)];
}

function evmCoins({ config, dependencies, allowTest }: CoinParts): readonly RealCoin[] {
  const node = configuredNode(config, 'SKERRY_ETH_URL');
  const account = configuredAccount(config, 'SKERRY_ETH_XPUB');
  if (node === null || account === null) return [];
  const other = configuredNode(config, 'SKERRY_ETH_SECOND_URL');
  const contract = config.SKERRY_ETH_USDT;
  return (['ETH', 'USDT'] as const).map((coin) => {
    const onUnreadable = (line: string) => dependencies.onSkipped?.(coin, line);
    const driver = new EvmChain({
      coin,
      node,
      account,
      own: dependencies.ownAddresses(coin),
      contract,
      allowTest,
      onUnreadable,
    });
    const secondNode = other && new EvmSecondNode({ coin, node: other, contract, allowTest });
    const settings =
      coin === 'ETH' ? (['SKERRY_ETH_URL'] as const) : (['SKERRY_ETH_URL', 'SKERRY_ETH_USDT'] as const);
    return withSecondNode({ driver, settings }, 'SKERRY_ETH_SECOND_URL', secondNode);
  });
}

function tronCoins({ config, dependencies, allowTest }: CoinParts): readonly RealCoin[] {
  const node = configuredNode(config, 'SKERRY_TRON_URL');
  const account = configuredAccount(config, 'SKERRY_TRON_XPUB');
  if (node === null || account === null) return [];
  const other = configuredNode(config, 'SKERRY_TRON_SECOND_URL');
  const contract = config.SKERRY_TRON_USDT;
  return (['TRX', 'USDTTRC'] as const).map((coin) => {
    const driver = new TronChain({
      coin,
      node,
      account,
      own: dependencies.ownAddresses(coin),
      contract,
      allowTest,
    });
    const secondNode = other && tronSecondNode({ coin, node: other, contract, allowTest });
    const settings =
      coin === 'TRX' ? (['SKERRY_TRON_URL'] as const) : (['SKERRY_TRON_URL', 'SKERRY_TRON_USDT'] as const);
    return withSecondNode({ driver, settings }, 'SKERRY_TRON_SECOND_URL', secondNode);
  });
}

function solanaCoin({ config, dependencies, allowTest }: CoinParts): readonly RealCoin[] {
  const node = configuredNode(config, 'SKERRY_SOL_URL');
  if (node === null) return [];
  const driver = new SolanaChain({
    node,
    pool: dependencies.addressPool('SOL'),
    allowTest,
    now: dependencies.now,
  });
  const other = configuredNode(config, 'SKERRY_SOL_SECOND_URL');
  const secondNode = other && solanaSecondNode({ node: other, allowTest });
  return [withSecondNode({ driver, settings: ['SKERRY_SOL_URL'] }, 'SKERRY_SOL_SECOND_URL', secondNode)];
}

function withSecondNode(
  {
    driver,
    settings,
  }: {
    readonly driver: ChainDriver & { readonly coin: CoinCode };
    readonly settings: readonly SettingName[];
  },
  secondSetting: SettingName,
  secondNode: SecondNode | null,
): RealCoin {
  const { coin } = driver;
  const first = { settings, checkSafety: () => driver.checkSafety() };
  if (secondNode === null) return { coin, driver, nodes: [first] };
  const nodes = [first, { settings: [secondSetting], checkSafety: () => secondNode.checkSafety() }];
  return { coin, driver: new CrossCheckedChain(driver, secondNode), nodes };
}

export function configuredNode(config: Config, setting: UrlSetting): NodeEndpoint | null {
  const text = config[setting];
  return text === null ? null : parseNodeUrl(text);
}

export function configuredAccount(config: Config, setting: KeySetting): AccountKey | null {
  const text = config[setting];
  if (text === null) return null;
  const account = parseSetting(setting, () => AccountKey.parse(text));
  if (account.isTest && !config.SKERRY_WORTHLESS_COINS) {
    throw new OperatorError(`${setting}: this is a test network key; use a key of the main network`);
  }
  return account;
}

/** Names the setting and the problem, never the value. */
function parseSetting<T>(setting: SettingName, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof InvalidKeyError) throw new OperatorError(`${setting}: ${error.message}`);
    throw error;
  }
}
