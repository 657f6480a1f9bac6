/** The page that writes a mailing: the form, its preview, and the form that sends it. */
import type { MailingPreview } from '../../../domain/customers/talking/mailings.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { newMailingView } from '../../../panel/staff/mailings.ts';
import type { ConsoleContext, ConsolePage } from '../page.ts';
import { roomItemPath } from '../room.ts';
import { fieldsOf, readBody } from '../schema-form.ts';

export const NEW_MAILING_PATH = `${CONSOLE_PATHS.mailings}/new`;

function renderNewMailing({ shown, forms, may }: ConsoleContext) {
  const preview = shown?.preview === undefined ? null : (JSON.parse(shown.preview) as MailingPreview);
  const values = preview?.order ?? Object.fromEntries(forms.values);
  return newMailingView({
    preview,
    fields: fieldsOf('mailings.preview', { ...values }),
    // A refused form to send stays, with what it would send.
    maySend: may('mailings.create') && (preview !== null || forms.refused?.name === 'mailings.create'),
    forms,
  });
}

export const MAILING_PAGES: readonly ConsolePage[] = [
  {
    path: NEW_MAILING_PATH,
    access: 'staff',
    render: renderNewMailing,
    forms: {
      'mailings.preview': {
        run: async ({ read }, form) => {
          const body = readBody('mailings.preview', form);
          const preview = await read<MailingPreview>('mailings.preview', {}, {}, body);
          return { shown: { preview: JSON.stringify(preview) } };
        },
      },
      'mailings.create': {
        operation: 'mailings.create',
        body: (form) => readBody('mailings.create', form),
        done: ({ id }: { readonly id: string }) => ({
          to: roomItemPath({ path: CONSOLE_PATHS.mailings }, id),
          notice: 'mailing_started',
        }),
      },
    },
  },
];
