/** Checks whether this machine can run guests: first its system, then by booting some. */
import type { ExpectedResources, HostFinding } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { checkAnnouncement } from './announcement.ts';
import { bootImages } from './boot-images.ts';
import { bootTestSector } from './boot-test-sector.ts';
import { checkSharedStorage } from './shared-storage.ts';
import { checkBlackholes, checkCapacity, HOST_CHECKS, IMAGE_CHECKS } from './system.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function* examineHost(host: QemuHost, promised: ExpectedResources): AsyncIterable<HostFinding> {
  if (host.options.keepsOnlyImages) {
    yield { level: 'ok', subject: 'machines', message: 'on other hosts (SKERRY_COMPUTE=hosts)' };
    for (const check of IMAGE_CHECKS) yield* await check(host);
    return;
  }
  let hasFailure = false;
  for (const check of [...HOST_CHECKS, checkSharedStorage]) {
    for (const finding of await check(host)) {
      hasFailure ||= finding.level === 'fail';
      yield finding;
    }
  }
  yield* await checkCapacity(host, promised);
  yield* await checkBlackholes(host, promised);
  yield* await checkAnnouncement(host);
  if (hasFailure) {
    yield { level: 'note', subject: 'boot', message: 'skipped until the failed checks pass' };
    return;
  }
  yield* stopOnSignal((signal) => bootChecks(host, signal));
}

async function* bootChecks(host: QemuHost, signal: AbortSignal): AsyncIterable<HostFinding> {
  const first = await bootTestSector(host, signal);
  yield first;
  if (first.level === 'ok') yield* bootImages(host, signal);
}

/**
 * Aborts the work on a signal, since its child processes must not outlive it. Waits for its cleanup, and then
 * sends the signal to this process again.
 */
export async function* stopOnSignal<T>(work: (signal: AbortSignal) => AsyncIterable<T>): AsyncGenerator<T> {
  const controller = new AbortController();
  let received: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    received = signal;
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    yield* work(controller.signal);
  } catch (error) {
    if (received === undefined) throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    if (received !== undefined) process.kill(process.pid, received);
  }
}
