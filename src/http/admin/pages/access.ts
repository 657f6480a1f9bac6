/** Signing in and out, and accepting an invitation. */
import type { FastifyInstance } from 'fastify';
import { newVisitorCookie } from '../../../domain/sessions/cookie.ts';
import { proveStaffPasskey, staffSignInOptions } from '../../../domain/staff/passkeys.ts';
import {
  joinStaff,
  readInvitation,
  signInStaff,
  signInStaffById,
  signOutStaff,
} from '../../../domain/staff/sign-in.ts';
import { qrCode } from '../../../panel/money/qr.ts';
import { joinView, signInView } from '../../../panel/staff/access.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { field, parseQuery } from '../../form.ts';
import { qrPng, sendPng } from '../../panel/png-renderer.ts';
import { runLimited } from '../limit-sign-in.ts';
import type { ConsolePage } from '../page.ts';
import type { AdminEdge } from '../route.ts';
import { withConsoleUrl } from './account.ts';

/** Returns a path of the console itself, so that no link leads elsewhere after signing in. */
function nextPath(text: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(text) ? text : CONSOLE_PATHS.overview;
}

export const ACCESS_PAGES: readonly ConsolePage[] = [
  {
    path: CONSOLE_PATHS.signIn,
    access: 'anyone',
    render: async ({ edge, visitor, forms, query }) =>
      signInView(forms, {
        next: nextPath(forms.values.get('next') ?? field(query, 'next')),
        passkeyOptions: await staffSignInOptions(withConsoleUrl(edge), visitor),
      }),
    forms: {
      passkey: {
        run: async ({ edge, visitor }, form) => {
          const answer = field(form, 'passkey');
          const staffId = await proveStaffPasskey(withConsoleUrl(edge), visitor, answer);
          const { cookie } = await signInStaffById(edge.service, visitor, staffId);
          return { to: nextPath(field(form, 'next')), cookie };
        },
      },
      sign_in: {
        run: async ({ edge, visitor, address }, form) => {
          const email = field(form, 'email');
          const typed = { email, password: field(form, 'password'), totp: field(form, 'code') };
          const { cookie } = await runLimited(edge, { email, address }, () =>
            signInStaff(edge.service, visitor, typed),
          );
          return { to: nextPath(field(form, 'next')), cookie };
        },
      },
    },
  },
  {
    path: CONSOLE_PATHS.signOut,
    access: 'anyone',
    render: ({ forms }) => signInView(forms, { next: CONSOLE_PATHS.overview, passkeyOptions: null }),
    forms: {
      sign_out: {
        run: async ({ edge, staff }) => {
          await signOutStaff(edge.service, staff());
          const cookie = newVisitorCookie(edge.service.keys);
          return { to: CONSOLE_PATHS.signIn, notice: 'signed_out', cookie };
        },
      },
    },
  },
  {
    path: CONSOLE_PATHS.join,
    access: 'anyone',
    render: async ({ edge, forms, query }) => {
      const code = field(query, 'code');
      const invitation = await readInvitation(edge.service, code);
      return joinView(forms, { ...invitation, code, qrPx: qrCode(invitation.uri).sidePx });
    },
    forms: {
      join: {
        run: async ({ edge, visitor }, form) => {
          const { cookie } = await joinStaff(edge.service, visitor, {
            code: field(form, 'invitation'),
            password: field(form, 'password'),
            confirm: field(form, 'password_confirm'),
            totp: field(form, 'code'),
          });
          return { to: CONSOLE_PATHS.overview, cookie };
        },
      },
    },
  },
];

/** Serves the QR code of an invitation to anyone who has its code. */
export function registerInvitationQrCode(scope: FastifyInstance, edge: AdminEdge): void {
  scope.get(`${CONSOLE_PATHS.join}/qr.png`, async (request, reply) => {
    const { uri } = await readInvitation(edge.service, field(parseQuery(request.url), 'code'));
    return sendPng(reply, { png: await qrPng(uri), kept: false });
  });
}
