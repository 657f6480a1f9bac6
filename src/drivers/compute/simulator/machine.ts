/** A simulated machine: its row, its state at a given time, and the content of its disk. */
import { createHash } from 'node:crypto';
import type { Sql } from '../../../kernel/sql.ts';
import {
  ComputeError,
  type MachineImage,
  type MachineSpec,
  type MachineState,
} from '../../../ports/compute.ts';

/** The columns of `sim.machines` that determine the state. */
export interface MachineTimes {
  readonly install_ends_at: Date;
  readonly off_at: Date | null;
  readonly rescue_at: Date | null;
}

export type KnownState = Exclude<MachineState['state'], 'absent' | 'unknown'>;

/** Derives the state from stored times, so no timer is lost when a process ends. */
export function stateAt(times: MachineTimes, now: Date): KnownState {
  if (isOff(times, now)) return 'stopped';
  if (times.rescue_at) return 'running';
  return times.install_ends_at > now ? 'installing' : 'running';
}

/** Whether it runs the rescue system. */
export function isInRescue(times: MachineTimes, now: Date): boolean {
  return times.rescue_at !== null && !isOff(times, now);
}

/** Whether the install on its disk is done. A power-off or a rescue pauses an install. */
export function isInstallDone(times: MachineTimes, now: Date): boolean {
  const stopTimes = [now, times.rescue_at, isOff(times, now) ? times.off_at : null];
  return stopTimes.every((stopTime) => stopTime === null || times.install_ends_at <= stopTime);
}

function isOff(times: MachineTimes, now: Date): boolean {
  return times.off_at !== null && times.off_at <= now;
}

/** Returns when an install that starts now ends. A customer's ISO is only booted, not installed. */
export function installEndsAt(image: MachineImage, now: Date, installS: number): Date {
  return image.iso ? now : new Date(now.getTime() + installS * 1000);
}

/** The installed system. Secrets are stored only as SHA-256 (hex), enough to prove that they arrived. */
export type InstalledSystem = Pick<MachineSpec, 'hostname' | 'image' | 'ipv4' | 'ipv6' | 'sshKeys'> & {
  readonly rootPasswordHashSha256: string | null;
  readonly userDataSha256: string | null;
};

/** Copies field by field, so that a secret added to the port later is not stored by accident. */
export function toInstalledSystem(spec: MachineSpec): InstalledSystem {
  return {
    hostname: spec.hostname,
    image: spec.image,
    ipv4: spec.ipv4,
    ipv6: spec.ipv6,
    sshKeys: spec.sshKeys,
    rootPasswordHashSha256: sha256(spec.rootPasswordHash),
    userDataSha256: sha256(spec.userData),
  };
}

export function sha256(secret: string | Uint8Array): string;
export function sha256(secret: string | Uint8Array | null): string | null;
export function sha256(secret: string | Uint8Array | null): string | null {
  return secret === null ? null : createHash('sha256').update(secret).digest('hex');
}

export interface MachineRow extends MachineTimes {
  readonly id: string;
  readonly host: string;
  readonly disk_gb: number;
  readonly generation: number;
  readonly old_generations: number[];
  readonly installed: InstalledSystem;
  readonly booted_at: Date;
  readonly rescue_password_sha256: string | null;
  readonly iso_sha256: string | null;
  readonly boots_iso: boolean;
}

/** The columns of a `MachineRow`, of `sim.machines m`. */
export const MACHINE_COLUMNS = `m.id, m.host, m.disk_gb, m.generation, m.old_generations, m.installed,
  m.booted_at, m.install_ends_at, m.off_at, m.rescue_at, m.rescue_password_sha256, m.iso_sha256,
  m.boots_iso`;

/** Returns the machine or undefined. Throws if its host is down, since nothing can act on it then. */
export async function findReachableMachine(sql: Sql, id: string): Promise<MachineRow | undefined> {
  return await selectMachine(sql, id, '');
}

/** Like `findReachableMachine`, and refuses a machine that does not exist. */
export async function requireMachine(sql: Sql, id: string): Promise<MachineRow> {
  return (await findReachableMachine(sql, id)) ?? throwNotFound();
}

/** Does the same and locks the machine until the transaction ends. */
export async function lockMachine(tx: Sql, id: string): Promise<MachineRow> {
  return (await selectMachine(tx, id, 'for no key update of m')) ?? throwNotFound();
}

async function selectMachine(sql: Sql, id: string, lock: string): Promise<MachineRow | undefined> {
  const row = await sql.row<MachineRow & { down: boolean }>(
    `select ${MACHINE_COLUMNS}, h.down
     from sim.machines m join sim.hosts h on h.name = m.host where m.id = $1 ${lock}`,
    [id],
  );
  if (row?.down) throw hostUnreachable(row.host);
  return row;
}

/** The same id on two hosts would be two machines with the same addresses. */
export function machineOnOtherHost(): ComputeError {
  return new ComputeError('refused', 'the machine exists on another host');
}

function throwNotFound(): never {
  throw new ComputeError('refused', 'machine not found');
}

/** While a host is down, nothing is known about its machines, not even their absence. */
export function hostUnreachable(host: string): ComputeError {
  return new ComputeError('transient', `host ${host} is not responding`);
}
