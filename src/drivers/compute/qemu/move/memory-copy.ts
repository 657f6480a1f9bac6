/**
 * Moves the memory and devices of a running guest with QEMU's migration. QEMU copies the memory while the
 * guest runs, pauses the guest for the rest, and waits there until the disks are complete.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import { type Qmp, QmpRefusedError } from '../qmp.ts';

/** Auto-converge slows a guest that changes its memory faster than it can be copied. */
const CAPABILITIES = ['pause-before-switchover', 'auto-converge', 'events'];
/** How long the guest may pause for the last part of its memory, at the speed measured so far. */
const DOWNTIME_MS = 200;
const FULL_SPEED = 8 * 1024 ** 3;
/** Slower than any guest changes its memory: it never pauses while no one waits for it. */
const HELD_SPEED = 64 * 1024;
const CHECK_MS = 10;
const SWITCH_MAX_MS = 15_000;

interface Migration {
  readonly status?: string;
  readonly 'error-desc'?: string;
  readonly ram?: { readonly transferred: number; readonly remaining: number };
}

export interface MemoryProgress {
  /** `paused`: the guest waits until its disks are complete. */
  readonly state: 'none' | 'copying' | 'paused' | 'done' | 'failed';
  readonly copiedBytes: number;
  readonly totalBytes: number;
  readonly message: string | null;
}

export async function startMemoryCopy(qmp: Qmp, socket: string): Promise<void> {
  const capabilities = CAPABILITIES.map((capability) => ({ capability, state: true }));
  await qmp.execute('migrate-set-capabilities', { capabilities });
  await setSpeed(qmp, 'full');
  await qmp.execute('migrate', { uri: `unix:${socket}` });
}

export async function setSpeed(qmp: Qmp, speed: 'full' | 'held'): Promise<void> {
  const held = { 'max-bandwidth': HELD_SPEED, 'downtime-limit': 0 };
  const full = { 'max-bandwidth': FULL_SPEED, 'downtime-limit': DOWNTIME_MS };
  await qmp.execute('migrate-set-parameters', speed === 'full' ? full : held);
}

const STATES: Readonly<Record<string, MemoryProgress['state']>> = {
  'pre-switchover': 'paused',
  completed: 'done',
  failed: 'failed',
  cancelled: 'failed',
  cancelling: 'failed',
};

export async function readMemoryCopy(qmp: Qmp): Promise<MemoryProgress> {
  const migration = await qmp.execute<Migration>('query-migrate');
  const { status, ram } = migration;
  const copiedBytes = ram?.transferred ?? 0;
  const state = status === undefined || status === 'none' ? 'none' : (STATES[status] ?? 'copying');
  const message = migration['error-desc'] ?? 'copying the memory ended early';
  return {
    state,
    copiedBytes,
    totalBytes: copiedBytes + (ram?.remaining ?? 0),
    message: state === 'failed' ? message : null,
  };
}

/** Sends the rest of a paused guest. Returns when the target has all of it. */
export async function completeMemoryCopy(qmp: Qmp): Promise<void> {
  await qmp.execute('migrate-continue', { state: 'pre-switchover' });
  const deadline = performance.now() + SWITCH_MAX_MS;
  while (performance.now() < deadline) {
    const { state, message } = await readMemoryCopy(qmp);
    if (state === 'done') return;
    if (state === 'failed') throw new ComputeError('transient', message ?? 'copying the memory failed');
    await pause(CHECK_MS);
  }
  throw new ComputeError('transient', 'the guest cannot be handed over in time');
}

/** Stops the copy and lets a guest continue that was paused for it. */
export async function endMemoryCopy(qmp: Qmp): Promise<void> {
  await qmp.execute('migrate_cancel').catch((error) => {
    if (!(error instanceof QmpRefusedError)) throw error;
  });
  const deadline = performance.now() + SWITCH_MAX_MS;
  while ((await isUnderWay(qmp)) && performance.now() < deadline) await pause(CHECK_MS);
  const { status } = await qmp.execute<{ readonly status: string }>('query-status');
  if (PAUSED.has(status)) await qmp.execute('cont');
}

const PAUSED = new Set(['paused', 'postmigrate', 'finish-migrate']);

async function isUnderWay(qmp: Qmp): Promise<boolean> {
  const { status } = await qmp.execute<Migration>('query-migrate');
  return !['none', undefined, 'completed', 'failed', 'cancelled'].includes(status);
}
