/**
 * Continuous archiving of the embedded database: PostgreSQL copies each finished segment of its write-ahead
 * log to the spool, the folder `wal` of the home, from where a worker encrypts and stores it.
 *
 * The file `wal-chain` exists while every segment since the newest base backup was copied. A start without
 * archiving, or a spool that was dropped, removes it: point-in-time recovery then needs a new base, and the
 * time of the file `wal-broken` says since when. The file `wal-base` names the newest base and its archive,
 * and `wal-proof` the newest base that was restored.
 */
import { constants } from 'node:fs';
import { lstat, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath, undefinedIfMissing } from '../../kernel/files.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { exists } from './files.ts';
import { chownToDatabaseUser, findHome, type Home } from './home.ts';

/** PostgreSQL finishes a segment with changes after this time, so no more than that is lost. */
const SEGMENT_MAX_S = 60;
/** How long segments that were not stored stay without archiving: a command may have started the database. */
const LEFT_MS = DAY_MS;
const SEGMENT = /^[0-9A-F]{24}$/;
/** Other files that PostgreSQL archives. A restore stays on the timeline of its base, so none is needed. */
const OTHER = /^[0-9A-F]{8}(?:\.history|[0-9A-F]{16}\.[0-9A-F]{8}\.backup|[0-9A-F]{16}\.partial)$/;

export interface StoredBase {
  readonly startedAt: Date;
  /** The name of its archive (`WalArchive`); null: not known. */
  readonly archive: string | null;
}

/** Whether bases can be restored. */
export interface ProofState {
  /** When the newest base began that was restored, or else the first base that should have been. */
  readonly since: Date;
  readonly isProved: boolean;
  /** When the newest base began that could not be restored, and why. */
  readonly failed: { readonly startedAt: Date; readonly reason: string } | null;
}

export interface WalSpool {
  /** Lists the finished segments, oldest first. */
  list(): Promise<string[]>;
  /** A segment has 16 MiB. */
  read(segment: string): Promise<Buffer>;
  remove(segment: string): Promise<void>;
  /** Deletes all segments, which breaks the chain. */
  drop(): Promise<void>;
  /** How long the oldest segment has waited, even if PostgreSQL could not copy it; null if none waits. */
  ageMs(): Promise<number | null>;
  isWhole(): Promise<boolean>;
  /** For how long a base has been needed, at most since the start of the database; null while it is whole. */
  brokenMs(): Promise<number | null>;
  /** Notes that a base was stored: the chain begins with it. */
  begin(base: StoredBase & { readonly archive: string }): Promise<void>;
  /** Returns the newest base without a look at its archive, which may hang; null if none was stored. */
  newestBase(): Promise<StoredBase | null>;
  saveProof(state: ProofState): Promise<void>;
  /** Returns null if no base was to be restored yet. */
  readProof(): Promise<ProofState | null>;
  /** The file of `newestBase`. Without it, an archive may begin in an empty folder. */
  readonly baseFile: string;
}

/** Returns the spool of a data folder whose database archives; null if it has none. */
export async function openWalSpool({ dataDir }: { readonly dataDir: string }): Promise<WalSpool | null> {
  const home = await findHome(dataDir);
  if (home === null || !(await exists(spoolFolder(home)))) return null;
  return new FolderSpool(home);
}

/** Prepares the spool before a start. Only for the holder of the lock. */
export async function prepareSpool(home: Home, isArchiving: boolean): Promise<void> {
  if (isArchiving) {
    await chownToDatabaseUser(home, spoolFolder(home));
    if (!(await exists(chainFile(home)))) await writeFile(brokenFile(home), '');
    return;
  }
  await breakChain(home);
  const changed = await lstat(spoolFolder(home)).catch(undefinedIfMissing);
  if (changed && Date.now() - changed.mtimeMs > LEFT_MS)
    await rm(spoolFolder(home), { recursive: true, force: true });
}

/** Returns the settings of PostgreSQL. A segment appears under its name when it is whole and on disk. */
export function archiveSettings(home: Home, isArchiving: boolean): Readonly<Record<string, string | number>> {
  if (!isArchiving) return { archive_mode: 'off' };
  const file = `${quote(spoolFolder(home)).replaceAll('%', '%%')}/%f`;
  return {
    archive_mode: 'on',
    archive_timeout: SEGMENT_MAX_S,
    archive_command: `cp %p ${file}.part && sync ${file}.part && mv -f ${file}.part ${file}`,
  };
}

/** Quotes a word for `sh`. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

export async function breakChain(home: Home): Promise<void> {
  await rm(chainFile(home), { force: true });
}

function spoolFolder(home: Home): string {
  return join(home.folder, 'wal');
}

function chainFile(home: Home): string {
  return join(home.folder, 'wal-chain');
}

function proofFile(home: Home): string {
  return join(home.folder, 'wal-proof');
}

function brokenFile(home: Home): string {
  return join(home.folder, 'wal-broken');
}

class FolderSpool implements WalSpool {
  readonly baseFile: string;
  readonly #home: Home;
  readonly #folder: string;

  constructor(home: Home) {
    this.#home = home;
    this.#folder = spoolFolder(home);
    this.baseFile = join(home.folder, 'wal-base');
  }

  async list(): Promise<string[]> {
    const names = await readdir(this.#folder);
    for (const name of names.filter((each) => OTHER.test(each))) await this.remove(name);
    return names.filter((name) => SEGMENT.test(name)).sort();
  }

  async read(segment: string): Promise<Buffer> {
    // The database's user could put a link there.
    const file = await open(join(this.#folder, segment), constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return await file.readFile();
    } finally {
      await file.close();
    }
  }

  async remove(segment: string): Promise<void> {
    await rm(join(this.#folder, segment), { force: true });
  }

  async drop(): Promise<void> {
    await breakChain(this.#home);
    await writeFile(brokenFile(this.#home), '');
    for (const segment of await this.list()) await this.remove(segment);
  }

  async ageMs(): Promise<number | null> {
    const [oldest] = await this.list();
    const waiting = [
      ...(oldest === undefined ? [] : [join(this.#folder, oldest)]),
      ...(await this.#listReady()),
    ];
    const found = await Promise.all(waiting.map((path) => lstat(path).catch(undefinedIfMissing)));
    const times = found.flatMap((each) => (each ? [each.mtimeMs] : []));
    return times.length === 0 ? null : Math.max(0, Date.now() - Math.min(...times));
  }

  /** PostgreSQL notes each finished segment in a file until its command has succeeded. */
  async #listReady(): Promise<string[]> {
    const folder = join(this.#home.cluster, 'pg_wal/archive_status');
    const names = (await readdir(folder).catch(undefinedIfMissing)) ?? [];
    return names.filter((name) => name.endsWith('.ready')).map((name) => join(folder, name));
  }

  async isWhole(): Promise<boolean> {
    return await exists(chainFile(this.#home));
  }

  async brokenMs(): Promise<number | null> {
    if (await this.isWhole()) return null;
    const found = await lstat(brokenFile(this.#home)).catch(undefinedIfMissing);
    return found === undefined ? 0 : Math.max(0, Date.now() - found.mtimeMs);
  }

  async begin({ startedAt, archive }: StoredBase): Promise<void> {
    await replaceFile(this.baseFile, `${startedAt.toISOString()} ${archive}`);
    await writeFile(chainFile(this.#home), '');
    await rm(brokenFile(this.#home), { force: true });
    await syncPath(this.#home.folder);
  }

  async newestBase(): Promise<StoredBase | null> {
    const text = await readFile(this.baseFile, 'utf8').catch(undefinedIfMissing);
    if (text === undefined) {
      // A previous version stored it, or staff deleted the file.
      const chain = await lstat(chainFile(this.#home)).catch(undefinedIfMissing);
      return chain === undefined ? null : { startedAt: chain.mtime, archive: null };
    }
    const space = text.indexOf(' ');
    return { startedAt: new Date(text.slice(0, space)), archive: text.slice(space + 1) };
  }

  async saveProof({ since, isProved, failed }: ProofState): Promise<void> {
    const failure = failed === null ? [] : [failed.startedAt.toISOString(), failed.reason];
    const words = [since.toISOString(), isProved ? 'proved' : 'waits', ...failure];
    await replaceFile(proofFile(this.#home), words.join(' '));
  }

  async readProof(): Promise<ProofState | null> {
    const text = await readFile(proofFile(this.#home), 'utf8').catch(undefinedIfMissing);
    if (text === undefined) return null;
    const [since = '', state, failedAt, ...reason] = text.split(' ');
    const failed =
      failedAt === undefined ? null : { startedAt: new Date(failedAt), reason: reason.join(' ') };
    return { since: new Date(since), isProved: state === 'proved', failed };
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const part = `${path}.part`;
  await writeFile(part, text, { flush: true });
  await rename(part, path);
}
