/** What whoever runs the service should know of the addresses given out. */
import type { ChainNote, OwnAddresses } from '../../../ports/chain.ts';
import { listOf, textOf } from '../answers.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { CHUNK, type Wallet, type WatchList } from './watch-list.ts';

/** What most wallets bridge unless they are told otherwise. */
const USUAL_GAP = 20;

export interface Examined {
  readonly wallet: Wallet;
  /** Which of these addresses were paid. The wallet is not asked: of a descriptor that is not active Bitcoin Core lists none. */
  readonly paid: OwnAddresses;
  /** The next number. */
  readonly given: number;
}

export async function examineWallet(
  rpc: JsonRpc,
  watchList: WatchList,
  examined: Examined,
): Promise<readonly ChainNote[]> {
  const { wallet, given } = examined;
  if (given === 0) return [{ level: 'ok', says: 'no address was given out yet' }];
  return [
    watchNote(await watchList.watchedChunks(wallet, given), given),
    gapNote(await longestUnpaid(rpc, examined), given),
  ];
}

function watchNote(chunks: readonly boolean[], given: number): ChainNote {
  const missing = chunks.filter((watched) => !watched).length;
  if (missing === 0) return { level: 'ok', says: `the node watches all ${given} addresses given out` };
  return {
    level: 'look',
    says:
      `the node’s wallet does not watch ${missing} of ${chunks.length} lots of ${CHUNK} addresses: it is a new one or an old copy. ` +
      'They are imported within minutes, and the blocks of a day are read again; for payments older than that: rescanblockchain',
  };
}

function gapNote(gap: number, given: number): ChainNote {
  const says =
    `of ${given} addresses given out at most ${gap} in a row were never paid: ` +
    `your offline wallet finds all coins with a gap limit of ${gap + 1} or more`;
  return gap < USUAL_GAP
    ? { level: 'ok', says }
    : { level: 'note', says: `${says} (most have ${USUAL_GAP})` };
}

async function longestUnpaid(rpc: JsonRpc, { wallet, paid, given }: Examined): Promise<number> {
  let longest = 0;
  let unpaid = 0;
  for (let first = 0; first < given; first += CHUNK) {
    const range = [first, Math.min(first + CHUNK, given) - 1];
    const derived = await rpc.call('deriveaddresses', [wallet.descriptor, range]);
    const addresses = listOf(derived, 'addresses').map((address) => textOf(address, 'an address'));
    const known = await paid(addresses);
    for (const address of addresses) {
      unpaid = known.has(address) ? 0 : unpaid + 1;
      longest = Math.max(longest, unpaid);
    }
  }
  return longest;
}
