/** The end of an account. */
import { deleteAccount } from '../../domain/customers/deletion/begin.ts';
import { lookAtDeparture } from '../../domain/customers/deletion/look.ts';
import { getOwnAccount } from '../../domain/customers/own-account.ts';
import { fail } from '../../kernel/fail.ts';
import { centsText } from '../../kernel/money.ts';
import { deleteAccountView, deletedView } from '../../panel/delete-account.ts';
import { ACCOUNT_PATHS } from '../../spec/paths.ts';
import type { Call } from '../endpoint.ts';
import { field } from '../form.ts';
import type { OwnForm, PanelPage } from './page.ts';
import { PASSWORD_FIELD, passwordAgain } from './password-again.ts';

/** Typed to show that this account is meant. */
async function requireOwnAddress({ edge, form, customer }: Call): Promise<void> {
  const { email } = await getOwnAccount(edge.service, customer());
  const typed = field(form, 'email').trim();
  if (typed.toLowerCase() === email.toLowerCase()) return;
  fail('bad_email', { field: 'email' }, 'This is not the address of your account.');
}

const remove: OwnForm = {
  audit: 'customer.delete',
  counted: 'failures',
  run: async (call) => {
    const { edge, form, customer, visit } = call;
    await requireOwnAddress(call);
    const { completed, forfeitedCents } = await passwordAgain(() =>
      deleteAccount(edge.service, customer(), {
        currentPassword: field(form, PASSWORD_FIELD),
        destroyServers: form.has('destroy_servers'),
      }),
    );
    const shown = { completed: completed ? 'yes' : '', forfeited: centsText(forfeitedCents) };
    return { shown, cookie: visit.visitor };
  },
};

export const DELETE_PAGE: PanelPage = {
  path: ACCOUNT_PATHS.delete,
  access: 'customer',
  show: async ({ shown, service, customer, forms }) => {
    if (shown) {
      const { completed, forfeited = '0.00' } = shown.texts;
      return deletedView({ isCompleted: completed === 'yes', forfeited });
    }
    return deleteAccountView({ departure: await lookAtDeparture(service, customer()), forms });
  },
  forms: { delete: remove },
};
