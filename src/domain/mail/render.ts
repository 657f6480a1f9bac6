/** Renders each kind of mail from its template. */
import type { MailData, MailKind } from '../../spec/mails.ts';
import { layoutMail, type RenderedMail } from './layout.ts';
import { accountDeleted } from './templates/account-deleted.ts';
import { addressChanged } from './templates/address-changed.ts';
import { confirmAddress } from './templates/confirm-address.ts';
import { destructionWarning } from './templates/destruction-warning.ts';
import type { MailContent, MailPanel } from './templates/format.ts';
import { keyUnusable } from './templates/key-unusable.ts';
import { lowBalance } from './templates/low-balance.ts';
import { newSignIn } from './templates/new-sign-in.ts';
import { openPgpKeyChanged } from './templates/openpgp-key-changed.ts';
import { passwordChanged } from './templates/password-changed.ts';
import { priceChange } from './templates/price-change.ts';
import { resetPassword } from './templates/reset-password.ts';
import { serverDestroyed } from './templates/server-destroyed.ts';
import { serverEnds } from './templates/server-ends.ts';
import { serverSuspended } from './templates/server-suspended.ts';
import { topupCredited } from './templates/topup-credited.ts';
import { totpChanged } from './templates/totp-changed.ts';
import { webhookPaused } from './templates/webhook-paused.ts';

const TEMPLATES: { readonly [Kind in MailKind]: (data: MailData[Kind], panel: MailPanel) => MailContent } = {
  low_balance: lowBalance,
  server_ends: serverEnds,
  server_suspended: serverSuspended,
  destruction_warning: destructionWarning,
  server_destroyed: serverDestroyed,
  price_change: priceChange,
  webhook_paused: webhookPaused,
  topup_credited: topupCredited,
  new_sign_in: newSignIn,
  confirm_address: confirmAddress,
  address_changed: addressChanged,
  reset_password: resetPassword,
  password_changed: passwordChanged,
  openpgp_key_changed: openPgpKeyChanged,
  totp_changed: totpChanged,
  account_deleted: accountDeleted,
};

export function renderMail<Kind extends MailKind>(
  kind: Kind,
  data: MailData[Kind],
  panel: MailPanel,
): RenderedMail {
  return layoutMail(TEMPLATES[kind](data, panel), panel);
}

/** Renders the notice that replaces a mail that cannot be encrypted. */
export function renderKeyUnusable(panel: MailPanel): RenderedMail {
  return layoutMail(keyUnusable(panel), panel);
}
