/**
 * Networks for real machines, apart from this machine's own: a namespace in which the driver acts as the host of the guests,
 * and one named `outside` beside it, from which packets come with whatever source address a test wants.
 */
import { readdir } from 'node:fs/promises';
import { run } from '../../../src/drivers/compute/qemu/command.ts';

const NAMESPACES = '/run/netns';
const PREFIX = 'skt';
const LINK = { router: '172.31.255.1', outside: '172.31.255.2' };
const LINK_V6 = { router: 'fd00:5ce7::1', outside: 'fd00:5ce7::2' };

/** The peers that are there from the start. */
const PEERS = ['198.51.100.7', '203.0.113.9', '2001:db8:ffff::9'];

let made = 0;

export class NetFixture {
  /** Where the driver acts. */
  readonly router: string;
  readonly outside: string;
  readonly #peers = new Set<string>();

  private constructor(name: string) {
    this.router = `${name}r`;
    this.outside = `${name}o`;
  }

  static async open(): Promise<NetFixture> {
    await removeStaleNamespaces();
    const fixture = new NetFixture(`${PREFIX}${process.pid}n${made++}`);
    try {
      await fixture.#create();
    } catch (error) {
      await fixture.close();
      throw error;
    }
    return fixture;
  }

  /** Runs a program outside. */
  async runOutside(
    program: string,
    args: readonly string[],
    options: { timeoutMs?: number } = {},
  ): Promise<string> {
    return await inNamespace(this.outside, [program, ...args], options);
  }
  /** Runs a program where the driver acts. */
  async runInRouter(
    program: string,
    args: readonly string[],
    options: { input?: string } = {},
  ): Promise<string> {
    return await inNamespace(this.router, [program, ...args], options);
  }

  /** Makes the address be one outside, so that a test can be whom it likes. */
  async addPeer(address: string): Promise<void> {
    if (this.#peers.has(address)) return;
    this.#peers.add(address);
    const six = address.includes(':');
    const whole = `${address}/${six ? 128 : 32}`;
    const via = six ? LINK_V6.outside : LINK.outside;
    await this.runOutside('ip', ['addr', 'add', whole, 'dev', 'lo']);
    await this.runInRouter('ip', ['route', 'add', whole, 'via', via]);
  }

  async close(): Promise<void> {
    for (const name of [this.router, this.outside]) await removeNamespace(name);
  }

  async #create(): Promise<void> {
    for (const name of [this.router, this.outside]) await run('ip', ['netns', 'add', name]);
    const peer = ['type', 'veth', 'peer', 'name', 'wire', 'netns', this.outside];
    await run('ip', ['link', 'add', 'wire', 'netns', this.router, ...peer]);
    const ends = { router: 'outside', outside: 'router' } as const;
    for (const [end, other] of Object.entries(ends) as [keyof typeof ends, keyof typeof LINK][]) {
      const lines = [
        'link set lo up',
        'link set wire up',
        `addr add ${LINK[end]}/30 dev wire`,
        `addr add ${LINK_V6[end]}/64 dev wire nodad`,
        // Only outside everything else is on the other side.
        ...(end === 'outside'
          ? [`route add default via ${LINK[other]}`, `route add default via ${LINK_V6[other]}`]
          : []),
      ];
      await inNamespace(this[end], ['ip', '-batch', '-'], { input: `${lines.join('\n')}\n` });
    }
    await this.runInRouter('sysctl', ['-q', '-w', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']);
    for (const address of PEERS) await this.addPeer(address);
  }
}

async function inNamespace(
  name: string,
  args: readonly string[],
  options: { input?: string; timeoutMs?: number },
): Promise<string> {
  return await run('nsenter', [`--net=${NAMESPACES}/${name}`, ...args], options);
}

/** Of test runs that were killed: each namespace says which process made it. */
async function removeStaleNamespaces(): Promise<void> {
  const names = await readdir(NAMESPACES).catch(() => []);
  for (const name of names) {
    const pid = new RegExp(`^${PREFIX}([0-9]+)n[0-9]+[ro]$`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await removeNamespace(name);
  }
}

/** With the processes that run in it: nobody but a test and its driver starts any there. */
async function removeNamespace(name: string): Promise<void> {
  const pids = await run('ip', ['netns', 'pids', name]).catch(() => '');
  for (const pid of pids.split('\n').filter((line) => line !== '')) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
  await run('ip', ['netns', 'delete', name]).catch(() => undefined);
}

/** Whether there is such a process. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
