/**
 * The simulated hypervisor. It is external to the service: its machines are in separate tables, so they
 * outlive every process and all processes share them, and it never joins the service's transactions.
 */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/sql.ts';
import {
  type ComputeDriver,
  ComputeError,
  type HostFinding,
  type HourSample,
  type IsoDrive,
  type MachineSize,
  type MachineSpec,
  type MachineState,
  type MinuteSample,
  type PowerAction,
  type RescueAccess,
  type SnapshotState,
  type SupervisionResult,
  type Traffic,
  type VolumeSpec,
} from '../../../ports/compute.ts';
import type { ComputeFault } from '../../../ports/compute-fault.ts';
import type { HostFacts } from '../../../ports/host-facts.ts';
import type { Filter, PacketSample } from '../../../ports/network.ts';
import type { Faults } from '../../faults.ts';
import { SimulatedCopies } from './copies.ts';
import { readSimulatedFacts } from './facts.ts';
import { samplePackets, setBlackholed } from './floods.ts';
import {
  ensureMachine,
  type InstallTiming,
  reinstall,
  resizeMachine,
  reviveMachine,
  seizeMachine,
} from './install.ts';
import { sampleHours, sampleMinutes } from './load.ts';
import {
  findReachableMachine,
  isInRescue,
  type MachineTimes,
  requireMachine,
  sha256,
  stateAt,
  toInstalledSystem,
} from './machine.ts';
import { SimulatedMoves } from './moves.ts';
import { applyPowerAction, bootRescue } from './power.ts';
import { openScreen, readScreenFacts } from './screen.ts';
import {
  findSnapshot,
  readRestoreContent,
  removeSnapshot,
  snapshotStateAt,
  startSnapshot,
} from './snapshots.ts';
import { attachVolume, detachVolume, growVolume, removeVolume } from './volumes.ts';

/** Duration of a snapshot in seconds of business time; at most that of an install. */
const SNAPSHOT_S = 2;
/** Duration of a move's copy, in the same way. */
const COPY_S = 10;

/** Hosts are added with `SimulatorControl`. An unknown host fails as if it were down. */
export class SimulatedCompute implements ComputeDriver {
  readonly name = 'simulator';
  readonly capabilities = {
    vps: { volumes: null, snapshots: true, filter: true, console: true, customImages: true },
    dedicated: { volumes: 0, snapshots: false, filter: true, console: true, customImages: false },
  };
  readonly hosts = null;
  readonly images = null;
  readonly moves: SimulatedMoves;
  readonly copies: SimulatedCopies;
  readonly seizeVolume = null;
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #faults: Faults;
  readonly #installS: number;

  /** `installS` is the duration of an install in seconds of business time. */
  constructor(options: { db: Database; clock: Clock; faults: Faults; installS: number }) {
    this.#db = options.db;
    this.#clock = options.clock;
    this.#faults = options.faults;
    this.#installS = options.installS;
    this.moves = new SimulatedMoves({ ...options, copyS: Math.min(COPY_S, options.installS) });
    this.copies = new SimulatedCopies(options);
  }

  async ensure(spec: MachineSpec): Promise<void> {
    await this.#throwArmedFault('ensure', 'host');
    await this.#db.transaction((tx) => ensureMachine(tx, spec, this.#installTiming()));
  }

  async seizeDisk(machineId: string, host: string): Promise<void> {
    await this.#throwArmedFault('seizeDisk', 'transient');
    await seizeMachine(this.#db, machineId, { host, now: this.#clock.now() });
  }

  async revive(spec: MachineSpec): Promise<void> {
    await this.#throwArmedFault('revive', 'transient');
    await this.#db.transaction((tx) => reviveMachine(tx, spec, this.#installTiming()));
  }

  async remove(id: string): Promise<void> {
    await this.#throwArmedFault('remove', 'transient');
    // Its attachments are deleted with it; its volumes and snapshots remain.
    await this.#db.run(
      'delete from sim.machines m using sim.hosts h where m.id = $1 and h.name = m.host and not h.down',
      [id],
    );
    // If the machine still exists, its host is down: this throws.
    await findReachableMachine(this.#db, id);
  }

  async power(id: string, action: PowerAction): Promise<void> {
    await this.#throwArmedFault('power', 'transient');
    await requireMachine(this.#db, id);
    await applyPowerAction(this.#db, id, action, this.#clock.now());
  }

  async observe(ids: readonly string[]): Promise<MachineState[]> {
    await this.#throwArmedFault('observe', 'transient');
    const seen = await this.#db.rows<ObservedRow>(
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
      return { id, host, state: stateAt(times, now), generation, rescue: isInRescue(times, now) };
    });
  }

  async rebuild(spec: MachineSpec): Promise<void> {
    await this.#throwArmedFault('rebuild', 'transient');
    const moment = this.#installTiming();
    await this.#db.transaction((tx) => reinstall(tx, spec, moment, async () => toInstalledSystem(spec)));
  }

  async restore(spec: MachineSpec, snapshotId: string): Promise<void> {
    await this.#throwArmedFault('restore', 'transient');
    const moment = this.#installTiming();
    await this.#db.transaction((tx) =>
      reinstall(tx, spec, moment, () => readRestoreContent(tx, snapshotId, spec, moment.now)),
    );
  }

  async resize(id: string, size: MachineSize): Promise<{ readonly diskGb: number }> {
    await this.#throwArmedFault('resize', 'host');
    return await this.#db.transaction((tx) => resizeMachine(tx, id, size));
  }

  async setIso(id: string, { iso, boot }: IsoDrive): Promise<void> {
    await this.#throwArmedFault('setIso', 'host');
    await requireMachine(this.#db, id);
    await this.#db.run('update sim.machines set iso_sha256 = $2, boots_iso = $3 where id = $1', [
      id,
      iso?.sha256 ?? null,
      boot === 'iso',
    ]);
  }

  async rescue(id: string, access: RescueAccess): Promise<void> {
    await this.#throwArmedFault('rescue', 'transient');
    await requireMachine(this.#db, id);
    await bootRescue(this.#db, id, sha256(access.passwordHash), this.#clock.now());
  }

  /** A machine that is off has no console. */
  async console(id: string): Promise<Duplex> {
    await this.#throwArmedFault('console', 'transient');
    const read = () => readScreenFacts(this.#db, id, this.#clock.now());
    const first = await read();
    if (first.state === 'stopped') throw new ComputeError('refused', 'the machine is off');
    return openScreen(first, read);
  }

  async sample(ids: readonly string[], since: Date): Promise<HourSample[]> {
    await this.#throwArmedFault('sample', 'transient');
    return await sampleHours(this.#db, ids, since, this.#clock.now());
  }

  async sampleMinutes(ids: readonly string[], since: Date): Promise<MinuteSample[]> {
    await this.#throwArmedFault('sampleMinutes', 'transient');
    return await sampleMinutes(this.#db, ids, since, this.#clock.now());
  }

  async samplePackets(ids: readonly string[]): Promise<PacketSample[]> {
    await this.#throwArmedFault('samplePackets', 'transient');
    return await samplePackets(this.#db, ids, this.#clock.now());
  }

  async attach(machineId: string, volume: VolumeSpec): Promise<void> {
    await this.#throwArmedFault('attach', 'transient');
    await this.#db.transaction((tx) => attachVolume(tx, machineId, volume));
  }

  async detach(volumeId: string): Promise<void> {
    await this.#throwArmedFault('detach', 'transient');
    await detachVolume(this.#db, volumeId);
  }

  async grow(volumeId: string, sizeGb: number): Promise<void> {
    await this.#throwArmedFault('grow', 'transient');
    await growVolume(this.#db, volumeId, sizeGb);
  }

  async removeVolume(volumeId: string): Promise<void> {
    await this.#throwArmedFault('removeVolume', 'transient');
    await removeVolume(this.#db, volumeId);
  }

  /** An armed fault makes the next new snapshot fail permanently. */
  async snapshot(machineId: string, snapshotId: string): Promise<SnapshotState> {
    await findReachableMachine(this.#db, machineId);
    const now = this.#clock.now();
    const existing = await findSnapshot(this.#db, snapshotId);
    if (existing) return snapshotStateAt(existing, now);
    await requireMachine(this.#db, machineId);
    const failed = await this.#faults.consume('compute', 'snapshot');
    const readyAt = new Date(now.getTime() + Math.min(SNAPSHOT_S, this.#installS) * 1000);
    const request = { machineId, id: snapshotId, failed, now, readyAt };
    return snapshotStateAt(await this.#db.transaction((tx) => startSnapshot(tx, request)), now);
  }

  async removeSnapshot(snapshotId: string): Promise<void> {
    await this.#throwArmedFault('removeSnapshot', 'transient');
    await removeSnapshot(this.#db, snapshotId);
  }

  async filter(id: string, filter: Filter | null): Promise<void> {
    await this.#throwArmedFault('filter', 'transient');
    await (filter ? requireMachine : findReachableMachine)(this.#db, id);
    await this.#db.run('update sim.machines set filter = $2::jsonb where id = $1', [
      id,
      filter && JSON.stringify(filter),
    ]);
  }

  /** There is no traffic to limit. A blackholed machine gets none of a simulated flood. */
  async traffic(id: string, { blackholed = [] }: Traffic): Promise<void> {
    await this.#throwArmedFault('traffic', 'transient');
    await setBlackholed(this.#db, id, blackholed);
  }

  async list(): Promise<string[]> {
    await this.#throwArmedFault('list', 'transient');
    const rows = await this.#db.rows<{ id: string }>('select id from sim.machines order by id');
    return rows.map(({ id }) => id);
  }

  /** Simulated machines never need repair. */
  async superviseMachines(): Promise<SupervisionResult[]> {
    await this.#throwArmedFault('superviseMachines', 'transient');
    return [];
  }

  async readFacts(): Promise<HostFacts[]> {
    await this.#throwArmedFault('readFacts', 'transient');
    return await readSimulatedFacts(this.#db);
  }

  async *examine(): AsyncIterable<HostFinding> {
    await this.#throwArmedFault('examine', 'transient');
    yield {
      level: 'ok',
      subject: 'machines',
      message: 'simulated: no real resources are used or sold',
    };
  }

  #installTiming(): InstallTiming {
    return { now: this.#clock.now(), installS: this.#installS };
  }

  async #throwArmedFault(verb: keyof ComputeDriver, fault: ComputeFault): Promise<void> {
    if (await this.#faults.consume('compute', verb)) throw new ComputeError(fault, 'simulated fault');
  }
}

type ObservedRow = MachineTimes & {
  readonly id: string;
  readonly host: string | null;
  readonly generation: number | null;
  readonly down: boolean;
};
