/** The panel's addresses that have no forms yet: each says what will be found there and what works today. */
import { LINK_PATHS, PANEL_PATHS } from '../spec/paths.ts';
import { page } from './bare-layout.ts';
import { html } from './html.ts';

interface Place {
  readonly path: string;
  readonly title: string;
  readonly later: string;
  readonly today: string;
  /** What has a form already. */
  readonly link?: { readonly path: string; readonly text: string };
}

export const PLACES: readonly Place[] = [
  {
    path: PANEL_PATHS.account,
    title: 'Your account',
    later: 'Your password, your address, your sessions and your API tokens.',
    today:
      'POST /account-api.php with action get_account, change_password, change_email, resend_confirmation, set_openpgp_key, list_sessions, end_session, create_token, list_tokens, revoke_token or delete_account. GET /me.php says who is signed in.',
  },
  {
    path: PANEL_PATHS.signIn,
    title: 'Sign in',
    later: 'A form for e-mail and password.',
    today:
      'POST /auth-api.php with action signin, email and password; or action recover with email, recovery_code, password and password_confirm.',
    link: { path: LINK_PATHS.reset, text: 'Forgot your password?' },
  },
  {
    path: PANEL_PATHS.signUp,
    title: 'Sign up',
    later: 'A form for a new account.',
    today: 'POST /auth-api.php with action signup, email, password and password_confirm.',
  },
];

export function placePage(place: Place): string {
  return page(
    place.title,
    html`
<p>${place.later}</p>
<p class="soft">This page has no forms yet. What works today: ${place.today}</p>
${place.link && html`<p><a href="${place.link.path}">${place.link.text}</a></p>`}
`,
  );
}

export function notFoundPage(): string {
  return page('Not found', html`<p>There is nothing at this address.</p>`);
}
