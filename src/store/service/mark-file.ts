/**
 * The highest address numbers of a database, in a file outside it: `address-marks/<incarnation>.log` in the
 * data folder. Each line has the numbers of one coin, about 20 bytes. It is only ever appended to, so several
 * processes of one machine share it: the highest number of each kind counts.
 */
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OperatorError } from '../../kernel/operator-error.ts';
import { type CoinCode, isCoinCode } from '../../spec/coins.ts';
import type { AddressNumbers } from '../topups/marks.ts';

const LINE = /^([A-Z]{1,12}) (\d{1,10}) (\d{1,15}) (\d{1,15})$/;

export type AddressMarks = ReadonlyMap<CoinCode, AddressNumbers>;

export class MarkFile {
  readonly #path: string | null;
  /** The numbers that this process has written or read. */
  readonly #known = new Map<CoinCode, AddressNumbers>();

  /** Null: nothing is kept. */
  constructor(path: string | null) {
    this.#path = path;
  }

  /** Reads the numbers; none if there is no file. Throws an OperatorError if it cannot be read. */
  async read(): Promise<AddressMarks> {
    if (this.#path === null) return new Map();
    try {
      const file = await open(this.#path, 'r');
      for await (const line of file.readLines()) this.#note(line);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT') throw new OperatorError(`cannot read ${this.#path} (${code})`);
    }
    return new Map(this.#known);
  }

  /** Writes the numbers, mode 0600, and syncs them to disk, unless this process knows them already. */
  async raise(coin: CoinCode, numbers: AddressNumbers): Promise<void> {
    if (this.#path === null || !isAbove(numbers, this.#known.get(coin))) return;
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const file = await open(this.#path, 'a', 0o600);
    try {
      const line = `${coin} ${numbers.next_index} ${numbers.given} ${numbers.pool_place}`;
      // After a crash in the middle of a line, the next one begins on its own.
      await file.appendFile(`\n${line}\n`);
      await file.sync();
      this.#note(line);
    } finally {
      await file.close();
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
