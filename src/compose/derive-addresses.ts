/**
 * Derives addresses by index as the drivers do, so that the operator can compare them with the offline
 * wallet.
 */
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Config } from '../config.ts';
import type { AccountKey } from '../drivers/chain/account-key.ts';
import { evmAddress, publicKeyHash, segwitAddress, tronAddress } from '../drivers/chain/addresses.ts';
import { JsonRpc } from '../drivers/chain/json-rpc.ts';
import { MoneroAccount } from '../drivers/chain/monero/account.ts';
import { MoneroWallet } from '../drivers/chain/monero/wallet.ts';
import { checkNetwork } from '../drivers/chain/utxo/safety.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { AddressDeriver } from '../operator/context.ts';
import type { CoinCode } from '../spec/coins.ts';
import { configuredAccount, configuredNode } from './coins.ts';

/** Returns null if the coin is not accepted, or its addresses cannot be derived. */
export function createAddressDeriver(config: Config, coin: CoinCode): AddressDeriver | null {
  switch (coin) {
    case 'BTC':
    case 'LTC':
      return utxoDeriver(config, coin);
    case 'XMR':
      return moneroDeriver(config);
    case 'ETH':
    case 'USDT':
      return sharedAccountDeriver(configuredAccount(config, 'SKERRY_ETH_XPUB'), ['ETH', 'USDT'], evmAddress);
    case 'TRX':
    case 'USDTTRC':
      return sharedAccountDeriver(
        configuredAccount(config, 'SKERRY_TRON_XPUB'),
        ['TRX', 'USDTTRC'],
        tronAddress,
      );
    case 'SOL':
      return null;
  }
}

function utxoDeriver(config: Config, coin: 'BTC' | 'LTC'): AddressDeriver | null {
  const account = configuredAccount(config, `SKERRY_${coin}_XPUB`);
  const node = configuredNode(config, `SKERRY_${coin}_URL`);
  if (account === null || node === null) return null;
  // Test networks use other prefixes, and only the node knows its network.
  let network: Promise<{ readonly prefix: string }> | undefined;
  return {
    path: '0/',
    coinAt: () => coin,
    addressAt: async (number) => {
      network ??= checkNetwork(new JsonRpc(node), coin, config.SKERRY_WORTHLESS_COINS);
      const { prefix } = await network;
      return segwitAddress(prefix, ripemd160(sha256(account.publicKeyAt(number))));
    },
  };
}

function moneroDeriver(config: Config): AddressDeriver | null {
  const wallet = configuredNode(config, 'SKERRY_XMR_WALLET_URL');
  const address = config.SKERRY_XMR_ADDRESS;
  if (wallet === null || address === null) return null;
  const account = MoneroAccount.parse(address);
  let viewKey: Promise<string> | undefined;
  return {
    path: '0/',
    // Index 0 is the primary address, which no top-up uses.
    coinAt: (number) => (number === 0 ? null : 'XMR'),
    addressAt: async (number) => {
      if (number === 0) return account.address;
      viewKey ??= new MoneroWallet(wallet).viewKey();
      const key = await viewKey;
      if (!account.hasViewKey(key)) {
        throw new OperatorError('SKERRY_XMR_WALLET_URL: this wallet does not belong to SKERRY_XMR_ADDRESS');
      }
      return account.subaddress(key, number);
    },
  };
}

/** Two coins on one chain share an account: even indexes belong to the first coin, odd ones to the second. */
function sharedAccountDeriver(
  account: AccountKey | null,
  [even, odd]: readonly [CoinCode, CoinCode],
  address: (hash: Uint8Array) => string,
): AddressDeriver | null {
  return (
    account && {
      path: '0/',
      coinAt: (number) => (number % 2 === 0 ? even : odd),
      addressAt: async (number) => address(publicKeyHash(account.publicKeyAt(number))),
    }
  );
}
