/** The billing tab and the view of one payment. An invoice of somebody else is not found, like one that never was. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findAccount } from '../domain/customers/account.ts';
import { identify } from '../domain/sessions/identify.ts';
import { findTopup, listNewestTopups } from '../domain/topups/find.ts';
import { shownTopupStatus, topupView } from '../domain/topups/object.ts';
import { Failure } from '../kernel/fail.ts';
import { centsText } from '../kernel/money.ts';
import { billingPage, type InvoiceView, paymentPage } from '../panel/billing.ts';
import { placePage, TOPUP_PLACE } from '../panel/places.ts';
import { signInFirstPage } from '../panel/servers.ts';
import { coin } from '../spec/coins.ts';
import { PANEL_PATHS } from '../spec/paths.ts';
import { cookieOf } from './cookie.ts';
import { field, queryOf } from './form.ts';
import { sendNotFoundPage, sendPage } from './send-page.ts';
import type { Edge } from './settings.ts';

type Invoice = Awaited<ReturnType<typeof findTopup>>;

export function registerBillingPages(scope: FastifyInstance, edge: Edge): void {
  const { service } = edge;
  const customerOf = async (request: FastifyRequest) =>
    (await identify(service, cookieOf(request))).session?.customerId ?? null;

  scope.get(PANEL_PATHS.billing, async (request, reply) => {
    const customerId = await customerOf(request);
    const account = customerId === null ? undefined : await findAccount(service, customerId);
    if (customerId === null || !account) return sendPage(reply, signInFirstPage('Billing'));
    const invoices = (await listNewestTopups(service, customerId)).map(view);
    return sendPage(reply, billingPage({ balance: usd(account.balanceCents), invoices }));
  });

  scope.get(PANEL_PATHS.topup, async (request, reply) => {
    const ref = field(queryOf(request.url), 'ref');
    if (ref === '') return sendPage(reply, placePage(TOPUP_PLACE));
    const customerId = await customerOf(request);
    if (customerId === null) return sendPage(reply, signInFirstPage('Top-up'));
    try {
      return sendPage(reply, paymentPage(view(await findTopup(service, customerId, ref))));
    } catch (error) {
      if (error instanceof Failure && error.code === 'not_found') return sendNotFoundPage(reply);
      throw error;
    }
  });
}

function view(row: Invoice): InvoiceView {
  const {
    deposit_address: depositAddress,
    deposit_amount: depositAmount,
    expires_at: expiresAt,
  } = topupView(row);
  return {
    orderRef: row.order_ref,
    amount: usd(row.amount_cents),
    coin: row.coin,
    network: coin(row.coin).network,
    depositAddress,
    depositAmount,
    status: shownTopupStatus(row),
    confirmations: `${row.confirmations} of ${row.required_confirmations}`,
    credited: usd(row.credited_cents + row.bonus_paid_cents),
    expiresAt,
  };
}

function usd(cents: bigint): string {
  return `${centsText(cents)} USD`;
}
