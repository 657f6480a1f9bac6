/**
 * The service as an operator runs it, with real machines in isolated networks and a customer with a balance.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../../src/drivers/compute/qemu/command.ts';
import { Layout } from '../../src/drivers/compute/qemu/layout.ts';
import { NetFixture } from '../drivers/compute/qemu/support/net-fixture.ts';
import { type TinyImage, tinyImage } from '../drivers/compute/qemu/support/tiny-image.ts';
import { SessionClient } from '../support/session-client.ts';
import {
  type Environment,
  killLeftovers,
  runSkerryd,
  type SkerrydProcess,
  startSkerryd,
} from '../support/skerryd-process.ts';
import { createApiToken, type JsonBody, V1Client } from '../support/v1-client.ts';
import { topUp } from '../support/world.ts';

/** For guests without KVM, next to other tests. */
const WAIT_MAX_MS = 240_000;
const POLL_INTERVAL_MS = 100;

export const SSH_ARGS = [
  ...['-F', 'none', '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null'],
  ...['-o', 'LogLevel=ERROR', '-o', 'ConnectTimeout=4', '-o', 'IdentitiesOnly=yes'],
];

export class RealWorld {
  readonly net: NetFixture;
  readonly tiny: TinyImage;
  readonly folder: string;
  readonly env: Environment;
  #serving: SkerrydProcess | undefined;
  #token = '';

  private constructor(parts: Pick<RealWorld, 'net' | 'tiny' | 'folder' | 'env'>) {
    this.net = parts.net;
    this.tiny = parts.tiny;
    this.folder = parts.folder;
    this.env = parts.env;
  }

  static async open(settings: Environment = {}): Promise<RealWorld> {
    const tiny = await tinyImage();
    const net = await NetFixture.open();
    const folder = await mkdtemp(join(tmpdir(), 'skerry-real-'));
    // The database runs as another user, who needs to traverse the folder.
    await chmod(folder, 0o755);
    const env = {
      SKERRY_DATA_DIR: join(folder, 'data'),
      SKERRY_LOG_LEVEL: 'warn',
      SKERRY_SIM_BLOCK_S: '0',
      SKERRY_RATE_CAPACITY: '100000',
      SKERRY_COMPUTE: 'qemu',
      SKERRY_QEMU_ACCELERATOR: 'tcg',
      SKERRY_QEMU_DIR: join(folder, 'qemu'),
      SKERRY_QEMU_HOSTS: 'vm-1',
      SKERRY_QEMU_NETNS: net.router,
      SKERRY_SHUTDOWN_DEADLINE_S: '20',
      ...settings,
    };
    const world = new RealWorld({ net, tiny, folder, env });
    try {
      await world.#setup();
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  get url(): string {
    return this.#serving?.url ?? assert.fail('the service is not running');
  }
  /** The customer's client, with every scope. */
  get api(): V1Client {
    return V1Client.forUrl(this.url, this.#token);
  }
  /** The private key of `addKey`. */
  get keyFile(): string {
    return join(this.folder, 'key');
  }
  get layout(): Layout {
    return new Layout(this.env.SKERRY_QEMU_DIR ?? '');
  }

  /** Runs an operator command that must succeed and returns its output. */
  async operator(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runSkerryd(args, this.env);
    assert.equal(code, 0, `skerryd ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  async start(): Promise<void> {
    this.#serving = await startSkerryd(this.env);
  }
  /** Kills the service with SIGKILL. Its guests keep running. */
  async kill(): Promise<void> {
    await this.#serving?.stop('SIGKILL');
  }

  async addKey(): Promise<string> {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'laptop', '-f', this.keyFile]);
    const public_key = (await readFile(`${this.keyFile}.pub`, 'utf8')).trim();
    const { status, body } = await this.api.post('/ssh-keys', { name: 'laptop', public_key });
    assert.equal(status, 201);
    return body.id;
  }

  /** Returns the id of the image that was imported from the tiny guest. */
  async imageId(): Promise<string> {
    const { body } = await this.api.get('/images?filter[family]=debian');
    return (
      body.data.find((image: JsonBody) => image.version === '12')?.id ??
      assert.fail('the image is not available')
    );
  }

  /** Waits for a result and treats an error as "not yet". After the timeout, reports the last error. */
  async eventually<T>(what: string, reached: () => Promise<T | false | null>): Promise<T> {
    let reason: unknown = '';
    for (const until = Date.now() + WAIT_MAX_MS; Date.now() < until; await pause(POLL_INTERVAL_MS)) {
      try {
        const found = await reached();
        if (found !== false && found !== null) return found;
      } catch (error) {
        reason = error;
      }
    }
    return assert.fail(`${what}: not within ${WAIT_MAX_MS / 1000} s. ${reason}`);
  }

  async waitForStatus(id: string, status: string): Promise<JsonBody> {
    let seen = '';
    return await this.eventually(`${id} is ${status}`, async () => {
      const { body } = await this.api.get(`/servers/${id}`);
      if (body.status !== seen) seen = body.status;
      return body.status === status && body;
    });
  }

  /** Runs a command in the guest as root over SSH, from this outside address, and returns its output. */
  async ssh(
    address: string,
    command: string,
    { from = address.includes(':') ? '2001:db8:ffff::9' : '198.51.100.7' }: { readonly from?: string } = {},
  ): Promise<string> {
    const key = ['-o', 'BatchMode=yes', '-i', this.keyFile, '-b', from];
    return (await this.net.runOutside('ssh', [...SSH_ARGS, ...key, `root@${address}`, command])).trim();
  }

  async sshWithRetry(address: string, command: string): Promise<string> {
    const said = await this.eventually(`ssh ${address}`, async () => ({
      said: await this.ssh(address, command),
    }));
    return said.said;
  }

  async sshByPassword(address: string, password: string, command: string): Promise<string> {
    const ask = join(this.folder, 'ask');
    await writeFile(ask, '#!/bin/sh\nprintf "%s\\n" "$GUEST_PASSWORD"\n', { mode: 0o700 });
    const env = [`GUEST_PASSWORD=${password}`, `SSH_ASKPASS=${ask}`, 'SSH_ASKPASS_REQUIRE=force'];
    const byPassword = ['-o', 'PubkeyAuthentication=no', '-o', 'NumberOfPasswordPrompts=1'];
    const how = [...byPassword, '-b', '198.51.100.7'];
    const said = await this.eventually(`ssh ${address} by password`, async () => ({
      said: await this.net.runOutside('env', [
        ...env,
        'ssh',
        ...SSH_ARGS,
        ...how,
        `root@${address}`,
        command,
      ]),
    }));
    return said.said.trim();
  }

  async close(): Promise<void> {
    await this.#serving?.stop();
    killLeftovers();
    // This also ends the guests in the namespaces.
    await this.net.close();
    for (const folder of [this.folder, this.layout.runDir]) {
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    }
  }

  async #setup(): Promise<void> {
    await this.start();
    await this.operator('images', 'import', this.tiny.disk, '--image', 'debian-12');
    // The same guest in another format is another disk, which the rescue system needs.
    const rescue = join(this.folder, 'rescue.raw');
    await run('qemu-img', ['convert', '-O', 'raw', this.tiny.disk, rescue]);
    await this.operator('images', 'import', rescue, '--rescue');
    const size = ['--cpu', '8', '--ram-mb', '8192', '--disk-gb', '200'];
    await this.operator('hosts', 'add', 'vm-1', '--region', 'par', ...size);
    await this.operator('ips', 'add', '--region', 'par', '--block', '192.0.2.0/26');
    await this.operator('ips', 'add', '--region', 'par', '--block', '2001:db8:0:ff00::/60');
    const session = SessionClient.forUrl(this.url);
    await session.signUp();
    const sandbox = async (name: string, body: object = {}) => {
      const headers = { 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const answer = await fetch(`${this.url}/sandbox/${name}`, init);
      assert.equal(answer.status, 200, `/sandbox/${name}`);
      return (await answer.json()) as Record<string, unknown>;
    };
    await topUp({ sandbox, settle: async () => void (await sandbox('settle')) }, session, 500);
    this.#token = await createApiToken(session);
  }
}
