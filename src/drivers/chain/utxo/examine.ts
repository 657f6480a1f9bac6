/** Findings about the assigned addresses, for the operator. */
import type { ChainFinding, OwnAddressLookup } from '../../../ports/chain.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asArray, asString } from '../json-values.ts';
import { CHUNK_SIZE, type WatchList, type WatchWallet } from './watch-list.ts';

/** The default gap limit of most wallets. */
const DEFAULT_GAP_LIMIT = 20;

export interface ExamineInput {
  readonly wallet: WatchWallet;
  /** Returns the paid addresses. Bitcoin Core can't list them for a descriptor that isn't active. */
  readonly paid: OwnAddressLookup;
  /** The next index. */
  readonly allocatedCount: number;
}

export async function examineWallet(
  rpc: JsonRpc,
  watchList: WatchList,
  examined: ExamineInput,
): Promise<readonly ChainFinding[]> {
  const { wallet, allocatedCount } = examined;
  if (allocatedCount === 0) return [{ level: 'ok', message: 'no address has been assigned yet' }];
  return [
    watchNote(await watchList.watchedChunks(wallet, allocatedCount), allocatedCount),
    gapNote(await longestUnpaidRun(rpc, examined), allocatedCount),
  ];
}

function watchNote(chunks: readonly boolean[], allocatedCount: number): ChainFinding {
  const missing = chunks.filter((watched) => !watched).length;
  if (missing === 0)
    return { level: 'ok', message: `the node watches all ${allocatedCount} assigned addresses` };
  return {
    level: 'warn',
    message:
      `the node’s wallet doesn’t watch ${missing} of ${chunks.length} groups of ${CHUNK_SIZE} addresses, ` +
      'because it is new or was restored from a backup. The addresses are imported within minutes and the ' +
      'last day of blocks is rescanned; for older payments, run rescanblockchain',
  };
}

function gapNote(gap: number, allocatedCount: number): ChainFinding {
  const message =
    `of ${allocatedCount} assigned addresses, at most ${gap} in a row are unpaid: ` +
    `an offline wallet finds all coins with a gap limit of at least ${gap + 1}`;
  return gap < DEFAULT_GAP_LIMIT
    ? { level: 'ok', message }
    : { level: 'note', message: `${message} (most wallets default to ${DEFAULT_GAP_LIMIT})` };
}

async function longestUnpaidRun(
  rpc: JsonRpc,
  { wallet, paid, allocatedCount }: ExamineInput,
): Promise<number> {
  let longest = 0;
  let unpaid = 0;
  for (let first = 0; first < allocatedCount; first += CHUNK_SIZE) {
    const range = [first, Math.min(first + CHUNK_SIZE, allocatedCount) - 1];
    const derived = await rpc.call('deriveaddresses', [wallet.descriptor, range]);
    const addresses = asArray(derived, 'addresses').map((address) => asString(address, 'address'));
    const known = await paid(addresses);
    for (const address of addresses) {
      unpaid = known.has(address) ? 0 : unpaid + 1;
      longest = Math.max(longest, unpaid);
    }
  }
  return longest;
}
