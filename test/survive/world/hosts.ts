/** A host behind a proxy, in a process of its own that is started again when it ends. */
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureControlPlane } from '../../../src/domain/inventory/control-plane.ts';
import type { Membership } from '../../../src/drivers/compute/host/membership.ts';
import { fingerprintOf, hostSubject, issueIdentity } from '../../../src/kernel/certificates.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { KeyRing } from '../../../src/kernel/secrets.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import { type OpenDatabase, openDatabase } from '../../../src/store/db.ts';
import { insertBackend } from '../../../src/store/inventory/backends.ts';
import { insertHost } from '../../../src/store/inventory/hosts.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { freePort } from '../../support/free-port.ts';
import { startUntil } from '../../support/skerryd-process.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import type { Closing } from './closing.ts';
import { SingleDatabase } from './database.ts';
import type { HostOptions } from './host-process.ts';
import { Supervised } from './supervised.ts';

const SCRIPT = fileURLToPath(new URL('./host-process.ts', import.meta.url));
const NAME = 'far-1';
/** More than the simulated hosts have, so that it gets its share of servers. */
const SIZE = { cpu: 128, ramMb: 1_048_576, diskGb: 16_000 };

export interface HostUnderTest {
  readonly process: Supervised;
  readonly proxy: TcpProxy;
  /** Its machines. */
  readonly db: OpenDatabase;
}

const VALID_MS = 30 * DAY_MS;
const RENEW_AFTER_MS = 20 * DAY_MS;

/** Adds the host to the inventory with a certificate, as if it had joined. */
export async function startHost(
  folder: string,
  service: { readonly db: OpenDatabase; readonly secretKey: string },
  closing: Closing,
): Promise<HostUnderTest> {
  const database = await SingleDatabase.start(join(folder, 'host-disk'));
  closing.push(() => database.close());
  const db = openDatabase(database.connection, { poolSize: 2, onError: () => undefined });
  closing.push(() => db.close());
  await migrate(db);
  const port = await freePort();
  const proxy = await startTcpProxy({ host: '127.0.0.1', port });
  closing.push(() => proxy.close());
  await joinControlPlane(join(folder, 'host'), service, `127.0.0.1:${proxy.port}`);
  const options: HostOptions = {
    ...{ name: NAME, folder, port, database: database.connection, size: SIZE },
  };
  const args = ['--disable-warning=ExperimentalWarning', SCRIPT];
  const env = { SURVIVE_HOST: JSON.stringify(options) };
  const host = new Supervised(() => startUntil(args, env, /listens on port (\d+)/, process.execPath));
  closing.push(() => host.close());
  await host.start();
  return { process: host, proxy, db };
}

async function joinControlPlane(
  folder: string,
  { db, secretKey }: { readonly db: OpenDatabase; readonly secretKey: string },
  address: string,
): Promise<void> {
  const { authority } = await ensureControlPlane({ db, keys: new KeyRing(secretKey) });
  const id = randomUUID();
  const own = await issueIdentity(authority, { name: NAME, subject: hostSubject(id) });
  const controlPlane = { authority: authority.certificate, former: null };
  const membership: Membership = { name: NAME, identity: own, controlPlane };
  await mkdir(folder);
  await writeFile(join(folder, 'membership.json'), JSON.stringify(membership));
  const now = new Date();
  const [until, renewAt] = [VALID_MS, RENEW_AFTER_MS].map((ms) => new Date(now.getTime() + ms));
  if (!until || !renewAt) return;
  await insertBackend(db, {
    ...{ name: NAME, kind: 'host', address, region_id: 'par', state: 'active', created_at: now },
    ...{ identity: id, fingerprint: fingerprintOf(own.certificate) },
    ...{ certificate_from: now, certificate_until: until, renew_at: renewAt },
  });
  await insertHost(db, {
    ...{ id: newId(now), name: NAME, region_id: 'par', backend: NAME, created_at: now, tags: [] },
    ...{ cpu: SIZE.cpu, ram_mb: SIZE.ramMb, disk_gb: SIZE.diskGb, reserve_ram_mb: 0, reserve_disk_gb: 0 },
  });
}
