/** The page that deletes the account. */

import { deleteAccount, previewDeletion } from '../../../domain/customers/deletion/start.ts';
import { getOwnAccount } from '../../../domain/customers/read.ts';
import { fail } from '../../../kernel/fail.ts';
import { formatCents } from '../../../kernel/money.ts';
import { deleteAccountView, deletedView } from '../../../panel/account/delete-account.ts';
import { ACCOUNT_PATHS } from '../../../spec/paths.ts';
import type { Call } from '../../admission/forms.ts';
import { field } from '../../form.ts';
import type { CustomForm, PanelPage } from '../page-types.ts';
import { hasPasskeys, readOwnerProof } from './account.ts';

/** Checks the typed address, which confirms that this account is meant. */
async function requireOwnEmail({ edge, form, customer }: Call): Promise<void> {
  const { email } = await getOwnAccount(edge.service, customer());
  const typed = field(form, 'email').trim();
  if (typed.toLowerCase() === email.toLowerCase()) return;
  fail('bad_email', { field: 'email' }, 'This is not the email address of this account.');
}

const deleteAccountForm: CustomForm = {
  audit: 'customer.delete',
  limitedBy: 'failures',
  run: async (call) => {
    const { edge, form, customer, visit } = call;
    await requireOwnEmail(call);
    const { completed, forfeitedCents } = await deleteAccount(edge.service, customer(), {
      ...readOwnerProof(form),
      destroyServers: form.has('destroy_servers'),
    });
    const shown = { completed: completed ? 'yes' : '', forfeited: formatCents(forfeitedCents) };
    return { shown, cookie: visit.visitor };
  },
};

export const DELETE_PAGE: PanelPage = {
  path: ACCOUNT_PATHS.delete,
  access: 'customer',
  render: async (context) => {
    const { shown, service, customer, forms } = context;
    if (shown) {
      const { completed, forfeited = '0.00' } = shown.texts;
      return deletedView({ isCompleted: completed === 'yes', forfeited });
    }
    const impact = await previewDeletion(service, customer());
    return deleteAccountView({ impact, forms, hasPasskeys: await hasPasskeys(context) });
  },
  forms: { delete: deleteAccountForm },
};
