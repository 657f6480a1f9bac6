/** `skerryd host`: this machine as a host of a control plane elsewhere. It needs no database. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { createIdentity } from '../drivers/compute/host/certificate.ts';
import { CODE_VALID_MS, JoinOffer } from '../drivers/compute/host/join.ts';
import { fingerprintOf, type TlsIdentity } from '../drivers/compute/host/pinned-tls.ts';
import { startHostServer } from '../drivers/compute/host/server.ts';
import { createLogger } from '../kernel/logger.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { settlesWithin } from '../kernel/timeout.ts';
import type { HostCommands, JoinOptions, ListenOptions } from '../operator/hosts/this-machine.ts';
import type { BaseImage } from '../ports/compute.ts';
import { openHostCompute } from './drivers.ts';
import { waitForStopSignal } from './stop-signal.ts';

/** The name of this host, and the fingerprint of the control plane that may call it. */
interface Membership {
  readonly name: string;
  readonly controlPlane: string;
}

const FILES = { membership: 'membership.json', certificate: 'certificate.pem', key: 'key.pem' } as const;

export function createHostCommands(config: () => Config, print: (line: string) => void): HostCommands {
  return {
    join: (options) => joinAsHost(config(), options, print),
    run: (options) => runHost(config(), options, print),
    importImage: (path, { rescue, sha256 }) => importOnHost(config(), path, { rescue, sha256 }),
  };
}

/** Keeps an existing key: the control plane that knows it can still call. */
async function joinAsHost(
  config: Config,
  options: JoinOptions,
  print: (line: string) => void,
): Promise<void> {
  const { name, controlPlane, code } = options;
  const folder = hostFolder(config);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!existsSync(join(folder, FILES.key))) {
    const created = createIdentity(name);
    await writeFile(join(folder, FILES.certificate), created.certificate, { mode: 0o600 });
    await writeFile(join(folder, FILES.key), created.key, { mode: 0o600 });
  }
  const host = fingerprintOf(readIdentity(folder).certificate);
  const membership: Membership = { name, controlPlane };
  const offer = new JoinOffer(code, { host, controlPlane }, async () => {
    await writeFile(join(folder, FILES.membership), JSON.stringify(membership), { mode: 0o600 });
    print(`host ${name} joined; to start it again: skerryd host run`);
  });
  await serveHost(config, { ...options, membership, join: offer }, print);
}

async function runHost(config: Config, options: ListenOptions, print: (line: string) => void): Promise<void> {
  await serveHost(config, { ...options, membership: readMembership(hostFolder(config)) }, print);
}

async function serveHost(
  config: Config,
  options: ListenOptions & { readonly membership: Membership; readonly join?: JoinOffer },
  print: (line: string) => void,
): Promise<void> {
  const stopRequested = waitForStopSignal();
  const folder = hostFolder(config);
  const { listen, join: offer } = options;
  const { name, controlPlane } = options.membership;
  const log = createLogger(config.SKERRY_LOG_LEVEL);
  const server = await startHostServer({
    driver: openHostCompute(config, log, [name]),
    identity: readIdentity(folder),
    controlPlane,
    listen: parseListen(listen),
    log,
    ...(offer === undefined ? {} : { join: offer }),
  });
  print(`skerry host ${name} listens on port ${server.port}`);
  const isJoined =
    offer === undefined || (await settlesWithin(Promise.race([offer.joined, stopRequested]), CODE_VALID_MS));
  if (isJoined) await stopRequested;
  await server.close();
  if (!isJoined)
    throw new OperatorError('the control plane did not call within 15 minutes: invite this host again');
}

async function importOnHost(
  config: Config,
  path: string,
  { rescue, sha256 }: { readonly rescue: boolean; readonly sha256: string | null },
): Promise<BaseImage> {
  const { name } = readMembership(hostFolder(config));
  const { images } = openHostCompute(config, createLogger('error'), [name]);
  const disk = await images.add(path, { sha256 });
  if (rescue) await images.setRescue(disk.sha256);
  return disk;
}

function hostFolder(config: Config): string {
  return join(config.SKERRY_DATA_DIR, 'host');
}

function readMembership(folder: string): Membership {
  const path = join(folder, FILES.membership);
  if (!existsSync(path)) {
    throw new OperatorError(
      'this machine has not joined: run `skerryd hosts invite` on the control plane first',
    );
  }
  return JSON.parse(readFileSync(path, 'utf8')) as Membership;
}

function readIdentity(folder: string): TlsIdentity {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { certificate: read(FILES.certificate), key: read(FILES.key) };
}

function parseListen(text: string): { readonly host: string; readonly port: number } {
  const [, host = '', port = ''] = /^\[?(.+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (isIP(host) === 0 || Number(port) > 65_535) {
    throw new OperatorError('--listen: enter an IP address and a port, such as 0.0.0.0:7443 or [::]:7443');
  }
  return { host, port: Number(port) };
}
