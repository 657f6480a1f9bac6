/** Calls to a node of Bitcoin's family that several parts make, and its own numbers of errors. */
import { fieldsOf, integerOf, maybeText, timeOf, wholeOf } from '../answers.ts';
import type { Call, JsonRpc } from '../json-rpc.ts';

/** No such transaction, block or address. */
export const NOT_FOUND = -5;
/** Among others: an orphaned block whose contents it no longer has. */
export const INTERNAL = -32_603;
export const NO_SUCH_CALL = -32_601;
export const NO_WALLET = -18;
export const WHICH_WALLET = -19;

/** The longest of all, 4 MB, as a node writes it: its bytes, their digits, and what they mean. */
export const TRANSACTION_MAX_BYTES = 32 * 1024 ** 2;

export interface Header {
  readonly height: number;
  readonly time: Date;
  /** Below 0: it is not in the chain. */
  readonly confirmations: number;
  /** Null of the first block. */
  readonly parentHash: string | null;
}

export async function headerOf(rpc: JsonRpc, hash: string): Promise<Header> {
  const header = fieldsOf(await rpc.call('getblockheader', [hash]), 'a block’s header');
  return {
    height: wholeOf(header.height, 'a block’s height'),
    time: timeOf(header.time, 'a block’s time'),
    confirmations: integerOf(header.confirmations, 'a block’s confirmations'),
    parentHash: maybeText(header.previousblockhash, 'the block before'),
  };
}

/** As `settled`, of what holds transactions whole: those that are too large together are asked for in parts. */
export async function settledInSlices(rpc: JsonRpc, calls: readonly Call[]): Promise<unknown[]> {
  return await rpc.settled(calls, { maxBytes: TRANSACTION_MAX_BYTES });
}
