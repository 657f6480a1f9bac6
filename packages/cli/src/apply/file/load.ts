/** Reads the files from disk or stdin. */
import { closeSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Failure } from '../../exit-codes.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { FILE_MAX_BYTES } from './parse.ts';
import type { Source } from './read.ts';

const FILES_MAX = 20;

/** `-` is stdin; paths in it are relative to the working directory. */
export async function loadSources(paths: readonly string[], terminal: Terminal): Promise<Source[]> {
  if (paths.length > FILES_MAX) throw new Failure('usage', `--file: at most ${FILES_MAX} files are allowed`);
  if (paths.filter((path) => path === '-').length > 1) {
    throw new Failure('usage', '--file: stdin can be used only once');
  }
  const sources: Source[] = [];
  for (const path of paths) {
    const content = path === '-' ? await readStdin(terminal) : readLimited(path);
    if (typeof content !== 'string' && 'fault' in content) {
      throw new Failure('usage', `${path} ${content.fault}`);
    }
    const folder = path === '-' ? process.cwd() : dirname(resolve(path));
    sources.push({
      name: path === '-' ? 'stdin' : path,
      content: typeof content === 'string' ? content : Buffer.from(content.bytes).toString('utf8'),
      readRelative: (other) => readLimited(resolve(folder, other)),
    });
  }
  return sources;
}

type Content = { readonly bytes: Uint8Array } | { readonly fault: string };

function readLimited(path: string): Content {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    // Do not rely on the file size: a pipe, such as `-f <(…)`, has none.
    const bytes = Buffer.alloc(FILE_MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    if (length > FILE_MAX_BYTES) return { fault: `is larger than ${FILE_MAX_BYTES} bytes` };
    return { bytes: bytes.subarray(0, length) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { fault: code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})` };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

async function readStdin({ stdin }: Terminal): Promise<string> {
  if (stdin.isTTY)
    throw new Failure('usage', '--file -: stdin is a terminal; redirect a file: … < skerry.yaml');
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stdin as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > FILE_MAX_BYTES) throw new Failure('usage', `stdin is larger than ${FILE_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
