/** The status page: maintenance windows, switches, regions, and coins. */
import { readSwitches, type SwitchState } from '../../domain/switches.ts';
import { readCoins } from '../../domain/topups/offer.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { type StatusWindow, statusView } from '../../panel/site/status.ts';
import { PANEL_PATHS } from '../../spec/paths.ts';
import { SWITCHES } from '../../spec/switches.ts';
import type { RulesCache } from '../rules-cache.ts';
import { ROUTES } from '../v1/routes.ts';
import { readRegions } from './offers.ts';
import type { PanelPage } from './page-types.ts';

type MaintenanceWindows = Awaited<ReturnType<RulesCache['read']>>['windows'];

export const STATUS_PAGE: PanelPage = {
  path: PANEL_PATHS.status,
  access: 'anyone',
  render: async ({ edge, service }) => {
    const now = service.clock.now();
    const { windows } = await edge.rules.read();
    return statusView({
      windows: upcomingWindows(windows, now),
      switchedOff: (await readSwitches(service)).filter(({ on }) => !on).map(toSwitchedOff),
      regions: await readRegions(service),
      coins: await readCoins(service),
      now: formatRfc3339(now),
    });
  },
};

function upcomingWindows(windows: MaintenanceWindows, now: Date): StatusWindow[] {
  return windows
    .filter(({ ends_at }) => now < ends_at)
    .map((window) => ({
      affected: window.operation === null ? null : describeOperation(window.operation),
      from: formatRfc3339(window.starts_at),
      until: formatRfc3339(window.ends_at),
      isActive: window.starts_at <= now,
      reason: window.reason,
    }));
}

function describeOperation(operation: string): string {
  return ROUTES.find(({ id }) => id === operation)?.summary ?? operation;
}

/**
 * Shows the reason for switches that block customers' operations. Other reasons are internal to the operator.
 */
function toSwitchedOff({ name, reason }: SwitchState) {
  return { name, reason: SWITCHES[name].blockedOperations.length > 0 ? reason : null };
}
