/** The pages behind links in mails. GET shows a form and does nothing else; the form does what the link is for. */
import { confirmAddress } from '../../domain/customers/confirm-address.ts';
import { lookAtLink } from '../../domain/customers/links.ts';
import { requestReset } from '../../domain/customers/request-reset.ts';
import { resetPassword } from '../../domain/customers/reset-password.ts';
import {
  askForResetView,
  confirmedView,
  confirmView,
  deadLinkView,
  noLinkView,
  resetAskedView,
  resetDoneView,
  resetView,
} from '../../panel/links.ts';
import { LINK_PATHS } from '../../spec/paths.ts';
import { field } from '../form.ts';
import { letInForm } from './let-in.ts';
import type { Look, OwnForm, PanelPage } from './page.ts';
import { onceInAMinute } from './recently.ts';

const DEAD = 'This link is not valid: it is cut short, or it is no longer needed. Ask for a new one.';

/** Of the link that was opened, or of the form that was sent. */
function tokenOf({ query, forms }: Look): string {
  return field(query, 'token') || field(forms.values, 'token');
}

/** Whether the link itself was refused: then there is nothing to fill in again. */
function isDead({ forms }: Look): boolean {
  return forms.problems.some((problem) => problem.field === 'token');
}

/** A second click does nothing, and says the same. */
const confirm: OwnForm = {
  audit: 'customer.confirm_address',
  unkeyed: true,
  run: async ({ edge, form, visit }) => ({
    shown: { email: await confirmAddress(edge.service, visit.actor, field(form, 'token')) },
  }),
};

/** The same answer, and the same work, whether there is such an account or not. */
const ask: OwnForm = {
  audit: null,
  counted: 'mailings',
  unkeyed: true,
  around: onceInAMinute,
  run: async ({ edge, form, visit }) => {
    await requestReset(edge.service, visit.actor, field(form, 'email'));
    return { shown: {} };
  },
};

const reset = letInForm({
  audit: 'customer.reset_password',
  whom: (form) => ({ resetToken: field(form, 'token') }),
  enter: ({ edge, form }, visit) =>
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
    show: async (look) => {
      if (look.shown) return confirmedView(look.shown.texts.email ?? '');
      if (isDead(look)) return deadLinkView(null);
      const token = tokenOf(look);
      if (token === '') return noLinkView();
      const link = await lookAtLink(look.service, 'confirm', token);
      if (!link) return { ...deadLinkView(DEAD), status: 404 };
      return confirmView({
        ...{ forms: look.forms, token },
        ...{ email: link.email, isNew: link.purpose === 'change' },
      });
    },
    forms: { confirm },
  },
  {
    path: LINK_PATHS.reset,
    access: 'anyone',
    show: async (look) => {
      if (look.shown) return look.shown.form === 'ask' ? resetAskedView() : resetDoneView();
      if (isDead(look)) return deadLinkView(null);
      const token = tokenOf(look);
      if (token === '') return askForResetView(look.forms);
      const link = await lookAtLink(look.service, 'reset', token);
      if (!link) return { ...deadLinkView(DEAD), status: 404 };
      const formerEmail = link.purpose === 'undo' ? link.email : null;
      return resetView({ forms: look.forms, token, formerEmail });
    },
    forms: { ask, reset },
  },
];
