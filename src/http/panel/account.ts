/** The account: its address, password and OpenPGP key. */
import { changeEmail } from '../../domain/customers/change-email.ts';
import { changePassword } from '../../domain/customers/change-password.ts';
import { resendConfirmation } from '../../domain/customers/confirm-address.ts';
import { setOpenPgpKey } from '../../domain/customers/openpgp-key.ts';
import { getOwnAccount } from '../../domain/customers/own-account.ts';
import { fail } from '../../kernel/fail.ts';
import { accountView } from '../../panel/account.ts';
import type { FormContext } from '../../panel/form.ts';
import { ACCOUNT_PATHS } from '../../spec/paths.ts';
import type { Call } from '../endpoint.ts';
import { field } from '../form.ts';
import type { Done, OwnForm, PanelPage } from './page.ts';
import { PASSWORD_FIELD, passwordAgain } from './password-again.ts';

const HERE = ACCOUNT_PATHS.overview;
const ECHOED_MAX_CHARS = 16_000;

const resend: OwnForm = {
  audit: 'customer.resend_confirmation',
  run: async ({ edge, customer }) => {
    const mailed = await resendConfirmation(edge.service, customer());
    return { to: HERE, notice: mailed ? 'confirmation_mailed' : 'email_confirmed' };
  },
};

const email: OwnForm = {
  audit: 'customer.change_email',
  counted: 'failures',
  run: async ({ edge, form, customer }) => {
    const change = await passwordAgain(() =>
      changeEmail(edge.service, customer(), {
        currentPassword: field(form, PASSWORD_FIELD),
        email: field(form, 'email'),
      }),
    );
    return { to: HERE, notice: change.pendingEmail === null ? 'email_changed' : 'email_pending' };
  },
};

const password: OwnForm = {
  audit: 'customer.change_password',
  counted: 'failures',
  names: { password: 'new_password' },
  run: async ({ edge, form, customer }) => {
    const newPassword = field(form, 'new_password');
    // A slip of the keyboard would be found out at the next sign-in only.
    if (newPassword !== field(form, 'new_password_confirm'))
      fail('password_mismatch', { field: 'new_password_confirm' });
    await passwordAgain(() =>
      changePassword(edge.service, customer(), {
        currentPassword: field(form, PASSWORD_FIELD),
        newPassword,
      }),
    );
    return { to: HERE, notice: 'password_changed' };
  },
};

async function setKey({ edge, form, customer }: Call, armored: string): Promise<Done> {
  const set = await passwordAgain(() =>
    setOpenPgpKey(edge.service, customer(), { currentPassword: field(form, PASSWORD_FIELD), armored }),
  );
  return { to: HERE, notice: set === null ? 'openpgp_removed' : 'openpgp_set' };
}

const openPgpKey: OwnForm = {
  audit: 'customer.set_openpgp_key',
  counted: 'failures',
  run: async (call) => {
    const armored = field(call.form, 'openpgp_key');
    // Nothing typed is no wish to remove the key: that has a form of its own.
    if (armored.trim() === '') fail('bad_openpgp_key', { field: 'openpgp_key' });
    return await setKey(call, armored);
  },
};

const noOpenPgpKey: OwnForm = {
  audit: 'customer.set_openpgp_key',
  counted: 'failures',
  run: (call) => setKey(call, ''),
};

/** What is never sent back, though it was typed here by mistake, and what is too long for a page. */
function echoed(forms: FormContext): FormContext {
  const typed = forms.values.get('openpgp_key') ?? '';
  if (typed.length <= ECHOED_MAX_CHARS && !typed.includes('PRIVATE KEY')) return forms;
  return { ...forms, values: new Map([...forms.values].filter(([name]) => name !== 'openpgp_key')) };
}

export const OVERVIEW_PAGE: PanelPage = {
  path: HERE,
  access: 'customer',
  show: async (look) =>
    accountView({
      account: await getOwnAccount(look.service, look.customer()),
      mails: look.service.mailer !== null,
      forms: echoed(look.forms),
    }),
  forms: { resend, email, password, openpgp: openPgpKey, no_openpgp: noOpenPgpKey },
};
