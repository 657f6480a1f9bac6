/** Checks of a Tron node: its network, its token, and its health. */
import { MINUTE_MS } from '../../../kernel/time.ts';
import { type ChainHealth, UnsafeChainError } from '../../../ports/chain.ts';
import { getCoin as coinOf } from '../../../spec/coins.ts';
import { toTronHex } from '../addresses.ts';
import type { TronNode } from './node.ts';
import type { TronCoin } from './payments.ts';

/** The main network's genesis hash. */
const MAINNET_GENESIS = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc';
/** The real token, hardcoded: a node needs `vm.supportConstant` to check any other contract. */
const USDT_CONTRACT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

export interface TronNetworkOptions {
  readonly coin: TronCoin;
  /** Address of the USDT contract, base58; unused for TRX. */
  readonly contract: string;
  /** Whether test networks are allowed. */
  readonly allowTest: boolean;
}

/** Throws UnsafeChainError, or the error of a failed request. */
export async function checkTronNode(
  node: TronNode,
  { coin, contract, allowTest }: TronNetworkOptions,
): Promise<void> {
  const first = await node.head(0);
  if (first === null) throw new Error('the node has no genesis block');
  const isMain = first.hash === MAINNET_GENESIS;
  if (!isMain && !allowTest)
    throw new UnsafeChainError('the node is not on Tron’s main network; use a mainnet node');
  if (coin === 'USDTTRC' && !(isMain && contract === USDT_CONTRACT)) await checkToken(node, contract);
}

async function checkToken(node: TronNode, contract: string): Promise<void> {
  const digits = toTronHex(contract);
  if (digits === null) throw new UnsafeChainError('the USDT contract is not a valid Tron address');
  const decimals = await node.tokenDecimals(digits);
  if (decimals === null) {
    throw new Error(
      'the USDT contract has no decimals(): it is not a token, or the node needs vm.supportConstant = true',
    );
  }
  const wanted = coinOf('USDTTRC').decimals;
  if (decimals !== BigInt(wanted))
    throw new UnsafeChainError(`the USDT contract has ${decimals} decimals and must have ${wanted}`);
}

/** Tron has a block every three seconds. */
const TIP_MAX_AGE_MS = 5 * MINUTE_MS;

export async function tronHealth(node: TronNode, allowTest: boolean): Promise<ChainHealth> {
  const [newest, info] = await Promise.all([
    node.latestBlock(),
    // Some nodes don't offer this call: then only the age of the newest block counts.
    node.nodeInfo().catch(() => null),
  ]);
  const ageMs = Date.now() - newest.time.getTime();
  const isOld = ageMs > TIP_MAX_AGE_MS;
  // A private network may have a single node.
  const isAlone = info?.peers === 0 && !allowTest;
  const detail = [
    isOld
      ? `the newest block is ${Math.round(ageMs / MINUTE_MS)} minutes old: the node is syncing or offline`
      : 'in sync',
    isAlone ? 'no peers' : `${info?.peers ?? 'unknown number of'} peers`,
  ].join(', ');
  return { ok: !isOld && !isAlone, height: newest.height, tipAt: newest.time, detail };
}
