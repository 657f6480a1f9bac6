/** Task `traffic`: applies a server's bandwidth limit and its permission to send mail. */
import { SECOND_MS } from '../../kernel/time.ts';
import { readTraffic } from '../../store/servers/traffic.ts';
import type { Service } from '../context.ts';
import { DRIVER_TIMEOUT_MS, withDriverTimeout } from './driver-timeout.ts';
import { hasDriver } from './hardware.ts';

/** How often to check whether a machine that is being installed has run. */
const INSTALL_POLL_MS = SECOND_MS;
const MEGABIT = 1_000_000;

/**
 * Done once the driver has it, which persists it. A new machine has no limit and no mail, so only changes are
 * sent. Driver errors propagate, and the task retries.
 */
export async function applyTraffic(
  service: Service,
  serverId: string,
): Promise<'done' | { readonly againMs: number }> {
  const server = await readTraffic(service.db, serverId);
  if (!server || server.status === 'destroying' || !hasDriver(service, server)) return 'done';
  if (server.first_run_at === null) return { againMs: INSTALL_POLL_MS };
  const bitsPerS = server.throttled ? service.settings.throttleMbps * MEGABIT : null;
  const applied = service.compute.traffic(serverId, { bitsPerS, mail: server.mail_allowed });
  await withDriverTimeout(DRIVER_TIMEOUT_MS, applied);
  return 'done';
}
