/** The account page: email, password, and OpenPGP key. */
import { changeEmail, resendConfirmation } from '../../../domain/customers/email/change.ts';
import { readLimits } from '../../../domain/customers/limits.ts';
import { setOpenPgpKey } from '../../../domain/customers/openpgp-key.ts';
import type { OwnerProof } from '../../../domain/customers/owner.ts';
import { findRelyingParty } from '../../../domain/customers/passkeys/challenge.ts';
import { listPasskeys } from '../../../domain/customers/passkeys/manage.ts';
import { changePassword } from '../../../domain/customers/password.ts';
import { getOwnAccount } from '../../../domain/customers/read.ts';
import { wantsNews } from '../../../domain/customers/talking/news.ts';
import { fail } from '../../../kernel/fail.ts';
import { accountView } from '../../../panel/account/account.ts';
import { limitsView } from '../../../panel/account/limits.ts';
import type { FormContext } from '../../../panel/parts/form.ts';
import { ACCOUNT_PATHS } from '../../../spec/paths.ts';
import type { Call } from '../../admission/forms.ts';
import { readSessionCookie, rememberDevice } from '../../cookie.ts';
import { type Form, field } from '../../form.ts';
import type { CustomForm, FormResult, PageContext, PanelPage } from '../page-types.ts';
import { newsForm } from './news.ts';

const OVERVIEW_PATH = ACCOUNT_PATHS.overview;
const ECHOED_MAX_CHARS = 16_000;

const resendConfirmationForm: CustomForm = {
  audit: 'customer.resend_confirmation',
  run: async ({ edge, customer }) => {
    const mailed = await resendConfirmation(edge.service, customer());
    return { to: OVERVIEW_PATH, notice: mailed ? 'confirmation_mailed' : 'email_confirmed' };
  },
};

const changeEmailForm: CustomForm = {
  audit: 'customer.change_email',
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    const change = await changeEmail(edge.service, customer(), {
      ...readOwnerProof(form),
      email: field(form, 'email'),
    });
    return { to: OVERVIEW_PATH, notice: change.pendingEmail === null ? 'email_changed' : 'email_pending' };
  },
};

const changePasswordForm: CustomForm = {
  audit: 'customer.change_password',
  limitedBy: 'failures',
  fieldNames: { password: 'new_password' },
  run: async (call) => {
    const { edge, form, customer, request } = call;
    const newPassword = field(form, 'new_password');
    // Without this check, a typing error would go unnoticed until the next sign-in.
    if (newPassword !== field(form, 'new_password_confirm'))
      fail('password_mismatch', { field: 'new_password_confirm' });
    await changePassword(edge.service, customer(), {
      currentPassword: field(form, PASSWORD_FIELD),
      newPassword,
      revokeTokens: form.has('revoke_tokens'),
    });
    // The new password ended the device's earlier cookie.
    await rememberDevice(call, readSessionCookie(request));
    return { to: OVERVIEW_PATH, notice: 'password_changed' };
  },
};

async function saveOpenPgpKey({ edge, form, customer }: Call, armored: string): Promise<FormResult> {
  const set = await setOpenPgpKey(edge.service, customer(), {
    currentPassword: field(form, PASSWORD_FIELD),
    armored,
  });
  return { to: OVERVIEW_PATH, notice: set === null ? 'openpgp_removed' : 'openpgp_set' };
}

const setOpenPgpKeyForm: CustomForm = {
  audit: 'customer.set_openpgp_key',
  limitedBy: 'failures',
  run: async (call) => {
    const armored = field(call.form, 'openpgp_key');
    // An empty field does not remove the key: a separate form does.
    if (armored.trim() === '') fail('bad_openpgp_key', { field: 'openpgp_key' });
    return await saveOpenPgpKey(call, armored);
  },
};

const removeOpenPgpKeyForm: CustomForm = {
  audit: 'customer.set_openpgp_key',
  limitedBy: 'failures',
  run: (call) => saveOpenPgpKey(call, ''),
};

/** Drops a typed key that must not be repeated in a page: a private key, or a text that is too long. */
function withoutUnsafeEcho(forms: FormContext): FormContext {
  const typed = forms.values.get('openpgp_key') ?? '';
  if (typed.length <= ECHOED_MAX_CHARS && !typed.includes('PRIVATE KEY')) return forms;
  return { ...forms, values: new Map([...forms.values].filter(([name]) => name !== 'openpgp_key')) };
}

export const OVERVIEW_PAGE: PanelPage = {
  path: OVERVIEW_PATH,
  access: 'customer',
  readOperations: ['account.get'],
  render: async (context) =>
    accountView({
      account: await getOwnAccount(context.service, context.customer()),
      sendsMail: context.service.mailer !== null,
      hasPasskeys: await hasPasskeys(context),
      wantsNews: await wantsNews(context.service, context.customer()),
      forms: withoutUnsafeEcho(context.forms),
    }),
  forms: {
    resend: resendConfirmationForm,
    email: changeEmailForm,
    password: changePasswordForm,
    openpgp: setOpenPgpKeyForm,
    no_openpgp: removeOpenPgpKeyForm,
    news: newsForm,
  },
};

export const LIMITS_PAGE: PanelPage = {
  path: ACCOUNT_PATHS.limits,
  access: 'customer',
  readOperations: ['limits.list'],
  render: async ({ service, customer }) =>
    limitsView(await readLimits(service, { ...customer(), scope: 'billing' })),
};

export const PASSWORD_FIELD = 'current_password';

/** Reads the current password, or the passkey that the script put in its place. */
export function readOwnerProof(form: Form): OwnerProof {
  return { currentPassword: field(form, PASSWORD_FIELD), passkey: field(form, 'passkey') };
}

/** Whether the customer can use a passkey in place of the current password. */
export async function hasPasskeys({ service, customer }: PageContext): Promise<boolean> {
  return findRelyingParty(service) !== null && (await listPasskeys(service, customer())).length > 0;
}
