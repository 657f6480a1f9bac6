/**
 * Checks of a Monero node and its wallet: the wallet is the operator's own and can't spend, the network is
 * the main one, and both are in sync.
 */
import { type ChainHealth, UnsafeChainError } from '../../../ports/chain.ts';
import type { MoneroAccount, MoneroNetwork } from './account.ts';
import { REFRESH_MAX_BLOCKS } from './consistent-reader.ts';
import type { DaemonInfo, MoneroBlock, MoneroDaemon } from './daemon.ts';
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

/** Monero has a block every two minutes. */
const TIP_MAX_AGE_MS = 3_600_000;
/** The wallet refreshes every 20 seconds. */
const WALLET_MAX_LAG_BLOCKS = 3;

/** `wallet` is null for a second node without a wallet. */
export async function moneroHealth(daemon: MoneroDaemon, wallet: MoneroWallet | null): Promise<ChainHealth> {
  const [info, tip] = await Promise.all([daemon.info(), daemon.tip()]);
  const walletHeight = wallet === null ? null : await syncedHeight(wallet, tip);
  const problem = nodeProblem(info, tip) ?? (walletHeight === null ? null : walletProblem(walletHeight, tip));
  const peers = info.peers === null ? '' : `, ${info.peers} peers`;
  return {
    ok: problem === null,
    height: tip.height,
    tipAt: tip.time,
    detail: problem ?? `${info.network}, synchronized${peers}`,
  };
}

/** Returns the wallet's height; first refreshes a wallet that is a little behind. */
async function syncedHeight(wallet: MoneroWallet, tip: MoneroBlock): Promise<number> {
  const height = await wallet.height();
  const behind = tip.height - height;
  if (behind <= WALLET_MAX_LAG_BLOCKS || behind > REFRESH_MAX_BLOCKS) return height;
  await wallet.refresh();
  return await wallet.height();
}

function nodeProblem(info: DaemonInfo, tip: MoneroBlock): string | null {
  if (info.targetHeight > info.height)
    return `the node is syncing: block ${info.height} of ${info.targetHeight}`;
  // A regtest node is alone and mines on demand.
  if (info.network === 'fakechain') return null;
  if (!info.synchronized) return 'the node is not synchronized';
  if (info.peers === 0) return 'the node has no peers';
  const ageMs = Date.now() - tip.time.getTime();
  return ageMs > TIP_MAX_AGE_MS ? `the newest block is ${Math.floor(ageMs / 60_000)} minutes old` : null;
}

function walletProblem(height: number, tip: MoneroBlock): string | null {
  if (height > tip.height) return `the node is at block ${tip.height}, but its wallet is at ${height}`;
  if (tip.height - height <= WALLET_MAX_LAG_BLOCKS) return null;
  return `the wallet is at block ${height} of ${tip.height}`;
}
