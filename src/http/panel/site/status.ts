/** The public status: the page, the history of incidents, and the feed. */
import type { FastifyInstance } from 'fastify';
import { readAvailability } from '../../../domain/health/availability.ts';
import { pageIncidents, readIncident, readOpenIncidents } from '../../../domain/health/incidents.ts';
import { readSwitches, type SwitchState } from '../../../domain/rules/switches.ts';
import { readCoins } from '../../../domain/topups/offer.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import { historyView, incidentFeed, incidentView, type RegionNames } from '../../../panel/site/incidents.ts';
import { type StatusWindow, statusView } from '../../../panel/site/status.ts';
import { PANEL_PATHS, STATUS_PATHS } from '../../../spec/paths.ts';
import { isServiceSwitch, SWITCHES } from '../../../spec/switches.ts';
import { resolveBaseUrl } from '../../base-url.ts';
import { field } from '../../form.ts';
import type { Edge, RulesCache } from '../../settings.ts';
import { ROUTES } from '../../v1/routes.ts';
import { type PanelPage, page } from '../page-types.ts';
import { readRegions } from './offers.ts';

type MaintenanceWindows = Awaited<ReturnType<RulesCache['read']>>['windows'];

const HISTORY_SIZE = 20;
const FEED_SIZE = 30;
const AFTER_FIELD = 'after';
/** Feed readers ask every few minutes. */
const FEED_HEADERS = {
  'content-type': 'application/atom+xml; charset=utf-8',
  'cache-control': 'public, max-age=60',
};

export const STATUS_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.status,
    access: 'anyone',
    render: async ({ edge, service }) => {
      const now = service.clock.now();
      const { windows } = await edge.rules.read();
      return statusView({
        windows: upcomingWindows(windows, now),
        switchedOff: (await readSwitches(service)).flatMap(toSwitchedOff),
        regions: await readRegions(service),
        coins: await readCoins(service),
        components: await readAvailability(service),
        incidents: await readOpenIncidents(service),
        now: formatRfc3339(now),
      });
    },
  },
  {
    path: STATUS_PATHS.history,
    access: 'anyone',
    render: async ({ edge, service, query }) => {
      const after = field(query, AFTER_FIELD) || null;
      const { items, next } = await pageIncidents(service, { after, limit: HISTORY_SIZE });
      return historyView({
        incidents: items,
        regions: await regionNames(edge),
        first: after === null ? null : STATUS_PATHS.history,
        next: next === null ? null : `${STATUS_PATHS.history}?${AFTER_FIELD}=${next}`,
      });
    },
  },
  page({
    path: `${STATUS_PATHS.incidents}/{id}`,
    access: 'anyone',
    render: async ({ edge, service, params }) =>
      incidentView(await readIncident(service, params.id), await regionNames(edge)),
  }),
];

export function registerStatusFeed(scope: FastifyInstance, edge: Edge): void {
  const { service } = edge;
  scope.get(STATUS_PATHS.feed, async (request, reply) => {
    const { items: incidents } = await pageIncidents(service, { after: null, limit: FEED_SIZE });
    const feed = incidentFeed({
      site: service.settings.siteName,
      baseUrl: resolveBaseUrl({ edge, request }),
      incidents,
      regions: await regionNames(edge),
      now: formatRfc3339(service.clock.now()),
    });
    return reply.headers(FEED_HEADERS).send(feed);
  });
}

async function regionNames({ service }: Edge): Promise<RegionNames> {
  return new Map((await readRegions(service)).map(({ id, name }) => [id, name]));
}

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
function toSwitchedOff({ name, on, reason }: SwitchState) {
  if (on || !isServiceSwitch(name)) return [];
  return [{ name, reason: SWITCHES[name].blockedOperations.length > 0 ? reason : null }];
}
