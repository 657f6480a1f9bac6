/**
 * The requirements for a node and its wallet: on the network of the operator's key, and watch-only. The
 * password for the watch-only wallet gives access to every loaded wallet, so none of them may be able to
 * spend. And their health.
 */
import { type ChainHealth, UnsafeChainError } from '../../../ports/chain.ts';
import type { AccountKey } from '../account-key.ts';
import { JsonRpc } from '../json-rpc.ts';
import { asArray, asObject, asString, asUint, type JsonObject } from '../json-values.ts';
import { type NodeEndpoint, NodeError, nullForNodeError } from '../node-http.ts';
import { MAIN, REGTEST, UTXO_PARAMS, type UtxoCoin } from './networks.ts';
import {
  getBlockHeader,
  isRescanning,
  METHOD_NOT_FOUND,
  WALLET_NOT_FOUND,
  WALLET_NOT_SPECIFIED,
} from './rpc.ts';

/** How to fix a wallet that doesn't respond, by the node's error code. */
const WALLET_FIXES: ReadonlyMap<number, string> = new Map([
  [WALLET_NOT_FOUND, 'the wallet is not loaded; run loadwallet'],
  [WALLET_NOT_SPECIFIED, 'the node has several wallets; append /wallet/NAME to its URL'],
  [METHOD_NOT_FOUND, 'the node runs without wallets; set disablewallet=0'],
]);
/** More wallets than this are refused rather than checked. */
const MAX_WALLETS = 20;

export interface Network {
  readonly isMain: boolean;
  /** The prefix of addresses. */
  readonly prefix: string;
}

/**
 * Throws UnsafeChainError for a node of another coin, an outdated node, or a test network that isn't allowed.
 */
export async function checkNetwork(rpc: JsonRpc, coin: UtxoCoin, allowTest: boolean): Promise<Network> {
  const { name, genesisHash, addressPrefixes } = UTXO_PARAMS[coin];
  const [info, first, node] = await rpc.batch([
    { method: 'getblockchaininfo', params: [] },
    { method: 'getblockhash', params: [0] },
    { method: 'getnetworkinfo', params: [] },
  ]);
  const chain = asString(asObject(info, 'chain info').chain, 'network name');
  const isMain = chain === MAIN;
  const prefix = Object.hasOwn(addressPrefixes, chain) ? addressPrefixes[chain] : undefined;
  if (prefix === undefined) throw new UnsafeChainError(`the node is not on a ${name} network`);
  if (isMain !== (first === genesisHash))
    throw new UnsafeChainError(`the node is not on ${name}’s main network`);
  if (!isMain && !allowTest) {
    throw new UnsafeChainError(
      `the node is on ${name}’s ${chain} network, whose coins are worthless; use a main network node`,
    );
  }
  if (isMain) checkVersion(coin, asUint(asObject(node, 'network info').version, 'node version'));
  return { isMain, prefix };
}

/** An outdated node accepts coins that don't exist, and a second node just as old would agree with it. */
function checkVersion(coin: UtxoCoin, version: number): void {
  const { name, minVersion } = UTXO_PARAMS[coin];
  if (minVersion === null || version >= minVersion.number) return;
  throw new UnsafeChainError(
    `the node is older than ${name} Core ${minVersion.text} and accepts invalid blocks; upgrade it`,
  );
}

/** Throws UnsafeChainError if real coins would go to a test network's key. */
export function checkKeyNetwork(account: AccountKey, network: Network): void {
  if (network.isMain && account.isTest) {
    throw new UnsafeChainError('the account key is for test networks, but the node is on the main network');
  }
}

/** Throws UnsafeChainError unless all loaded wallets are watch-only; returns if this has descriptors. */
export async function checkWatchOnly(node: NodeEndpoint): Promise<{ readonly descriptors: boolean }> {
  const wallet = await walletInfo(new JsonRpc(node));
  requireWatchOnly(wallet, 'the wallet');
  await checkNoSpendingWallet(node);
  return { descriptors: wallet.descriptors === true };
}

/** Throws UnsafeChainError if a loaded wallet can spend. A node without wallets is fine. */
export async function checkNoSpendingWallet(node: NodeEndpoint): Promise<void> {
  const root = node.url.replace(/\/wallet\/[^/]*$/, '');
  for (const name of await loadedWallets(new JsonRpc({ ...node, url: root }))) {
    const url = `${root}/wallet/${encodeURIComponent(name)}`;
    const info = await new JsonRpc({ ...node, url }).call('getwalletinfo', []);
    requireWatchOnly(asObject(info, 'wallet info'), 'a loaded wallet of the node');
  }
}

async function loadedWallets(rpc: JsonRpc): Promise<string[]> {
  const answer = rpc.call('listwallets', []).then((listed) => asArray(listed, 'wallets'));
  const found = (await answer.catch(nullForNodeError(METHOD_NOT_FOUND))) ?? [];
  const names = found.map((name) => asString(name, 'wallet name'));
  if (names.length > MAX_WALLETS)
    throw new UnsafeChainError(`the node has more than ${MAX_WALLETS} wallets loaded; unload some`);
  return names;
}

async function walletInfo(rpc: JsonRpc): Promise<JsonObject> {
  try {
    return asObject(await rpc.call('getwalletinfo', []), 'wallet info');
  } catch (error) {
    const fix = error instanceof NodeError ? WALLET_FIXES.get(error.code) : undefined;
    throw fix === undefined ? error : new NodeError('getwalletinfo', (error as NodeError).code, fix);
  }
}

function requireWatchOnly(wallet: JsonObject, label: string): void {
  if (wallet.private_keys_enabled !== false) {
    throw new UnsafeChainError(
      `${label} can hold private keys; use a wallet created without them (disable_private_keys)`,
    );
  }
  if (wallet.external_signer === true) {
    throw new UnsafeChainError(`${label} can spend with an external signer; use a watch-only wallet`);
  }
  if (wallet.descriptors === true) return;
  if (wallet.hdseedid !== undefined || wallet.hdmasterkeyid !== undefined) {
    throw new UnsafeChainError(`${label} has its own seed; use a wallet without keys`);
  }
  if (wallet.keypoolsize !== undefined && wallet.keypoolsize !== 0) {
    throw new UnsafeChainError(`${label} has its own key pool; use a wallet without keys`);
  }
}

/** Headers arrive before their blocks; a lead this small is normal. */
const HEADER_LEAD_BLOCKS = 2;

export async function nodeHealth(rpc: JsonRpc, coin: UtxoCoin): Promise<ChainHealth> {
  return await buildHealth(rpc, coin, []);
}

export async function walletHealth(rpc: JsonRpc, coin: UtxoCoin): Promise<ChainHealth> {
  return await buildHealth(rpc, coin, await findWalletProblems(rpc));
}

async function buildHealth(
  rpc: JsonRpc,
  coin: UtxoCoin,
  walletProblems: readonly string[],
): Promise<ChainHealth> {
  const [chainInfo, networkInfo] = await rpc.batch([
    { method: 'getblockchaininfo', params: [] },
    { method: 'getnetworkinfo', params: [] },
  ]);
  const info = asObject(chainInfo, 'chain info');
  const chain = asString(info.chain, 'network name');
  const height = asUint(info.blocks, 'tip height');
  const tipAt = (await getBlockHeader(rpc, asString(info.bestblockhash, 'tip hash'))).time;
  const peers = asUint(asObject(networkInfo, 'network info').connections, 'peer count');
  const ahead = asUint(info.headers, 'header height') - height;
  const ageMs = Date.now() - tipAt.getTime();
  const problems = [...walletProblems];
  // Not on regtest: it mines on demand, and a node with a day-old tip also reports an initial download.
  if (info.initialblockdownload === true && chain !== REGTEST)
    problems.push('initial block download is in progress');
  else if (ahead > HEADER_LEAD_BLOCKS) problems.push(`the node is ${ahead} blocks behind its network`);
  if (chain === MAIN && peers === 0) problems.push('the node has no peers');
  if (chain !== REGTEST && ageMs > UTXO_PARAMS[coin].tipMaxAgeMs) {
    problems.push(`the newest block is ${Math.floor(ageMs / 60_000)} minutes old`);
  }
  const detail = problems.length === 0 ? `network ${chain}, ${peers} peers` : problems.join('; ');
  return { ok: problems.length === 0, height, tipAt, detail };
}

async function findWalletProblems(rpc: JsonRpc): Promise<string[]> {
  try {
    return isRescanning(await rpc.call('getwalletinfo', [])) ? ['the wallet is rescanning old blocks'] : [];
  } catch (error) {
    if (error instanceof NodeError) return [`the wallet is unavailable (${error.code})`];
    throw error;
  }
}
