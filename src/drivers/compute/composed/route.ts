/**
 * Finds the backend of a machine, volume, or snapshot, and sends calls there. Calls for one id leave in the
 * order they arrived, as the port requires: finding the backend takes a query, and a later call must not
 * overtake an earlier one.
 */
import { KeyedMutex } from '../../../kernel/keyed-mutex.ts';
import { type BackendDirectory, LOCAL_BACKEND, type PlacedKind } from '../../../ports/backends.ts';
import {
  type ComputeDriver,
  ComputeError,
  type IsoDrive,
  type MachineSpec,
  MissingFile,
  type RescueAccess,
  type VolumeSpec,
} from '../../../ports/compute.ts';
import type { WantedFile } from '../../../ports/host-files.ts';
import type { BackendLink } from './link.ts';
import type { LocalFiles } from './local-files.ts';
import type { BackendRegistry } from './registry.ts';

export interface RouteParts {
  readonly local: ComputeDriver;
  readonly directory: BackendDirectory;
  readonly registry: BackendRegistry;
  /** Null: this machine has all files on its disk. */
  readonly localFiles: LocalFiles | null;
}

type Call<T> = (driver: ComputeDriver) => Promise<T>;

export class Route {
  readonly #parts: RouteParts;
  readonly #order = new KeyedMutex();

  constructor(parts: RouteParts) {
    this.#parts = parts;
  }

  /** Sends the call to the backend that has it, or to the local one. */
  async send<T>(kind: PlacedKind, id: string, call: Call<T>): Promise<T> {
    return await this.#inOrder(kind, id, async () => this.#driver(await this.#place(kind, id)), call);
  }

  /** Sends a removal, and forgets the place once it succeeded. */
  async remove(kind: PlacedKind, id: string, call: Call<void>): Promise<void> {
    const { directory } = this.#parts;
    let place = LOCAL_BACKEND;
    const locate = async () => {
      place = (await directory.find(kind, [id])).get(id) ?? LOCAL_BACKEND;
      return this.#driver(place);
    };
    await this.#inOrder(kind, id, locate, call, { always: kind === 'volume' });
    if (kind === 'volume' || !(await this.#isLocalOnly())) await directory.release(kind, id, place);
  }

  /** Sends `ensure` to the backend of the spec's host. Refused while another backend has the machine. */
  async ensure(spec: MachineSpec): Promise<void> {
    const locate = async () => {
      const place = await this.#claimMachine(spec);
      if (spec.snapshotId !== undefined) await this.#requireSnapshot(spec.snapshotId, spec, place);
      return place;
    };
    await this.#callWithFile(spec.id, locate, fileOf(spec), (driver) => driver.ensure(spec));
  }

  async rebuild(spec: MachineSpec): Promise<void> {
    const locate = () => this.#place('machine', spec.id);
    await this.#callWithFile(spec.id, locate, fileOf(spec), (driver) => driver.rebuild(spec));
  }

  async setIso(id: string, drive: IsoDrive): Promise<void> {
    const file = drive.iso && ({ kind: 'iso', imageSha256: drive.iso.sha256 } as const);
    const locate = () => this.#place('machine', id);
    await this.#callWithFile(id, locate, file, (driver) => driver.setIso(id, drive));
  }

  async rescue(id: string, access: RescueAccess): Promise<void> {
    const image = (await this.#parts.local.images?.rescue()) ?? null;
    const file = image === null ? null : ({ kind: 'rescue', imageSha256: image.sha256 } as const);
    const locate = () => this.#place('machine', id);
    await this.#callWithFile(id, locate, file, (driver) => driver.rescue(id, access));
  }

  /** If the host lacks the file, asks for it and throws `waiting`. */
  async #callWithFile(
    id: string,
    locate: () => Promise<string>,
    file: WantedFile | null,
    call: Call<void>,
  ): Promise<void> {
    let place = LOCAL_BACKEND;
    const locateDriver = async () => {
      place = await locate();
      return this.#driver(place);
    };
    try {
      await this.#inOrder('machine', id, locateDriver, call);
    } catch (error) {
      throw await requestMissingFile(this.#parts, { error, place, file });
    }
  }

  /**
   * A volume without an entry is nowhere: otherwise another backend could create an empty one. A shared
   * volume is everywhere in its region, and its entry is the backend that had it last.
   */
  async attach(machineId: string, volume: VolumeSpec): Promise<void> {
    const locate = async () => {
      const wanted = await this.#place('machine', machineId);
      await this.#bringVolume(volume, wanted);
      return this.#driver(wanted);
    };
    const call = (driver: ComputeDriver) => driver.attach(machineId, volume);
    await this.#inOrder('volume', volume.id, locate, call, { always: true });
  }

  /** Sends it to the backend of the host, which answers for the volume from then on. */
  async seizeVolume(volumeId: string, host: string): Promise<void> {
    const { directory } = this.#parts;
    const wanted = await directory.findBackendOfHost(host);
    const call = async (driver: ComputeDriver) => {
      if (driver.seizeVolume === null) throw noSharedStorage(host);
      await driver.seizeVolume(volumeId, host);
      const place = (await directory.find('volume', [volumeId])).get(volumeId);
      if (place !== undefined) await directory.move('volume', volumeId, { from: place, to: wanted });
    };
    await this.#inOrder('volume', volumeId, async () => this.#driver(wanted), call, { always: true });
  }

  /** Does the same with the disk of a machine, whose removal then goes there. */
  async seizeDisk(machineId: string, host: string): Promise<void> {
    const { directory } = this.#parts;
    const wanted = await directory.findBackendOfHost(host);
    const call = async (driver: ComputeDriver) => {
      if (driver.seizeDisk === null) throw noSharedStorage(host);
      await driver.seizeDisk(machineId, host);
      const place = (await directory.find('machine', [machineId])).get(machineId);
      if (place === undefined) await directory.claim('machine', machineId, wanted);
      else await directory.move('machine', machineId, { from: place, to: wanted });
    };
    await this.#inOrder('machine', machineId, async () => this.#driver(wanted), call);
  }

  /** The disk is in the cluster, so the backend of the spec's host gets the machine. No other is asked. */
  async revive(spec: MachineSpec): Promise<void> {
    const { directory } = this.#parts;
    const wanted = await directory.findBackendOfHost(spec.host);
    const locate = async () => {
      const place = await directory.claim('machine', spec.id, wanted);
      if (place !== wanted) throw onOtherBackend('machine');
      return this.#driver(wanted);
    };
    await this.#inOrder('machine', spec.id, locate, async (driver) => {
      if (driver.revive === null) throw noSharedStorage(spec.host);
      await driver.revive(spec);
    });
  }

  /** Sends `snapshot` to the backend of the snapshot, which survives its machine, or of the machine. */
  async sendSnapshot<T>(machineId: string, snapshotId: string, call: Call<T>): Promise<T> {
    const locate = async () => {
      const { directory } = this.#parts;
      const taken = (await directory.find('snapshot', [snapshotId])).get(snapshotId);
      const place = taken ?? (await this.#place('machine', machineId));
      if (taken === undefined && place !== LOCAL_BACKEND)
        await directory.claim('snapshot', snapshotId, place);
      return this.#driver(place);
    };
    return await this.#inOrder('machine', machineId, locate, call);
  }

  async restore(spec: MachineSpec, snapshotId: string): Promise<void> {
    const locate = async () => {
      const wanted = await this.#place('machine', spec.id);
      await this.#requireSnapshot(snapshotId, spec, wanted);
      return this.#driver(wanted);
    };
    await this.#inOrder('machine', spec.id, locate, (driver) => driver.restore(spec, snapshotId));
  }

  /** Refuses a snapshot of another backend. A shared one can be read on every host of its region. */
  async #requireSnapshot(id: string, { sharedDisk }: MachineSpec, place: string): Promise<void> {
    const taken = (await this.#parts.directory.find('snapshot', [id])).get(id);
    if (taken !== undefined && taken !== place && !sharedDisk) throw onOtherBackend('snapshot');
  }

  /**
   * Returns the backend that may run the machine. The entry comes before the call: a process that is killed
   * in between leaves one too many, which the next removal deletes.
   */
  async #claimMachine({ id, host }: MachineSpec): Promise<string> {
    const { local, directory } = this.#parts;
    const wanted = await directory.findBackendOfHost(host);
    const known = (await directory.find('machine', [id])).get(id);
    if (known === undefined && wanted !== LOCAL_BACKEND) {
      // Nothing can exist there yet, so another host may be tried at once.
      if (this.#link(wanted)?.isAway ?? true)
        throw new ComputeError('host', `host ${host} is not responding`);
      // A machine older than the first backend has no entry.
      const [seen] = await local.observe([id]);
      if (seen?.state !== 'absent') throw onOtherBackend('machine');
    }
    const place = known ?? (await directory.claim('machine', id, wanted));
    if (place !== wanted) throw onOtherBackend('machine');
    return place;
  }

  async #bringVolume({ id, shared }: VolumeSpec, wanted: string): Promise<void> {
    const { directory } = this.#parts;
    const place = await directory.claim('volume', id, wanted);
    if (place === wanted) return;
    if (!shared) throw onOtherBackend('volume');
    await this.#driver(place).detach(id);
    await directory.move('volume', id, { from: place, to: wanted });
  }

  async #place(kind: PlacedKind, id: string): Promise<string> {
    if (await this.#isLocalOnly()) return LOCAL_BACKEND;
    return (await this.#parts.directory.find(kind, [id])).get(id) ?? LOCAL_BACKEND;
  }

  async #isLocalOnly(): Promise<boolean> {
    return await this.#parts.registry.isLocalOnly();
  }

  #link(place: string): BackendLink | undefined {
    return this.#parts.registry.linkTo(place);
  }

  /** Throws for a backend that the inventory no longer lists: what it has is out of reach, not absent. */
  #driver(place: string): ComputeDriver {
    if (place === LOCAL_BACKEND) return this.#parts.local;
    const link = this.#link(place);
    if (link) return link.driver;
    throw new ComputeError('transient', `backend ${place} is not in use`);
  }

  /** Calls the local driver directly if there is no other backend, unless `always`. */
  async #inOrder<T>(
    kind: PlacedKind,
    id: string,
    locate: () => Promise<ComputeDriver>,
    call: Call<T>,
    { always = false }: { readonly always?: boolean } = {},
  ): Promise<T> {
    const { local } = this.#parts;
    if ((await this.#isLocalOnly()) && !always) return await call(local);
    const started = await this.#order.runExclusive(`${kind} ${id}`, async () => {
      const result = call(await locate());
      // Awaited below: a rejection in between is not unhandled.
      result.catch(() => undefined);
      return { result };
    });
    return await started.result;
  }
}

function fileOf({ image, snapshotId }: MachineSpec): WantedFile | null {
  if (snapshotId !== undefined) return null;
  if (image.iso !== null) return { kind: 'iso', imageSha256: image.iso.sha256 };
  return image.base === null ? null : { kind: 'disk', imageSha256: image.base };
}

/**
 * Asks for the file if the call failed because the backend lacks it, and returns the error to throw. The name
 * of the file comes from the wanted state, never from the host, which must not get another customer's image.
 */
async function requestMissingFile(
  { directory, localFiles }: Pick<RouteParts, 'directory' | 'localFiles'>,
  call: { readonly error: unknown; readonly place: string; readonly file: WantedFile | null },
): Promise<unknown> {
  const { error, place, file } = call;
  if (!(error instanceof MissingFile) || file === null) return error;
  if (place === LOCAL_BACKEND)
    return file.kind === 'iso' ? (localFiles?.request(file.imageSha256) ?? error) : error;
  const fault = await directory.requestFile(place, file);
  if (fault === 'host') return new ComputeError('host', 'the host has no space for the image');
  return fault === 'refused' ? error : new ComputeError('waiting', 'the host is receiving the image');
}

function noSharedStorage(host: string): ComputeError {
  return new ComputeError('refused', `${host} has no shared storage`);
}

function onOtherBackend(kind: PlacedKind): ComputeError {
  return new ComputeError('refused', `the ${kind} exists on another host`);
}
