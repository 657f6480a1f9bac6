/** `skerryd host`: this machine as a host of a control plane elsewhere. It needs no database. */
import type { Config } from '../config.ts';
import { FileOffers } from '../drivers/compute/host/file-offers.ts';
import { CODE_VALID_MS, JoinOffer } from '../drivers/compute/host/join.ts';
import type { HostMembership } from '../drivers/compute/host/membership.ts';
import { startHostServer } from '../drivers/compute/host/server.ts';
import { createLogger } from '../kernel/logger.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { settlesWithin } from '../kernel/timeout.ts';
import type { HostCommands, JoinOptions, ListenOptions } from '../operator/hosts/this-machine.ts';
import type { BaseImage } from '../ports/compute.ts';
import { openHostCompute } from './drivers.ts';
import { newMembership, readMembership } from './host-files.ts';
import { listenForPeers, parseListen } from './peers.ts';
import { waitForStopSignal } from './signals.ts';

export function createHostCommands(config: () => Config, print: (line: string) => void): HostCommands {
  return {
    join: (options) => joinAsHost(config(), options, print),
    run: (options) => runHost(config(), options, print),
    importImage: (path, { rescue, sha256 }) => importOnHost(config(), path, { rescue, sha256 }),
  };
}

async function joinAsHost(
  config: Config,
  options: JoinOptions,
  print: (line: string) => void,
): Promise<void> {
  const { name, controlPlane, code } = options;
  const join = new JoinOffer(code, controlPlane);
  void join.joined.then(() => print(`host ${name} joined; to start it again: skerryd host run`));
  await serveHost(config, { ...options, membership: await newMembership(config, name), join }, print);
}

async function runHost(config: Config, options: ListenOptions, print: (line: string) => void): Promise<void> {
  await serveHost(config, { ...options, membership: readMembership(config) }, print);
}

async function serveHost(
  config: Config,
  options: ListenOptions & { readonly membership: HostMembership; readonly join?: JoinOffer },
  print: (line: string) => void,
): Promise<void> {
  const stopRequested = waitForStopSignal();
  const { listen, peerListen, membership, join: offer } = options;
  const peerAddress = parseListen('--peer-listen', peerListen);
  const log = createLogger(config.SKERRY_LOG_LEVEL);
  const offers = new FileOffers(`:${peerAddress.port}`);
  const driver = openHostCompute(config, log, { hosts: [membership.name], peerAddress: offers.address });
  const find = (id: string) => offers.find(id) ?? driver.transfers.find(id);
  const peers = await listenForPeers({ find }, peerAddress);
  const server = await startHostServer({
    driver,
    membership,
    listen: parseListen('--listen', listen),
    log,
    offers,
    ...(offer === undefined ? {} : { join: offer }),
  });
  print(`skerry host ${membership.name} listens on port ${server.port}`);
  const isJoined =
    offer === undefined || (await settlesWithin(Promise.race([offer.joined, stopRequested]), CODE_VALID_MS));
  if (isJoined) await stopRequested;
  await Promise.all([server.close(), peers.close()]);
  if (!isJoined)
    throw new OperatorError('the control plane did not call within 15 minutes: invite this host again');
}

async function importOnHost(
  config: Config,
  path: string,
  { rescue, sha256 }: { readonly rescue: boolean; readonly sha256: string | null },
): Promise<BaseImage> {
  const { name } = readMembership(config);
  const { images } = openHostCompute(config, createLogger('error'), { hosts: [name], peerAddress: null });
  const disk = await images.add(path, { sha256 });
  if (rescue) await images.setRescue(disk.sha256);
  return disk;
}
