/** The pages behind links in mails. GET only shows a form, and submitting it performs the action. */
import { confirmAddress } from '../../../domain/customers/email/change.ts';
import { findLink } from '../../../domain/customers/email/links.ts';
import { requestReset, resetPassword } from '../../../domain/customers/reset-password.ts';
import {
  confirmedView,
  confirmView,
  invalidLinkView,
  missingLinkView,
  requestResetView,
  resetDoneView,
  resetRequestedView,
  resetView,
} from '../../../panel/account/links.ts';
import { LINK_PATHS } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import type { CustomForm, PageContext, PanelPage } from '../page-types.ts';
import { deduplicateForAMinute, sessionForm } from './session-form.ts';

const INVALID_LINK_MESSAGE = 'This link is invalid or expired. Request a new one.';

/** Returns the token of the opened link, or of the submitted form. */
function linkToken({ query, forms }: PageContext): string {
  return field(query, 'token') || field(forms.values, 'token');
}

/** Whether the link itself was rejected. Then there is nothing to correct in the form. */
function isLinkRejected({ forms }: PageContext): boolean {
  return forms.problems.some((problem) => problem.field === 'token');
}

/** A second click does nothing and gets the same response. */
const confirmAddressForm: CustomForm = {
  audit: 'customer.confirm_address',
  skipIdempotency: true,
  run: async ({ edge, form, visit }) => ({
    shown: { email: await confirmAddress(edge.service, visit.actor, field(form, 'token')) },
  }),
};

/** Responds identically, and does the same work, whether or not the account exists. */
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
        forms: context.forms,
        token,
        email: link.email,
        isNew: link.purpose === 'change',
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
