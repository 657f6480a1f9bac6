/**
 * The files of the console page: our script, and noVNC from its package. They are read once and served from
 * memory by name, so that no path can reach another file. Their URL contains a hash of all of them, so
 * browsers may cache them permanently.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

export interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
}

export interface ConsoleFiles {
  /** A hash of all files. */
  readonly version: string;
  /** By path, as in `novnc/core/rfb.js`. */
  readonly byPath: ReadonlyMap<string, ConsoleFile>;
}

export const PAGE_SCRIPT = 'page.js';
export const NOVNC_LICENSE = 'novnc/LICENSE.txt';

const SCRIPT = 'text/javascript; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
const VERSION_CHARS = 16;

let cachedFiles: ConsoleFiles | undefined;

export function consoleFiles(): ConsoleFiles {
  cachedFiles ??= readAll();
  return cachedFiles;
}

function readAll(): ConsoleFiles {
  const byPath = new Map<string, ConsoleFile>();
  const add = (path: string, url: URL, type: string) => byPath.set(path, { type, bytes: readFileSync(url) });
  add(PAGE_SCRIPT, new URL(`./${PAGE_SCRIPT}`, import.meta.url), SCRIPT);
  // The package's main export is `core/rfb.js`.
  const novnc = new URL('../', import.meta.resolve('@novnc/novnc'));
  for (const folder of ['core', 'vendor']) {
    const names = readdirSync(new URL(folder, novnc), { recursive: true, encoding: 'utf8' }).sort();
    for (const name of names.filter((name) => name.endsWith('.js'))) {
      add(`novnc/${folder}/${name}`, new URL(`${folder}/${name}`, novnc), SCRIPT);
    }
  }
  for (const name of ['LICENSE.txt', 'AUTHORS', 'docs/LICENSE.MPL-2.0']) {
    add(`novnc/${name}`, new URL(name, novnc), TEXT);
  }
  const hash = createHash('sha256');
  for (const [path, { bytes }] of byPath) hash.update(`${path} ${bytes.length} `).update(bytes);
  return { version: hash.digest('hex').slice(0, VERSION_CHARS), byPath };
}
