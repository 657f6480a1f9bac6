/** Every page of the panel. */
import type { FastifyInstance } from 'fastify';
import { prepareErrorResponse, toFailure } from '../errors.ts';
import type { Edge } from '../settings.ts';
import { OVERVIEW_PAGE } from './account.ts';
import { registerAssets, registerSiteFiles } from './assets.ts';
import { AUDIT_PAGES } from './audit-log.ts';
import { BILLING_PAGES } from './billing.ts';
import { DELETE_PAGE } from './delete-account.ts';
import { DEPLOY_PAGES } from './deploy.ts';
import { DOCS_PAGES } from './docs.ts';
import { FIREWALL_PAGES } from './firewall.ts';
import { registerBodyParsers } from './form-bodies.ts';
import { IMAGE_PAGES } from './images.ts';
import { LINK_PAGES } from './links.ts';
import type { PanelPage } from './page-types.ts';
import { PAYMENT_PAGES, registerPaymentQrCodes } from './payment.ts';
import { registerPage, sendFailure } from './pipeline.ts';
import { SERVER_PAGE } from './server.ts';
import { registerServerCharts, SERVER_METRICS_PAGE } from './server-metrics.ts';
import { SERVER_REBUILD_PAGE } from './server-rebuild.ts';
import { SERVER_NETWORK_PAGE, SERVER_SETTINGS_PAGE } from './server-settings.ts';
import { SERVER_STORAGE_PAGE } from './server-storage.ts';
import { SERVER_LIST_PAGE } from './servers.ts';
import { SESSIONS_PAGE } from './sessions.ts';
import { SIGN_IN_PAGES } from './sign-in.ts';
import { SNAPSHOT_PAGES } from './snapshots.ts';
import { SSH_KEY_PAGES } from './ssh-keys.ts';
import { STOREFRONT_PAGES } from './storefront.ts';
import { TOKENS_PAGE } from './tokens.ts';
import { TOPUP_PAGES } from './topup.ts';
import { registerTotpQrCode, TOTP_PAGE } from './totp.ts';
import { VOLUME_PAGES } from './volumes.ts';
import { WEBHOOK_PAGES } from './webhooks.ts';

/** All account pages: signing in, links in mails, and the account itself. */
const ACCOUNT_PAGES: readonly PanelPage[] = [
  ...SIGN_IN_PAGES,
  ...LINK_PAGES,
  OVERVIEW_PAGE,
  TOTP_PAGE,
  SESSIONS_PAGE,
  TOKENS_PAGE,
  ...AUDIT_PAGES,
  DELETE_PAGE,
];

/** All billing pages. */
const MONEY_PAGES: readonly PanelPage[] = [...TOPUP_PAGES, ...PAYMENT_PAGES, ...BILLING_PAGES];

/** The pages of all resources except servers. */
const RESOURCE_PAGES: readonly PanelPage[] = [
  ...VOLUME_PAGES,
  ...SNAPSHOT_PAGES,
  ...FIREWALL_PAGES,
  ...SSH_KEY_PAGES,
  ...IMAGE_PAGES,
  ...WEBHOOK_PAGES,
];

/** All server pages. */
const SERVER_PAGES: readonly PanelPage[] = [
  SERVER_LIST_PAGE,
  ...DEPLOY_PAGES,
  SERVER_PAGE,
  SERVER_METRICS_PAGE,
  SERVER_NETWORK_PAGE,
  SERVER_STORAGE_PAGE,
  SERVER_REBUILD_PAGE,
  SERVER_SETTINGS_PAGE,
];

export const PANEL_PAGES: readonly PanelPage[] = [
  ...STOREFRONT_PAGES,
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
  registerAssets(scope);
  registerPaymentQrCodes(scope, edge);
  registerTotpQrCode(scope, edge);
  registerSiteFiles(scope);
  registerServerCharts(scope, edge);
  for (const page of PANEL_PAGES) registerPage(scope, edge, page);
}
