/** Task `traffic`: how fast a server may be, and whether it may send mail, is in front of it as it is wanted. */
import { SECOND_MS } from '../../kernel/time.ts';
import { readTraffic } from '../../store/traffic.ts';
import type { Service } from '../context.ts';
import { DRIVER_TIMEOUT_MS, withDriverTimeout } from './driver-timeout.ts';
import { hasDriver } from './hardware.ts';

/** How often it is looked whether a machine that is still being made has run. */
const INSTALL_POLL_MS = SECOND_MS;
const MEGABIT = 1_000_000;

/**
 * Done when the machine has it; the driver keeps it from then on. A machine begins without limit and without mail, so only
 * changes are told. What the driver throws is for the task to try again.
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
