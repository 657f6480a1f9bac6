/** What whoever runs the service should know of the addresses given out. */
import type { ChainFinding, OwnAddressLookup } from '../../../ports/chain.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asArray, asString } from '../json-values.ts';
import { CHUNK_SIZE, type WatchList, type WatchWallet } from './watch-list.ts';

/** What most wallets bridge unless they are told otherwise. */
const DEFAULT_GAP_LIMIT = 20;

export interface ExamineInput {
  readonly wallet: WatchWallet;
  /** Which of these addresses were paid. The wallet is not asked: of a descriptor that is not active Bitcoin Core lists none. */
  readonly paid: OwnAddressLookup;
  /** The next number. */
  readonly allocatedCount: number;
}

export async function examineWallet(
  rpc: JsonRpc,
  watchList: WatchList,
  examined: ExamineInput,
): Promise<readonly ChainFinding[]> {
  const { wallet, allocatedCount } = examined;
  if (allocatedCount === 0) return [{ level: 'ok', message: 'no address was given out yet' }];
  return [
    watchNote(await watchList.watchedChunks(wallet, allocatedCount), allocatedCount),
    gapNote(await longestUnpaidRun(rpc, examined), allocatedCount),
  ];
}

function watchNote(chunks: readonly boolean[], allocatedCount: number): ChainFinding {
  const missing = chunks.filter((watched) => !watched).length;
  if (missing === 0)
    return { level: 'ok', message: `the node watches all ${allocatedCount} addresses given out` };
  return {
    level: 'warn',
    message:
      `the node’s wallet does not watch ${missing} of ${chunks.length} lots of ${CHUNK_SIZE} addresses: it is a new one or an old copy. ` +
      'They are imported within minutes, and the blocks of a day are read again; for payments older than that: rescanblockchain',
  };
}

function gapNote(gap: number, allocatedCount: number): ChainFinding {
  const message =
    `of ${allocatedCount} addresses given out at most ${gap} in a row were never paid: ` +
    `your offline wallet finds all coins with a gap limit of ${gap + 1} or more`;
  return gap < DEFAULT_GAP_LIMIT
    ? { level: 'ok', message }
    : { level: 'note', message: `${message} (most have ${DEFAULT_GAP_LIMIT})` };
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
    const addresses = asArray(derived, 'addresses').map((address) => asString(address, 'an address'));
    const known = await paid(addresses);
    for (const address of addresses) {
      unpaid = known.has(address) ? 0 : unpaid + 1;
      longest = Math.max(longest, unpaid);
    }
  }
  return longest;
}
