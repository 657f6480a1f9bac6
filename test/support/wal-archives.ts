/** Archives of the write-ahead log in a folder, and a spool in memory. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createLogger } from '../../src/kernel/logger.ts';
import type { ProofState, StoredBase, WalSpool } from '../../src/store/embedded/archiving.ts';
import { createBackupFolder } from './backups.ts';

const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');
/** The segment with this number on a timeline. */
export const segment = (timeline: number, number: number) =>
  hex(timeline) + hex(Math.floor(number / 0x100)) + hex(number % 0x100);

export async function openArchives(t: TestContext) {
  const keys = await createBackupFolder();
  const folder = await mkdtemp(join(tmpdir(), 'skerry-archive-'));
  t.after(async () => {
    await keys.remove();
    await rm(folder, { recursive: true });
  });
  const log = createLogger('silent');
  const { signal } = new AbortController();
  return { folder, plan: { log, signal, plan: { recipients: [keys.recipient] } } };
}

export async function* content(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('a base');
}

export class MemorySpool implements WalSpool {
  #segments: readonly string[];
  #whole = false;
  #base: StoredBase | null = null;
  #proof: ProofState | null = null;

  constructor(segments: readonly string[]) {
    this.#segments = segments;
  }

  add(name: string): void {
    this.#segments = [...this.#segments, name];
  }

  list = async () => [...this.#segments];
  read = async () => Buffer.alloc(64);
  remove = async (name: string) => {
    this.#segments = this.#segments.filter((each) => each !== name);
  };
  drop = async () => {
    this.#whole = false;
    this.#segments = [];
  };
  ageMs = async () => null;
  brokenMs = async () => (this.#whole ? null : 0);
  isWhole = async () => this.#whole;
  begin = async (base: StoredBase) => {
    this.#base = base;
    this.#whole = true;
  };
  newestBase = async () => this.#base;
  saveProof = async (state: ProofState) => {
    this.#proof = state;
  };
  readProof = async () => this.#proof;
  baseFile = '/srv/skerry/wal-base';
}
