import { PANEL_PATHS } from '../spec/paths.ts';
import { html } from './html.ts';
import type { View } from './layout.ts';

/** For an address that leads nowhere. What is somebody else's is not told apart. */
export function notFoundView(): View {
  return {
    title: 'There is nothing here',
    status: 404,
    body: html`<p>This address leads nowhere, or to something that is gone or is not yours.</p>
<p><a href="${PANEL_PATHS.servers}">Your servers</a> · <a href="${PANEL_PATHS.home}">The front page</a></p>`,
  };
}

/** For what could not be shown. */
export function errorView(message: string, requestId: string): View {
  return {
    title: 'This did not work',
    body: html`<p>${message}</p>
<p class="soft">If you write to the operator about it, name this request: <code>${requestId}</code></p>`,
  };
}
