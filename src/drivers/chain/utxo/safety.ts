/**
 * What a node and its wallet must be before they are used: on the network of the operator's key, watching only. The password that
 * reaches the watch-only wallet reaches every wallet that the node has loaded, so none of them may be able to spend.
 */
import { UnsafeChainError } from '../../../ports/chain.ts';
import type { AccountKey } from '../account-key.ts';
import { JsonRpc } from '../json-rpc.ts';
import { asArray, asObject, asString, asUint, type JsonObject } from '../json-values.ts';
import { type NodeEndpoint, NodeError } from '../node-http.ts';
import { MAIN, UTXO_PARAMS, type UtxoCoin } from './networks.ts';
import { METHOD_NOT_FOUND, WALLET_NOT_FOUND, WALLET_NOT_SPECIFIED } from './rpc.ts';

/** What to do about a wallet that does not answer, by the node's own number. */
const WALLET_FIXES: ReadonlyMap<number, string> = new Map([
  [WALLET_NOT_FOUND, 'the node has not loaded the wallet: loadwallet'],
  [WALLET_NOT_SPECIFIED, 'the node’s address does not say which wallet: …/wallet/NAME'],
  [METHOD_NOT_FOUND, 'the node runs without wallets: disablewallet=0'],
]);
/** More are not looked through. */
const MAX_WALLETS = 20;

export interface Network {
  readonly isMain: boolean;
  /** How addresses begin. */
  readonly prefix: string;
}

/** Throws UnsafeChain where the node is not of this coin, too old for it, or on a network without value unless these are allowed. */
export async function checkNetwork(rpc: JsonRpc, coin: UtxoCoin, allowTest: boolean): Promise<Network> {
  const { name, genesisHash, addressPrefixes } = UTXO_PARAMS[coin];
  const [info, first, node] = await rpc.batch([
    { method: 'getblockchaininfo', params: [] },
    { method: 'getblockhash', params: [0] },
    { method: 'getnetworkinfo', params: [] },
  ]);
  const chain = asString(asObject(info, 'the chain').chain, 'the chain’s name');
  const isMain = chain === MAIN;
  const prefix = Object.hasOwn(addressPrefixes, chain) ? addressPrefixes[chain] : undefined;
  if (prefix === undefined) throw new UnsafeChainError(`the node is on a network that is none of ${name}’s`);
  if (isMain !== (first === genesisHash))
    throw new UnsafeChainError(`the node is none of ${name}’s main network`);
  if (!isMain && !allowTest) {
    throw new UnsafeChainError(
      `the node is on ${name}’s ${chain} network, whose coins anybody has for nothing`,
    );
  }
  if (isMain) checkVersion(coin, asUint(asObject(node, 'the network').version, 'the node’s version'));
  return { isMain, prefix };
}

/** A node that does not know the rules of today credits coins that are none, and a second one as old agrees with it. */
function checkVersion(coin: UtxoCoin, version: number): void {
  const { name, minVersion } = UTXO_PARAMS[coin];
  if (minVersion === null || version >= minVersion.number) return;
  throw new UnsafeChainError(
    `the node is older than ${name} Core ${minVersion.text}, and takes blocks for good that the network refuses: bring it up to date`,
  );
}

/** Throws UnsafeChain where coins of value would go to a key of test networks. */
export function checkKeyNetwork(account: AccountKey, network: Network): void {
  if (network.isMain && account.isTest) {
    throw new UnsafeChainError('the account’s key is one of test networks, and the node is on the main one');
  }
}

/** Throws UnsafeChain unless the wallet of this address, and every other of the node, can only watch; tells whether it has descriptors. */
export async function checkWatchOnly(node: NodeEndpoint): Promise<{ readonly descriptors: boolean }> {
  const wallet = await walletInfo(new JsonRpc(node));
  requireWatchOnly(wallet, 'the wallet');
  await checkNoSpendingWallet(node);
  return { descriptors: wallet.descriptors === true };
}

/** Throws UnsafeChain where a wallet is loaded that can spend. A node that has no wallets has none that can. */
export async function checkNoSpendingWallet(node: NodeEndpoint): Promise<void> {
  const root = node.url.replace(/\/wallet\/[^/]*$/, '');
  for (const name of await loadedWallets(new JsonRpc({ ...node, url: root }))) {
    const url = `${root}/wallet/${encodeURIComponent(name)}`;
    const info = await new JsonRpc({ ...node, url }).call('getwalletinfo', []);
    requireWatchOnly(asObject(info, 'a wallet'), 'a wallet that the node has loaded');
  }
}

async function loadedWallets(rpc: JsonRpc): Promise<string[]> {
  try {
    const names = asArray(await rpc.call('listwallets', []), 'wallets').map((name) =>
      asString(name, 'a wallet’s name'),
    );
    if (names.length > MAX_WALLETS)
      throw new UnsafeChainError(`the node has more than ${MAX_WALLETS} wallets loaded`);
    return names;
  } catch (error) {
    if (error instanceof NodeError && error.code === METHOD_NOT_FOUND) return [];
    throw error;
  }
}

async function walletInfo(rpc: JsonRpc): Promise<JsonObject> {
  try {
    return asObject(await rpc.call('getwalletinfo', []), 'the wallet');
  } catch (error) {
    const says = error instanceof NodeError ? WALLET_FIXES.get(error.code) : undefined;
    throw says === undefined ? error : new NodeError('getwalletinfo', (error as NodeError).code, says);
  }
}

function requireWatchOnly(wallet: JsonObject, which: string): void {
  if (wallet.private_keys_enabled !== false) {
    throw new UnsafeChainError(`${which} can hold private keys: use one made without (disable_private_keys)`);
  }
  if (wallet.external_signer === true) {
    throw new UnsafeChainError(`${which} can ask a signing device to spend`);
  }
  if (wallet.descriptors === true) return;
  if (wallet.hdseedid !== undefined || wallet.hdmasterkeyid !== undefined) {
    throw new UnsafeChainError(`${which} has a seed of its own`);
  }
  if (wallet.keypoolsize !== undefined && wallet.keypoolsize !== 0) {
    throw new UnsafeChainError(`${which} has a pool of keys of its own`);
  }
}
