/** Task `filter`: the packet filter in front of a server is the one that its groups make. */
import { SECOND_MS } from '../../kernel/time.ts';
import { ComputeError } from '../../ports/compute.ts';
import { readServerFilter, type ServerFilterRow } from '../../store/firewall.ts';
import type { Service } from '../context.ts';
import { DRIVER_TIMEOUT_MS, withDriverTimeout } from '../servers/driver-timeout.ts';
import { compileFilter } from './compile.ts';

/** How often a machine that is still being made is given its filter. */
const INSTALL_RETRY_MS = SECOND_MS;

type ApplyResult = 'done' | { readonly againMs: number };

/** Done when the machine has it. What the driver throws is for the task to try again. */
export async function applyFilter(service: Service, serverId: string): Promise<ApplyResult> {
  const server = await readServerFilter(service.db, serverId);
  // A machine that is about to go keeps the filter it has.
  if (!server || server.status === 'destroying') return 'done';
  if (server.first_run_at === null) return await applyDuringInstall(service, serverId, server);
  await setFilter(service, serverId, server);
  return 'done';
}

/**
 * The machine may be there, or not yet, or leave its host for another: it gets its filter as early as it can, and
 * again until it has run.
 */
async function applyDuringInstall(
  service: Service,
  serverId: string,
  server: ServerFilterRow,
): Promise<ApplyResult> {
  if (server.status === 'installing') {
    try {
      await setFilter(service, serverId, server);
    } catch (error) {
      if (!(error instanceof ComputeError)) throw error;
    }
  }
  return { againMs: INSTALL_RETRY_MS };
}

async function setFilter(service: Service, serverId: string, server: ServerFilterRow): Promise<void> {
  await withDriverTimeout(DRIVER_TIMEOUT_MS, service.compute.filter(serverId, compileFilter(server.groups)));
}
