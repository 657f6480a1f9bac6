/** Drivers of real coins, as the settings say. A coin without settings is not taken. */
import type { Config } from '../config.ts';
import { AccountKey, InvalidKeyError } from '../drivers/chain/account-key.ts';
import { CrossCheckedChain, type SecondNode } from '../drivers/chain/cross-checked.ts';
import { EvmChain } from '../drivers/chain/evm/driver.ts';
import { EvmSecondNode } from '../drivers/chain/evm/second-node.ts';
import { MoneroAccount } from '../drivers/chain/monero/account.ts';
import { MoneroChain } from '../drivers/chain/monero/driver.ts';
import { MoneroSecondNode } from '../drivers/chain/monero/second-node.ts';
import { type NodeEndpoint, parseNodeUrl } from '../drivers/chain/node-http.ts';
import { SolanaChain } from '../drivers/chain/solana/driver.ts';
import { SolanaSecondNode } from '../drivers/chain/solana/second-node.ts';
import { TronChain } from '../drivers/chain/tron/driver.ts';
import { TronSecondNode } from '../drivers/chain/tron/second-node.ts';
import { UtxoChain } from '../drivers/chain/utxo/driver.ts';
import { UtxoSecondNode } from '../drivers/chain/utxo/second-node.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { AddressPool, ChainDriver, OwnAddressLookup } from '../ports/chain.ts';
import type { CoinCode } from '../spec/coins.ts';
import type { SettingName } from '../spec/settings.ts';

export interface RealCoin {
  readonly coin: CoinCode;
  readonly driver: ChainDriver;
  /** Its node, and its second one; `settings` are those at fault where one must not be used. */
  readonly nodes: readonly {
    readonly settings: readonly SettingName[];
    readonly checkSafety: () => Promise<void>;
  }[];
}

/** What drivers know of our own addresses. */
export interface ChainDependencies {
  readonly ownAddresses: (coin: CoinCode) => OwnAddressLookup;
  readonly paidAddresses: (coin: CoinCode) => OwnAddressLookup;
  readonly addressPool: (coin: CoinCode) => AddressPool;
  /** How many numbers were given out. */
  readonly nextIndex: (coin: CoinCode) => Promise<number>;
  /** Business time. */
  readonly now: () => Date;
  /** Told, in a line, of what a driver could not read whole and passed. */
  readonly onSkipped?: (coin: CoinCode, line: string) => void;
}

const KEYS = ['SKERRY_BTC_XPUB', 'SKERRY_LTC_XPUB', 'SKERRY_ETH_XPUB', 'SKERRY_TRON_XPUB'] as const;

type UrlSetting = Extract<SettingName, `${string}_URL`>;
type KeySetting = (typeof KEYS)[number];

/** Throws a Refusal that names the setting at fault and does not repeat it. */
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

/** Before anything is opened: throws a Refusal where a key is private, of another kind, or wrong, or two coins have one. */
export function validateCoinKeys(config: Config): void {
  const known = new Map<string, KeySetting>();
  for (const setting of KEYS) {
    const key = configuredAccount(config, setting)?.xpub;
    if (key === undefined) continue;
    const other = known.get(key);
    if (other !== undefined) {
      throw new OperatorError(`${setting}: it is the key of ${other}; give each coin an account of its own`);
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
  const second = `SKERRY_${coin}_SECOND_URL` as const;
  const other = configuredNode(config, second);
  return [
    withWitness(
      { driver, settings: [setting] },
      second,
      other && new UtxoSecondNode({ coin, node: other, allowTest }),
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
  const witness = other && new MoneroSecondNode({ daemon: other, allowTest });
  // Either may be the one that is down, or on another network.
  const settings = ['SKERRY_XMR_WALLET_URL', 'SKERRY_XMR_DAEMON_URL'] as const;
  return [withWitness({ driver, settings }, 'SKERRY_XMR_SECOND_URL', witness)];
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
    const witness = other && new EvmSecondNode({ coin, node: other, contract, allowTest });
    const settings =
      coin === 'ETH' ? (['SKERRY_ETH_URL'] as const) : (['SKERRY_ETH_URL', 'SKERRY_ETH_USDT'] as const);
    return withWitness({ driver, settings }, 'SKERRY_ETH_SECOND_URL', witness);
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
    const witness = other && new TronSecondNode({ coin, node: other, contract, allowTest });
    const settings =
      coin === 'TRX' ? (['SKERRY_TRON_URL'] as const) : (['SKERRY_TRON_URL', 'SKERRY_TRON_USDT'] as const);
    return withWitness({ driver, settings }, 'SKERRY_TRON_SECOND_URL', witness);
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
  const witness = other && new SolanaSecondNode({ node: other, allowTest });
  return [withWitness({ driver, settings: ['SKERRY_SOL_URL'] }, 'SKERRY_SOL_SECOND_URL', witness)];
}

function withWitness(
  {
    driver,
    settings,
  }: {
    readonly driver: ChainDriver & { readonly coin: CoinCode };
    readonly settings: readonly SettingName[];
  },
  second: SettingName,
  witness: SecondNode | null,
): RealCoin {
  const { coin } = driver;
  const first = { settings, checkSafety: () => driver.checkSafety() };
  if (witness === null) return { coin, driver, nodes: [first] };
  const nodes = [first, { settings: [second], checkSafety: () => witness.checkSafety() }];
  return { coin, driver: new CrossCheckedChain(driver, witness), nodes };
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
    throw new OperatorError(`${setting}: it is a key of a test network; give one of the real network`);
  }
  return account;
}

/** What is wrong with it, and not what it is. */
function parseSetting<T>(setting: SettingName, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof InvalidKeyError) throw new OperatorError(`${setting}: ${error.message}`);
    throw error;
  }
}
