/** Files for backends: from this machine, or from one backend to another over a connection of their own. */
import { randomBytes, randomUUID } from 'node:crypto';
import { ComputeError } from '../../../ports/compute.ts';
import type { FileToFollow, FileToSend } from '../../../ports/host-files.ts';
import type { BackendLink } from './link.ts';
import type { BackendRegistry } from './registry.ts';

const KEY_BYTES = 32;

export async function sendFile(registry: BackendRegistry, backend: string, file: FileToSend): Promise<void> {
  const { driver } = await linkTo(registry, backend);
  if (driver.putFile === undefined) throw notInUse(backend);
  await driver.putFile(file);
}

/** Both backends get a key that is made for this file alone. */
export async function passFile(
  registry: BackendRegistry,
  file: FileToFollow,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const source = await linkTo(registry, from);
  const target = await linkTo(registry, to);
  if (source.driver.offerFile === undefined || target.driver.fetchFile === undefined) throw notInUse(from);
  const transfer = { id: randomUUID(), key: randomBytes(KEY_BYTES) };
  const offer = await source.driver.offerFile(file.file, transfer);
  try {
    const address = completeAddress(offer.address, source.backend.address);
    await target.driver.fetchFile(file, { ...transfer, address });
  } finally {
    offer.end();
  }
}

/** A host knows the port that it listens on, and the inventory the name that it is reached by. */
export function completeAddress(address: string, backendAddress: string): string {
  return address.startsWith(':') ? `${backendAddress.replace(/:\d+$/, '')}${address}` : address;
}

async function linkTo(registry: BackendRegistry, backend: string): Promise<BackendLink> {
  const link = (await registry.links()).get(backend);
  if (link === undefined) throw notInUse(backend);
  return link;
}

function notInUse(backend: string): ComputeError {
  return new ComputeError('transient', `backend ${backend} is not in use`);
}
