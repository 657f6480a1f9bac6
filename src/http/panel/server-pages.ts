/** All server pages. */
import { DEPLOY_PAGES } from './deploy.ts';
import type { PanelPage } from './page-types.ts';
import { SERVER_PAGE } from './server.ts';
import { SERVER_METRICS_PAGE } from './server-metrics.ts';
import { SERVER_NETWORK_PAGE } from './server-network.ts';
import { SERVER_REBUILD_PAGE } from './server-rebuild.ts';
import { SERVER_SETTINGS_PAGE } from './server-settings.ts';
import { SERVER_STORAGE_PAGE } from './server-storage.ts';
import { SERVER_LIST_PAGE } from './servers.ts';

export const SERVER_PAGES: readonly PanelPage[] = [
  SERVER_LIST_PAGE,
  ...DEPLOY_PAGES,
  SERVER_PAGE,
  SERVER_METRICS_PAGE,
  SERVER_NETWORK_PAGE,
  SERVER_STORAGE_PAGE,
  SERVER_REBUILD_PAGE,
  SERVER_SETTINGS_PAGE,
];
