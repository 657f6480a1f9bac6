/** Installs: the first one makes the machine, each later one a new generation of its disk. */
import type { Sql } from '../../../kernel/sql.ts';
import { ComputeError, type MachineSpec } from '../../../ports/compute.ts';
import { type InstalledSystem, installEndsAt, isInstallDone, toInstalledSystem } from './machine.ts';
import { lockReachableMachine, machineNotFound, machineOnOtherHost } from './machine-lookup.ts';
import { bootAssignments } from './power.ts';

/** Virtual processors a host may promise for each core it has. Memory and disk are never promised twice. */
const VCPU_PER_CORE = 8;

export interface InstallTiming {
  readonly now: Date;
  /** How long an install takes, in seconds. */
  readonly installS: number;
}

/** Makes the machine unless it is there. */
export async function ensureMachine(tx: Sql, spec: MachineSpec, timing: InstallTiming): Promise<void> {
  // The lock makes machines enter a host one at a time, so the room that is read is the room there is.
  const host = await tx.row<{ down: boolean }>(
    'select down from sim.hosts where name = $1 for no key update',
    [spec.host],
  );
  const existing = await tx.row<{ host: string }>('select host from sim.machines where id = $1', [spec.id]);
  if (existing && existing.host !== spec.host) throw machineOnOtherHost();
  if (!host) throw new ComputeError('host', `no host ${spec.host}`);
  if (host.down) throw new ComputeError('host', `host ${spec.host} is down`);
  if (existing) return;
  if (!(await hasCapacity(tx, spec))) throw new ComputeError('host', `no room on host ${spec.host}`);
  await insertMachine(tx, spec, timing);
}

/** Whether the host has room for one more such machine. The caller holds the host's lock. */
async function hasCapacity(tx: Sql, spec: MachineSpec): Promise<boolean> {
  const capacity = await tx.row<{ fits: boolean }>(
    `select h.cpu * ${VCPU_PER_CORE} >= coalesce(sum(m.cpu), 0) + $2
        and h.ram_mb >= coalesce(sum(m.ram_mb), 0) + $3
        and h.disk_gb >= coalesce(sum(m.disk_gb), 0) + $4 as fits
     from sim.hosts h left join sim.machines m on m.host = h.name
     where h.name = $1 group by h.name`,
    [spec.host, spec.cpu, spec.ramMb, spec.diskGb],
  );
  return capacity?.fits === true;
}

async function insertMachine(tx: Sql, spec: MachineSpec, { now, installS }: InstallTiming): Promise<void> {
  const inserted = await tx.run(
    `insert into sim.machines
       (id, host, cpu, ram_mb, disk_gb, generation, installed, booted_at, on_since, install_ends_at)
     values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $8, $9) on conflict (id) do nothing`,
    [
      spec.id,
      spec.host,
      spec.cpu,
      spec.ramMb,
      spec.diskGb,
      spec.generation,
      JSON.stringify(toInstalledSystem(spec)),
      now,
      installEndsAt(spec.image, now, installS),
    ],
  );
  // The host is locked, so whoever made it in this very moment did so on another one.
  if (inserted === 0) throw machineOnOtherHost();
}

/** Begins an install on generation `spec.generation` unless the machine is on that one. `content` says what of. */
export async function reinstall(
  tx: Sql,
  spec: MachineSpec,
  timing: InstallTiming,
  readContent: () => Promise<InstalledSystem>,
): Promise<void> {
  const machine = await lockReachableMachine(tx, spec.id);
  if (!machine) throw machineNotFound();
  if (machine.host !== spec.host) throw machineOnOtherHost();
  if (machine.generation === spec.generation) return;
  if (machine.generation > spec.generation) {
    throw new ComputeError('refused', 'the machine is on a later disk already');
  }
  const installed = await readContent();
  // A disk whose own install never ended goes together with those that it was to replace.
  const keptGenerations = isInstallDone(machine, timing.now) ? [] : machine.old_generations;
  await tx.run(
    `update sim.machines
     set ${bootAssignments({ rescueAt: 'null', installEndsAt: '$3::timestamptz' })}, rescue_password_sha256 = null,
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
