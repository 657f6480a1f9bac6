/** What must be true of a node of Tron before anything is asked of it. */
import { UnsafeChainError } from '../../../ports/chain.ts';
import { getCoin as coinOf } from '../../../spec/coins.ts';
import { toHexAddress } from './address.ts';
import type { TronNode } from './node.ts';
import type { TronCoin } from './payments.ts';

/** Of the first block of the real network. */
const MAINNET_GENESIS = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc';
/** The token itself, known by heart: a node needs `vm.supportConstant` to tell of others. */
const USDT_CONTRACT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

export interface TronNetworkOptions {
  readonly coin: TronCoin;
  /** Of USDT, base58. */
  readonly contract: string;
  /** Networks whose coins are worth nothing are allowed. */
  readonly allowTest: boolean;
}

/** Throws UnsafeChain, or whatever the asking throws. */
export async function checkTronNode(
  node: TronNode,
  { coin, contract, allowTest }: TronNetworkOptions,
): Promise<void> {
  const first = await node.head(0);
  if (first === null) throw new Error('the node has no first block');
  const isMain = first.hash === MAINNET_GENESIS;
  if (!isMain && !allowTest)
    throw new UnsafeChainError('the node is on a test network of Tron, or on another chain');
  if (coin === 'USDTTRC' && !(isMain && contract === USDT_CONTRACT)) await checkToken(node, contract);
}

async function checkToken(node: TronNode, contract: string): Promise<void> {
  const digits = toHexAddress(contract);
  if (digits === null) throw new UnsafeChainError('the contract of USDT is no address of Tron');
  const decimals = await node.tokenDecimals(digits);
  if (decimals === null) {
    throw new Error(
      'no decimals() from the contract of USDT: it is no token, or the node lacks vm.supportConstant = true',
    );
  }
  const wanted = coinOf('USDTTRC').decimals;
  if (decimals !== BigInt(wanted))
    throw new UnsafeChainError(`the contract of USDT has ${decimals} decimals, not ${wanted}`);
}
