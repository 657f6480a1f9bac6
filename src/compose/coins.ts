/** Drivers of real coins, as the settings say. A coin without settings is not taken. */
import type { Config } from '../config.ts';
import { AccountKey, KeyRefused } from '../drivers/chain/account-key.ts';
import { EvmChain } from '../drivers/chain/evm/driver.ts';
import { EvmWitness } from '../drivers/chain/evm/witness.ts';
import { MoneroAccount } from '../drivers/chain/monero/account.ts';
import { MoneroChain } from '../drivers/chain/monero/driver.ts';
import { MoneroWitness } from '../drivers/chain/monero/witness.ts';
import { type NodeAddress, nodeAddress } from '../drivers/chain/node-http.ts';
import { SolanaChain } from '../drivers/chain/solana/driver.ts';
import { SolanaWitness } from '../drivers/chain/solana/witness.ts';
import { TronChain } from '../drivers/chain/tron/driver.ts';
import { TronWitness } from '../drivers/chain/tron/witness.ts';
import { UtxoChain } from '../drivers/chain/utxo/driver.ts';
import { UtxoWitness } from '../drivers/chain/utxo/witness.ts';
import { type Witness, WitnessedChain } from '../drivers/chain/witnessed.ts';
import { Refusal } from '../kernel/refusal.ts';
import type { AddressPool, ChainDriver, OwnAddresses } from '../ports/chain.ts';
import type { CoinCode } from '../spec/coins.ts';
import type { SettingName } from '../spec/settings.ts';

export interface RealCoin {
  readonly coin: CoinCode;
  readonly driver: ChainDriver;
  /** Its node, and its second one; `settings` are those at fault where one must not be used. */
  readonly nodes: readonly {
    readonly settings: readonly SettingName[];
    readonly prove: () => Promise<void>;
  }[];
}

/** What drivers know of our own addresses. */
export interface Given {
  readonly own: (coin: CoinCode) => OwnAddresses;
  readonly paid: (coin: CoinCode) => OwnAddresses;
  readonly pool: (coin: CoinCode) => AddressPool;
  /** How many numbers were given out. */
  readonly count: (coin: CoinCode) => Promise<number>;
  /** Business time. */
  readonly now: () => Date;
  /** Told, in a line, of what a driver could not read whole and passed. */
  readonly unread?: (coin: CoinCode, line: string) => void;
}

const KEYS = ['SKERRY_BTC_XPUB', 'SKERRY_LTC_XPUB', 'SKERRY_ETH_XPUB', 'SKERRY_TRON_XPUB'] as const;

type UrlSetting = Extract<SettingName, `${string}_URL`>;
type KeySetting = (typeof KEYS)[number];

/** Throws a Refusal that names the setting at fault and does not repeat it. */
export function realCoins(config: Config, given: Given): readonly RealCoin[] {
  const allowTest = config.SKERRY_WORTHLESS_COINS;
  const parts = { config, given, allowTest };
  return [
    utxo(parts, 'BTC'),
    utxo(parts, 'LTC'),
    monero(parts),
    evm(parts),
    tron(parts),
    solana(parts),
  ].flat();
}

/** Before anything is opened: throws a Refusal where a key is private, of another kind, or wrong, or two coins have one. */
export function requireKeys(config: Config): void {
  const known = new Map<string, KeySetting>();
  for (const setting of KEYS) {
    const key = accountOf(config, setting)?.xpub;
    if (key === undefined) continue;
    const other = known.get(key);
    if (other !== undefined) {
      throw new Refusal(`${setting}: it is the key of ${other}; give each coin an account of its own`);
    }
    known.set(key, setting);
  }
  const address = config.SKERRY_XMR_ADDRESS;
  if (address !== null) parsed('SKERRY_XMR_ADDRESS', () => MoneroAccount.parse(address));
}

interface Parts {
  readonly config: Config;
  readonly given: Given;
  readonly allowTest: boolean;
}

function utxo({ config, given, allowTest }: Parts, coin: 'BTC' | 'LTC'): readonly RealCoin[] {
  const setting = `SKERRY_${coin}_URL` as const;
  const node = nodeOf(config, setting);
  const account = accountOf(config, `SKERRY_${coin}_XPUB`);
  if (node === null || account === null) return [];
  const known = { own: given.own(coin), paid: given.paid(coin), given: () => given.count(coin) };
  const driver = new UtxoChain({ coin, node, account, allowTest, ...known });
  const second = `SKERRY_${coin}_SECOND_URL` as const;
  const other = nodeOf(config, second);
  return [
    taken(
      { driver, settings: [setting] },
      second,
      other && new UtxoWitness({ coin, node: other, allowTest }),
    ),
  ];
}

function monero({ config, given, allowTest }: Parts): readonly RealCoin[] {
  const wallet = nodeOf(config, 'SKERRY_XMR_WALLET_URL');
  const daemon = nodeOf(config, 'SKERRY_XMR_DAEMON_URL');
  const address = config.SKERRY_XMR_ADDRESS;
  if (wallet === null || daemon === null || address === null) return [];
  const driver = new MoneroChain({ wallet, daemon, address, allowTest, given: () => given.count('XMR') });
  const other = nodeOf(config, 'SKERRY_XMR_SECOND_URL');
  const witness = other && new MoneroWitness({ daemon: other, allowTest });
  // Either may be the one that is down, or on another network.
  const settings = ['SKERRY_XMR_WALLET_URL', 'SKERRY_XMR_DAEMON_URL'] as const;
  return [taken({ driver, settings }, 'SKERRY_XMR_SECOND_URL', witness)];
}

function evm({ config, given, allowTest }: Parts): readonly RealCoin[] {
  const node = nodeOf(config, 'SKERRY_ETH_URL');
  const account = accountOf(config, 'SKERRY_ETH_XPUB');
  if (node === null || account === null) return [];
  const other = nodeOf(config, 'SKERRY_ETH_SECOND_URL');
  const contract = config.SKERRY_ETH_USDT;
  return (['ETH', 'USDT'] as const).map((coin) => {
    const unread = (line: string) => given.unread?.(coin, line);
    const driver = new EvmChain({ coin, node, account, own: given.own(coin), contract, allowTest, unread });
    const witness = other && new EvmWitness({ coin, node: other, contract, allowTest });
    const settings =
      coin === 'ETH' ? (['SKERRY_ETH_URL'] as const) : (['SKERRY_ETH_URL', 'SKERRY_ETH_USDT'] as const);
    return taken({ driver, settings }, 'SKERRY_ETH_SECOND_URL', witness);
  });
}

function tron({ config, given, allowTest }: Parts): readonly RealCoin[] {
  const node = nodeOf(config, 'SKERRY_TRON_URL');
  const account = accountOf(config, 'SKERRY_TRON_XPUB');
  if (node === null || account === null) return [];
  const other = nodeOf(config, 'SKERRY_TRON_SECOND_URL');
  const contract = config.SKERRY_TRON_USDT;
  return (['TRX', 'USDTTRC'] as const).map((coin) => {
    const driver = new TronChain({ coin, node, account, own: given.own(coin), contract, allowTest });
    const witness = other && new TronWitness({ coin, node: other, contract, allowTest });
    const settings =
      coin === 'TRX' ? (['SKERRY_TRON_URL'] as const) : (['SKERRY_TRON_URL', 'SKERRY_TRON_USDT'] as const);
    return taken({ driver, settings }, 'SKERRY_TRON_SECOND_URL', witness);
  });
}

function solana({ config, given, allowTest }: Parts): readonly RealCoin[] {
  const node = nodeOf(config, 'SKERRY_SOL_URL');
  if (node === null) return [];
  const driver = new SolanaChain({ node, pool: given.pool('SOL'), allowTest, now: given.now });
  const other = nodeOf(config, 'SKERRY_SOL_SECOND_URL');
  const witness = other && new SolanaWitness({ node: other, allowTest });
  return [taken({ driver, settings: ['SKERRY_SOL_URL'] }, 'SKERRY_SOL_SECOND_URL', witness)];
}

function taken(
  {
    driver,
    settings,
  }: {
    readonly driver: ChainDriver & { readonly coin: CoinCode };
    readonly settings: readonly SettingName[];
  },
  second: SettingName,
  witness: Witness | null,
): RealCoin {
  const { coin } = driver;
  const first = { settings, prove: () => driver.prove() };
  if (witness === null) return { coin, driver, nodes: [first] };
  const nodes = [first, { settings: [second], prove: () => witness.prove() }];
  return { coin, driver: new WitnessedChain(driver, witness), nodes };
}

export function nodeOf(config: Config, setting: UrlSetting): NodeAddress | null {
  const text = config[setting];
  return text === null ? null : nodeAddress(text);
}

export function accountOf(config: Config, setting: KeySetting): AccountKey | null {
  const text = config[setting];
  if (text === null) return null;
  const account = parsed(setting, () => AccountKey.parse(text));
  if (account.isTest && !config.SKERRY_WORTHLESS_COINS) {
    throw new Refusal(`${setting}: it is a key of a test network; give one of the real network`);
  }
  return account;
}

/** What is wrong with it, and not what it is. */
function parsed<T>(setting: SettingName, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof KeyRefused) throw new Refusal(`${setting}: ${error.message}`);
    throw error;
  }
}
