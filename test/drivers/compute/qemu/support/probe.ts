/**
 * Determines what happens to a real packet. A counter behind all filters of the host shows whether the packet
 * passed, so a closed port of the guest does not count as a rejection. Accepted: it passed. Rejected: it did
 * not pass but was answered. Dropped: neither.
 */
import assert from 'node:assert/strict';
import type { FilterRule } from '../../../../../src/ports/network.ts';
import type { Packet } from '../../evaluate-filter.ts';
import type { NetFixture } from './net-fixture.ts';

/** A guest without KVM on a busy machine is slow. */
const ANSWER_MAX_MS = 3_000;

/** Sends one packet with this source. Prints `answer`, `refused`, or `silence`. */
const SEND = `
const [proto, from, to, port, waitMs] = process.argv.slice(1);
const say = (word) => { console.log(word); process.exit(0); };
setTimeout(() => say('silence'), Number(waitMs));
const failed = (error) => say(/REFUSED|UNREACH|EACCES|EPERM|RESET/.test(error.code) ? 'refused' : error.code);
if (proto === 'tcp') {
  require('node:net').connect({ host: to, port: Number(port), localAddress: from })
    .on('error', failed).on('connect', () => say('answer'));
} else {
  const socket = require('node:dgram').createSocket(to.includes(':') ? 'udp6' : 'udp4').on('error', failed);
  socket.on('message', () => say('answer')).bind(0, from, () =>
    socket.connect(Number(port), to, () => { socket.send('x'); setTimeout(() => socket.send('x'), 300); }));
}`;

type Answer = 'answer' | 'refused' | 'silence';

interface Target {
  readonly address: string;
  readonly tap: string;
}

let probes = 0;

/** Sends a packet from outside to a machine. */
export async function probeInbound(
  fixture: NetFixture,
  packet: Packet,
  target: Target,
): Promise<FilterRule['action']> {
  assert.equal(packet.direction, 'in', 'only inbound packets can be probed');
  await fixture.addPeer(packet.remote);
  const table = `probe_${probes++}`;
  await fixture.runInRouter('nft', ['-f', '-'], { input: counterTable(table, packet, target.tap) });
  try {
    const answer = await send(fixture, packet, target.address);
    const [passed, refused] = await Promise.all(
      ['passed', 'refused'].map((name) => hasCounted(fixture, table, name)),
    );
    if (passed) {
      assert.ok(
        packet.proto !== 'tcp' || answer !== 'silence',
        'the packet passed, but the guest did not answer',
      );
      return 'accept';
    }
    return answer === 'refused' || refused ? 'reject' : 'drop';
  } finally {
    await fixture.runInRouter('nft', ['delete', 'table', 'inet', table]);
  }
}

async function hasCounted(fixture: NetFixture, table: string, name: string): Promise<boolean> {
  return !/packets 0 /.test(await fixture.runInRouter('nft', ['list', 'counter', 'inet', table, name]));
}

function counterTable(table: string, { proto, port, remote }: Packet, tap: string): string {
  const [ip, icmp] = remote.includes(':') ? ['ip6', 'icmpv6'] : ['ip', 'icmp'];
  const what = proto === 'icmp' ? `${icmp} type echo-request` : `${proto} dport ${port}`;
  return `table inet ${table} {
    counter passed {}
    counter refused {}
    chain out {
      type filter hook postrouting priority 300
      oifname "${tap}" ${ip} saddr ${remote} ${what} counter name passed
      oifname "wire" ${ip} daddr ${remote} ${icmp} type destination-unreachable counter name refused
    }
  }\n`;
}

async function send(fixture: NetFixture, { proto, port, remote }: Packet, to: string): Promise<Answer> {
  assert.notEqual(proto, 'other', 'such a packet cannot be sent');
  if (proto === 'icmp') return await ping(fixture, remote, to);
  const words = ['-e', SEND, proto, remote, to, String(port), String(ANSWER_MAX_MS)];
  const said = (await fixture.runOutside(process.execPath, words)).trim();
  assert.match(said, /^(answer|refused|silence)$/);
  return said as Answer;
}

/** busybox does not report a rejection; the counters do. */
async function ping(fixture: NetFixture, from: string, to: string): Promise<Answer> {
  const applet = from.includes(':') ? 'ping6' : 'ping';
  const words = [applet, '-c', '1', '-W', '2', '-I', from, to];
  return await fixture.runOutside('/bin/busybox', words).then(
    () => 'answer',
    () => 'silence',
  );
}
