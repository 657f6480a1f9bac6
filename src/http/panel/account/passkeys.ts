/** The page of the account's passkeys. The script adds one through the form endpoints. */
import { findRelyingParty } from '../../../domain/customers/passkeys/challenge.ts';
import { listPasskeys, removePasskey, renamePasskey } from '../../../domain/customers/passkeys/manage.ts';
import { getOwnAccount } from '../../../domain/customers/read.ts';
import { passkeysView } from '../../../panel/account/passkeys.ts';
import { ACCOUNT_PATHS, PANEL_FIELDS } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import type { CustomForm, PanelPage } from '../page-types.ts';
import { readOwnerProof } from './account.ts';

const PASSKEYS_PATH = ACCOUNT_PATHS.passkeys;

const renameForm: CustomForm = {
  audit: 'customer.rename_passkey',
  resource: (form) => field(form, PANEL_FIELDS.key),
  run: async ({ edge, form, customer }) => {
    const wanted = { id: field(form, PANEL_FIELDS.key), name: field(form, 'name') };
    await renamePasskey(edge.service, customer(), wanted);
    return { to: PASSKEYS_PATH, notice: 'saved' };
  },
};

const removeForm: CustomForm = {
  audit: 'customer.remove_passkey',
  resource: (form) => field(form, PANEL_FIELDS.key),
  limitedBy: 'failures',
  run: async ({ edge, form, customer }) => {
    const wanted = { id: field(form, PANEL_FIELDS.key), ...readOwnerProof(form) };
    await removePasskey(edge.service, customer(), wanted);
    return { to: PASSKEYS_PATH, notice: 'passkey_removed' };
  },
};

export const PASSKEYS_PAGE: PanelPage = {
  path: PASSKEYS_PATH,
  access: 'customer',
  render: async ({ service, customer, forms }) =>
    passkeysView({
      passkeys: await listPasskeys(service, customer()),
      forms,
      totp: (await getOwnAccount(service, customer())).totp,
      isOffered: findRelyingParty(service) !== null,
    }),
  forms: { rename: renameForm, remove: removeForm },
};
