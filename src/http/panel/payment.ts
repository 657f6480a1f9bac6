/** The page of one top-up, and its QR code. */
import type { FastifyInstance } from 'fastify';
import { cancelTopup } from '../../domain/topups/cancel.ts';
import { getTopup } from '../../domain/topups/list.ts';
import { getPayment, type PaymentView } from '../../domain/topups/payment.ts';
import { rfc3339 } from '../../kernel/time.ts';
import type { View } from '../../panel/layout.ts';
import { paymentView } from '../../panel/payment.ts';
import { MONEY_PATHS, thingPath } from '../../spec/paths.ts';
import { visitOf } from '../endpoint.ts';
import { failureOf } from '../errors.ts';
import type { Edge } from '../settings.ts';
import { baseUrlOf } from './base-url.ts';
import type { Done, Look, OwnForm, PanelPage } from './page.ts';
import { qrPng, sendPng } from './pictures.ts';
import { sendNotFound } from './pipeline.ts';
import { meet } from './visitor.ts';

export function paymentPage(look: Look, payment: PaymentView): View {
  const { service, forms } = look;
  const sandbox = service.settings.mode === 'sandbox';
  return paymentView({
    ...payment,
    // The reader's clock is not ours: a sandbox may be days ahead.
    left_until: rfc3339(new Date(Date.now() + payment.left_ms)),
    sandbox: sandbox ? baseUrlOf(look) : null,
    forms,
  });
}

const cancel: OwnForm = {
  audit: 'topup.cancel',
  run: async (call, keep) => {
    const { id = '' } = call.request.params as { readonly id?: string };
    const { service } = call.edge;
    const { order_ref: orderRef } = await getPayment(service, call.customer(), id);
    const done: Done = { to: thingPath(MONEY_PATHS.topups, id), notice: 'topup_cancelled' };
    await cancelTopup(service, call.customer(), orderRef, { within: (tx) => keep(tx as never, done) });
    return done;
  },
};

export const PAYMENT_PAGES: readonly PanelPage[] = [
  {
    path: `${MONEY_PATHS.topups}/{id}`,
    access: 'customer',
    shows: ['topups.get'],
    show: async (look) =>
      paymentPage(look, await getPayment(look.service, look.customer(), look.params.id ?? '')),
    forms: { cancel },
  },
];

/** A picture of somebody else's top-up is not there, like one that never was. */
export function registerPaymentPictures(scope: FastifyInstance, edge: Edge): void {
  const path = `${MONEY_PATHS.topups}/:id/qr.png`;
  scope.get<{ Params: { id: string } }>(path, async (request, reply) => {
    const { actor } = visitOf(edge, await meet(edge, request), request);
    const { customerId } = actor;
    if (customerId === null) return await sendNotFound(edge, request, reply);
    try {
      const topup = await getTopup(edge.service, { ...actor, customerId }, request.params.id);
      return sendPng(reply, await qrPng(topup.payment_uri));
    } catch (error) {
      if (failureOf(edge, error).code !== 'not_found') throw error;
      return await sendNotFound(edge, request, reply);
    }
  });
}
