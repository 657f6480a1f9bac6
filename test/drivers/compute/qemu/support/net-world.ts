/**
 * A host of guests without guests: a network namespace with an uplink, and one link per guest whose host side
 * has the name of its tap. Nothing answers at the far ends, so every frame that is seen there passed the
 * host.
 */

import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { QemuHost } from '../../../../../src/drivers/compute/qemu/host.ts';
import { plugNetwork, unplugNetwork } from '../../../../../src/drivers/compute/qemu/net/network.ts';
import {
  type MachineRecord,
  readRecord,
  writeRecord,
} from '../../../../../src/drivers/compute/qemu/record.ts';
import { createLogger } from '../../../../../src/kernel/logger.ts';
import { findProgram, skipUnlessInstalled } from '../../../../support/installed-programs.ts';
import { FULL_ONLY } from '../../../../support/runs.ts';
import { type Endpoints, frame, ipPayload, isRejection, tooBig } from './frames.ts';

/** Everything here creates namespaces. */
const allowed =
  process.getuid?.() === 0 && ['nft', 'tc', 'ip', 'python3'].every((name) => findProgram([name]));
export const NET_SKIP =
  FULL_ONLY.skip || skipUnlessInstalled(allowed ? '' : null, 'needs root, nftables and iproute2');

const UPLINK = { router: '02:00:00:00:00:01', outside: '02:00:00:00:00:02' };

export interface Guest {
  readonly id: string;
  readonly tap: string;
  readonly mac: string;
  readonly ipv4: string;
  readonly ipv6: string;
  /** MAC address of the host's side, the guest's gateway. */
  readonly gatewayMac: string;
  readonly record: MachineRecord;
}

export type Verdict = 'accept' | 'drop' | 'reject';
/** A frame with the far end where it is sent or was seen: `outside` or a guest's id. */
export type Seen = readonly [at: string, bytes: Buffer];
export type Layer4 = (ends: Endpoints) => readonly [proto: number, bytes: Buffer];

export class NetWorld {
  readonly host: QemuHost;
  readonly guests: readonly Guest[];
  readonly #folder: string;
  readonly #ends: string;
  #wire: ChildProcessWithoutNullStreams | undefined;
  #lines: AsyncIterator<string> | undefined;
  #tokens = 0;

  private constructor(host: QemuHost, folder: string, ends: string, guests: readonly Guest[]) {
    this.host = host;
    this.#folder = folder;
    this.#ends = ends;
    this.guests = guests;
  }

  static async create(count = 1): Promise<NetWorld> {
    const folder = await mkdtemp(join(tmpdir(), 'skerry-net-'));
    const [, unique = ''] = /skerry-net-(.*)$/.exec(folder) ?? [];
    const netns = `sknet-${unique}`;
    const host = new QemuHost({
      dir: folder,
      hosts: ['one'],
      accelerator: 'tcg',
      netns,
      // 198.18.0.0/15 is for tests, also for ours.
      allowPrivate: ['10.7.0.0/16', '198.18.0.0/15', 'fd00:7::/64'],
      log: createLogger('silent'),
    });
    const guests = Array.from({ length: count }, (_, index) => guestOf(host, index + 1));
    const world = new NetWorld(host, folder, `${netns}-ends`, guests);
    try {
      await world.#setup(netns);
      return world;
    } catch (error) {
      await world.close().catch(() => undefined);
      throw error;
    }
  }

  get router(): string {
    return this.host.options.netns ?? '';
  }
  /** The namespace of all far ends. */
  get ends(): string {
    return this.#ends;
  }

  guest(number = 1): Guest {
    const guest = this.guests[number - 1];
    assert.ok(guest);
    return guest;
  }

  /** Stores the record with these changes and plugs the machine. */
  async plug(guest: Guest, changes: Partial<MachineRecord> = {}): Promise<void> {
    const kept = (await readRecord(this.host.layout, guest.id)) ?? guest.record;
    const record = { ...kept, ...changes };
    await writeRecord(this.host.layout, record);
    await plugNetwork(this.host, record);
  }

  /** Sends the frames in order and returns all that arrived by the time that later markers arrived. */
  async exchange(send: readonly Seen[]): Promise<Seen[]> {
    const tokens = this.guests.map(() => Buffer.from(`token-${++this.#tokens}-`.padEnd(24, '.')));
    const markers = this.guests.flatMap((guest, index) => {
      const token = tokens[index] ?? Buffer.alloc(0);
      const wayIn = Buffer.concat([token, Buffer.from('in')]);
      const wayOut = Buffer.concat([token, Buffer.from('ou')]);
      return [
        ['outside', this.inward(guest, '2001:db8:99::99', tooBig(wayIn)), wayIn],
        [guest.id, this.outward(guest, '2001:db8:99::99', tooBig(wayOut)), wayOut],
      ] as const;
    });
    const order = {
      send: [...send, ...markers].map(([at, bytes]) => [at, bytes.toString('hex')]),
      until: markers.map(([, , token]) => token.toString('hex')),
    };
    const arrived = await this.#request(order);
    return arrived.filter(([, bytes]) => !tokens.some((token) => bytes.includes(token)));
  }

  /** Returns a frame from an outside address to the guest. */
  inward(guest: Guest, remote: string, l4: Layer4): Buffer {
    const to = remote.includes(':') ? guest.ipv6 : guest.ipv4;
    return frame({ from: UPLINK.outside, to: UPLINK.router }, { from: remote, to }, l4);
  }

  /** Returns a frame from the guest, by default with its own addresses, to an outside address. */
  outward(
    guest: Guest,
    remote: string,
    l4: Layer4,
    spoofed: Partial<Endpoints> & { readonly mac?: string } = {},
  ): Buffer {
    const own = remote.includes(':') ? guest.ipv6 : guest.ipv4;
    return frame(
      { from: spoofed.mac ?? guest.mac, to: guest.gatewayMac },
      { from: spoofed.from ?? own, to: remote },
      l4,
    );
  }

  /** Returns what happened to one packet between the guest and an outside address. */
  async verdict(guest: Guest, direction: 'in' | 'out', remote: string, l4: Layer4): Promise<Verdict> {
    const [verdict = 'drop'] = await this.verdicts(guest, [{ direction, remote, l4 }]);
    return verdict;
  }

  async verdicts(
    guest: Guest,
    packets: readonly { readonly direction: 'in' | 'out'; readonly remote: string; readonly l4: Layer4 }[],
  ): Promise<Verdict[]> {
    const sent = packets.map(
      ({ direction, remote, l4 }): Seen =>
        direction === 'in'
          ? ['outside', this.inward(guest, remote, l4)]
          : [guest.id, this.outward(guest, remote, l4)],
    );
    const seen = await this.exchange(sent);
    return sent.map(([from, bytes]) => verdictOf(from, bytes, seen));
  }

  /** Whether a frame from the guest passes the host. */
  async passes(guest: Guest, bytes: Buffer): Promise<boolean> {
    const seen = await this.exchange([[guest.id, bytes]]);
    return verdictOf(guest.id, bytes, seen) === 'accept';
  }

  async close(): Promise<void> {
    this.#wire?.stdin.end();
    if (this.#wire?.exitCode === null) await once(this.#wire, 'exit');
    for (const { id } of this.guests) await unplugNetwork(this.host, id);
    for (const name of [this.router, this.#ends]) await run('ip', ['netns', 'delete', name]);
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #setup(netns: string): Promise<void> {
    const { host, guests } = this;
    for (const name of [netns, this.#ends]) await run('ip', ['netns', 'add', name]);
    await host.runInNet('sysctl', ['-q', '-e', '-w', ...NO_ICMP_RATE_LIMITS]);
    const wires = guests.map(
      ({ tap, mac }, index) =>
        `link add ${tap} type veth peer end${index + 1} address ${mac} netns ${this.#ends}`,
    );
    const up = `link add uplink type veth peer outside netns ${this.#ends}`;
    const input = `${[...UPLINK_BATCH, up, ...wires, ...UPLINK_UP].join('\n')}\n`;
    await host.runInNet('ip', ['-batch', '-'], { input });
    const far = ['outside', ...guests.map((_, index) => `end${index + 1}`)];
    const ends = far.map(
      (name) =>
        `link set ${name} ${name === 'outside' ? `address ${UPLINK.outside}` : ''} ` +
        'addrgenmode none arp off up\n',
    );
    await run('ip', ['-netns', this.#ends, '-batch', '-'], { input: ends.join('') });
    for (const guest of guests) {
      await mkdir(host.layout.machine(guest.id), { recursive: true });
      await this.plug(guest);
    }
  }

  async #request(order: unknown): Promise<Seen[]> {
    const wire = this.#wire ?? (await this.#startWire());
    wire.stdin.write(`${JSON.stringify(order)}\n`);
    const line = await this.#lines?.next();
    assert.ok(line?.done === false, 'wire.py has exited');
    return (JSON.parse(line.value) as [string, string][]).map(([at, hex]) => [at, Buffer.from(hex, 'hex')]);
  }

  async #startWire(): Promise<ChildProcessWithoutNullStreams> {
    const ends = [
      ['outside', this.#ends, 'outside'],
      ...this.guests.map(({ id }, index) => [id, this.#ends, `end${index + 1}`]),
    ];
    const wire = spawn('python3', [join(import.meta.dirname, 'wire.py'), JSON.stringify(ends)]);
    wire.stderr.pipe(process.stderr);
    this.#wire = wire;
    this.#lines = createInterface({ input: wire.stdout })[Symbol.asyncIterator]();
    assert.equal((await this.#lines.next()).value, 'ready');
    return wire;
  }
}

function verdictOf(from: string, bytes: Buffer, seen: readonly Seen[]): Verdict {
  const payload = ipPayload(bytes);
  if (seen.some(([at, each]) => at !== from && ipPayload(each).equals(payload))) return 'accept';
  return seen.some(([at, each]) => at === from && isRejection(each, bytes)) ? 'reject' : 'drop';
}

/** Disables rate limits for ICMP errors, so that every rejected packet is answered. */
const NO_ICMP_RATE_LIMITS = [
  'net.ipv4.icmp_ratelimit=0',
  'net.ipv4.icmp_msgs_per_sec=100000',
  'net.ipv4.icmp_msgs_burst=10000',
  'net.ipv6.icmp.ratelimit=0',
];
const UPLINK_BATCH = ['link set lo up'];
const UPLINK_UP = [
  `link set uplink address ${UPLINK.router} addrgenmode none up`,
  'addr add 192.0.2.1/32 dev uplink',
  'addr add 2001:db8:ffff::1/128 dev uplink nodad',
  `neigh replace 192.0.2.2 lladdr ${UPLINK.outside} dev uplink nud permanent`,
  `neigh replace 2001:db8:ffff::2 lladdr ${UPLINK.outside} dev uplink nud permanent`,
  'route add default via 192.0.2.2 dev uplink onlink',
  'route add default via 2001:db8:ffff::2 dev uplink onlink',
];

function guestOf(host: QemuHost, number: number): Guest {
  const id = `guest-${number}`;
  const ipv4 = `198.51.100.${10 + number}`;
  const prefix = `2001:db8:${number}::/64`;
  const ipv6 = prefix.replace('/64', '1');
  const mac = host.mac(id);
  const record: MachineRecord = {
    spec: {
      id,
      host: 'one',
      hostname: id,
      cpu: 1,
      ramMb: 128,
      diskGb: 1,
      image: { id: 'img', family: 'debian', version: '12', cloudInit: true, iso: null, base: null },
      ipv4: { address: ipv4, gateway: '198.51.100.1' },
      ipv6: { address: ipv6, prefix },
    },
    generation: 1,
    power: 'on',
    installingSince: null,
    answersSince: null,
    rescue: null,
    filter: null,
    traffic: { bitsPerS: null, mail: false },
  };
  return { id, tap: host.tap(id), mac, ipv4, ipv6, gatewayMac: `fe${mac.slice(2)}`, record };
}
