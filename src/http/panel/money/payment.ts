/** The page of one top-up and its QR code. */
import type { FastifyInstance } from 'fastify';
import { cancelTopup } from '../../../domain/topups/end.ts';
import { getPayment, type PaymentView } from '../../../domain/topups/payment.ts';
import { getTopup } from '../../../domain/topups/read.ts';
import { fail } from '../../../kernel/fail.ts';
import { formatId } from '../../../kernel/ids.ts';
import { explorerNetwork } from '../../../kernel/settings/lists.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import { paymentView } from '../../../panel/money/payment.ts';
import type { View } from '../../../panel/parts/layout.ts';
import { BILLING_PATHS, resourcePath } from '../../../spec/paths.ts';
import { resolveBaseUrl } from '../../base-url.ts';
import { field } from '../../form.ts';
import type { SandboxControl } from '../../sandbox/control.ts';
import type { Edge } from '../../settings.ts';
import { hasContact } from '../assets.ts';
import { type CustomForm, customForm, type PageContext, type PanelPage, page } from '../page-types.ts';
import { registerPicture } from '../pipeline.ts';
import { qrPng } from '../png-renderer.ts';
import { readKeptOrders } from '../servers/order-drafts.ts';

export async function renderPayment(context: PageContext, payment: PaymentView): Promise<View> {
  const { edge, forms } = context;
  const template = edge.settings.explorers.get(explorerNetwork(payment.topup.network));
  return paymentView({
    ...payment,
    hasContact: hasContact(edge),
    // Use the reader's clock: a sandbox's clock may be days ahead.
    left_until: formatRfc3339(new Date(Date.now() + payment.left_ms)),
    explorer: template === undefined ? null : (txid) => template.replace('{tx}', encodeURIComponent(txid)),
    orders: await readKeptOrders(context),
    sandbox: edge.sandbox === null ? null : { url: resolveBaseUrl(context) },
    forms,
  });
}

const paymentPath = (id: string): string => resourcePath(BILLING_PATHS.topups, id);

/** Pays the rest of the top-up with simulated coins. */
const payForm: CustomForm = {
  audit: null,
  onlyInSandbox: true,
  run: async ({ edge, customer }, { id }) => {
    const { topup, missing } = await getPayment(edge.service, customer(), id);
    const { coin, deposit_address: address, deposit_amount: whole } = topup;
    await requireSandbox(edge).pay({ coin, address, amount: missing?.amount ?? whole });
    return { to: paymentPath(topup.id), notice: 'sandbox_paid' };
  },
};

const mineForm: CustomForm = {
  audit: null,
  onlyInSandbox: true,
  run: async ({ edge, customer, form }, { id }) => {
    const { topup } = await getPayment(edge.service, customer(), id);
    const count = Math.min(Math.max(Number(field(form, 'count')) || 1, 1), topup.required_confirmations);
    await requireSandbox(edge).mine({ coin: topup.coin, count: Math.floor(count) });
    return { to: paymentPath(topup.id), notice: 'sandbox_mined' };
  },
};

function requireSandbox({ sandbox }: Edge): SandboxControl {
  return sandbox ?? fail('bad_action');
}

const cancelTopupForm = customForm({
  audit: 'topup.cancel',
  run: async ({ edge, customer }, { id }) => {
    const { order_ref: orderRef } = await getPayment(edge.service, customer(), id);
    return await cancelTopup(edge.service, customer(), orderRef);
  },
  done: ({ id }) => ({
    to: paymentPath(formatId('topup', id)),
    notice: 'topup_cancelled',
  }),
});

export const PAYMENT_PAGES: readonly PanelPage[] = [
  page({
    path: `${BILLING_PATHS.topups}/{id}`,
    access: 'customer',
    readOperations: ['topups.get'],
    render: async (context) =>
      await renderPayment(context, await getPayment(context.service, context.customer(), context.params.id)),
    forms: { cancel: cancelTopupForm, pay: payForm, mine: mineForm },
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
