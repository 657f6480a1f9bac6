/** The listener for the streams of other hosts, such as those of servers that move to this machine. */
import { isIP } from 'node:net';
import type { Config } from '../config.ts';
import {
  type PeerListener,
  type PeerTransfers,
  startPeerListener,
} from '../drivers/compute/host/peer-listener.ts';
import type { Logger } from '../kernel/logger.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { createQemuCompute } from './drivers.ts';

/** Listens on the machine of the service, if it has an address for other hosts. */
export async function listenForHosts(config: Config, log: Logger): Promise<PeerListener | null> {
  const address = config.SKERRY_QEMU_PEER_ADDRESS;
  const compute = address === null ? null : createQemuCompute(config, log);
  if (address === null || compute === null) return null;
  const [, , port = ''] = /^(.+):(\d{1,5})$/.exec(address) ?? [];
  if (port === '' || Number(port) > 65_535) {
    throw new OperatorError('SKERRY_QEMU_PEER_ADDRESS: enter a name and a port, such as node-1.example:7444');
  }
  return await listenForPeers(compute.transfers, { host: '::', port: Number(port) });
}

export async function listenForPeers(
  transfers: PeerTransfers,
  listen: { readonly host: string; readonly port: number },
): Promise<PeerListener> {
  try {
    return await startPeerListener({ listen, transfers });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      `cannot listen for other hosts on port ${listen.port} (${code ?? 'unknown error'})`,
    );
  }
}

export function parseListen(option: string, text: string): { readonly host: string; readonly port: number } {
  const [, host = '', port = ''] = /^\[?(.+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (isIP(host) === 0 || Number(port) > 65_535) {
    throw new OperatorError(`${option}: enter an IP address and a port, such as 0.0.0.0:7443 or [::]:7443`);
  }
  return { host, port: Number(port) };
}
