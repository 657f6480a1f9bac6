/** Which network a node is on, whether its token is the one, and how well it is. */
import { hex } from '@scure/base';
import { type ChainHealth, UnsafeChainError } from '../../../ports/chain.ts';
import { evmAddress } from '../addresses.ts';
import { NodeError } from '../node-http.ts';
import type { EvmNode } from './node.ts';
import { latestHead } from './source.ts';

const MAINNET = 1;
const MAINNET_GENESIS = '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3';
/** `decimals()` */
const DECIMALS_SELECTOR = '0x313ce567';
const USDT_DECIMALS = 6n;
/** Fifty blocks. */
const TIP_MAX_AGE_MS = 10 * 60_000;
const MINUTE_MS = 60_000;

export interface Network {
  readonly chainId: number;
  /** Ethereum itself: its coins have worth, and its nodes have peers. */
  readonly isMainnet: boolean;
}

/** Throws UnsafeChain where it is not Ethereum itself, unless worthless coins are allowed. */
export async function checkNetwork(node: EvmNode, allowTest: boolean): Promise<Network> {
  const chainId = await node.chainId();
  // A network for tests may call itself 1 as well.
  const isMainnet = chainId === MAINNET && (await node.head(0))?.hash === MAINNET_GENESIS;
  if (isMainnet || allowTest) return { chainId, isMainnet };
  const actual = chainId === MAINNET ? 'a copy of Ethereum' : `network ${chainId}`;
  throw new UnsafeChainError(
    `the node is on ${actual}, not on Ethereum (network 1): its coins are worth nothing`,
  );
}

/** Throws UnsafeChain where it is no address, or was mistyped. */
function requireAddress(text: string): void {
  const digits = /^0x([0-9a-f]{40})$/i.exec(text)?.[1];
  if (digits === undefined)
    throw new UnsafeChainError('the contract of USDT is no address: 0x and 40 digits');
  // In one case it has no checksum.
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return;
  if (checksumAddress(text) !== text) throw new UnsafeChainError('the contract of USDT has a typing error');
}

/** As wallets write it. */
export function checksumAddress(address: string): string {
  return evmAddress(hex.decode(address.slice(2).toLowerCase()));
}

/** Throws UnsafeChain where this is no address, or no token of six decimals is there; NodeError while the node may yet read the token. */
export async function requireToken(node: EvmNode, contract: string, network: Network): Promise<void> {
  requireAddress(contract);
  if (!(await node.hasCode(contract))) await throwTokenMissing(node, network);
  const decimals = await node.callUint(contract, DECIMALS_SELECTOR);
  if (decimals !== USDT_DECIMALS) {
    throw new UnsafeChainError(`the contract of USDT has ${decimals} decimals, not 6: it is another token`);
  }
}

/** A node that still reads the chain answers by its first block, where nothing is yet: only one at the chain's end knows. */
async function throwTokenMissing(node: EvmNode, network: Network): Promise<never> {
  const { ok, height, detail } = await evmHealth(node, network);
  if (ok && height > 0) throw new UnsafeChainError('the contract of USDT is not on this network');
  throw new NodeError('USDT', 0, `block ${height} does not have its contract: ${detail}`);
}

export async function evmHealth(node: EvmNode, { isMainnet }: Network): Promise<ChainHealth> {
  const [syncing, { height, time }, peers] = await Promise.all([
    node.isSyncing(),
    latestHead(node),
    isMainnet ? node.peers() : null,
  ]);
  const ageMs = Date.now() - time.getTime();
  const problems = [
    ...(syncing ? ['it is still reading the chain'] : []),
    ...(peers === 0 ? ['it has no peers'] : []),
    ...(isMainnet && ageMs > TIP_MAX_AGE_MS
      ? [`its newest block is ${Math.round(ageMs / MINUTE_MS)} minutes old`]
      : []),
  ];
  const well = peers === null ? 'it follows the chain' : `it follows the chain, with ${peers} peers`;
  return { ok: problems.length === 0, height, tipAt: time, detail: problems.join('; ') || well };
}
