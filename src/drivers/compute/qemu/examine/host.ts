/** Checks whether this machine can run guests: first its system, then by booting some. */
import type { ExpectedResources, HostFinding } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { bootImages } from './boot-images.ts';
import { bootTestSector } from './boot-test-sector.ts';
import { checkLimits, checkPrograms, checkUser } from './programs.ts';
import type { DriverFactory } from './scratch.ts';
import { stopOnSignal } from './stop-on-signal.ts';
import {
  checkBlackholes,
  checkCapacity,
  checkDevices,
  checkForwarding,
  checkKernel,
  checkRoutes,
  checkSpace,
} from './system.ts';

type HostCheck = (host: QemuHost) => Promise<readonly HostFinding[]>;

/** Ordered by dependency. */
const HOST_CHECKS: readonly HostCheck[] = [
  checkUser,
  checkPrograms,
  checkDevices,
  checkKernel,
  checkForwarding,
  checkRoutes,
  checkLimits,
  checkSpace,
];

export async function* examineHost(
  host: QemuHost,
  {
    promised,
    another: createDriver,
  }: { readonly promised: ExpectedResources; readonly another: DriverFactory },
): AsyncIterable<HostFinding> {
  let hasFailure = false;
  for (const check of HOST_CHECKS) {
    for (const finding of await check(host)) {
      hasFailure ||= finding.level === 'fail';
      yield finding;
    }
  }
  yield* await checkCapacity(host, promised);
  yield* await checkBlackholes(host, promised);
  if (hasFailure) {
    yield { level: 'note', subject: 'boot', message: 'skipped until the failed checks pass' };
    return;
  }
  yield* stopOnSignal((signal) => bootChecks(host, createDriver, signal));
}

async function* bootChecks(
  host: QemuHost,
  createDriver: DriverFactory,
  signal: AbortSignal,
): AsyncIterable<HostFinding> {
  const first = await bootTestSector(host, signal);
  yield first;
  if (first.level === 'ok') yield* bootImages(host, createDriver, signal);
}
