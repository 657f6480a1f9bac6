/** Installs: the first creates the machine, each later one a new generation of its disk. */
import type { Sql } from '../../../kernel/sql.ts';
import { ComputeError, type MachineSize, type MachineSpec } from '../../../ports/compute.ts';
import {
  type InstalledSystem,
  installEndsAt,
  isInstallDone,
  lockMachine,
  machineOnOtherHost,
  requireMachine,
  toInstalledSystem,
} from './machine.ts';
import { bootAssignments } from './power.ts';
import { readRestoreContent } from './snapshots.ts';

/** Virtual CPUs that a host may promise per physical core. Memory and disk are never overcommitted. */
const VCPU_PER_CORE = 8;

export interface InstallTiming {
  readonly now: Date;
  /** Duration of an install in seconds. */
  readonly installS: number;
}

/** Creates the machine unless it exists. */
export async function ensureMachine(tx: Sql, spec: MachineSpec, timing: InstallTiming): Promise<void> {
  const host = await lockHost(tx, spec.host);
  const existing = await tx.row<{ host: string }>('select host from sim.machines where id = $1', [spec.id]);
  if (existing && existing.host !== spec.host) throw machineOnOtherHost();
  requireUp(host, spec);
  if (existing) return;
  await requireCapacity(tx, spec);
  await insertMachine(tx, spec, timing);
}

/** The lock admits one new machine at a time, so the free capacity that is read stays correct. */
async function lockHost(tx: Sql, name: string): Promise<{ readonly down: boolean } | undefined> {
  return await tx.row('select down from sim.hosts where name = $1 for no key update', [name]);
}

function requireUp(host: { readonly down: boolean } | undefined, spec: MachineSpec): void {
  if (!host) throw new ComputeError('host', `unknown host ${spec.host}`);
  if (host.down) throw new ComputeError('host', `host ${spec.host} is down`);
}

async function requireCapacity(tx: Sql, spec: MachineSpec): Promise<void> {
  if (!(await hasCapacity(tx, spec)))
    throw new ComputeError('host', `insufficient capacity on host ${spec.host}`);
}

/**
 * Whether the host has capacity for one more such machine, next to its own and the copies of moves. The
 * caller holds the host's lock.
 */
export async function hasCapacity(
  tx: Sql,
  spec: Pick<MachineSpec, 'host' | 'cpu' | 'ramMb' | 'diskGb' | 'sharedDisk'>,
): Promise<boolean> {
  const capacity = await tx.row<{ fits: boolean }>(
    `with used as (
       select cpu, ram_mb, case when shared_disk then 0 else disk_gb end as disk_gb
         from sim.machines where host = $1
       union all
       select cpu, ram_mb, disk_gb from sim.moves
        where (to_host = $1 and target = 'waiting')
           or (from_host = $1 and target = 'runs' and source <> 'gone'))
     select h.cpu * ${VCPU_PER_CORE} >= (select coalesce(sum(cpu), 0) from used) + $2
        and h.ram_mb >= (select coalesce(sum(ram_mb), 0) from used) + $3
        and h.disk_gb >= (select coalesce(sum(disk_gb), 0) from used) + $4 as fits
     from sim.hosts h where h.name = $1`,
    [spec.host, spec.cpu, spec.ramMb, diskOnHost(spec)],
  );
  return capacity?.fits === true;
}

/** Its simulated load has the new size at once. */
export async function resizeMachine(
  tx: Sql,
  id: string,
  { cpu, ramMb, diskGb }: MachineSize,
): Promise<{ readonly diskGb: number }> {
  const { host, disk_gb: before } = await requireMachine(tx, id);
  await lockHost(tx, host);
  const machine = await lockMachine(tx, id);
  if (machine.host !== host) throw new ComputeError('transient', 'the machine has moved meanwhile');
  const size = { cpu, ramMb, diskGb: Math.max(diskGb, before) };
  await tx.run('update sim.machines set cpu = $2, ram_mb = $3, disk_gb = $4 where id = $1', [
    id,
    size.cpu,
    size.ramMb,
    size.diskGb,
  ]);
  // With the machine's new size, nothing more may fit than the host has.
  if (!(await hasCapacity(tx, { host, cpu: 0, ramMb: 0, diskGb: 0 })))
    throw new ComputeError('host', `insufficient capacity on host ${host}`);
  return { diskGb: size.diskGb };
}

/** GiB of the host's disk that the machine uses. */
export function diskOnHost({ diskGb, sharedDisk }: Pick<MachineSpec, 'diskGb' | 'sharedDisk'>): number {
  return sharedDisk ? 0 : diskGb;
}

async function insertMachine(tx: Sql, spec: MachineSpec, { now, installS }: InstallTiming): Promise<void> {
  const inserted = await tx.run(
    `insert into sim.machines
       (id, host, cpu, ram_mb, disk_gb, shared_disk, generation, installed, filter, booted_at, on_since,
        install_ends_at, off_at)
     values ($id, $host, $cpu, $ramMb, $diskGb, $sharedDisk, $generation, $installed::jsonb,
             $filter::jsonb, $now, $now,
             $installEndsAt, $offAt)
     on conflict (id) do nothing`,
    {
      ...spec,
      sharedDisk: spec.sharedDisk ?? false,
      installed: JSON.stringify(await readFirstContent(tx, spec, now)),
      filter: filterText(spec),
      now,
      installEndsAt: installEndsAt(spec.image, now, installS),
      offAt: spec.createdOff ? now : null,
    },
  );
  // This host is locked, so a concurrent call must have created it on another host.
  if (inserted === 0) throw machineOnOtherHost();
}

/** A system from a snapshot that has cloud-init sets itself up again, and keeps the keys that it has. */
async function readFirstContent(tx: Sql, spec: MachineSpec, now: Date): Promise<InstalledSystem> {
  const installed = toInstalledSystem(spec);
  if (spec.snapshotId === undefined) return installed;
  const kept = await readRestoreContent(tx, spec.snapshotId, spec, now);
  if (!kept.image.cloudInit) return kept;
  return { ...installed, image: kept.image, sshKeys: [...new Set([...kept.sshKeys, ...spec.sshKeys])] };
}

/** Starts an install of `spec.generation` unless the machine has it. `readContent` returns its content. */
export async function reinstall(
  tx: Sql,
  spec: MachineSpec,
  timing: InstallTiming,
  readContent: () => Promise<InstalledSystem>,
): Promise<void> {
  const machine = await lockMachine(tx, spec.id);
  if (machine.host !== spec.host) throw machineOnOtherHost();
  if (machine.generation === spec.generation) return;
  if (machine.generation > spec.generation) {
    throw new ComputeError('refused', 'the machine already has a later disk');
  }
  const installed = await readContent();
  // A disk with an unfinished install is deleted later, together with the disks it was to replace.
  const keptGenerations = isInstallDone(machine, timing.now) ? [] : machine.old_generations;
  await tx.run(
    `update sim.machines
     set ${bootAssignments({ rescueAt: 'null', installEndsAt: '$3::timestamptz' })},
         rescue_password_sha256 = null, boots_iso = false,
         generation = $4, old_generations = $5, installed = $6::jsonb
     where id = $1`,
    [
      spec.id,
      timing.now,
      installEndsAt(installed.image, timing.now, timing.installS),
      spec.generation,
      [...keptGenerations, machine.generation],
      JSON.stringify(installed),
    ],
  );
}

/**
 * Takes a machine with a shared disk from a lost host: it is off, and `host` answers for it. That host needs
 * no capacity until the machine is revived.
 */
export async function seizeMachine(
  tx: Sql,
  id: string,
  { host, now }: { host: string; now: Date },
): Promise<void> {
  await tx.run(
    `update sim.machines set host = $2, off_at = $3 where id = $1 and shared_disk and host <> $2`,
    [id, host, now],
  );
}

/** Boots the disk of a seized machine on its new host, as that of the spec's generation. */
export async function reviveMachine(tx: Sql, spec: MachineSpec, { now }: InstallTiming): Promise<void> {
  const host = await lockHost(tx, spec.host);
  const machine = await lockMachine(tx, spec.id);
  requireUp(host, spec);
  if (machine.generation >= spec.generation) return;
  if (machine.host !== spec.host) await requireCapacity(tx, spec);
  const installed = { ...machine.installed, ipv4: spec.ipv4, ipv6: spec.ipv6 };
  await tx.run(
    `update sim.machines
     set ${bootAssignments({ rescueAt: 'null', installEndsAt: '$2::timestamptz' })},
         rescue_password_sha256 = null, iso_sha256 = null, boots_iso = false,
         host = $3, generation = $4, installed = $5::jsonb, filter = $6::jsonb
     where id = $1`,
    [spec.id, now, spec.host, spec.generation, JSON.stringify(installed), filterText(spec)],
  );
}

function filterText({ filter }: MachineSpec): string | null {
  return filter ? JSON.stringify(filter) : null;
}
