/** Every page of the panel. */
import type { FastifyInstance } from 'fastify';
import { prepareErrorResponse, toFailure } from '../errors.ts';
import type { Edge } from '../settings.ts';
import { ACCOUNT_PAGES } from './account-pages.ts';
import { registerAssets } from './assets.ts';
import { DOCS_PAGES } from './docs.ts';
import { registerBodyParsers } from './form-bodies.ts';
import { MONEY_PAGES } from './money-pages.ts';
import type { PanelPage } from './page-types.ts';
import { registerPaymentQrCodes } from './payment.ts';
import { registerPage, sendFailure } from './pipeline.ts';
import { RESOURCE_PAGES } from './resource-pages.ts';
import { registerServerCharts } from './server-metrics.ts';
import { SERVER_PAGES } from './server-pages.ts';
import { registerSiteFiles } from './site-files.ts';
import { STOREFRONT_PAGES } from './storefront.ts';
import { registerTotpQrCode } from './totp.ts';

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
