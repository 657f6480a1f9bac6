import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  chown,
  type FileHandle,
  link,
  mkdtemp,
  open,
  readdir,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { CoinCode } from '../../../src/spec/coins.ts';
import { MarkFile } from '../../../src/store/service/mark-file.ts';
import { FULL_ONLY } from '../../support/runs.ts';

const MODULE = new URL('../../../src/store/service/mark-file.ts', import.meta.url).href;
const LIMIT = 64 * 1024;
const WRITERS = ['BTC', 'LTC', 'ETH', 'XMR'] as const satisfies readonly CoinCode[];

let folder: string;
let path: string;
const children = new Set<ChildProcess>();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skerry-marks-'));
  path = join(folder, 'a.log');
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, maxRetries: 20, retryDelay: 20 });
});

const lines = (coin: CoinCode, from: number, count: number) =>
  Array.from({ length: count }, (_, i) => `\n${coin} ${from + i} ${from + i} 0\n`).join('');
/** The next index of each coin, as a new process reads it. */
async function read(): Promise<Record<string, number>> {
  const marks = await new MarkFile(path).read();
  return Object.fromEntries([...marks].map(([coin, { next_index }]) => [coin, Number(next_index)]));
}
const names = async () => (await readdir(folder)).filter((name) => name !== 'a.log.lock');

/** The methods of all open files, to hold a call while another process works. */
async function handlePrototype(): Promise<FileHandle> {
  const file = await open(folder, 'r');
  await file.close();
  return Object.getPrototypeOf(file) as FileHandle;
}
const replace = () => new MarkFile(path, { compactBytes: 0 }).compact();

describe('the file of address marks', () => {
  it('a long file is replaced by the highest marks, and a short one is kept', async () => {
    await writeFile(path, lines('BTC', 1, 4_000) + lines('XMR', 7, 1), { mode: 0o600 });
    assert.ok((await stat(path)).size > LIMIT);
    await new MarkFile(path).compact();
    const { size, mode, ino } = await stat(path);
    assert.ok(size < 100, `${size} bytes`);
    assert.equal(mode & 0o777, 0o600);
    assert.deepEqual([await read(), await names()], [{ BTC: 4_000, XMR: 7 }, ['a.log']]);
    await new MarkFile(path).compact();
    assert.equal((await stat(path)).ino, ino);
  });

  it('a replacement that was killed at any step loses no mark, and the next one completes it', async () => {
    const [previous, next] = [`${path}.old`, `${path}.new`];
    const whole = lines('BTC', 1, 4_000);
    const steps: Record<string, () => Promise<unknown>> = {
      'the new file is incomplete': () => Promise.all([writeFile(path, whole), writeFile(next, '\nBTC 40')]),
      'the file has two names': () => writeFile(path, whole).then(() => link(path, previous)),
      'a line came late': async () => {
        await writeFile(path, lines('BTC', 3_999, 1));
        await writeFile(previous, whole);
      },
      'the late line was copied': () => Promise.all([writeFile(path, whole), writeFile(previous, whole)]),
    };
    for (const [name, leave] of Object.entries(steps)) {
      await leave();
      assert.deepEqual(await read(), { BTC: 4_000 }, name);
      for (const _ of ['once', 'again']) await new MarkFile(path).compact();
      assert.deepEqual([await read(), await names()], [{ BTC: 4_000 }, ['a.log']], name);
      await rm(path);
    }
  });

  const skip = process.getuid?.() === 0 ? false : 'only root can give a file away';
  it('a command of another user leaves the file to its owner', { skip }, async () => {
    await writeFile(path, lines('BTC', 1, 4_000));
    await chown(path, 65_534, 65_534);
    await new MarkFile(path).compact();
    assert.deepEqual([(await stat(path)).uid, await names()], [65_534, ['a.log']]);
  });

  it('a mark that is appended to a file that was just replaced is appended again', async (t) => {
    await appendFile(path, lines('BTC', 1, 1));
    const prototype = await handlePrototype();
    const { appendFile: append } = prototype;
    const late = async function (this: FileHandle, text: string) {
      await replace();
      await append.call(this, text);
    };
    const file = new MarkFile(path);
    t.mock.method(prototype, 'appendFile', late, { times: 1 });
    await file.raise('BTC', { next_index: 9n, given: 9n, pool_place: 0n });
    assert.deepEqual([await read(), await names()], [{ BTC: 9 }, ['a.log']]);
  });

  it('a reader misses no mark if the replacement is completed while it reads', async (t) => {
    await writeFile(`${path}.old`, lines('BTC', 8, 2));
    await writeFile(path, lines('BTC', 8, 1));
    const prototype = await handlePrototype();
    const { readLines } = prototype;
    const slow = async function* (this: FileHandle) {
      yield* readLines.call(this);
      await replace();
    };
    t.mock.method(prototype, 'readLines', slow as unknown as FileHandle['readLines'], { times: 1 });
    assert.deepEqual(await read(), { BTC: 9 });
  });

  it(
    'processes that append, replace, and are killed lose no mark that they reported',
    FULL_ONLY,
    async () => {
      const reported = new Map<CoinCode, number>();
      let total = 0;
      const start = (coin: CoinCode) => {
        const source = `import { MarkFile } from ${JSON.stringify(MODULE)};
        const file = new MarkFile(${JSON.stringify(path)}, { compactBytes: 0 });
        const known = (await file.read()).get(${JSON.stringify(coin)});
        for (let n = known?.next_index ?? 1n; ; n++) {
          await file.raise(${JSON.stringify(coin)}, { next_index: n, given: n, pool_place: 0n });
          console.log(String(n));
          if (n % 3n === 0n) await file.compact();
        }`;
        const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        children.add(child);
        createInterface({ input: child.stdout }).on('line', (text) => {
          reported.set(coin, Math.max(reported.get(coin) ?? 0, Number(text)));
          total += 1;
        });
        return child;
      };
      const readAll = async () => {
        const before = new Map(reported);
        const seen = await read();
        for (const [coin, n] of before)
          assert.ok((seen[coin] ?? 0) >= n, `${coin}: ${seen[coin]} after ${n}`);
      };
      for (let round = 1; round <= 4; round++) {
        const writers = WRITERS.map(start);
        while (total < round * 150) {
          await readAll();
          assert.ok(
            writers.every(({ exitCode }) => exitCode === null),
            'a writer failed',
          );
        }
        for (const child of writers) child.kill('SIGKILL');
        await Promise.all(writers.map((child) => once(child, 'close')));
        await readAll();
      }
      await replace();
      await readAll();
      assert.deepEqual(await names(), ['a.log']);
    },
  );
});
