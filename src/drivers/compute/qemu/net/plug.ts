/** The network of one machine on this host, all of it from its record. */
import type { QemuHost } from '../host.ts';
import type { MachineRecord } from '../record.ts';
import { limitSpeed, removeEgressLink } from './limits.ts';
import { ensureLink, linkBatch, linkSettings, removeLink, toMachineLink } from './link.ts';
import { machineRules, removeMachineRules } from './ruleset.ts';

/**
 * Makes the machine's tap, routes, guard against spoofing, filter and limits be as its record says; may run again at any
 * time, also while the machine runs.
 */
export async function plugNetwork(host: QemuHost, record: MachineRecord): Promise<void> {
  const link = toMachineLink(host, record.spec);
  // The guard stands before there is anything to guard.
  await applyRuleset(host, machineRules(link, record.filter, record.traffic));
  await ensureLink(host, link.tap, 'tap');
  await host.runInNet('sysctl', ['-q', '-w', ...linkSettings(link.tap)]);
  await limitSpeed(host, link.tap, record.traffic.bitsPerS);
  await host.runInNet('ip', ['-batch', '-'], { input: linkBatch(link) });
}

/** Takes all of that away; what is not there is fine. */
export async function unplugNetwork(host: QemuHost, id: string): Promise<void> {
  const tap = host.tap(id);
  await removeLink(host, tap);
  await removeEgressLink(host, tap);
  await applyRuleset(host, removeMachineRules(tap));
}

/**
 * One transaction of the packet filter, one after another on this host: of several at once nft lets only the first
 * through, and the others begin afresh. Whoever holds a machine's lock takes this one after it, never the other way.
 */
export async function applyRuleset(host: QemuHost, text: string): Promise<void> {
  await host.withHostLock('network', () => host.runInNet('nft', ['-f', '-'], { input: text }));
}
