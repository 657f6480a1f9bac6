import { PANEL_PATHS } from '../spec/paths.ts';
import { html } from './html.ts';
import type { View } from './layout.ts';

/** A page that does not exist. Someone else's resource looks the same as a missing one. */
export function notFoundView(): View {
  return {
    title: 'Page not found',
    status: 404,
    body: html`<p>It may have been deleted, or you may not have access.</p>
<p><a href="${PANEL_PATHS.servers}">Your servers</a> · <a href="${PANEL_PATHS.home}">Home</a></p>`,
  };
}

/** A page that could not be shown because of an error. */
export function errorView(message: string, requestId: string): View {
  return {
    title: 'Something went wrong',
    body: html`<p>${message}</p>
<p class="soft">If you contact support, include this request ID: <code>${requestId}</code></p>`,
  };
}
