/** What a server stands on. */
import type { Sql } from '../../kernel/sql.ts';
import type { Capabilities } from '../../ports/compute.ts';
import { findInstallFacts, type InstallFacts } from '../../store/reinstalls.ts';
import type { ServerRow } from '../../store/servers.ts';
import type { Service } from '../context.ts';

/** The caller holds the server's lock. */
export async function installFacts(tx: Sql, server: ServerRow): Promise<InstallFacts> {
  const facts = await findInstallFacts(tx, server.id);
  if (!facts) throw new Error('a locked server is not there');
  return facts;
}

/** What the driver can do for this kind of plan. The caller holds the server's lock. */
export async function capabilitiesOf(service: Service, tx: Sql, server: ServerRow): Promise<Capabilities> {
  const { category } = await installFacts(tx, server);
  return service.compute.capabilities[category];
}
