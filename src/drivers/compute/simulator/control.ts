/** Controls the simulated world for the sandbox and for tests, beyond what any driver can do. */
import type { Clock } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/sql.ts';
import type { IsoDrive, SnapshotState, VolumeSpec } from '../../../ports/compute.ts';
import type { AddressFamily, Filter } from '../../../ports/network.ts';
import type { SimulatedFlood } from './floods.ts';
import {
  type InstalledSystem,
  isInRescue,
  isInstallDone,
  type KnownState,
  MACHINE_COLUMNS,
  type MachineRow,
  stateAt,
} from './machine.ts';
import { type SnapshotTimes, snapshotStateAt } from './snapshots.ts';

export interface SimulatedHost {
  readonly name: string;
  /** Physical cores. */
  readonly cpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
}

/** The actual state of a machine, even if its host is down. */
export interface SimulatedMachine {
  readonly id: string;
  readonly host: string;
  readonly cpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
  readonly state: KnownState;
  readonly installed: InstalledSystem;
  /** Time of the last power-on or reset. */
  readonly bootedAt: Date;
  /** It ignores shutdown requests. */
  readonly ignoresShutdown: boolean;
  /** Generation of the current disk. */
  readonly generation: number;
  /** Generations of all existing disks. During a rebuild this includes earlier ones. */
  readonly disks: readonly number[];
  /** Whether it runs the rescue system. */
  readonly rescue: boolean;
  /** SHA-256 (hex) of the rescue password's hash; null outside rescue mode. */
  readonly rescuePasswordHashSha256: string | null;
  /** SHA-256 (hex) of the ISO image in its drive, and what it boots first. */
  readonly isoSha256: string | null;
  readonly boot: IsoDrive['boot'];
}

/** `device` and `machineId` are null while it is detached. */
export interface SimulatedVolume extends Pick<VolumeSpec, 'id' | 'sizeGb'> {
  readonly host: string | null;
  readonly machineId: string | null;
  readonly device: string | null;
}

export interface SimulatedMove {
  readonly id: string;
  readonly machineId: string;
  readonly from: string;
  readonly to: string;
  readonly source: 'idle' | 'sending' | 'runs' | 'gone';
  readonly target: 'waiting' | 'runs' | 'gone';
}

export interface SimulatedDiskMove {
  readonly id: string;
  /** Id of the volume or snapshot. */
  readonly diskId: string;
  readonly from: string;
  readonly to: string;
  readonly source: 'idle' | 'sending' | 'has' | 'gone';
  readonly target: 'waiting' | 'has' | 'gone';
}

export interface SimulatedSnapshot extends SnapshotState {
  readonly id: string;
  /** The source machine, which may no longer exist. */
  readonly machineId: string;
  readonly host: string | null;
  readonly diskGb: number;
  readonly installed: InstalledSystem;
}

export class SimulatorControl {
  readonly #db: Database;
  readonly #clock: Clock;
  constructor(options: { db: Database; clock: Clock }) {
    this.#db = options.db;
    this.#clock = options.clock;
  }

  /**
   * Ensures that the host exists with this capacity. An existing host keeps its machines and its down state.
   */
  async addHost(host: SimulatedHost): Promise<void> {
    await this.addHosts([host]);
  }

  /** Does the same for many hosts in one statement. Their names must be unique. */
  async addHosts(hosts: readonly SimulatedHost[]): Promise<void> {
    await this.#db.run(
      `insert into sim.hosts as h (name, cpu, ram_mb, disk_gb)
       select * from unnest($hosts.name::text[], $hosts.cpu::int[], $hosts.ramMb::int[], $hosts.diskGb::int[])
       on conflict (name) do update
       set cpu = excluded.cpu, ram_mb = excluded.ram_mb, disk_gb = excluded.disk_gb
       where (h.cpu, h.ram_mb, h.disk_gb) is distinct from (excluded.cpu, excluded.ram_mb, excluded.disk_gb)`,
      { hosts },
    );
  }

  /** A host that is down does not respond. Its machines are unchanged when it is up again. */
  async setHostDown(name: string, down: boolean): Promise<void> {
    const found = await this.#db.run('update sim.hosts set down = $2 where name = $1', [name, down]);
    if (found === 0) throw new Error(`the simulator has no host ${name}`);
  }

  /** Makes a machine ignore shutdown requests, like a hung guest. */
  async setIgnoresShutdown(id: string, ignoresShutdown: boolean): Promise<void> {
    const known = await this.#db.run('update sim.machines set deaf = $2 where id = $1', [
      id,
      ignoresShutdown,
    ]);
    if (known === 0) throw new Error(`the simulator has no machine ${id}`);
  }

  /** Returns all machines, ordered by id. */
  async machines(): Promise<SimulatedMachine[]> {
    const rows = await this.#db.rows<MachineRow & { cpu: number; ram_mb: number; deaf: boolean }>(
      `select ${MACHINE_COLUMNS}, m.cpu, m.ram_mb, m.deaf from sim.machines m order by m.id`,
    );
    const now = this.#clock.now();
    return rows.map((row) => ({
      id: row.id,
      host: row.host,
      cpu: row.cpu,
      ramMb: row.ram_mb,
      diskGb: row.disk_gb,
      state: stateAt(row, now),
      installed: row.installed,
      bootedAt: row.booted_at,
      ignoresShutdown: row.deaf,
      generation: row.generation,
      disks: isInstallDone(row, now) ? [row.generation] : [...row.old_generations, row.generation],
      rescue: isInRescue(row, now),
      rescuePasswordHashSha256: row.rescue_password_sha256,
      isoSha256: row.iso_sha256,
      boot: row.boots_iso ? 'iso' : 'disk',
    }));
  }

  /** Returns all volumes, ordered by id. */
  async volumes(): Promise<SimulatedVolume[]> {
    return await this.#db.rows<SimulatedVolume>(
      `select v.id, v.size_gb as "sizeGb", v.host, a.machine_id as "machineId", a.device
       from sim.volumes v left join sim.attachments a on a.volume_id = v.id order by v.id`,
    );
  }

  /** Returns all snapshots, ordered by id. */
  async snapshots(): Promise<SimulatedSnapshot[]> {
    const rows = await this.#db.rows<
      SnapshotTimes & {
        id: string;
        machine_id: string;
        host: string | null;
        disk_gb: number;
        installed: InstalledSystem;
      }
    >(
      `select id, machine_id, host, disk_gb, installed, size_gb, ready_at, failed
         from sim.snapshots order by id`,
    );
    const now = this.#clock.now();
    return rows.map((row) => ({
      id: row.id,
      machineId: row.machine_id,
      host: row.host,
      diskGb: row.disk_gb,
      installed: row.installed,
      ...snapshotStateAt(row, now),
    }));
  }

  /** Returns the machine's packet filter for `evaluateFilter`, or null if it has none. */
  async readFilter(id: string): Promise<Filter | null> {
    const row = await this.#db.row<{ filter: Filter | null }>(
      'select filter from sim.machines where id = $1',
      [id],
    );
    if (!row) throw new Error(`the simulator has no machine ${id}`);
    return row.filter;
  }

  /** Returns what each side of every move did, ordered by id. */
  async moves(): Promise<SimulatedMove[]> {
    return await this.#db.rows<SimulatedMove>(
      `select id, machine_id as "machineId", from_host as "from", to_host as "to", source, target
         from sim.moves order by id`,
    );
  }

  /** Returns what each side of every move of a volume or snapshot did, ordered by id. */
  async diskMoves(): Promise<SimulatedDiskMove[]> {
    return await this.#db.rows<SimulatedDiskMove>(
      `select id, disk_id as "diskId", from_host as "from", to_host as "to", source, target
         from sim.disk_moves order by id`,
    );
  }

  /** Makes packets flood to or from the machine, until they are changed; null ends the flood. */
  async flood(id: string, flood: SimulatedFlood | null): Promise<void> {
    const text = flood && JSON.stringify(flood);
    const known = await this.#db.run('update sim.machines set flood = $2::jsonb where id = $1', [id, text]);
    if (known === 0) throw new Error(`the simulator has no machine ${id}`);
  }

  /** Returns the families whose packets the host of the machine drops. */
  async readBlackholed(id: string): Promise<readonly AddressFamily[]> {
    const sql = 'select blackholed from sim.machines where id = $1';
    const row = await this.#db.row<{ blackholed: AddressFamily[] }>(sql, [id]);
    if (!row) throw new Error(`the simulator has no machine ${id}`);
    return row.blackholed;
  }

  /** Makes the machine vanish unexpectedly. */
  async loseMachine(id: string): Promise<void> {
    await this.#db.run('delete from sim.machines where id = $1', [id]);
  }

  /** Makes a host vanish with its machines. It no longer responds. */
  async loseHost(name: string): Promise<void> {
    await this.setHostDown(name, true);
    // A shared disk is not on the host.
    await this.#db.run('delete from sim.machines where host = $1 and not shared_disk', [name]);
  }

  /** Returns when the next install, shutdown, snapshot, or copy ends in business time, or null. */
  async nextDue(): Promise<Date | null> {
    const next = await this.#db.row<{ due: Date | null }>(
      `select least(
         (select min(install_ends_at) from sim.machines 
           where off_at is null and rescue_at is null and install_ends_at > $1),
         (select min(off_at) from sim.machines where off_at is not null and off_at > $1),
         (select min(ready_at) from sim.snapshots where not failed and ready_at > $1),
         (select min(ends_at) from sim.moves
           where source = 'sending' and target = 'waiting' and ends_at > $1),
         (select min(ends_at) from sim.disk_moves
           where source = 'sending' and target = 'waiting' and ends_at > $1)) as due`,
      [this.#clock.now()],
    );
    return next?.due ?? null;
  }
}
