/**
 * One compute driver made of many: the driver of this machine, and those of the inventory's backends. Each
 * call goes to the backend that has the machine, volume, or snapshot (`route.ts`); questions about many
 * machines go to all of them side by side (`gather.ts`). While there are no backends, calls go straight to
 * the local driver.
 */
import type { Duplex } from 'node:stream';
import type { Logger } from '../../../kernel/logger.ts';
import type { Backend, BackendDirectory } from '../../../ports/backends.ts';
import type { ComputeDriver } from '../../../ports/compute.ts';
import { composeCopies } from './copies.ts';
import { composeQuestions, type FleetQuestions } from './facts.ts';
import { passFile, sendFile } from './files.ts';
import { Gather } from './gather.ts';
import type { BackendDriver, RemoteCompute } from './link.ts';
import { type FindIso, LocalFiles } from './local-files.ts';
import { composeMoves } from './moves.ts';
import { BackendRegistry } from './registry.ts';
import { Route } from './route.ts';

export interface ComposedOptions {
  readonly local: ComputeDriver;
  readonly directory: BackendDirectory;
  /** Opens the driver of a backend. It connects when it is first called. */
  open(backend: Backend): BackendDriver;
  /** Absent: the local driver has all files on its disk. */
  readonly findIso?: FindIso;
  readonly log: Logger;
}

/** `hosts`, `images`, and `examine` are those of this machine; so are `capabilities`, which all share. */
export function composeCompute({
  local,
  directory,
  open,
  findIso,
  log,
}: ComposedOptions): RemoteCompute & { readonly questions: FleetQuestions } {
  const registry = new BackendRegistry({ directory, open, log });
  const route = new Route({
    local,
    directory,
    registry,
    localFiles: findIso === undefined ? null : new LocalFiles({ local, findIso, log }),
  });
  const gather = new Gather({ local, directory, registry, log });
  return {
    name: local.name,
    capabilities: local.capabilities,
    hosts: local.hosts,
    images: local.images,
    moves: composeMoves({ local, directory, registry }),
    ...(local.copies && { copies: composeCopies({ local, directory, registry, route }) }),
    seizeVolume: (id, host) => route.seizeVolume(id, host),
    seizeDisk: (id, host) => route.seizeDisk(id, host),
    revive: (spec) => route.revive(spec),
    sendFile: (backend, file) => sendFile(registry, backend, file),
    passFile: (file, backends) => passFile(registry, file, backends),
    ensure: (spec) => route.ensure(spec),
    remove: (id) => route.remove('machine', id, (driver) => driver.remove(id)),
    power: (id, action) => route.send('machine', id, (driver) => driver.power(id, action)),
    observe: (ids) => gather.observe(ids),
    rebuild: (spec) => route.rebuild(spec),
    restore: (spec, snapshotId) => route.restore(spec, snapshotId),
    resize: (id, size) => route.send('machine', id, (driver) => driver.resize(id, size)),
    setIso: (id, drive) => route.setIso(id, drive),
    rescue: (id, access) => route.rescue(id, access),
    console: (id): Promise<Duplex> => route.send('machine', id, (driver) => driver.console(id)),
    sample: (ids, since) => gather.sample(ids, since),
    sampleMinutes: (ids, since) => gather.sampleMinutes(ids, since),
    samplePackets: (ids) => gather.samplePackets(ids),
    attach: (machineId, volume) => route.attach(machineId, volume),
    detach: (id) => route.send('volume', id, (driver) => driver.detach(id)),
    grow: (id, sizeGb) => route.send('volume', id, (driver) => driver.grow(id, sizeGb)),
    removeVolume: (id) => route.remove('volume', id, (driver) => driver.removeVolume(id)),
    snapshot: (machineId, id) =>
      route.sendSnapshot(machineId, id, (driver) => driver.snapshot(machineId, id)),
    removeSnapshot: (id) => route.remove('snapshot', id, (driver) => driver.removeSnapshot(id)),
    filter: (id, filter) => route.send('machine', id, (driver) => driver.filter(id, filter)),
    traffic: (id, traffic) => route.send('machine', id, (driver) => driver.traffic(id, traffic)),
    list: () => gather.list(),
    superviseMachines: (blocks) => gather.superviseMachines(blocks),
    examine: (expected) => local.examine(expected),
    questions: composeQuestions({ local, registry }),
    close: () => registry.close(),
  };
}
