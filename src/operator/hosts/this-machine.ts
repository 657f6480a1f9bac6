/** `host join`, `host run`, `host import`: this machine as a host. The composition root carries them out. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../../kernel/operator-error.ts';
import { type BaseImage, ComputeError } from '../../ports/compute.ts';

export interface ListenOptions {
  /** IP addresses and ports: for the control plane, and for other hosts that move servers here. */
  readonly listen: string;
  readonly peerListen: string;
}

export interface JoinOptions extends ListenOptions {
  readonly name: string;
  /** Fingerprint of the control plane's authority. */
  readonly controlPlane: string;
  readonly code: string;
}

export interface HostCommands {
  join(options: JoinOptions): Promise<void>;
  run(options: ListenOptions): Promise<void>;
  importImage(
    path: string,
    options: { readonly rescue: boolean; readonly sha256: string | null },
  ): Promise<BaseImage>;
}

const LISTEN = ['--listen <address:port>', 'IP address and port to listen on', '0.0.0.0:7443'] as const;

const PEER_LISTEN = [
  '--peer-listen <address:port>',
  'IP address and port for other hosts, which send servers here',
  '0.0.0.0:7444',
] as const;

/** `commands` are loaded by the first that runs. */
export function addHostCommands(
  program: Command,
  commands: () => Promise<HostCommands>,
  out: (line: string) => void,
): void {
  const host = program
    .command('host')
    .description('Run servers on this machine for a control plane elsewhere');
  host
    .command('join')
    .argument('<name>', 'Name of this host, as invited')
    .requiredOption('--control-plane <fingerprint>', 'As printed by hosts invite', parseFingerprint)
    .requiredOption('--code <code>', 'As printed by hosts invite')
    .option(...LISTEN)
    .option(...PEER_LISTEN)
    .description('Join the control plane, and run as its host until SIGTERM')
    .action(async (name: string, options: Omit<JoinOptions, 'name'>) =>
      (await commands()).join({ ...options, name }),
    );
  host
    .command('run')
    .option(...LISTEN)
    .option(...PEER_LISTEN)
    .description('Run as a host that has joined, until SIGTERM')
    .action(async (options: ListenOptions) => (await commands()).run(options));
  host
    .command('import')
    .argument('<file>', 'The same qcow2 or raw disk as on the control plane')
    .option('--rescue', 'Use it for rescue systems')
    .option('--sha256 <hex>', 'Expected checksum', parseFingerprint)
    .description('Import a disk on this host, so that servers can be installed from it')
    .action(async (file: string, options: { readonly rescue?: true; readonly sha256?: string }) => {
      const { rescue = false, sha256 = null } = options;
      const { importImage } = await commands();
      const disk = await importImage(resolve(file), { rescue, sha256 }).catch((error: unknown) => {
        if (error instanceof ComputeError) throw new OperatorError(error.message);
        throw error;
      });
      out(`sha256 ${disk.sha256}, for disks of ${disk.diskGb} GiB or more`);
    });
}

function parseFingerprint(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It must be 64 hexadecimal digits.');
}
