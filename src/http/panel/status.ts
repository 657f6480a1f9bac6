/** How the service stands: windows, switches, regions, coins. */
import { readSwitches, type SwitchState } from '../../domain/switches/switch.ts';
import { readCoins } from '../../domain/topups/coins.ts';
import { rfc3339 } from '../../kernel/time.ts';
import { type StatusWindow, statusView } from '../../panel/status.ts';
import { PANEL_PATHS } from '../../spec/paths.ts';
import { SWITCHES } from '../../spec/switches.ts';
import type { CurrentRules } from '../rules.ts';
import { ROUTES } from '../v1/routes.ts';
import { readRegions } from './offers.ts';
import type { PanelPage } from './page.ts';

type Windows = Awaited<ReturnType<CurrentRules['read']>>['windows'];

export const STATUS_PAGE: PanelPage = {
  path: PANEL_PATHS.status,
  access: 'anyone',
  show: async ({ edge, service }) => {
    const now = service.clock.now();
    const { windows } = await edge.rules.read();
    return statusView({
      windows: windowsOf(windows, now),
      off: (await readSwitches(service)).filter(({ on }) => !on).map(offOf),
      regions: await readRegions(service),
      coins: await readCoins(service),
      now: rfc3339(now),
    });
  },
};

function windowsOf(windows: Windows, now: Date): StatusWindow[] {
  return windows
    .filter(({ ends_at }) => now < ends_at)
    .map((window) => ({
      closes: window.operation === null ? null : wordsFor(window.operation),
      from: rfc3339(window.starts_at),
      until: rfc3339(window.ends_at),
      open: window.starts_at <= now,
      reason: window.reason,
    }));
}

function wordsFor(operation: string): string {
  return ROUTES.find(({ id }) => id === operation)?.summary ?? operation;
}

/** Of a switch that closes what customers ask for they are told the reason anyway; of the others it is the operator's own. */
function offOf({ name, reason }: SwitchState) {
  return { name, reason: SWITCHES[name].closes.length > 0 ? reason : null };
}
