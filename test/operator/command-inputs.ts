/** Files and services for operator commands that a simulated world does not have. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from '../../src/domain/context.ts';
import { solanaAddress } from '../../src/drivers/chain/addresses.ts';
import { ed25519PublicKey } from '../../src/drivers/chain/simnet/networks.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

export function editedCatalogue(): string {
  const text = readFileSync(new URL('../../catalogue/sandbox.yaml', import.meta.url), 'utf8');
  const folder = scratchFolder();
  mkdirSync(folder);
  const file = join(folder, 'catalogue.yaml');
  writeFileSync(file, text.replace('AMD EPYC 9354P', 'AMD EPYC 9555P'));
  return file;
}

export function poolFile(): string {
  const file = scratchFolder();
  writeFileSync(file, `${solanaAddress(ed25519PublicKey(new Uint8Array(32).fill(1)))}\n`);
  return file;
}

export const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';

export function serviceFor(argv: readonly string[], service: Service): Service {
  if (argv.join(' ').startsWith('hosts invite')) return withRealMachines(service);
  return argv[0] === 'dedicated' ? withoutDedicated(service) : service;
}

/** Only a service with real machines invites hosts. */
function withRealMachines(service: Service): Service {
  return { ...service, compute: Object.create(service.compute, { hosts: { value: ['here'] } }) };
}

/** Manual work is possible only where the driver has no dedicated machines. */
function withoutDedicated(service: Service): Service {
  const capabilities = { ...service.compute.capabilities, dedicated: null };
  return { ...service, compute: Object.create(service.compute, { capabilities: { value: capabilities } }) };
}

/** Of a host that was invited. */
export const CERTIFICATE = {
  identity: '7b2c1f0e-3c53-4a0e-9a38-0d9f2f2f7c11',
  fingerprint: 'ab'.repeat(32),
  certificate_from: new Date(),
  certificate_until: new Date(),
  renew_at: new Date(),
};
