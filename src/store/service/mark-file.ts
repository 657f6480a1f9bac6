/**
 * The highest address numbers of a database, in a file outside it: `address-marks/<incarnation>.log` in the
 * data folder. Each line has the numbers of one coin, about 20 bytes. Lines are only ever appended, so
 * several processes of one machine share the file: the highest number of each kind counts.
 *
 * A long file is replaced by one with the highest numbers only, without a lock for those who append:
 *
 * - The previous file stays as `.old` until its last lines are in the new one, which is after a kill, too.
 * - Who appended checks afterward that the file still has its name, or else appends to the new one. While it
 *   has, the file is not replaced yet, so its lines are read after it is.
 * - Who reads, reads the file, `.old`, and the file again: a line is in one of them at each moment.
 */
import { link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncPath, undefinedIfMissing } from '../../kernel/files.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { type CoinCode, isCoinCode } from '../../spec/coins.ts';
import { tryLock } from '../embedded/files.ts';
import type { AddressNumbers } from '../topups/marks.ts';

const LINE = /^([A-Z]{1,12}) (\d{1,10}) (\d{1,15}) (\d{1,15})$/;
const COMPACT_BYTES = 64 * 1024;
/** Above any number of replacements during one append. */
const APPENDS_MAX = 10;

export type AddressMarks = ReadonlyMap<CoinCode, AddressNumbers>;

export class MarkFile {
  readonly #path: string | null;
  readonly #compactBytes: number;
  /** The numbers that this process has written or read. */
  readonly #known = new Map<CoinCode, AddressNumbers>();

  /** Null: nothing is kept. */
  constructor(path: string | null, { compactBytes = COMPACT_BYTES } = {}) {
    this.#path = path;
    this.#compactBytes = compactBytes;
  }

  /** Reads the numbers; none if there is no file. Throws an OperatorError if it cannot be read. */
  async read(): Promise<AddressMarks> {
    if (this.#path === null) return new Map();
    for (const path of [this.#path, previousOf(this.#path), this.#path]) await this.#readFile(path);
    return new Map(this.#known);
  }

  /** Writes the numbers, mode 0600, and syncs them to disk, unless this process knows them already. */
  async raise(coin: CoinCode, numbers: AddressNumbers): Promise<void> {
    if (this.#path === null || !isAbove(numbers, this.#known.get(coin))) return;
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const line = formatLine(coin, numbers);
    for (let i = 0; !(await append(this.#path, line)); i++) {
      if (i === APPENDS_MAX) throw new Error('the file of the address marks is replaced all the time');
    }
    this.#note(line);
  }

  /** Replaces a long file. Does nothing while another process does, or if the file is another user's. */
  async compact(): Promise<void> {
    const path = this.#path;
    if (path === null) return;
    const found = await stat(path).catch(undefinedIfMissing);
    // A command that root runs must not take the file away from the service's user.
    if (!found || found.uid !== process.getuid?.()) return;
    const isLeft = (await stat(previousOf(path)).catch(undefinedIfMissing)) !== undefined;
    if (found.size <= this.#compactBytes && !isLeft) return;
    const lock = await open(`${path}.lock`, 'a', 0o600);
    try {
      if (await tryLock(lock)) await this.#replace(path);
    } finally {
      await lock.close();
    }
  }

  async #replace(path: string): Promise<void> {
    await this.#mergePrevious(path);
    await this.#readFile(path);
    const next = `${path}.new`;
    await rm(next, { force: true });
    await append(next, this.#lines());
    await link(path, previousOf(path));
    await rename(next, path);
    await syncPath(dirname(path));
    await this.#mergePrevious(path);
  }

  /** Appends what the previous file has, and deletes it. */
  async #mergePrevious(path: string): Promise<void> {
    if (!(await this.#readFile(previousOf(path)))) return;
    await append(path, this.#lines());
    await rm(previousOf(path));
    await syncPath(dirname(path));
  }

  #lines(): string {
    return [...this.#known].map(([coin, numbers]) => formatLine(coin, numbers)).join('\n');
  }

  /** Returns whether there is such a file. */
  async #readFile(path: string): Promise<boolean> {
    try {
      const file = await open(path, 'r');
      for await (const line of file.readLines()) this.#note(line);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') throw new OperatorError(`cannot read ${path} (${code})`);
      return false;
    }
  }

  #note(line: string): void {
    const [, coin = '', ...digits] = LINE.exec(line) ?? [];
    if (!isCoinCode(coin)) return;
    const [nextIndex = 0n, given = 0n, poolPlace = 0n] = digits.map(BigInt);
    const known = this.#known.get(coin);
    this.#known.set(coin, {
      next_index: max(nextIndex, known?.next_index),
      given: max(given, known?.given),
      pool_place: max(poolPlace, known?.pool_place),
    });
  }
}

function previousOf(path: string): string {
  return `${path}.old`;
}

function formatLine(coin: CoinCode, { next_index, given, pool_place }: AddressNumbers): string {
  return `${coin} ${next_index} ${given} ${pool_place}`;
}

/** Appends lines and syncs them. Returns whether the file still has its name. */
async function append(path: string, lines: string): Promise<boolean> {
  const file = await open(path, 'a', 0o600);
  try {
    // After a crash in the middle of a line, the next one begins on its own.
    await file.appendFile(`\n${lines}\n`);
    await file.sync();
    const [written, named] = [await file.stat(), await stat(path).catch(undefinedIfMissing)];
    return written.ino === named?.ino && written.dev === named.dev;
  } finally {
    await file.close();
  }
}

/** Whether there are marks and none of the numbers is above them: the marks are not older. */
export function isCovered(
  numbers: readonly (AddressNumbers & { readonly coin: string })[],
  marks: AddressMarks,
): boolean {
  const above = numbers.some((row) => isAbove(row, marks.get(row.coin as CoinCode)));
  return marks.size > 0 && !above;
}

/** Whether any of the numbers is above its mark. */
export function isAbove(numbers: AddressNumbers, mark: AddressNumbers | undefined): boolean {
  return (
    numbers.next_index > (mark?.next_index ?? 0n) ||
    numbers.given > (mark?.given ?? 0n) ||
    numbers.pool_place > (mark?.pool_place ?? 0n)
  );
}

function max(number: bigint, other = 0n): bigint {
  return number > other ? number : other;
}
