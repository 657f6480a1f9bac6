/** The account of the person who is signed in. */
import {
  addStaffPasskey,
  listStaffPasskeys,
  newPasskeyOptions,
  removeStaffPasskey,
} from '../../../domain/staff/passkeys.ts';
import { recordOwnAct } from '../../../domain/staff/perform.ts';
import { changeStaffPassword } from '../../../domain/staff/sign-in.ts';
import { accountView } from '../../../panel/staff/account.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { PANEL_FIELDS } from '../../../spec/paths.ts';
import { ROLE_NAMES } from '../../../spec/staff/roles.ts';
import { field } from '../../form.ts';
import { runLimited, runWithCode } from '../limit-sign-in.ts';
import type { ConsolePage } from '../page.ts';
import type { AdminEdge } from '../route.ts';

/** The service with the URL of the console, to which passkeys belong. */
export function withConsoleUrl({ service, settings }: AdminEdge) {
  return { ...service, consoleUrl: settings.baseUrl };
}

export const ACCOUNT_PAGE: ConsolePage = {
  path: CONSOLE_PATHS.account,
  access: 'staff',
  render: async ({ edge, staff, forms }) => {
    const person = staff();
    return accountView({
      forms,
      person: { name: person.name, email: person.email, role: ROLE_NAMES[person.role] },
      passkeys: await listStaffPasskeys(edge.service, person),
      newPasskey: await newPasskeyOptions(withConsoleUrl(edge), person),
    });
  },
  forms: {
    password: {
      run: async ({ edge, staff, address }, form) => {
        const person = staff();
        const typed = {
          current: field(form, 'current_password'),
          password: field(form, 'password'),
          confirm: field(form, 'password_confirm'),
          code: field(form, 'code'),
        };
        await runLimited(edge, { email: person.email, address }, () =>
          runWithCode(edge, person.staffId, () =>
            recordOwnAct(edge.service, person, 'staff_account.change_password', () =>
              changeStaffPassword(edge.service, person, typed),
            ),
          ),
        );
        return { to: CONSOLE_PATHS.account, notice: 'password_changed' };
      },
    },
    add_passkey: {
      run: async ({ edge, staff }, form) => {
        const person = staff();
        const typed = {
          name: field(form, 'name'),
          answer: field(form, 'passkey'),
          code: field(form, 'code'),
        };
        await runWithCode(edge, person.staffId, () =>
          recordOwnAct(edge.service, person, 'staff_account.add_passkey', () =>
            addStaffPasskey(withConsoleUrl(edge), person, typed),
          ),
        );
        return { to: CONSOLE_PATHS.account, notice: 'passkey_added' };
      },
    },
    remove_passkey: {
      run: async ({ edge, staff }, form) => {
        const person = staff();
        await recordOwnAct(edge.service, person, 'staff_account.remove_passkey', () =>
          removeStaffPasskey(edge.service, person, field(form, PANEL_FIELDS.key)),
        );
        return { to: CONSOLE_PATHS.account, notice: 'passkey_removed' };
      },
    },
  },
};
