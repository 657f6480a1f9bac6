/** The pages of servers, each in a file of its own. */
import { DEPLOY_PAGES } from './deploy.ts';
import type { PanelPage } from './page.ts';
import { SERVER_LIST_PAGE } from './servers.ts';

export const SERVER_PAGES: readonly PanelPage[] = [SERVER_LIST_PAGE, ...DEPLOY_PAGES];
