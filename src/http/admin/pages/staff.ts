import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { ConsoleNotice } from '../../../panel/staff/notices.ts';
import {
  personPath,
  personView,
  type StaffItem,
  type StaffTokenItem,
  staffTokensView,
  staffView,
} from '../../../panel/staff/people.ts';
import { PANEL_FIELDS } from '../../../spec/paths.ts';
import type { StaffOperation } from '../../../spec/staff/operations.ts';
import { ROLE_NAMES, STAFF_ROLES } from '../../../spec/staff/roles.ts';
import { type Form, field } from '../../form.ts';
import type { ConsolePage, OperationForm } from '../page.ts';
import { type ListAnswer, readFiltered } from './lists.ts';

const ROLE_CHOICES = STAFF_ROLES.map((role) => [role, ROLE_NAMES[role]] as const);

function actOn(
  operation: StaffOperation,
  notice: ConsoleNotice,
  body: (form: Form) => object = () => ({}),
): OperationForm {
  return { operation, body, done: (_answer, { id = '' }) => ({ to: personPath(id), notice }) };
}

export const STAFF_PAGES: readonly ConsolePage[] = [
  {
    path: CONSOLE_PATHS.staff,
    access: 'staff',
    render: async (context) => {
      const { forms, may, shown, edge } = context;
      const { data, next } = await readFiltered<StaffItem>(context, 'staff.list', {}, CONSOLE_PATHS.staff);
      const code = shown?.invitation;
      const base = edge.settings.baseUrl ?? '';
      return staffView({
        forms,
        people: data,
        next,
        roles: ROLE_CHOICES,
        mayManage: may('staff.invite'),
        invitation:
          code === undefined ? null : `${base}${CONSOLE_PATHS.join}?code=${encodeURIComponent(code)}`,
      });
    },
    forms: {
      invite: {
        operation: 'staff.invite',
        body: (form) => ({
          email: field(form, 'email'),
          name: field(form, 'name'),
          role: field(form, 'role'),
        }),
        done: (answer: { invitation_code: string }) => ({ shown: { invitation: answer.invitation_code } }),
      },
    },
  },
  {
    path: `${CONSOLE_PATHS.staff}/{id}`,
    access: 'staff',
    render: async ({ params, forms, read, may }) =>
      personView({
        forms,
        person: await read<StaffItem>('staff.get', params),
        roles: ROLE_CHOICES,
        mayManage: may('staff.set_role'),
      }),
    forms: {
      role: actOn('staff.set_role', 'role_changed', (form) => ({ role: field(form, 'role') })),
      end_sessions: actOn('staff.end_sessions', 'sessions_ended'),
      disable: actOn('staff.disable', 'disabled'),
    },
  },
  {
    path: CONSOLE_PATHS.tokens,
    access: 'staff',
    render: async ({ forms, read, shown, staff }) => {
      const { role } = staff();
      const { data } = await read<ListAnswer<StaffTokenItem>>('staff_tokens.list');
      const roles = ROLE_CHOICES.filter(([key]) => role === 'owner' || key === role || key === 'read_only');
      return staffTokensView({ forms, tokens: data, roles, role, token: shown?.token ?? null });
    },
    forms: {
      create: {
        operation: 'staff_tokens.create',
        body: (form) => {
          const day = field(form, 'expires_at');
          return {
            name: field(form, 'name'),
            role: field(form, 'role'),
            code: field(form, 'code'),
            ...(day !== '' && { expires_at: `${day}T00:00:00Z` }),
          };
        },
        done: (answer: { token: string }) => ({ shown: { token: answer.token } }),
      },
      revoke: {
        operation: 'staff_tokens.revoke',
        params: (form) => ({ id: field(form, PANEL_FIELDS.key) }),
        done: () => ({ to: CONSOLE_PATHS.tokens, notice: 'token_revoked' }),
      },
    },
  },
];
