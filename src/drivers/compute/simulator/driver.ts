/**
 * The simulated hypervisor. It stands for the world outside the service: it keeps its machines in tables of its
 * own, so they outlive any process and are the same for all of them, and it never joins the service's transactions.
 */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/sql.ts';
import {
  type ComputeDriver,
  ComputeError,
  type ComputeFault,
  type Examined,
  type HourSample,
  type MachineSpec,
  type MachineState,
  type PowerAction,
  type RescueAccess,
  type SnapshotState,
  type Tended,
  type VolumeSpec,
} from '../../../ports/compute.ts';
import type { Filter } from '../../../ports/network.ts';
import type { Faults } from '../../faults.ts';
import { ensureMachine, type Moment, reinstall } from './disks.ts';
import { sampleHours } from './load.ts';
import { installedFrom, type MachineTimes, rescuedAt, sha256, stateAt } from './machine.ts';
import { bootRescue, power } from './power.ts';
import { absent, reach } from './reach.ts';
import { openScreen } from './screen.ts';
import type { ScreenFacts } from './screen-facts.ts';
import { beginSnapshot, contentOf, findSnapshot, removeSnapshot, snapshotAt } from './snapshots.ts';
import { attachVolume, detachVolume, growVolume, removeVolume } from './volumes.ts';

/** How long a snapshot takes, in seconds of business time; never longer than an install. */
const SNAPSHOT_S = 2;

/** Hosts come from `SimulatorControl`; one it was not told of fails like one that is down. */
export class SimulatedCompute implements ComputeDriver {
  readonly name = 'simulator';
  readonly capabilities = {
    vps: { volumes: null, snapshots: true, filter: true, console: true, ownImages: true },
    dedicated: { volumes: 0, snapshots: false, filter: true, console: true, ownImages: false },
  };
  readonly hosts = null;
  readonly images = null;
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
    await this.#db.transaction((tx) => ensureMachine(tx, spec, this.#moment()));
  }

  async remove(id: string): Promise<void> {
    await this.#meetFault('remove', 'transient');
    // Its attachments go with it, its volumes and snapshots stay.
    await this.#db.run(
      'delete from sim.machines m using sim.hosts h where m.id = $1 and h.name = m.host and not h.down',
      [id],
    );
    // What is still there is on a host that does not answer.
    await reach(this.#db, id);
  }

  async power(id: string, action: PowerAction): Promise<void> {
    await this.#meetFault('power', 'transient');
    await this.#present(id);
    await power(this.#db, id, action, this.#clock.now());
  }

  async observe(ids: readonly string[]): Promise<MachineState[]> {
    await this.#meetFault('observe', 'transient');
    const seen = await this.#db.rows<SeenRow>(
      `select asked.id, m.host, m.generation, m.install_ends_at, m.off_at, m.rescue_at, h.down
       from unnest($1::text[]) with ordinality as asked (id, place)
       left join sim.machines m on m.id = asked.id
       left join sim.hosts h on h.name = m.host
       order by asked.place`,
      [ids],
    );
    const now = this.#clock.now();
    return seen.map(({ id, host, generation, down, ...times }) => {
      if (host === null) return { id, host, state: 'absent', generation: null, rescue: false };
      if (down) return { id, host, state: 'unknown', generation: null, rescue: false };
      return { id, host, state: stateAt(times, now), generation, rescue: rescuedAt(times, now) };
    });
  }

  async rebuild(spec: MachineSpec): Promise<void> {
    await this.#meetFault('rebuild', 'transient');
    const moment = this.#moment();
    await this.#db.transaction((tx) => reinstall(tx, spec, moment, async () => installedFrom(spec)));
  }

  async restore(spec: MachineSpec, snapshotId: string): Promise<void> {
    await this.#meetFault('restore', 'transient');
    const moment = this.#moment();
    await this.#db.transaction((tx) =>
      reinstall(tx, spec, moment, () => contentOf(tx, snapshotId, spec, moment.now)),
    );
  }

  async rescue(id: string, access: RescueAccess): Promise<void> {
    await this.#meetFault('rescue', 'transient');
    await this.#present(id);
    await bootRescue(this.#db, id, sha256(access.passwordHash), this.#clock.now());
  }

  /** A machine that is off has no screen. */
  async console(id: string): Promise<Duplex> {
    await this.#meetFault('console', 'transient');
    const first = await this.#screen(id);
    if (first.state === 'stopped') throw new ComputeError('refused', 'the machine is off');
    return openScreen({ first, look: () => this.#screen(id), clock: this.#clock });
  }

  async sample(ids: readonly string[], since: Date): Promise<HourSample[]> {
    await this.#meetFault('sample', 'transient');
    return await sampleHours(this.#db, ids, since, this.#clock.now());
  }

  async attach(machineId: string, volume: VolumeSpec): Promise<void> {
    await this.#meetFault('attach', 'transient');
    await this.#db.transaction((tx) => attachVolume(tx, machineId, volume));
  }

  async detach(volumeId: string): Promise<void> {
    await this.#meetFault('detach', 'transient');
    await detachVolume(this.#db, volumeId);
  }

  async grow(volumeId: string, sizeGb: number): Promise<void> {
    await this.#meetFault('grow', 'transient');
    await growVolume(this.#db, volumeId, sizeGb);
  }

  async removeVolume(volumeId: string): Promise<void> {
    await this.#meetFault('removeVolume', 'transient');
    await removeVolume(this.#db, volumeId);
  }

  /** An armed fault is met by the snapshot that begins next, and that one fails for good. */
  async snapshot(machineId: string, snapshotId: string): Promise<SnapshotState> {
    const machine = await reach(this.#db, machineId);
    const now = this.#clock.now();
    const begun = await findSnapshot(this.#db, snapshotId);
    if (begun) return snapshotAt(begun, now);
    if (!machine) throw absent();
    const failed = await this.#faults.take('compute', 'snapshot');
    const readyAt = new Date(now.getTime() + Math.min(SNAPSHOT_S, this.#installS) * 1000);
    const wanted = { machineId, id: snapshotId, failed, now, readyAt };
    return snapshotAt(await this.#db.transaction((tx) => beginSnapshot(tx, wanted)), now);
  }

  async removeSnapshot(snapshotId: string): Promise<void> {
    await this.#meetFault('removeSnapshot', 'transient');
    await removeSnapshot(this.#db, snapshotId);
  }

  async filter(id: string, filter: Filter | null): Promise<void> {
    await this.#meetFault('filter', 'transient');
    const machine = await reach(this.#db, id);
    if (!machine && filter) throw absent();
    await this.#db.run('update sim.machines set filter = $2::jsonb where id = $1', [
      id,
      filter && JSON.stringify(filter),
    ]);
  }

  /** What is simulated has no traffic to limit. */
  async traffic(id: string): Promise<void> {
    await this.#meetFault('traffic', 'transient');
    await this.#present(id);
  }

  async list(): Promise<string[]> {
    await this.#meetFault('list', 'transient');
    const rows = await this.#db.rows<{ id: string }>('select id from sim.machines order by id');
    return rows.map(({ id }) => id);
  }

  /** A simulated machine never fails by itself. */
  async tend(): Promise<Tended[]> {
    await this.#meetFault('tend', 'transient');
    return [];
  }

  async *examine(): AsyncIterable<Examined> {
    await this.#meetFault('examine', 'transient');
    yield {
      level: 'ok',
      what: 'machines',
      says: 'simulated: nothing real is needed, and nothing real is sold',
    };
  }

  async #screen(id: string): Promise<ScreenFacts> {
    const { installed, ...machine } = await this.#present(id);
    const now = this.#clock.now();
    return {
      hostname: installed.hostname,
      state: stateAt(machine, now),
      image: `${installed.image.family} ${installed.image.version}`,
      ipv4: installed.ipv4.address,
      ipv6: installed.ipv6.address,
      rescue: rescuedAt(machine, now),
      bootedAt: machine.booted_at,
    };
  }

  async #present(id: string) {
    return (await reach(this.#db, id)) ?? raise(absent());
  }

  #moment(): Moment {
    return { now: this.#clock.now(), installS: this.#installS };
  }

  async #meetFault(verb: keyof ComputeDriver, fault: ComputeFault): Promise<void> {
    if (await this.#faults.take('compute', verb)) throw new ComputeError(fault, 'simulated fault');
  }
}

type SeenRow = MachineTimes & {
  readonly id: string;
  readonly host: string | null;
  readonly generation: number | null;
  readonly down: boolean;
};

function raise(error: Error): never {
  throw error;
}
