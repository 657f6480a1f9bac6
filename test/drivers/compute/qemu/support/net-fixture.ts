/**
 * Networks for real machines, isolated from this machine's own: a namespace in which the driver acts as the
 * guests' host, and a namespace `outside` next to it, which sends packets from any source address that a test
 * needs.
 */
import { readdir } from 'node:fs/promises';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';

const NAMESPACES = '/run/netns';
const PREFIX = 'skt';
/** The wire between the driver's namespace and the one outside. */
export const LINK = { router: '172.31.255.1', outside: '172.31.255.2' };
export const LINK_V6 = { router: 'fd00:5ce7::1', outside: 'fd00:5ce7::2' };

/** Remote addresses that exist from the start. */
const PEERS = ['198.51.100.7', '203.0.113.9', '2001:db8:ffff::9'];

let made = 0;

export class NetFixture {
  /** Namespace in which the driver acts. */
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

  /** Runs a program in the outside namespace. */
  async runOutside(
    program: string,
    args: readonly string[],
    options: { timeoutMs?: number } = {},
  ): Promise<string> {
    return await inNamespace(this.outside, [program, ...args], options);
  }
  /** Runs a program in the driver's namespace. */
  async runInRouter(
    program: string,
    args: readonly string[],
    options: { input?: string } = {},
  ): Promise<string> {
    return await inNamespace(this.router, [program, ...args], options);
  }

  /** Adds an address outside, so that a test can send from it. */
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
        // Only outside has a default route to the other side.
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

/** Removes namespaces of killed test runs. Each name contains the id of the process that created it. */
async function removeStaleNamespaces(): Promise<void> {
  const names = await readdir(NAMESPACES).catch(() => []);
  for (const name of names) {
    const pid = new RegExp(`^${PREFIX}([0-9]+)n[0-9]+(?:[robc]|h[0-9]+)$`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await removeNamespace(name);
  }
}

/** Kills the namespace's processes first: only tests and their driver start any there. */
async function removeNamespace(name: string): Promise<void> {
  const pids = await run('ip', ['netns', 'pids', name]).catch(() => '');
  for (const pid of pids.split('\n').filter((line) => line !== '')) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has already exited.
    }
  }
  await run('ip', ['netns', 'delete', name]).catch(() => undefined);
}

/** Whether the process exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
