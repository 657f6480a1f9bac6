/**
 * A machine that is being moved to this host, before it is the host's own. Its record is `incoming.json`
 * instead of `machine.json`, so nothing takes it for a machine: it is not listed, observed, or started. Its
 * volumes are in its own folder. All of it can be deleted until `takeOver`, which makes it a machine.
 */
import { readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Traffic, VolumeSpec } from '../../../../ports/compute.ts';
import type { Filter } from '../../../../ports/network.ts';
import { readRecordFile, writeJson } from '../files.ts';
import { isId, type Layout } from '../layout.ts';
import type { MachineRecord, StoredSpec } from '../record.ts';
import type { Claim } from '../storage/claims.ts';

/** The part of the record that the source tells, first and again when it can no longer change. */
export interface ToldState {
  readonly power: MachineRecord['power'];
  readonly filter: Filter | null;
  readonly traffic: Traffic;
}

export interface Incoming {
  readonly moveId: string;
  readonly spec: StoredSpec;
  readonly generation: number;
  readonly volumes: readonly VolumeSpec[];
  /** The source's claims on its shared disk and volumes, by their ids. Absent: it has none. */
  readonly claims?: Readonly<Record<string, Claim>>;
  /** Null until the source has asked to prepare it. The filter that it names is in force from then on. */
  readonly state: ToldState | null;
  /** Whether the copy is complete: `takeOver` may make it a machine. */
  readonly isComplete: boolean;
}

export async function readIncoming(layout: Layout, id: string): Promise<Incoming | undefined> {
  return await readRecordFile<Incoming>(layout.machine(id, 'incoming.json'), ({ spec }) => spec?.id === id);
}

export async function writeIncoming(layout: Layout, incoming: Incoming): Promise<void> {
  await writeJson(layout.machine(incoming.spec.id, 'incoming.json'), incoming);
}

/** Path of a volume that arrives, in the folder that is the view of its QEMU on the volumes of this host. */
export function incomingVolume(layout: Layout, machineId: string, volumeId: string): string {
  return join(layout.lentFolder(machineId, 'volumes'), basename(layout.volume(volumeId, 'qcow2')));
}

/** A move that this host receives: its machine, and the key in hex. */
export interface ReceivedMove {
  readonly machineId: string;
  readonly key: string;
}

export async function writeReceivedMove(layout: Layout, moveId: string, move: ReceivedMove): Promise<void> {
  await mkdir(layout.moves(), { recursive: true, mode: 0o700 });
  await writeJson(layout.move(moveId), move);
}

/** TLS asks for the key without waiting, so this blocks for a small file. */
export function readReceivedMove(layout: Layout, moveId: string): ReceivedMove | undefined {
  if (!isId(moveId)) return undefined;
  try {
    return JSON.parse(readFileSync(layout.move(moveId), 'utf8')) as ReceivedMove;
  } catch {
    // There is no such move, or it has just ended.
    return undefined;
  }
}

export async function removeReceivedMove(layout: Layout, moveId: string): Promise<void> {
  await rm(layout.move(moveId), { force: true });
}
