/** One-time codes: switched on by a first code, switched off by password and code. */
import type { FastifyInstance } from 'fastify';
import { getOwnAccount } from '../../domain/customers/own-account.ts';
import {
  type BegunTotp,
  beginTotp,
  confirmTotp,
  disableTotp,
  pendingTotpUri,
} from '../../domain/customers/totp.ts';
import { qrCode } from '../../panel/qr.ts';
import { totpView } from '../../panel/totp.ts';
import { ACCOUNT_PATHS, TOTP_PICTURE_PATH } from '../../spec/paths.ts';
import { visitOf } from '../endpoint.ts';
import { field } from '../form.ts';
import type { Edge } from '../settings.ts';
import type { Done, Look, OwnForm, PanelPage } from './page.ts';
import { PASSWORD_FIELD, passwordAgain } from './password-again.ts';
import { qrPng, sendPng } from './pictures.ts';
import { sendNotFound } from './pipeline.ts';
import { meet } from './visitor.ts';

const HERE = ACCOUNT_PATHS.totp;

const begin: OwnForm = {
  audit: 'customer.begin_totp',
  counted: 'failures',
  run: async ({ edge, form, customer }, keep) => {
    const currentPassword = field(form, PASSWORD_FIELD);
    const done = ({ secret, uri }: BegunTotp): Done => ({ shown: { secret, uri } });
    const begun = await passwordAgain(() =>
      beginTotp(edge.service, customer(), { currentPassword }, (tx, made) =>
        keep(tx as never, done(made as BegunTotp)),
      ),
    );
    return done(begun);
  },
};

const confirm: OwnForm = {
  audit: 'customer.enable_totp',
  counted: 'failures',
  run: async ({ edge, form, customer }) => {
    await confirmTotp(edge.service, customer(), { code: field(form, 'code') });
    return { to: HERE, notice: 'totp_on' };
  },
};

const disable: OwnForm = {
  audit: 'customer.disable_totp',
  counted: 'failures',
  run: async ({ edge, form, customer }) => {
    await passwordAgain(() =>
      disableTotp(edge.service, customer(), {
        currentPassword: field(form, PASSWORD_FIELD),
        code: field(form, 'code'),
      }),
    );
    return { to: HERE, notice: 'totp_off' };
  },
};

export const TOTP_PAGE: PanelPage = {
  path: HERE,
  access: 'customer',
  show: async (look: Look) => {
    const { service, forms, shown } = look;
    const { totp: isOn } = await getOwnAccount(service, look.customer());
    const pending = isOn ? null : await pendingTotpUri(service, look.customer());
    const { secret, uri } = shown?.texts ?? {};
    return totpView({
      ...{ forms, isOn },
      picturePx: pending === null ? null : qrCode(pending).sidePx,
      secret: secret !== undefined && uri !== undefined ? { text: secret, uri } : null,
    });
  },
  forms: { begin, confirm, disable },
};

/** The picture of a secret that is begun, for whoever has begun it. Its address says nothing of it. */
export function registerTotpPicture(scope: FastifyInstance, edge: Edge): void {
  scope.get(TOTP_PICTURE_PATH, async (request, reply) => {
    const { actor } = visitOf(edge, await meet(edge, request), request);
    const { customerId } = actor;
    const uri = customerId === null ? null : await pendingTotpUri(edge.service, { ...actor, customerId });
    if (uri === null) return await sendNotFound(edge, request, reply);
    return sendPng(reply, await qrPng(uri), { kept: false });
  });
}
