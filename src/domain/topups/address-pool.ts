/** Addresses that no public key gives: the operator makes them offline and hands them over, a text with one a line. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { addToPool, countFreeAddresses } from '../../store/address-pool.ts';
import type { Actor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';

export const POOL_COINS = ['SOL'] as const satisfies readonly CoinCode[];
type PoolCoin = (typeof POOL_COINS)[number];

export function isPoolCoin(coin: CoinCode): coin is PoolCoin {
  return POOL_COINS.some((pooled) => pooled === coin);
}

const ADDRESSES_MAX = 100_000;
/** So far free addresses are counted. */
export const FREE_COUNT_MAX = ADDRESSES_MAX;
const KEY_BYTES = 32;
/** A seed and its public key, as wallets of Solana keep them. */
const SECRET_BYTES = 64;

export interface ImportResult {
  readonly added: number;
  /** Were there before, and are left as they are. */
  readonly known: number;
  /** How many can be given out now, counted up to `FREE_COUNTED`. */
  readonly free: number;
}

/** All of them or none; throws a Refusal that names the line and never repeats it: it may be a private key. */
export async function importAddresses(
  service: Pick<Service, 'db' | 'clock'>,
  actor: Actor,
  { coin, text }: { readonly coin: PoolCoin; readonly text: string },
): Promise<ImportResult> {
  const addresses = readAddresses(text);
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    const known = (await addToPool(tx, coin, addresses, now)).length;
    const added = addresses.length - known;
    const note = `${added} addresses of ${coin}`;
    await recordAudit(tx, { actor, action: 'chain.import', resource: coin, note }, now);
    return { added, known, free: await countFreeAddresses(tx, coin, FREE_COUNT_MAX) };
  });
}

function readAddresses(text: string): string[] {
  if (/^\s*\[/.test(text)) throw new OperatorError(`it looks like a key pair: ${ONLY_PUBLIC}`);
  const places = new Map<string, number>();
  for (const [i, line] of text.split('\n').entries()) {
    // What stands behind the address, such as a number, is the operator's own.
    const [word = ''] = line
      .replace(/#.*/, '')
      .trim()
      .split(/[\s,;]+/);
    if (word === '') continue;
    const problem = addressProblem(word);
    if (problem !== null) throw new OperatorError(`line ${i + 1}: ${problem}`);
    const before = places.get(word);
    if (before !== undefined)
      throw new OperatorError(`line ${i + 1}: it is the address of line ${before} again`);
    places.set(word, i + 1);
    if (places.size > ADDRESSES_MAX)
      throw new OperatorError(`give at most ${ADDRESSES_MAX} addresses at once`);
  }
  if (places.size === 0) throw new OperatorError('there is no address in the file');
  return [...places.keys()];
}

const ONLY_PUBLIC = 'give addresses alone, and move what that key holds: it was on this machine';

function addressProblem(word: string): string | null {
  const bytes = decodeBase58(word);
  if (bytes?.length === SECRET_BYTES) return `it is a private key: ${ONLY_PUBLIC}`;
  if (bytes?.length !== KEY_BYTES) return 'it is no address of Solana';
  // Programs own addresses beside the curve: nobody has the key of one.
  return isOnCurve(bytes)
    ? null
    : 'it is the address of a program, or has a typing error: nobody has its key';
}

function decodeBase58(word: string): Uint8Array | null {
  try {
    return base58.decode(word);
  } catch {
    return null;
  }
}

function isOnCurve(bytes: Uint8Array): boolean {
  try {
    return !ed25519.Point.fromBytes(bytes).isSmallOrder();
  } catch {
    return false;
  }
}
