/** The membership of a host: one file in the folder `host` of its data, replaced as a whole. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Config } from '../config.ts';
import { HostMembership, type Membership } from '../drivers/compute/host/membership.ts';
import { createRequest, createTemporary } from '../kernel/certificates.ts';
import { syncPath } from '../kernel/files.ts';
import { OperatorError } from '../kernel/operator-error.ts';

const FILE = 'membership.json';

const Stored = Compile(
  Type.Object({
    name: Type.String(),
    identity: Type.Object({ certificate: Type.String(), key: Type.String() }),
    controlPlane: Type.Object({
      authority: Type.Union([Type.String(), Type.Null()]),
      former: Type.Union([Type.String(), Type.Null()]),
    }),
  }),
);
/** Of a host that joined before there was an authority: its certificate and key are in files of their own. */
const StoredEarlier = Compile(Type.Object({ name: Type.String(), controlPlane: Type.String() }));

/** A host that joins makes a new key. What it had before stays until it has its certificate. */
export async function newMembership(config: Config, name: string): Promise<HostMembership> {
  const folder = hostFolder(config);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { key } = await createRequest(name);
  const identity = await createTemporary(key);
  const joining = { name, identity, controlPlane: { authority: null, former: null } };
  return new HostMembership(joining, (next) => write(folder, next));
}

/** Throws an OperatorError if this machine has not joined. */
export function readMembership(config: Config): HostMembership {
  const folder = hostFolder(config);
  return new HostMembership(read(folder), (next) => write(folder, next));
}

function read(folder: string): Membership {
  const path = join(folder, FILE);
  if (!existsSync(path)) {
    throw new OperatorError(
      'this machine has not joined: run `skerryd hosts invite` on the control plane first',
    );
  }
  const text = (name: string) => readFileSync(join(folder, name), 'utf8');
  const stored: unknown = JSON.parse(text(FILE));
  if (Stored.Check(stored)) return stored;
  if (!StoredEarlier.Check(stored)) throw new OperatorError(`${FILE} is damaged: invite this host again`);
  const identity = { certificate: text('certificate.pem'), key: text('key.pem') };
  return { name: stored.name, identity, controlPlane: { authority: null, former: stored.controlPlane } };
}

/** After a kill at any moment there is the previous file or the next one. */
async function write(folder: string, next: Membership): Promise<void> {
  const path = join(folder, FILE);
  const file = await open(`${path}.next`, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(next));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.next`, path);
  await syncPath(folder);
}

function hostFolder(config: Config): string {
  return join(config.SKERRY_DATA_DIR, 'host');
}
