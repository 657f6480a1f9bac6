/** The pages behind links in mails. GET shows a form and does nothing else; the form does what the link is for. */
import { confirmAddress } from '../../domain/customers/confirm-address.ts';
import { findLink } from '../../domain/customers/mail-links.ts';
import { requestReset } from '../../domain/customers/request-reset.ts';
import { resetPassword } from '../../domain/customers/reset-password.ts';
import {
  confirmedView,
  confirmView,
  invalidLinkView,
  missingLinkView,
  requestResetView,
  resetDoneView,
  resetRequestedView,
  resetView,
} from '../../panel/links.ts';
import { LINK_PATHS } from '../../spec/paths.ts';
import { field } from '../form.ts';
import { deduplicateForAMinute } from './deduplicate.ts';
import type { CustomForm, PageContext, PanelPage } from './page-types.ts';
import { sessionForm } from './session-form.ts';

const INVALID_LINK_MESSAGE =
  'This link is not valid: it is cut short, or it is no longer needed. Ask for a new one.';

/** Of the link that was opened, or of the form that was sent. */
function linkToken({ query, forms }: PageContext): string {
  return field(query, 'token') || field(forms.values, 'token');
}

/** Whether the link itself was refused: then there is nothing to fill in again. */
function isLinkRejected({ forms }: PageContext): boolean {
  return forms.problems.some((problem) => problem.field === 'token');
}

/** A second click does nothing, and says the same. */
const confirmAddressForm: CustomForm = {
  audit: 'customer.confirm_address',
  skipIdempotency: true,
  run: async ({ edge, form, visit }) => ({
    shown: { email: await confirmAddress(edge.service, visit.actor, field(form, 'token')) },
  }),
};

/** The same answer, and the same work, whether there is such an account or not. */
const requestResetForm: CustomForm = {
  audit: null,
  limitedBy: 'mailings',
  skipIdempotency: true,
  around: deduplicateForAMinute,
  run: async ({ edge, form, visit }) => {
    await requestReset(edge.service, visit.actor, field(form, 'email'));
    return { shown: {} };
  },
};

const resetPasswordForm = sessionForm({
  audit: 'customer.reset_password',
  identifyAccount: (form) => ({ resetToken: field(form, 'token') }),
  openSession: ({ edge, form }, visit) =>
    resetPassword(edge.service, visit, {
      token: field(form, 'token'),
      password: field(form, 'password'),
      passwordConfirm: field(form, 'password_confirm'),
      code: field(form, 'code'),
    }),
  done: () => ({ shown: {} }),
});

export const LINK_PAGES: readonly PanelPage[] = [
  {
    path: LINK_PATHS.confirm,
    access: 'anyone',
    render: async (context) => {
      if (context.shown) return confirmedView(context.shown.texts.email ?? '');
      if (isLinkRejected(context)) return invalidLinkView(null);
      const token = linkToken(context);
      if (token === '') return missingLinkView();
      const link = await findLink(context.service, 'confirm', token);
      if (!link) return { ...invalidLinkView(INVALID_LINK_MESSAGE), status: 404 };
      return confirmView({
        ...{ forms: context.forms, token },
        ...{ email: link.email, isNew: link.purpose === 'change' },
      });
    },
    forms: { confirm: confirmAddressForm },
  },
  {
    path: LINK_PATHS.reset,
    access: 'anyone',
    render: async (look) => {
      if (look.shown) return look.shown.form === 'ask' ? resetRequestedView() : resetDoneView();
      if (isLinkRejected(look)) return invalidLinkView(null);
      const token = linkToken(look);
      if (token === '') return requestResetView(look.forms);
      const link = await findLink(look.service, 'reset', token);
      if (!link) return { ...invalidLinkView(INVALID_LINK_MESSAGE), status: 404 };
      const previousEmail = link.purpose === 'undo' ? link.email : null;
      return resetView({ forms: look.forms, token, previousEmail });
    },
    forms: { ask: requestResetForm, reset: resetPasswordForm },
  },
];
