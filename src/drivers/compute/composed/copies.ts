/** Copies of snapshots: calls go to the backend of the snapshot, and `fetchCopy` to that of its host. */
import { type BackendDirectory, LOCAL_BACKEND } from '../../../ports/backends.ts';
import { type ComputeDriver, ComputeError } from '../../../ports/compute.ts';
import type { SnapshotCopies } from '../../../ports/copies.ts';
import { COPIES_VERSION } from '../host/wire.ts';
import type { BackendDriver } from './link.ts';
import type { BackendRegistry } from './registry.ts';
import type { Route } from './route.ts';

interface CopiesParts {
  readonly local: ComputeDriver;
  readonly directory: Pick<BackendDirectory, 'find' | 'findBackendOfHost' | 'claim' | 'release'>;
  readonly registry: BackendRegistry;
  readonly route: Route;
}

export function composeCopies({ local, directory, registry, route }: CopiesParts): SnapshotCopies {
  const driverAt = async (place: string): Promise<ComputeDriver & Pick<BackendDriver, 'protocol'>> => {
    if (place === LOCAL_BACKEND) return local;
    const link = (await registry.links()).get(place);
    if (link) return link.driver;
    throw new ComputeError('transient', `backend ${place} is not in use`);
  };
  /**
   * A copy on another host, or a part of one, goes first: one host has a snapshot. The caller made sure that
   * no one needs it there.
   */
  const claim = async (id: string, host: string): Promise<ComputeDriver> => {
    const wanted = await directory.findBackendOfHost(host);
    await requireCopies(await driverAt(wanted), host);
    const place = (await directory.find('snapshot', [id])).get(id) ?? LOCAL_BACKEND;
    if (place !== wanted) {
      await (await driverAt(place)).removeSnapshot(id);
      await directory.release('snapshot', id, place);
    }
    const claimed = wanted === LOCAL_BACKEND ? wanted : await directory.claim('snapshot', id, wanted);
    if (claimed !== wanted) throw new ComputeError('transient', 'another host is fetching the snapshot');
    return await driverAt(wanted);
  };
  return {
    prepareCopy: (id) => route.send('snapshot', id, (driver) => copiesOf(driver).prepareCopy(id)),
    sendCopy: (id, parts) => route.send('snapshot', id, (driver) => copiesOf(driver).sendCopy(id, parts)),
    forgetCopy: (id) => route.send('snapshot', id, (driver) => copiesOf(driver).forgetCopy(id)),
    fetchCopy: async (id, snapshot, copy) => {
      const driver = (await registry.isLocalOnly()) ? local : await claim(id, snapshot.host);
      return await copiesOf(driver).fetchCopy(id, snapshot, copy);
    },
  };
}

async function requireCopies(driver: Pick<BackendDriver, 'protocol'>, host: string): Promise<void> {
  const version = (await driver.protocol?.()) ?? COPIES_VERSION;
  if (version < COPIES_VERSION)
    throw new ComputeError('refused', `host ${host} cannot fetch snapshots: update Skerry on ${host}`);
}

function copiesOf({ copies }: ComputeDriver): SnapshotCopies {
  if (!copies) throw new ComputeError('refused', 'this host cannot copy snapshots');
  return copies;
}
