/** One-time codes: enabled with a first code, disabled with password and code. */
import type { FastifyInstance } from 'fastify';
import { getOwnAccount } from '../../../domain/customers/read.ts';
import {
  confirmTotp,
  disableTotp,
  pendingTotpUri,
  startTotp,
  type TotpEnrollment,
} from '../../../domain/customers/totp.ts';
import { fail } from '../../../kernel/fail.ts';
import { totpView } from '../../../panel/account/totp.ts';
import { qrCode } from '../../../panel/money/qr.ts';
import { ACCOUNT_PATHS, TOTP_QR_PATH } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import type { Edge } from '../../settings.ts';
import { type CustomForm, customForm, type PageContext, type PanelPage } from '../page-types.ts';
import { registerPicture } from '../pipeline.ts';
import { qrPng } from '../png-renderer.ts';
import { PASSWORD_FIELD } from './account.ts';

const TOTP_PATH = ACCOUNT_PATHS.totp;

const startTotpForm = customForm<TotpEnrollment>({
  audit: 'customer.begin_totp',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    const currentPassword = field(form, PASSWORD_FIELD);
    return await startTotp(edge.service, customer(), { currentPassword });
  },
  done: ({ secret, uri }) => ({ shown: { secret, uri } }),
});

const confirmTotpForm: CustomForm = {
  audit: 'customer.enable_totp',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    await confirmTotp(edge.service, customer(), { code: field(form, 'code') });
    return { to: TOTP_PATH, notice: 'totp_on' };
  },
};

const disableTotpForm: CustomForm = {
  audit: 'customer.disable_totp',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    await disableTotp(edge.service, customer(), {
      currentPassword: field(form, PASSWORD_FIELD),
      code: field(form, 'code'),
    });
    return { to: TOTP_PATH, notice: 'totp_off' };
  },
};

export const TOTP_PAGE: PanelPage = {
  path: TOTP_PATH,
  access: 'customer',
  render: async (context: PageContext) => {
    const { service, forms, shown } = context;
    const { totp: isOn } = await getOwnAccount(service, context.customer());
    const pending = isOn ? null : await pendingTotpUri(service, context.customer());
    const { secret, uri } = shown?.texts ?? {};
    return totpView({
      forms,
      isOn,
      qrCodePx: pending === null ? null : qrCode(pending).sidePx,
      secret: secret !== undefined && uri !== undefined ? { text: secret, uri } : null,
    });
  },
  forms: { begin: startTotpForm, confirm: confirmTotpForm, disable: disableTotpForm },
};

/** Serves the QR code of a pending secret to its customer. The URL reveals nothing about it. */
export function registerTotpQrCode(scope: FastifyInstance, edge: Edge): void {
  registerPicture(scope, edge, TOTP_QR_PATH, async (owner) => {
    const uri = (await pendingTotpUri(edge.service, owner)) ?? fail('not_found');
    return { png: await qrPng(uri), kept: false };
  });
}
