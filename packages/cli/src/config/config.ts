/**
 * The stored accounts, in one file that only its owner can read: `$SKERRY_CONFIG`, or `skerry/config.json` in
 * the configuration folder. A context is a name for an address and a token.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from '../exit-codes.ts';

export interface Account {
  readonly url: string;
  readonly token: string;
}

export interface Config {
  /** The name of the current context. */
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, Account>>;
}

export type Env = Readonly<Record<string, string | undefined>>;
export type Warn = (text: string) => void;

const EMPTY: Config = { current: null, contexts: {} };
/** Permission bits of everyone but the owner. */
const GROUP_AND_OTHERS = 0o077;

const LOCK_POLL_MS = 20;
const LOCK_TIMEOUT_MS = 5_000;
/** No holder needs this long: an older lock belongs to a process that was killed. */
const LOCK_STALE_MS = 3_000;

export function configPath(env: Env): string {
  if (env.SKERRY_CONFIG) return env.SKERRY_CONFIG;
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'skerry', 'config.json');
}

export function readConfig(env: Env, warn: Warn = () => {}): Config {
  const path = configPath(env);
  const text = readText(path);
  if (text === null) return EMPTY;
  if (isReadableByOthers(path)) {
    warn(`skerry: other users can read the tokens in ${path}; run: chmod 600 ${path}`);
  }
  const config = parseConfig(text);
  if (config === null) throw new Failure('usage', `${path} is not a valid context file; fix or delete it`);
  return config;
}

/** Reads, changes, and writes the file under a lock, so that concurrent changes are not lost. */
export function changeConfig(env: Env, change: (config: Config) => Config): Config {
  const path = resolveSymlink(configPath(env));
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return withLock(`${path}.lock`, () => {
      const changed = change(readConfig(env));
      writeAtomically(path, `${JSON.stringify(changed, null, 2)}\n`);
      return changed;
    });
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('usage', `cannot write ${path}: ${(error as Error).message}`);
  }
}

/**
 * Renames a private temporary file: a reader sees the old or the new content, and other users see nothing.
 */
function writeAtomically(path: string, text: string): void {
  const temporaryPath = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(temporaryPath, text, { mode: 0o600, flag: 'wx' });
    chmodSync(temporaryPath, 0o600);
    renameSync(temporaryPath, path);
  } finally {
    rmSync(temporaryPath, { force: true });
  }
}

/** Follows a symbolic link, so that its target is replaced and not the link. */
function resolveSymlink(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The file does not exist yet.
    return path;
  }
}

function isReadableByOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & GROUP_AND_OTHERS) !== 0;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Failure('usage', `cannot read ${path}: ${(error as Error).message}`);
  }
}

function parseConfig(text: string): Config | null {
  try {
    const { current, contexts } = JSON.parse(text) as Partial<Config>;
    const accounts = Object.values(contexts ?? {});
    const isComplete = accounts.every(
      ({ url, token }) => typeof url === 'string' && typeof token === 'string',
    );
    const isCurrentValid = current === undefined || current === null || typeof current === 'string';
    return contexts && isComplete && isCurrentValid ? { current: current ?? null, contexts } : null;
  } catch {
    return null;
  }
}

/** A lock between processes: the process that creates the file holds it. */
function withLock<T>(path: string, action: () => T): T {
  const deadlineMs = Date.now() + LOCK_TIMEOUT_MS;
  while (!tryAcquire(path)) {
    if (Date.now() > deadlineMs)
      throw new Failure('conflict', `${path} is locked by another skerry; delete it if none is running`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
  try {
    return action();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryAcquire(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    removeStale(path);
    return false;
  }
}

function removeStale(path: string): void {
  try {
    if (Date.now() - statSync(path).mtimeMs > LOCK_STALE_MS) rmSync(path, { force: true });
  } catch {
    // Another process deleted it first.
  }
}
