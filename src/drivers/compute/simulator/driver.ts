/**
 * The simulated hypervisor. It stands for the world outside the service: it keeps its machines in tables of its
 * own, so they outlive any process and are the same for all of them, and it never joins the service's transactions.
 */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../kernel/clock.ts';
import type { Database, Sql } from '../../../kernel/sql.ts';
import {
  type ComputeDriver,
  ComputeError,
  type ComputeFault,
  type HourSample,
  type MachineSpec,
  type MachineState,
  type PowerAction,
  type SnapshotState,
} from '../../../ports/compute.ts';
import type { Faults } from '../../faults.ts';
import { installedFrom, type MachineTimes, stateAt } from './machine.ts';

/** Virtual processors a host may promise for each core it has. Memory and disk are never promised twice. */
const VCPU_PER_CORE = 8;
/** How long a guest takes to shut down when asked to, in seconds of business time. */
const SHUTDOWN_S = 2;

/** One statement for each action; $1 is the machine, $2 the moment. Each changes nothing when there is no need. */
const POWER: Record<PowerAction, string> = {
  // A machine that was switched off in mid-install has the rest of its install still to do.
  on: `update sim.machines set off_at = null, booted_at = $2,
         install_ends_at = case when install_ends_at > off_at
           then $2::timestamptz + (install_ends_at - off_at) else install_ends_at end
       where id = $1 and off_at <= $2`,
  off: 'update sim.machines set off_at = $2 where id = $1 and (off_at is null or off_at > $2)',
  // Heard only by a guest that is up; asking again does not put the shutdown off.
  acpi: `update sim.machines set off_at = $2::timestamptz + make_interval(secs => ${SHUTDOWN_S})
         where id = $1 and off_at is null and install_ends_at <= $2 and not deaf`,
  reset: `update sim.machines set off_at = null, booted_at = $2
          where id = $1 and (off_at is null or off_at > $2)`,
};

/** Hosts come from `SimulatorControl`; one it was not told of fails like one that is down. */
export class SimulatedCompute implements ComputeDriver {
  readonly name = 'simulator';
  readonly capabilities = {
    vps: { volumes: true, snapshots: true, filter: true, console: true, ownImages: true },
    dedicated: { volumes: false, snapshots: false, filter: true, console: true, ownImages: false },
  };
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #faults: Faults;
  readonly #installS: number;

  /** `installS` is how long an install takes, in seconds of business time. */
  constructor(options: { db: Database; clock: Clock; faults: Faults; installS: number }) {
    this.#db = options.db;
    this.#clock = options.clock;
    this.#faults = options.faults;
    this.#installS = options.installS;
  }

  async ensure(spec: MachineSpec): Promise<void> {
    await this.#meetFault('ensure', 'host');
    await this.#db.transaction(async (tx) => {
      // The lock makes machines enter a host one at a time, so the room that is read is the room there is.
      const host = await tx.row<{ down: boolean }>(
        'select down from sim.hosts where name = $1 for no key update',
        [spec.host],
      );
      const present = await tx.row<{ host: string }>('select host from sim.machines where id = $1', [
        spec.id,
      ]);
      if (present && present.host !== spec.host) throw elsewhere();
      if (!host) throw new ComputeError('host', `no host ${spec.host}`);
      if (host.down) throw new ComputeError('host', `host ${spec.host} is down`);
      if (present) return;
      if (!(await fits(tx, spec))) throw new ComputeError('host', `no room on host ${spec.host}`);
      await this.#install(tx, spec);
    });
  }

  async remove(id: string): Promise<void> {
    await this.#meetFault('remove', 'transient');
    await this.#db.run(
      'delete from sim.machines m using sim.hosts h where m.id = $1 and h.name = m.host and not h.down',
      [id],
    );
    // What is still there is on a host that does not answer.
    await this.#reach(id);
  }

  async power(id: string, action: PowerAction): Promise<void> {
    await this.#meetFault('power', 'transient');
    if (!(await this.#reach(id))) throw new ComputeError('refused', 'no such machine');
    await this.#db.run(POWER[action], [id, this.#clock.now()]);
  }

  async observe(ids: readonly string[]): Promise<MachineState[]> {
    await this.#meetFault('observe', 'transient');
    const seen = await this.#db.rows<{ id: string; host: string | null; down: boolean } & MachineTimes>(
      `select asked.id, m.host, m.install_ends_at, m.off_at, h.down
       from unnest($1::text[]) with ordinality as asked (id, place)
       left join sim.machines m on m.id = asked.id
       left join sim.hosts h on h.name = m.host
       order by asked.place`,
      [ids],
    );
    const now = this.#clock.now();
    return seen.map(({ id, host, down, ...times }) => {
      if (host === null) return { id, host, state: 'absent', generation: null, rescue: false };
      if (down) return { id, host, state: 'unknown', generation: null, rescue: false };
      return { id, host, state: stateAt(times, now), generation: 1, rescue: false };
    });
  }

  rebuild(): Promise<void> {
    return this.#cannot();
  }
  restore(): Promise<void> {
    return this.#cannot();
  }
  rescue(): Promise<void> {
    return this.#cannot();
  }
  console(): Promise<Duplex> {
    return this.#cannot();
  }
  sample(): Promise<HourSample[]> {
    return this.#cannot();
  }
  attach(): Promise<void> {
    return this.#cannot();
  }
  detach(): Promise<void> {
    return this.#cannot();
  }
  grow(): Promise<void> {
    return this.#cannot();
  }
  removeVolume(): Promise<void> {
    return this.#cannot();
  }
  snapshot(): Promise<SnapshotState> {
    return this.#cannot();
  }
  removeSnapshot(): Promise<void> {
    return this.#cannot();
  }
  filter(): Promise<void> {
    return this.#cannot();
  }

  async #cannot(): Promise<never> {
    throw new ComputeError('refused', 'this simulator cannot do that yet');
  }

  async #install(tx: Sql, spec: MachineSpec): Promise<void> {
    const now = this.#clock.now();
    const endsAt = new Date(now.getTime() + this.#installS * 1000);
    const made = await tx.run(
      `insert into sim.machines (id, host, cpu, ram_mb, disk_gb, installed, booted_at, install_ends_at)
       values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8) on conflict (id) do nothing`,
      [
        spec.id,
        spec.host,
        spec.cpu,
        spec.ramMb,
        spec.diskGb,
        JSON.stringify(installedFrom(spec)),
        now,
        endsAt,
      ],
    );
    // The host is locked, so whoever made it in this very moment did so on another one.
    if (made === 0) throw elsewhere();
  }

  /** Whether the machine exists; throws when its host is down, because then nobody can act on it. */
  async #reach(id: string): Promise<boolean> {
    const found = await this.#db.row<{ host: string; down: boolean }>(
      'select m.host, h.down from sim.machines m join sim.hosts h on h.name = m.host where m.id = $1',
      [id],
    );
    if (found?.down) throw silent(found.host);
    return found !== undefined;
  }

  async #meetFault(verb: keyof ComputeDriver, fault: ComputeFault): Promise<void> {
    if (await this.#faults.take('compute', verb)) throw new ComputeError(fault, 'simulated fault');
  }
}

/** Whether the host has room for one more such machine. The caller holds the host's lock. */
async function fits(tx: Sql, spec: MachineSpec): Promise<boolean> {
  const room = await tx.row<{ fits: boolean }>(
    `select h.cpu * ${VCPU_PER_CORE} >= coalesce(sum(m.cpu), 0) + $2
        and h.ram_mb >= coalesce(sum(m.ram_mb), 0) + $3
        and h.disk_gb >= coalesce(sum(m.disk_gb), 0) + $4 as fits
     from sim.hosts h left join sim.machines m on m.host = h.name
     where h.name = $1 group by h.name`,
    [spec.host, spec.cpu, spec.ramMb, spec.diskGb],
  );
  return room?.fits === true;
}

/** One id on two hosts would be two machines with the same addresses. */
function elsewhere(): ComputeError {
  return new ComputeError('refused', 'the machine exists on another host');
}

/** Neither absent nor any other state can be claimed of a machine whose host does not answer. */
function silent(host: string): ComputeError {
  return new ComputeError('transient', `host ${host} does not answer`);
}
