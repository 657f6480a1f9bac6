/** Sets up the network of one machine from its record. */
import type { QemuHost } from '../host.ts';
import type { MachineRecord } from '../record.ts';
import { limitSpeed, removeEgressLink } from './limits.ts';
import { ensureLink, linkBatch, linkSettings, removeLink, toMachineLink } from './link.ts';
import { machineRules, removeMachineRules } from './ruleset.ts';

/**
 * Creates any missing part of the machine's tap, routes, spoofing guard, filter, and limits. Safe to repeat
 * at any time, also while the machine runs.
 */
export async function plugNetwork(host: QemuHost, record: MachineRecord): Promise<void> {
  const link = toMachineLink(host, record.spec);
  // Install the guard first: the tap must never exist without it.
  await applyRuleset(host, machineRules(link, record.filter, record.traffic));
  await ensureLink(host, link.tap, 'tap');
  await host.runInNet('sysctl', ['-q', '-w', ...linkSettings(link.tap)]);
  await limitSpeed(host, link.tap, record.traffic.bitsPerS);
  await host.runInNet('ip', ['-batch', '-'], { input: linkBatch(link) });
}

/** Removes everything that `plugNetwork` created. Missing parts are not an error. */
export async function unplugNetwork(host: QemuHost, id: string): Promise<void> {
  const tap = host.tap(id);
  await removeLink(host, tap);
  await removeEgressLink(host, tap);
  await applyRuleset(host, removeMachineRules(tap));
}

/**
 * Applies one packet filter transaction. They run one at a time on this host: of several concurrent ones, nft
 * commits the first and the others start over. Lock order: a machine's lock comes before this one.
 */
export async function applyRuleset(host: QemuHost, text: string): Promise<void> {
  await host.withHostLock('network', () => host.runInNet('nft', ['-f', '-'], { input: text }));
}
