/**
 * A Ceph cluster, through its own programs and QEMU's block driver `rbd`. Both get all settings from us, and
 * none from files of the host. The key is never an argument: the programs read its file, and QEMU gets it
 * through its control socket. Messages of Ceph name addresses, so ours replace them.
 */
import { readFile } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import { CommandFailedError, run } from '../command.ts';
import type { CephOptions, QemuHost } from '../host.ts';
import { allowStorage } from '../net/ruleset.ts';
import { type Qmp, QmpRefusedError } from '../qmp.ts';

/** By default, Ceph waits minutes for a cluster that does not respond. */
const TIMEOUT_S = 10;
const TIMEOUTS = ['client_mount_timeout', 'rados_mon_op_timeout', 'rados_osd_op_timeout'].map(
  (name) => `--${name}=${TIMEOUT_S}`,
);
const NOT_FOUND = 'ENOENT';
/** Ceph's programs exit with the number of the error, or name it in their last line. */
const ERRORS: Readonly<Record<number, string>> = { 2: NOT_FOUND, 16: 'EBUSY', 17: 'EEXIST' };

export function requireCeph({ options }: QemuHost): CephOptions {
  if (options.ceph) return options.ceph;
  throw new ComputeError('refused', 'this host has no shared storage: set SKERRY_CEPH_MONITORS on it');
}

/** Ceph refused a command. `code` is its error, such as `EBUSY`, or null if it is another one. */
export class CephRefusedError extends ComputeError {
  readonly code: string | null;
  constructor(program: string, code: string | null) {
    const hint = 'run skerryd doctor on the host';
    super('transient', `${program}: the shared storage refused the command (${code ?? 'other'}): ${hint}`);
    this.code = code;
  }
}

/** Returns the command line of one of Ceph's programs in the network of QEMU. */
export function cephCommand(host: QemuHost, program: 'ceph' | 'rados' | 'rbd'): string[] {
  const { monitors, user, keyFile } = requireCeph(host);
  const access = ['-c', '/dev/null', '-m', monitors.join(','), '--id', user, '--keyfile', keyFile];
  return host.inNet(program, [...access, ...TIMEOUTS]);
}

/** Runs one of Ceph's programs and returns its output. */
export async function runCeph(
  host: QemuHost,
  program: 'ceph' | 'rados' | 'rbd',
  args: readonly string[],
): Promise<string> {
  const [first = program, ...words] = cephCommand(host, program);
  try {
    return await run(first, [...words, ...args]);
  } catch (error) {
    if (!(error instanceof CommandFailedError)) throw error;
    throw new CephRefusedError(program, errorCode(error));
  }
}

function errorCode({ exitCode, stderr }: CommandFailedError): string | null {
  const [, number] = /\((\d+)\) [A-Z][^\n]*\n*$/.exec(stderr) ?? [];
  return ERRORS[number === undefined ? exitCode : Number(number)] ?? null;
}

/** Returns undefined if what the command names does not exist. */
export async function undefinedIfNotFound<T>(work: Promise<T>): Promise<T | undefined> {
  return await work.catch((error: unknown) => {
    if (error instanceof CephRefusedError && error.code === NOT_FOUND) return undefined;
    throw error;
  });
}

/** Opens an image as a node of a running QEMU. The key is in QEMU's memory for as long as it is open. */
export async function openCephNode(
  host: QemuHost,
  qmp: Qmp,
  node: { readonly name: string; readonly image: string },
): Promise<void> {
  const { monitors, pool, user, keyFile } = requireCeph(host);
  await allowStorage(host);
  const secret = `key-${node.name}`;
  await deleteSecret(qmp, secret);
  const data = (await readFile(keyFile, 'utf8')).trim();
  await qmp.execute('object-add', { 'qom-type': 'secret', id: secret, format: 'base64', data });
  try {
    await qmp.execute('blockdev-add', {
      ...{ driver: 'rbd', 'node-name': node.name, pool, image: node.image, user },
      server: monitors.map(splitAddress),
      'key-secret': secret,
      'auth-client-required': ['cephx'],
      discard: 'unmap',
      cache: { direct: true },
    });
  } catch (error) {
    if (!(error instanceof QmpRefusedError)) throw error;
    // QEMU's message may name addresses.
    throw new ComputeError('transient', 'QEMU cannot open the shared image: run skerryd doctor on the host');
  } finally {
    await deleteSecret(qmp, secret);
  }
}

async function deleteSecret(qmp: Qmp, id: string): Promise<void> {
  await qmp.execute('object-del', { id }).catch((error: unknown) => {
    if (!(error instanceof QmpRefusedError)) throw error;
  });
}

/**
 * Returns the options of `qemu-img convert` that write to an existing, empty image, and its name last. The
 * key is read from its file.
 */
export function convertTarget(host: QemuHost, image: string): string[] {
  const { monitors, pool, user, keyFile } = requireCeph(host);
  const servers = monitors
    .map(splitAddress)
    .flatMap((server, index) => [
      `server.${index}.host=${server.host}`,
      `server.${index}.port=${server.port}`,
    ]);
  const secret = `secret,id=key,format=base64,file=${keyFile.replaceAll(',', ',,')}`;
  const access = [`user=${user}`, 'key-secret=key', 'auth-client-required.0=cephx', ...servers];
  const target = ['driver=rbd', `pool=${pool}`, `image=${image}`, ...access].join(',');
  return ['--object', secret, '-n', '--target-is-zero', '--target-image-opts', target];
}

function splitAddress(text: string): { readonly host: string; readonly port: string } {
  const [, host = '', port = ''] = /^\[?(.+?)\]?:(\d+)$/.exec(text) ?? [];
  return { host, port };
}
