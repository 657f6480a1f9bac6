/**
 * Address pools of coins without derived addresses: the operator creates addresses offline and imports a
 * file.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { CoinCode } from '../../../spec/coins.ts';
import { addToPool, countFreeAddresses } from '../../../store/topups/addresses.ts';
import type { Actor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';

export const POOL_COINS = ['SOL'] as const satisfies readonly CoinCode[];
export type PoolCoin = (typeof POOL_COINS)[number];

export function isPoolCoin(coin: CoinCode): coin is PoolCoin {
  return POOL_COINS.some((pooled) => pooled === coin);
}

const ADDRESSES_MAX = 100_000;
/** Free addresses are counted up to this number. */
export const FREE_COUNT_MAX = ADDRESSES_MAX;
const KEY_BYTES = 32;
/** The length of a seed plus public key, as Solana wallets store them. */
const SECRET_BYTES = 64;

export interface ImportResult {
  readonly added: number;
  /** Already in the pool and unchanged. */
  readonly known: number;
  /** Available addresses, counted up to `FREE_COUNT_MAX`. */
  readonly free: number;
}

/**
 * Imports all addresses or none. Errors name the line but never quote it, because it may be a private key.
 */
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

/** Fails with an OperatorError, which names the line but never quotes it. */
export function readAddresses(text: string): string[] {
  if (/^\s*\[/.test(text)) throw new OperatorError(`the file looks like a key pair: ${ONLY_PUBLIC}`);
  const places = new Map<string, number>();
  for (const [i, line] of text.split('\n').entries()) {
    // Text after the address, such as a number, is the operator's own note.
    const [word = ''] = line
      .replace(/#.*/, '')
      .trim()
      .split(/[\s,;]+/);
    if (word === '') continue;
    const problem = addressProblem(word);
    if (problem !== null) throw new OperatorError(`line ${i + 1}: ${problem}`);
    const before = places.get(word);
    if (before !== undefined) throw new OperatorError(`line ${i + 1}: same address as in line ${before}`);
    places.set(word, i + 1);
    if (places.size > ADDRESSES_MAX)
      throw new OperatorError(`import at most ${ADDRESSES_MAX} addresses at once`);
  }
  if (places.size === 0) throw new OperatorError('the file contains no address');
  return [...places.keys()];
}

const ONLY_PUBLIC = 'import addresses only, and move the funds of this key: it was exposed on this machine';

function addressProblem(word: string): string | null {
  const bytes = decodeBase58(word);
  if (bytes?.length === SECRET_BYTES) return `this is a private key: ${ONLY_PUBLIC}`;
  if (bytes?.length !== KEY_BYTES) return 'not a Solana address';
  // Programs own addresses off the curve. No one has their key.
  return isOnCurve(bytes) ? null : 'this is the address of a program or contains a typo: no one has its key';
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
