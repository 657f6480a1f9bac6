/** Transfers of a token, as its contract's logs tell them. */
import { type Fields, fieldsOf, listOf } from '../answers.ts';
import { addressOf, hexHashOf } from './answers.ts';
import type { Movement } from './movement.ts';

/** Keccak of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** What the contract transferred in this block. Whatever else it may log under another shape is no transfer of a token. */
export function movementsOfLogs(
  answers: readonly unknown[],
  of: { readonly contract: string; readonly blockHash: string },
): Movement[] {
  const logs = answers.map((answer) => fieldsOf(answer, 'log'));
  return logs
    .filter(({ address, removed }) => removed !== true && addressOf(address, 'contract') === of.contract)
    .flatMap((log) => {
      if (hexHashOf(log.blockHash, 'block') !== of.blockHash) {
        throw new Error('the node gave logs of another block');
      }
      return movementOf(log) ?? [];
    });
}

function movementOf({ topics: given, data, transactionHash }: Fields): Movement | null {
  const topics = listOf(given, 'topics');
  const txid = hexHashOf(transactionHash, 'transaction');
  const [topic, , to] = topics;
  if (topics.length !== 3 || topic !== TRANSFER_TOPIC) return null;
  // An address fills the last 20 of 32 bytes.
  if (typeof to !== 'string' || !/^0x0{24}[0-9a-f]{40}$/i.test(to)) return null;
  if (typeof data !== 'string' || !/^0x[0-9a-f]{64}$/i.test(data)) return null;
  return { txid, to: `0x${to.slice(26).toLowerCase()}`, amountUnits: BigInt(data) };
}
