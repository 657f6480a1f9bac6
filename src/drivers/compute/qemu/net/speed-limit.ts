/**
 * Limits the speed of a machine to `Traffic.bitsPerS`. Inbound traffic waits in a queue of its tap. Outbound
 * traffic is redirected through a separate interface, because Linux can only queue packets that leave an
 * interface, and policing by drops is inaccurate.
 */
import type { QemuHost } from '../host.ts';
import { ensureIfb, hasLink, removeLink } from './link.ts';

/**
 * Burst size: the traffic of a hundredth of a second, but at least a few packets. The minimum applies below
 * 26 Mbit/s.
 */
const BURST_PER_S = 100;
const BURST_MIN_BYTES = 32 * 1024;
/** Packets that would wait longer are dropped. */
const QUEUE_MS = 100;

/** Sets the speed of both directions of a plugged machine. Null removes the limit. */
export async function limitSpeed(host: QemuHost, tap: string, bitsPerS: number | null): Promise<void> {
  if (bitsPerS === null) return await removeLimit(host, tap);
  if (!(Number.isSafeInteger(bitsPerS) && bitsPerS > 0)) throw new Error('invalid speed limit');
  const egressLink = egressLinkName(tap);
  await ensureIfb(host, egressLink);
  await host.runInNet('ip', ['link', 'set', 'dev', egressLink, 'up']);
  await host.runInNet('tc', ['-batch', '-'], { input: limitBatch(tap, egressLink, bitsPerS) });
}

/** Deletes the outbound interface, which would outlive a deleted tap. */
export async function removeEgressLink(host: QemuHost, tap: string): Promise<void> {
  await removeLink(host, egressLinkName(tap));
}

/** The interface for the machine's outbound traffic. */
function egressLinkName(tap: string): string {
  return `${tap.slice(0, 1)}o${tap.slice(2)}`;
}

function limitBatch(tap: string, egressLink: string, bitsPerS: number): string {
  const burstBytes = Math.max(BURST_MIN_BYTES, Math.ceil(bitsPerS / 8 / BURST_PER_S));
  const queue = `root handle 1: tbf rate ${bitsPerS}bit burst ${burstBytes} latency ${QUEUE_MS}ms`;
  const lines = [
    `qdisc replace dev ${tap} ${queue}`,
    `qdisc replace dev ${egressLink} ${queue}`,
    `qdisc replace dev ${tap} ingress`,
    `filter replace dev ${tap} ingress pref 1 handle 800::800 protocol all u32 match u32 0 0 ` +
      `action mirred egress redirect dev ${egressLink}`,
  ];
  return `${lines.join('\n')}\n`;
}

async function removeLimit(host: QemuHost, tap: string): Promise<void> {
  const queues = await host.runInNet('tc', ['qdisc', 'show', 'dev', tap]);
  const lines = [
    ...(/^qdisc ingress /m.test(queues) ? [`qdisc del dev ${tap} ingress`] : []),
    ...(/^qdisc tbf .* root /m.test(queues) ? [`qdisc del dev ${tap} root`] : []),
  ];
  if (lines.length > 0) await host.runInNet('tc', ['-batch', '-'], { input: `${lines.join('\n')}\n` });
  if (lines.length > 0 || (await hasLink(host, egressLinkName(tap)))) await removeEgressLink(host, tap);
}
