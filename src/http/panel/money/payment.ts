/** The page of one top-up and its QR code. */
import type { FastifyInstance } from 'fastify';
import { cancelTopup } from '../../../domain/topups/end.ts';
import { getPayment, type PaymentView } from '../../../domain/topups/payment.ts';
import { getTopup } from '../../../domain/topups/read.ts';
import { formatId } from '../../../kernel/ids.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import { paymentView } from '../../../panel/money/payment.ts';
import type { View } from '../../../panel/parts/layout.ts';
import { BILLING_PATHS, resourcePath } from '../../../spec/paths.ts';
import { resolveBaseUrl } from '../../base-url.ts';
import type { Edge } from '../../settings.ts';
import { customForm, type PageContext, type PanelPage, page } from '../page-types.ts';
import { registerPicture } from '../pipeline.ts';
import { qrPng } from '../png-renderer.ts';

export function renderPayment(context: PageContext, payment: PaymentView): View {
  const { service, forms } = context;
  const sandbox = service.settings.mode === 'sandbox';
  return paymentView({
    ...payment,
    // Use the reader's clock: a sandbox's clock may be days ahead.
    left_until: formatRfc3339(new Date(Date.now() + payment.left_ms)),
    sandbox: sandbox ? resolveBaseUrl(context) : null,
    forms,
  });
}

const cancelTopupForm = customForm({
  audit: 'topup.cancel',
  run: async ({ edge, customer }, { id }) => {
    const { order_ref: orderRef } = await getPayment(edge.service, customer(), id);
    return await cancelTopup(edge.service, customer(), orderRef);
  },
  done: ({ id }) => ({
    to: resourcePath(BILLING_PATHS.topups, formatId('topup', id)),
    notice: 'topup_cancelled',
  }),
});

export const PAYMENT_PAGES: readonly PanelPage[] = [
  page({
    path: `${BILLING_PATHS.topups}/{id}`,
    access: 'customer',
    readOperations: ['topups.get'],
    render: async (context) =>
      renderPayment(context, await getPayment(context.service, context.customer(), context.params.id)),
    forms: { cancel: cancelTopupForm },
  }),
];

/** Another customer's top-up gets the same 404 as an unknown one. */
export function registerPaymentQrCodes(scope: FastifyInstance, edge: Edge): void {
  const path = `${BILLING_PATHS.topups}/:id/qr.png`;
  registerPicture<{ id: string }>(scope, edge, path, async (owner, { params }) => {
    const topup = await getTopup(edge.service, owner, params.id);
    return { png: await qrPng(topup.payment_uri) };
  });
}
