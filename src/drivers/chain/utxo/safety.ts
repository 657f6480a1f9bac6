/**
 * What a node and its wallet must be before they are used: on the network of the operator's key, watching only. The password that
 * reaches the watch-only wallet reaches every wallet that the node has loaded, so none of them may be able to spend.
 */
import { UnsafeChain } from '../../../ports/chain.ts';
import type { AccountKey } from '../account-key.ts';
import { type Fields, fieldsOf, listOf, textOf, wholeOf } from '../answers.ts';
import { JsonRpc } from '../json-rpc.ts';
import { type NodeAddress, NodeError } from '../node-http.ts';
import { MAIN, UTXO_FACTS, type UtxoCoin } from './networks.ts';
import { NO_SUCH_CALL, NO_WALLET, WHICH_WALLET } from './rpc.ts';

/** What to do about a wallet that does not answer, by the node's own number. */
const MENDED_BY: ReadonlyMap<number, string> = new Map([
  [NO_WALLET, 'the node has not loaded the wallet: loadwallet'],
  [WHICH_WALLET, 'the node’s address does not say which wallet: …/wallet/NAME'],
  [NO_SUCH_CALL, 'the node runs without wallets: disablewallet=0'],
]);
/** More are not looked through. */
const WALLETS_MAX = 20;

export interface Network {
  readonly isMain: boolean;
  /** How addresses begin. */
  readonly prefix: string;
}

/** Throws UnsafeChain where the node is not of this coin, too old for it, or on a network without value unless these are allowed. */
export async function proveNetwork(rpc: JsonRpc, coin: UtxoCoin, allowTest: boolean): Promise<Network> {
  const { name, firstBlock, prefixes } = UTXO_FACTS[coin];
  const [info, first, node] = await rpc.batch([
    { method: 'getblockchaininfo', params: [] },
    { method: 'getblockhash', params: [0] },
    { method: 'getnetworkinfo', params: [] },
  ]);
  const chain = textOf(fieldsOf(info, 'the chain').chain, 'the chain’s name');
  const isMain = chain === MAIN;
  const prefix = Object.hasOwn(prefixes, chain) ? prefixes[chain] : undefined;
  if (prefix === undefined) throw new UnsafeChain(`the node is on a network that is none of ${name}’s`);
  if (isMain !== (first === firstBlock)) throw new UnsafeChain(`the node is none of ${name}’s main network`);
  if (!isMain && !allowTest) {
    throw new UnsafeChain(`the node is on ${name}’s ${chain} network, whose coins anybody has for nothing`);
  }
  if (isMain) proveVersion(coin, wholeOf(fieldsOf(node, 'the network').version, 'the node’s version'));
  return { isMain, prefix };
}

/** A node that does not know the rules of today credits coins that are none, and a second one as old agrees with it. */
function proveVersion(coin: UtxoCoin, version: number): void {
  const { name, leastVersion } = UTXO_FACTS[coin];
  if (leastVersion === null || version >= leastVersion.number) return;
  throw new UnsafeChain(
    `the node is older than ${name} Core ${leastVersion.text}, and takes blocks for good that the network refuses: bring it up to date`,
  );
}

/** Throws UnsafeChain where coins of value would go to a key of test networks. */
export function proveKey(account: AccountKey, network: Network): void {
  if (network.isMain && account.isTest) {
    throw new UnsafeChain('the account’s key is one of test networks, and the node is on the main one');
  }
}

/** Throws UnsafeChain unless the wallet of this address, and every other of the node, can only watch; tells whether it has descriptors. */
export async function proveWatchOnly(node: NodeAddress): Promise<{ readonly descriptors: boolean }> {
  const wallet = await walletInfo(new JsonRpc(node));
  requireWatchOnly(wallet, 'the wallet');
  await proveNoSpender(node);
  return { descriptors: wallet.descriptors === true };
}

/** Throws UnsafeChain where a wallet is loaded that can spend. A node that has no wallets has none that can. */
export async function proveNoSpender(node: NodeAddress): Promise<void> {
  const root = node.url.replace(/\/wallet\/[^/]*$/, '');
  for (const name of await loadedWallets(new JsonRpc({ ...node, url: root }))) {
    const url = `${root}/wallet/${encodeURIComponent(name)}`;
    const info = await new JsonRpc({ ...node, url }).call('getwalletinfo', []);
    requireWatchOnly(fieldsOf(info, 'a wallet'), 'a wallet that the node has loaded');
  }
}

async function loadedWallets(rpc: JsonRpc): Promise<string[]> {
  try {
    const names = listOf(await rpc.call('listwallets', []), 'wallets').map((name) =>
      textOf(name, 'a wallet’s name'),
    );
    if (names.length > WALLETS_MAX)
      throw new UnsafeChain(`the node has more than ${WALLETS_MAX} wallets loaded`);
    return names;
  } catch (error) {
    if (error instanceof NodeError && error.code === NO_SUCH_CALL) return [];
    throw error;
  }
}

async function walletInfo(rpc: JsonRpc): Promise<Fields> {
  try {
    return fieldsOf(await rpc.call('getwalletinfo', []), 'the wallet');
  } catch (error) {
    const says = error instanceof NodeError ? MENDED_BY.get(error.code) : undefined;
    throw says === undefined ? error : new NodeError('getwalletinfo', (error as NodeError).code, says);
  }
}

function requireWatchOnly(wallet: Fields, which: string): void {
  if (wallet.private_keys_enabled !== false) {
    throw new UnsafeChain(`${which} can hold private keys: use one made without (disable_private_keys)`);
  }
  if (wallet.external_signer === true) {
    throw new UnsafeChain(`${which} can ask a signing device to spend`);
  }
  if (wallet.descriptors === true) return;
  if (wallet.hdseedid !== undefined || wallet.hdmasterkeyid !== undefined) {
    throw new UnsafeChain(`${which} has a seed of its own`);
  }
  if (wallet.keypoolsize !== undefined && wallet.keypoolsize !== 0) {
    throw new UnsafeChain(`${which} has a pool of keys of its own`);
  }
}
