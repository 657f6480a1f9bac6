/** Installs: the first creates the machine, each later one a new generation of its disk. */
import type { Sql } from '../../../kernel/sql.ts';
import { ComputeError, type MachineSpec } from '../../../ports/compute.ts';
import {
  type InstalledSystem,
  installEndsAt,
  isInstallDone,
  lockMachine,
  machineOnOtherHost,
  toInstalledSystem,
} from './machine.ts';
import { bootAssignments } from './power.ts';

/** Virtual CPUs that a host may promise per physical core. Memory and disk are never overcommitted. */
const VCPU_PER_CORE = 8;

export interface InstallTiming {
  readonly now: Date;
  /** Duration of an install in seconds. */
  readonly installS: number;
}

/** Creates the machine unless it exists. */
export async function ensureMachine(tx: Sql, spec: MachineSpec, timing: InstallTiming): Promise<void> {
  // The host's lock admits one new machine at a time, so the free capacity that is read stays correct.
  const host = await tx.row<{ down: boolean }>(
    'select down from sim.hosts where name = $1 for no key update',
    [spec.host],
  );
  const existing = await tx.row<{ host: string }>('select host from sim.machines where id = $1', [spec.id]);
  if (existing && existing.host !== spec.host) throw machineOnOtherHost();
  if (!host) throw new ComputeError('host', `unknown host ${spec.host}`);
  if (host.down) throw new ComputeError('host', `host ${spec.host} is down`);
  if (existing) return;
  if (!(await hasCapacity(tx, spec)))
    throw new ComputeError('host', `insufficient capacity on host ${spec.host}`);
  await insertMachine(tx, spec, timing);
}

/**
 * Whether the host has capacity for one more such machine, next to its own and the copies of moves. The
 * caller holds the host's lock.
 */
export async function hasCapacity(tx: Sql, spec: MachineSpec): Promise<boolean> {
  const capacity = await tx.row<{ fits: boolean }>(
    `with used as (
       select cpu, ram_mb, disk_gb from sim.machines where host = $1
       union all
       select cpu, ram_mb, disk_gb from sim.moves
        where (to_host = $1 and target = 'waiting')
           or (from_host = $1 and target = 'runs' and source <> 'gone'))
     select h.cpu * ${VCPU_PER_CORE} >= (select coalesce(sum(cpu), 0) from used) + $2
        and h.ram_mb >= (select coalesce(sum(ram_mb), 0) from used) + $3
        and h.disk_gb >= (select coalesce(sum(disk_gb), 0) from used) + $4 as fits
     from sim.hosts h where h.name = $1`,
    [spec.host, spec.cpu, spec.ramMb, spec.diskGb],
  );
  return capacity?.fits === true;
}

async function insertMachine(tx: Sql, spec: MachineSpec, { now, installS }: InstallTiming): Promise<void> {
  const inserted = await tx.run(
    `insert into sim.machines
       (id, host, cpu, ram_mb, disk_gb, generation, installed, booted_at, on_since, install_ends_at)
     values ($id, $host, $cpu, $ramMb, $diskGb, $generation, $installed::jsonb, $now, $now, $installEndsAt)
     on conflict (id) do nothing`,
    {
      ...spec,
      installed: JSON.stringify(toInstalledSystem(spec)),
      now,
      installEndsAt: installEndsAt(spec.image, now, installS),
    },
  );
  // This host is locked, so a concurrent call must have created it on another host.
  if (inserted === 0) throw machineOnOtherHost();
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
         rescue_password_sha256 = null,
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
