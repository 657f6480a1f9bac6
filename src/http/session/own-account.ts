/** The actions of /account-api.php that are about the account itself: address, OpenPGP key, second factor, sessions, deletion. */
import { changeEmail } from '../../domain/customers/change-email.ts';
import { resendConfirmation } from '../../domain/customers/confirm-address.ts';
import { deleteAccount } from '../../domain/customers/deletion/begin.ts';
import { setOpenPgpKey } from '../../domain/customers/openpgp-key.ts';
import { getOwnAccount } from '../../domain/customers/own-account.ts';
import { beginTotp, confirmTotp, disableTotp as switchOff } from '../../domain/customers/totp.ts';
import { endSession } from '../../domain/sessions/end.ts';
import { listSessions } from '../../domain/sessions/list.ts';
import { centsNumber } from '../../kernel/money.ts';
import { setCookie } from '../cookie.ts';
import type { Operation } from '../endpoint.ts';
import { field } from '../form.ts';

const get: Operation = {
  audit: null,
  run: async ({ edge, customer }) => ({ ok: true, ...(await getOwnAccount(edge.service, customer())) }),
};

/** `mailed` false: the address is confirmed already. */
const resend: Operation = {
  audit: 'customer.resend_confirmation',
  run: async ({ edge, customer }) => ({
    ok: true,
    mailed: await resendConfirmation(edge.service, customer()),
  }),
};

const email: Operation = {
  audit: 'customer.change_email',
  counted: 'failures',
  run: async ({ edge, form, customer }) => {
    const change = await changeEmail(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      email: field(form, 'email'),
    });
    return { ok: true, email: change.email, pending_email: change.pendingEmail };
  },
};

const openPgpKey: Operation = {
  audit: 'customer.set_openpgp_key',
  counted: 'failures',
  run: async ({ edge, form, customer }) => {
    const fingerprint = await setOpenPgpKey(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      armored: field(form, 'openpgp_key'),
    });
    return { ok: true, openpgp_fingerprint: fingerprint };
  },
};

/** Without `code` it begins, with one it switches on. */
const enableTotp: Operation = {
  audit: 'customer.enable_totp',
  counted: 'failures',
  run: async ({ edge, form, customer }) => {
    const code = field(form, 'code');
    if (code.trim() === '') {
      const currentPassword = field(form, 'current_password');
      return { ok: true, ...(await beginTotp(edge.service, customer(), { currentPassword })) };
    }
    await confirmTotp(edge.service, customer(), { code });
    return { ok: true, enabled: true };
  },
};

const disableTotp: Operation = {
  audit: 'customer.disable_totp',
  counted: 'failures',
  run: async ({ edge, form, customer }) => {
    await switchOff(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      code: field(form, 'code'),
    });
    return { ok: true };
  },
};

const sessions: Operation = {
  audit: null,
  run: async ({ edge, customer }) => ({ ok: true, sessions: await listSessions(edge.service, customer()) }),
};

const end: Operation = {
  audit: 'customer.end_session',
  run: async ({ edge, form, customer, reply, visit }) => {
    const own = await endSession(edge.service, customer(), field(form, 'id'));
    if (own) setCookie(edge.settings, reply, visit.visitor);
    return { ok: true };
  },
};

/** `completed` false: what the account has is being removed first. */
const remove: Operation = {
  audit: 'customer.delete',
  counted: 'failures',
  run: async ({ edge, form, customer, reply, visit }) => {
    const { completed, forfeitedCents } = await deleteAccount(edge.service, customer(), {
      currentPassword: field(form, 'current_password'),
      destroyServers: field(form, 'destroy_servers') === 'yes',
    });
    setCookie(edge.settings, reply, visit.visitor);
    return { ok: true, completed, forfeited_usd: centsNumber(forfeitedCents) };
  },
};

export const OWN_ACCOUNT: readonly (readonly [action: string, operation: Operation])[] = [
  ['get_account', get],
  ['get', get],
  ['resend_confirmation', resend],
  ['change_email', email],
  ['set_openpgp_key', openPgpKey],
  ['enable_totp', enableTotp],
  ['disable_totp', disableTotp],
  ['list_sessions', sessions],
  ['end_session', end],
  ['delete_account', remove],
];
