/** Checks of an Ethereum node: its network, its token, and its health. */
import { hex } from '@scure/base';
import { type ChainHealth, UnsafeChainError } from '../../../ports/chain.ts';
import { evmAddress } from '../addresses.ts';
import { NodeError } from '../node-http.ts';
import type { EvmNode } from './node.ts';

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
  /** Ethereum mainnet: its coins have value, and its nodes have peers. */
  readonly isMainnet: boolean;
}

/** Throws UnsafeChainError for a network other than Ethereum mainnet, unless test networks are allowed. */
export async function checkNetwork(node: EvmNode, allowTest: boolean): Promise<Network> {
  const chainId = await node.chainId();
  // A test network may also use chain id 1.
  const isMainnet = chainId === MAINNET && (await node.head(0))?.hash === MAINNET_GENESIS;
  if (isMainnet || allowTest) return { chainId, isMainnet };
  const actual = chainId === MAINNET ? 'a copy of Ethereum' : `chain ${chainId}`;
  throw new UnsafeChainError(
    `the node is on ${actual}, whose coins are worthless; use a node on Ethereum mainnet (chain 1)`,
  );
}

/** Throws UnsafeChainError if the address is invalid or has a typo. */
function requireAddress(text: string): void {
  const digits = /^0x([0-9a-f]{40})$/i.exec(text)?.[1];
  if (digits === undefined)
    throw new UnsafeChainError('the USDT contract is not a valid address: it must be 0x and 40 hex digits');
  // An address in a single case has no checksum.
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return;
  if (checksumAddress(text) !== text) {
    throw new UnsafeChainError('the USDT contract address has a typo: its checksum is incorrect');
  }
}

/** Returns the checksummed form (EIP-55) that wallets use. */
export function checksumAddress(address: string): string {
  return evmAddress(hex.decode(address.slice(2).toLowerCase()));
}

/** Throws UnsafeChainError unless it is a token with 6 decimals; NodeError if the node is still syncing. */
export async function requireToken(node: EvmNode, contract: string, network: Network): Promise<void> {
  requireAddress(contract);
  if (!(await node.hasCode(contract))) await throwTokenMissing(node, network);
  const decimals = await node.callUint(contract, DECIMALS_SELECTOR);
  if (decimals !== USDT_DECIMALS) {
    throw new UnsafeChainError(
      `the USDT contract has ${decimals} decimals and must have 6; this is a different token`,
    );
  }
}

/** A syncing node has the state of an early block: only a synced one proves that the token is missing. */
async function throwTokenMissing(node: EvmNode, network: Network): Promise<never> {
  const { ok, height, detail } = await evmHealth(node, network);
  if (ok && height > 0) throw new UnsafeChainError('the USDT contract does not exist on this network');
  throw new NodeError('USDT', 0, `the contract does not exist at block ${height}: ${detail}`);
}

export async function evmHealth(node: EvmNode, { isMainnet }: Network): Promise<ChainHealth> {
  const [syncing, { height, time }, peers] = await Promise.all([
    node.isSyncing(),
    node.newest(),
    isMainnet ? node.peers() : null,
  ]);
  const ageMs = Date.now() - time.getTime();
  const problems = [
    ...(syncing ? ['the node is syncing'] : []),
    ...(peers === 0 ? ['the node has no peers'] : []),
    ...(isMainnet && ageMs > TIP_MAX_AGE_MS
      ? [`the newest block is ${Math.round(ageMs / MINUTE_MS)} minutes old`]
      : []),
  ];
  const well = peers === null ? 'in sync' : `in sync, ${peers} peers`;
  return { ok: problems.length === 0, height, tipAt: time, detail: problems.join('; ') || well };
}
