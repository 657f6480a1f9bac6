/** Safety checks: the wallet is the operator's own and can't spend, and the network is the main one. */
import { UnsafeChainError } from '../../../ports/chain.ts';
import type { MoneroAccount, MoneroNetwork } from './account.ts';
import type { MoneroDaemon } from './daemon.ts';
import type { MoneroWallet } from './wallet.ts';

/** The address format for each network, by the node's name for the network. `fakechain` is regtest. */
const ADDRESS_NETWORK: Readonly<Record<string, MoneroNetwork>> = {
  mainnet: 'main',
  fakechain: 'main',
  stagenet: 'stagenet',
  testnet: 'testnet',
};

/** Returns the network's name. Throws UnsafeChainError. */
export async function checkNetwork(daemon: MoneroDaemon, allowTest: boolean): Promise<string> {
  const { network } = await daemon.info();
  if (network === 'mainnet' || (allowTest && ADDRESS_NETWORK[network] !== undefined)) return network;
  throw new UnsafeChainError(
    `Monero: the node is on ${JSON.stringify(network.slice(0, 20))}; use a node on the main network`,
  );
}

export async function checkWallet(
  wallet: MoneroWallet,
  account: MoneroAccount,
  network: string,
): Promise<string> {
  if (ADDRESS_NETWORK[network] !== account.network) {
    throw new UnsafeChainError('Monero: SKERRY_XMR_ADDRESS and the node are on different networks');
  }
  if ((await wallet.primaryAddress()) !== account.address) {
    throw new UnsafeChainError(
      'Monero: the wallet’s primary address is not SKERRY_XMR_ADDRESS; use the wallet of that address',
    );
  }
  const canSpend = await wallet.canSpend();
  if (canSpend === null) {
    throw new Error(
      'Monero: cannot determine whether the wallet can spend; start it without --restricted-rpc',
    );
  }
  if (canSpend) {
    throw new UnsafeChainError('Monero: the wallet can spend; use a view-only wallet without the spend key');
  }
  const viewKey = await wallet.viewKey();
  if (!account.hasViewKey(viewKey)) {
    throw new UnsafeChainError('Monero: the wallet’s view key does not belong to SKERRY_XMR_ADDRESS');
  }
  return viewKey;
}
