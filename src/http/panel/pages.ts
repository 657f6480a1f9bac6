/** Every page of the panel. */
import type { FastifyInstance } from 'fastify';
import { prepareErrorResponse, toFailure } from '../errors.ts';
import type { Edge } from '../settings.ts';
import { LIMITS_PAGE, OVERVIEW_PAGE } from './account/account.ts';
import { AUDIT_PAGES } from './account/audit-log.ts';
import { DELETE_PAGE } from './account/delete-account.ts';
import { LINK_PAGES } from './account/links.ts';
import { NEWS_OFF_PAGE, registerNewsOff } from './account/news.ts';
import { PASSKEYS_PAGE } from './account/passkeys.ts';
import { SESSIONS_PAGE } from './account/sessions.ts';
import { SIGN_IN_PAGES } from './account/sign-in.ts';
import { SSH_KEY_PAGES } from './account/ssh-keys.ts';
import { TOKEN_PAGE, TOKENS_PAGE } from './account/tokens.ts';
import { registerTotpQrCode, TOTP_PAGE } from './account/totp.ts';
import { registerAssets, registerSiteFiles } from './assets.ts';
import { registerBodyParsers } from './form-bodies.ts';
import { BILLING_PAGES } from './money/billing.ts';
import { PAYMENT_PAGES, registerPaymentQrCodes } from './money/payment.ts';
import { TOPUP_PAGES } from './money/topup.ts';
import type { PanelPage } from './page-types.ts';
import { registerPage, sendFailure } from './pipeline.ts';
import { ALERT_PAGES } from './resources/alerts.ts';
import { FIREWALL_PAGES } from './resources/firewall.ts';
import { IMAGE_PAGES } from './resources/images.ts';
import { SNAPSHOT_PAGES } from './resources/snapshots.ts';
import { registerTicketFiles } from './resources/ticket-file.ts';
import { TICKET_PAGES } from './resources/tickets.ts';
import { registerUploadParts } from './resources/upload-parts.ts';
import { VOLUME_PAGES } from './resources/volumes.ts';
import { WEBHOOK_PAGES } from './resources/webhooks.ts';
import { ACTION_PAGES } from './servers/actions.ts';
import { registerServerAddresses } from './servers/addresses.ts';
import { DEPLOY_PAGES } from './servers/deploy.ts';
import { SERVER_LIST_PAGE } from './servers/list.ts';
import { registerServerCharts, SERVER_METRICS_PAGE } from './servers/metrics.ts';
import { SERVER_PAGE } from './servers/overview.ts';
import { SERVER_REBUILD_PAGE } from './servers/rebuild.ts';
import { SERVER_RESIZE_PAGE } from './servers/resize.ts';
import { SERVER_NETWORK_PAGE, SERVER_SETTINGS_PAGE } from './servers/settings.ts';
import { SERVER_STORAGE_PAGE } from './servers/storage.ts';
import { ABUSE_PAGES } from './site/abuse.ts';
import { ANNOUNCEMENTS_PAGE } from './site/announcements.ts';
import { DOCS_PAGES, registerPlainDocs } from './site/docs.ts';
import { SEARCH_PAGE } from './site/search.ts';
import { registerStatusFeed, STATUS_PAGES } from './site/status.ts';
import { STOREFRONT_PAGES } from './site/storefront.ts';

/** All account pages: signing in, links in mails, and the account itself. */
const ACCOUNT_PAGES: readonly PanelPage[] = [
  ...SIGN_IN_PAGES,
  ...LINK_PAGES,
  OVERVIEW_PAGE,
  NEWS_OFF_PAGE,
  TOTP_PAGE,
  PASSKEYS_PAGE,
  SESSIONS_PAGE,
  TOKENS_PAGE,
  TOKEN_PAGE,
  LIMITS_PAGE,
  ...AUDIT_PAGES,
  DELETE_PAGE,
];

/** All billing pages. */
const MONEY_PAGES: readonly PanelPage[] = [...TOPUP_PAGES, ...PAYMENT_PAGES, ...BILLING_PAGES];

/** The pages of all resources except servers. */
const RESOURCE_PAGES: readonly PanelPage[] = [
  SEARCH_PAGE,
  ANNOUNCEMENTS_PAGE,
  ...ACTION_PAGES,
  ...VOLUME_PAGES,
  ...SNAPSHOT_PAGES,
  ...FIREWALL_PAGES,
  ...SSH_KEY_PAGES,
  ...IMAGE_PAGES,
  ...WEBHOOK_PAGES,
  ...ALERT_PAGES,
  ...TICKET_PAGES,
];

/** All server pages. */
const SERVER_PAGES: readonly PanelPage[] = [
  SERVER_LIST_PAGE,
  ...DEPLOY_PAGES,
  SERVER_PAGE,
  SERVER_METRICS_PAGE,
  SERVER_NETWORK_PAGE,
  SERVER_STORAGE_PAGE,
  SERVER_RESIZE_PAGE,
  SERVER_REBUILD_PAGE,
  SERVER_SETTINGS_PAGE,
];

export const PANEL_PAGES: readonly PanelPage[] = [
  ...STOREFRONT_PAGES,
  ...STATUS_PAGES,
  ...ABUSE_PAGES,
  ...DOCS_PAGES,
  ...SERVER_PAGES,
  ...RESOURCE_PAGES,
  ...MONEY_PAGES,
  ...ACCOUNT_PAGES,
];

export function registerPanel(scope: FastifyInstance, edge: Edge): void {
  registerBodyParsers(scope);
  scope.setErrorHandler(async (error, request, reply) => {
    const answer = prepareErrorResponse(edge, error, request, reply);
    // Programs get the JSON error, including errors in the request as a whole.
    if (!request.headers.accept?.includes('text/html')) return reply.send(answer);
    return await sendFailure(edge, request, reply, toFailure(edge, error));
  });
  registerAssets(scope, edge.settings.site);
  registerPaymentQrCodes(scope, edge);
  registerTotpQrCode(scope, edge);
  registerSiteFiles(scope);
  registerPlainDocs(scope, edge);
  registerStatusFeed(scope, edge);
  registerServerCharts(scope, edge);
  registerServerAddresses(scope, edge);
  registerTicketFiles(scope, edge);
  registerUploadParts(scope, edge);
  registerNewsOff(scope, edge);
  for (const page of PANEL_PAGES) registerPage(scope, edge, page);
}
