/** News by mail: the choice on the account page, and the page behind the link in news. */
import { ACCOUNT_PATHS } from '../../spec/paths.ts';
import { section } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';

/** `wantsNews`: as it is now. */
export function newsSection(wantsNews: boolean, forms: FormContext): Html {
  const [state, value, button] = wantsNews
    ? ['We send you news by email now and then.', 'off', 'Turn off news']
    : ['We send you no news by email.', 'on', 'Turn on news'];
  return section(
    'News by email',
    html`<p>${state} Emails about your account and your servers do not depend on this.</p>
${form(
  forms,
  { name: 'news' },
  html`<button class="plain" name="news" value="${value}">${button}</button>`,
)}`,
    'news',
  );
}

/** `token`: null for a link that is not ours. */
export function newsOffView({ forms, token }: { forms: FormContext; token: string | null }): View {
  const title = 'Turn off news';
  if (token === null) {
    return {
      title,
      status: 404,
      body: html`<p>This link is incomplete. Copy all of it from the email, or sign in and turn off news on
<a href="${ACCOUNT_PATHS.overview}#news">your account page</a>.</p>`,
    };
  }
  return {
    title,
    body: html`<p>We then send you no more news by email. Emails about your account and your servers do not
depend on this.</p>
${form(
  forms,
  { name: 'off' },
  html`<input type="hidden" name="token" value="${token}">
<button>Turn off news</button>`,
)}`,
  };
}

export function newsOffDoneView(): View {
  return {
    title: 'News is off',
    body: html`<p>We send you no more news by email. You can turn it on again on
<a href="${ACCOUNT_PATHS.overview}#news">your account page</a>.</p>`,
  };
}
