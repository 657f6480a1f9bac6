/**
 * A router that runs BIRD, two hosts that run BIRD, and a client behind the router, each in a network
 * namespace. A guest is a namespace too, connected to its host by a link that has the name of its tap.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { QemuHost } from '../../../../../src/drivers/compute/qemu/host.ts';
import { plugNetwork, unplugNetwork } from '../../../../../src/drivers/compute/qemu/net/network.ts';
import { type MachineRecord, writeRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import { createLogger } from '../../../../../src/kernel/logger.ts';
import { hostConfiguration, routerConfiguration, startBird, stopBird } from './bird.ts';

const WAIT_MAX_MS = 60_000;

const ROUTER = { 4: '198.51.100.1', 6: '2001:db8:100::1' };
const WIRES = {
  a: { host: { 4: '198.51.100.11', 6: '2001:db8:100::11' }, outside: ROUTER },
  b: { host: { 4: '198.51.100.12', 6: '2001:db8:100::12' }, outside: ROUTER },
};

export const GUEST = {
  ipv4: { address: '203.0.113.10', gateway: '203.0.113.1' },
  ipv6: { address: '2001:db8:1:10::1', prefix: '2001:db8:1:10::/64' },
} as const;

export interface BgpHost {
  readonly name: 'a' | 'b';
  readonly host: QemuHost;
  readonly netns: string;
  readonly folder: string;
  readonly socket: string;
}

export class BgpWorld {
  readonly hosts: readonly [a: BgpHost, b: BgpHost];
  readonly #folder: string;
  readonly #prefix: string;
  readonly #daemons = new Map<string, ChildProcess>();

  private constructor(folder: string) {
    this.#folder = folder;
    this.#prefix = `sbg${process.pid}`;
    this.hosts = [this.#host('a'), this.#host('b')];
  }

  static async open(): Promise<BgpWorld> {
    const world = new BgpWorld(await mkdtemp(join(tmpdir(), 'skerry-bgp-')));
    try {
      await world.#createNetwork();
      await world.startBird('router', routerConfiguration(ROUTER[4], Object.values(WIRES)));
      for (const host of world.hosts) await world.startHostBird(host);
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  #host(name: 'a' | 'b'): BgpHost {
    const folder = join(this.#folder, name);
    const socket = join(folder, 'bird.ctl');
    const netns = this.#netns(name);
    const announcement = { by: 'bird', file: join(folder, 'skerry-routes.conf'), socket } as const;
    const log = createLogger('silent');
    const options = { dir: join(folder, 'qemu'), hosts: [name], accelerator: 'tcg', netns, log } as const;
    return { name, host: new QemuHost({ ...options, announcement }), netns, folder, socket };
  }

  #netns(name: string): string {
    return `${this.#prefix}${name}`;
  }

  async in(name: string, program: string, ...args: readonly string[]): Promise<string> {
    return await run('nsenter', [`--net=/run/netns/${this.#netns(name)}`, program, ...args]);
  }

  async #createNetwork(): Promise<void> {
    for (const name of ['router', 'client', 'a', 'b', 'guest-a', 'guest-b']) {
      await run('ip', ['netns', 'add', this.#netns(name)]);
      await this.in(name, 'ip', 'link', 'set', 'lo', 'up');
    }
    await this.in('router', 'sysctl', '-q', '-w', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
    await this.#connect('client', 'wan', ['192.0.2.2/24', '2001:db8:2::2/64']);
    await this.in('router', 'ip', 'addr', 'add', '192.0.2.1/24', 'dev', 'to-client');
    await this.in('router', 'ip', 'addr', 'add', '2001:db8:2::1/64', 'dev', 'to-client', 'nodad');
    await this.in('client', 'ip', 'route', 'add', 'default', 'via', '192.0.2.1');
    await this.in('client', 'ip', 'route', 'add', 'default', 'via', '2001:db8:2::1');
    // Both hosts are on one link of the router.
    await this.in('router', 'ip', 'link', 'add', 'lan', 'type', 'bridge');
    await this.in('router', 'ip', 'link', 'set', 'lan', 'up');
    await this.in('router', 'ip', 'addr', 'add', '198.51.100.1/24', 'dev', 'lan');
    await this.in('router', 'ip', 'addr', 'add', '2001:db8:100::1/64', 'dev', 'lan', 'nodad');
    for (const [name, n] of [
      ['a', 11],
      ['b', 12],
    ] as const) {
      await this.#connect(name, 'uplink', [`198.51.100.${n}/24`, `2001:db8:100::${n}/64`]);
      await this.in('router', 'ip', 'link', 'set', `to-${name}`, 'master', 'lan');
      await this.in(name, 'ip', 'route', 'add', 'default', 'via', '198.51.100.1');
      await this.in(name, 'ip', 'route', 'add', 'default', 'via', '2001:db8:100::1');
    }
  }

  async #connect(name: string, uplink: string, addresses: readonly string[]): Promise<void> {
    const peer = ['type', 'veth', 'peer', 'name', uplink, 'netns', this.#netns(name)];
    await this.in('router', 'ip', 'link', 'add', 'name', `to-${name}`, ...peer);
    await this.in('router', 'ip', 'link', 'set', `to-${name}`, 'up');
    await this.in(name, 'ip', 'link', 'set', uplink, 'up');
    for (const address of addresses)
      await this.in(
        name,
        'ip',
        'addr',
        'add',
        address,
        'dev',
        uplink,
        ...(address.includes(':') ? ['nodad'] : []),
      );
  }

  /** Starts BIRD with the configuration of the docs, on short timers. */
  async startHostBird({ name, folder }: BgpHost): Promise<void> {
    await this.startBird(name, await hostConfiguration(WIRES[name], folder));
  }

  async startBird(name: string, text: string): Promise<void> {
    this.#daemons.set(name, await startBird(this.#netns(name), join(this.#folder, name), text));
  }

  async stopBird(name: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const daemon = this.#daemons.get(name);
    this.#daemons.delete(name);
    if (daemon) await stopBird(daemon, signal);
  }

  /** Gives the guest a link to the host, and its network there. */
  async plugGuest({ name, host, netns }: BgpHost): Promise<void> {
    const record = guestRecord(name);
    const { id } = record.spec;
    const guest = `guest-${name}`;
    const { address } = GUEST.ipv4;
    await mkdir(host.layout.machine(id), { recursive: true });
    await writeRecord(host.layout, record);
    const tap = host.tap(id);
    const peer = ['address', host.mac(id), 'name', 'eth0', 'netns', this.#netns(guest)];
    await run('ip', ['link', 'add', tap, 'netns', netns, 'type', 'veth', 'peer', ...peer]);
    await this.in(guest, 'ip', 'link', 'set', 'eth0', 'up');
    await this.in(guest, 'ip', 'addr', 'add', `${address}/32`, 'dev', 'eth0');
    await this.in(guest, 'ip', 'addr', 'add', `${GUEST.ipv6.address}/64`, 'dev', 'eth0', 'nodad');
    await plugNetwork(host, record);
    await this.in(guest, 'ip', 'route', 'add', 'default', 'via', GUEST.ipv4.gateway, 'dev', 'eth0', 'onlink');
    await this.in(guest, 'ip', '-6', 'route', 'add', 'default', 'via', 'fe80::1', 'dev', 'eth0');
  }

  /** As when the machine is removed from the host. */
  async unplugGuest({ name, host }: BgpHost): Promise<void> {
    const { id } = guestRecord(name).spec;
    await unplugNetwork(host, id);
    await rm(host.layout.machine(id), { recursive: true, force: true });
  }

  async pings(address: string): Promise<boolean> {
    return await this.in('client', 'ping', '-c', '1', '-W', '1', address).then(
      () => true,
      () => false,
    );
  }

  /** The addresses of the hosts to which the router sends the guest's packets, `-` for none. */
  async routes(): Promise<string> {
    const read = async (family: string, prefix: string) => {
      const printed = await this.in('router', 'ip', family, 'route', 'show', prefix);
      return [...printed.matchAll(/via (\S+)/g)].map(([, via]) => via).join(',') || '-';
    };
    return `${await read('-4', GUEST.ipv4.address)} ${await read('-6', GUEST.ipv6.prefix)}`;
  }

  /** Waits until it is true. An error counts as false. */
  async until(isTrue: () => Promise<boolean>, description: string): Promise<void> {
    const deadline = Date.now() + WAIT_MAX_MS;
    while (!(await isTrue().catch(() => false))) {
      assert.ok(Date.now() < deadline, `timed out: ${description}`);
      await wait(50);
    }
  }

  async untilRouted(routes: string): Promise<void> {
    await this.until(async () => (await this.routes()) === routes, `the router has ${routes}`);
  }

  async close(): Promise<void> {
    for (const name of this.#daemons.keys()) await this.stopBird(name);
    for (const name of ['router', 'client', 'a', 'b', 'guest-a', 'guest-b'])
      await run('ip', ['netns', 'delete', this.#netns(name)]).catch(() => undefined);
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function guestRecord(host: string): MachineRecord {
  return {
    spec: {
      ...{ id: 'guest', hostname: 'guest', host, cpu: 1, ramMb: 128, diskGb: 1 },
      ...{ image: { id: 'i', family: 'debian', version: '13', sha256: null } },
      ...GUEST,
    },
    ...{ generation: 1, power: 'on', installingSince: null, answersSince: null, rescue: null },
    ...{ filter: null, traffic: { bitsPerS: null, mail: false } },
  } as unknown as MachineRecord;
}
