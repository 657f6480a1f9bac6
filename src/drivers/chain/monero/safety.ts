/** Whether this wallet and this node may be used: the wallet is the operator's own and cannot spend, the network is real. */
import { UnsafeChainError } from '../../../ports/chain.ts';
import type { MoneroAccount, MoneroNetwork } from './account.ts';
import type { MoneroDaemon } from './daemon.ts';
import type { MoneroWallet } from './wallet.ts';

/** What a node calls its network, and whose addresses are used on it. `fakechain` is regtest. */
const ADDRESS_NETWORK: Readonly<Record<string, MoneroNetwork>> = {
  mainnet: 'main',
  fakechain: 'main',
  stagenet: 'stagenet',
  testnet: 'testnet',
};

/** Throws UnsafeChain. Returns the network’s name. */
export async function checkNetwork(daemon: MoneroDaemon, allowTest: boolean): Promise<string> {
  const { network } = await daemon.info();
  if (network === 'mainnet' || (allowTest && ADDRESS_NETWORK[network] !== undefined)) return network;
  throw new UnsafeChainError(
    `Monero: the node is on ${JSON.stringify(network.slice(0, 20))}, not on the real network`,
  );
}

export async function checkWallet(
  wallet: MoneroWallet,
  account: MoneroAccount,
  network: string,
): Promise<string> {
  if (ADDRESS_NETWORK[network] !== account.network) {
    throw new UnsafeChainError('Monero: SKERRY_XMR_ADDRESS is of another network than the node');
  }
  if ((await wallet.primaryAddress()) !== account.address) {
    throw new UnsafeChainError(
      'Monero: the wallet’s primary address is not SKERRY_XMR_ADDRESS: it is another wallet',
    );
  }
  const canSpend = await wallet.canSpend();
  if (canSpend === null) {
    throw new Error(
      'Monero: the wallet does not say whether it can spend: start it without --restricted-rpc',
    );
  }
  if (canSpend) {
    throw new UnsafeChainError('Monero: the wallet has its spend key: use one made from the view key alone');
  }
  const viewKey = await wallet.viewKey();
  if (!account.hasViewKey(viewKey)) {
    throw new UnsafeChainError('Monero: the wallet’s view key is not that of SKERRY_XMR_ADDRESS');
  }
  return viewKey;
}
