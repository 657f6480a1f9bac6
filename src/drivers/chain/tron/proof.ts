/** What must be true of a node of Tron before anything is asked of it. */
import { UnsafeChain } from '../../../ports/chain.ts';
import { coin as coinOf } from '../../../spec/coins.ts';
import { hexAddress } from './address.ts';
import type { TronNode } from './node.ts';
import type { TronCoin } from './payments.ts';

/** Of the first block of the real network. */
const MAIN_NET = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc';
/** The token itself, known by heart: a node needs `vm.supportConstant` to tell of others. */
const TETHER = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

export interface TronTerms {
  readonly coin: TronCoin;
  /** Of USDT, base58. */
  readonly contract: string;
  /** Networks whose coins are worth nothing are allowed. */
  readonly allowTest: boolean;
}

/** Throws UnsafeChain, or whatever the asking throws. */
export async function proveTron(node: TronNode, { coin, contract, allowTest }: TronTerms): Promise<void> {
  const first = await node.head(0);
  if (first === null) throw new Error('the node has no first block');
  const isMain = first.hash === MAIN_NET;
  if (!isMain && !allowTest)
    throw new UnsafeChain('the node is on a test network of Tron, or on another chain');
  if (coin === 'USDTTRC' && !(isMain && contract === TETHER)) await proveToken(node, contract);
}

async function proveToken(node: TronNode, contract: string): Promise<void> {
  const digits = hexAddress(contract);
  if (digits === null) throw new UnsafeChain('the contract of USDT is no address of Tron');
  const decimals = await node.decimals(digits);
  if (decimals === null) {
    throw new Error(
      'no decimals() from the contract of USDT: it is no token, or the node lacks vm.supportConstant = true',
    );
  }
  const wanted = coinOf('USDTTRC').decimals;
  if (decimals !== BigInt(wanted))
    throw new UnsafeChain(`the contract of USDT has ${decimals} decimals, not ${wanted}`);
}
